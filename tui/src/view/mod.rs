//! The screen, drawn from the model. Pure: it reads nothing else and changes nothing.

mod bookmarks;
mod browse;
mod compare;
mod foot;
mod frame;
mod help;
mod lanes;
mod line;
mod objects;
mod palette;
mod panel;
mod pen;
mod problems;
mod ruler;
mod time;
mod title;

pub(crate) use frame::view;
