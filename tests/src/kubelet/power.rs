//! Whether a node is up, and how often it was booted.

/// A node's power: Pods do nothing while it is off, and start again at a new boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Power {
    /// 1 at first, one more with every reboot.
    pub(super) boot: u32,
    /// Whether the kubelet runs.
    pub(super) is_up: bool,
}
