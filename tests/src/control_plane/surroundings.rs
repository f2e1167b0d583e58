//! What every component of one control plane is started in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::certificates::Certificates;
use super::component::Component;
use super::guard::Guard;

#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) binary: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) certificates: Certificates,
    pub(crate) guard: Arc<Guard>,
}

impl Surroundings {
    /// Describes a component; `role` is the word by which the binary knows it.
    /// `extra` comes last, because of two equal flags the last one counts.
    pub(crate) fn component(
        &self,
        name: &str,
        role: &str,
        mut flags: Vec<OsString>,
        extra: &[String],
    ) -> Component {
        flags.extend(extra.iter().map(OsString::from));
        let log = self.dir.join(format!("{name}.log"));
        Component::new(name, &self.binary, role, flags, log, &self.guard)
    }
}

/// `--flag=path`, whatever bytes the path is made of.
pub(crate) fn path_flag(flag: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(flag);
    argument.push("=");
    argument.push(path);
    argument
}
