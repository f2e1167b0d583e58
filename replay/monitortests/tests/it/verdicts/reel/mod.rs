//! Small reels for tests: objects and events at exact times, written as a recorder writes them, or as
//! an import does.
//!
//! ```ignore
//! let reel = Reel::cluster()                  // a healthy cluster of five nodes, at 10:00:00
//!     .at("10:05:00")
//!     .operator("etcd", &[("Available", "False", "NoQuorum")])
//!     .at("10:05:40.250")
//!     .operator("etcd", &[("Available", "True", "AsExpected")])
//!     .until("10:30:00")
//!     .written();                             // a Timeline, and the folder that it lives in
//! ```
//!
//! What is put before the first `at` was there when the recorder came. Every resource of `kinds` is
//! recorded without a gap unless the test says `without`, `gap` or `imported`.

mod clock;
mod kinds;
mod merge;
mod plan;
mod shapes;
mod write;

pub use clock::time;
pub use plan::Reel;
pub use write::OpenedReel;
