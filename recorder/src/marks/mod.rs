//! Words of somebody outside in the timeline, such as "tests started": how they come in, over the status
//! page or over a file, and how they are left there.

mod desk;
mod file;
mod leave;

pub(crate) use desk::{Desk, NotTaken};
pub(crate) use file::{MarkFile, follow};
pub use leave::{MarkError, MarkPlace, leave_mark};
