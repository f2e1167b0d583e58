//! Owns the recording that the program carries for `kubereel demo`.

/// The bytes of the demo reel; made by `just demo-reel`.
pub(crate) const DEMO_REEL: Option<&[u8]> = None;
