//! Owns how much of the machine a child process gets. Refuses to insist: where the system does not
//! know niceness, the child runs as others do.

use std::process::Child;

/// How nice the child is: others come first.
#[cfg(unix)]
const NICENESS: i32 = 15;

/// Lets a child run when nobody else wants to; tells whether the system agreed.
#[cfg(unix)]
pub(super) fn lower(child: &Child) -> bool {
    let id = i32::try_from(child.id()).ok();
    let id = id.and_then(rustix::process::Pid::from_raw);
    id.is_some_and(|id| rustix::process::setpriority_process(Some(id), NICENESS).is_ok())
}

/// Lets a child run as others do.
#[cfg(not(unix))]
pub(super) const fn lower(_child: &Child) -> bool {
    false
}
