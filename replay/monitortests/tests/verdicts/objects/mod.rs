//! Upstream's monitortests of objects: each row is failed, or flaked, by one reel and passed by another.

mod definitions;
mod upgrades;
