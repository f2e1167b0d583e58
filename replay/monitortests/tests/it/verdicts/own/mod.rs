//! Our own monitortests: each is failed, or flaked, by one reel and passed by another.

mod flaps;
mod ha;
mod invariants;
mod recording;
mod version_pods;
