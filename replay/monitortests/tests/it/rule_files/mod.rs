//! Rule files as people write them: the examples of the reference, and every kind of mistake.

mod builtin;
mod explain;
mod misfits;
mod mistakes;
mod reference;
mod schema;
