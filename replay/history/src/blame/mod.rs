//! Who set each field of an object last, and when: from its recorded versions, and for what is older
//! than those from the managedFields.

mod origin;
mod question;
mod tree;

#[cfg(test)]
mod tests;

pub use origin::{Blame, BlameSource};
pub use question::Blamed;
