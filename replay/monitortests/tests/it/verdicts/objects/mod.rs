//! Upstream's monitortests of objects: each row is failed, or flaked, by one reel and passed by another.

mod containers;
mod definitions;
mod interval_file;
mod nodes;
mod operators;
mod os_updates;
mod pods;
mod upgrades;
mod workloads;
