//! Colours: what each state and part of the screen looks like, with as many colours as the terminal has.

mod depth;
mod palette;
mod scheme;

pub use depth::Depth;
pub use palette::Palette;
pub(crate) use scheme::Role;
pub use scheme::Theme;
