//! Monitortests, asked of reels that the tests write.

mod events;
mod excepted;
mod fixture;
mod gathered;
mod intervals;
mod judged;
mod object_rows;
mod objects;
mod own;
mod reel;
mod rules;
mod seen;
mod table;
