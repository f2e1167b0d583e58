//! The screen, drawn from the model. Pure: it reads nothing else and changes nothing.

mod frame;
mod lanes;
mod lists;
mod panel;
mod pen;
mod problems;
mod stream;
mod time;

pub(crate) use frame::view;
