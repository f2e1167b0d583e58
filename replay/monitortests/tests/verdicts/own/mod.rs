//! Our own monitortests: each is failed, or flaked, by one reel and passed by another.

mod ha;
mod recording;
mod version_pods;
