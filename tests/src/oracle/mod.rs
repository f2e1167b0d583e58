//! The oracle: what etcd says happened, told by etcd itself and by nobody in between.
//!
//! It owns one watch over the whole key space, opened through etcd's JSON gateway, and keeps
//! revision, kind and key of every change. It shares no code with the recorder and no API server
//! stands before it, so it can say what a recording has missed. Values are not kept: it judges
//! completeness, not content.

mod account;
mod etcd_key;
mod gateway;
mod watch;

pub use account::Account;
pub use etcd_key::{EtcdKey, ObjectKey};
pub use watch::{Change, ChangeKind, Oracle};
