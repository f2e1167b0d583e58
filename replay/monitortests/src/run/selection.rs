//! Owns which monitortests are run. Refuses to judge whether a choice makes sense: whoever chose sees
//! what is left.

use crate::select::Glob;
use crate::verdict::About;

/// Which monitortests are run: by id, by the monitor that they belong to, or by the name in JUnit.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only these; all if it is empty.
    pub only: Vec<Glob>,
    /// And of them not these.
    pub skip: Vec<Glob>,
}

impl Selection {
    /// Tells whether a monitortest is run.
    pub fn has(&self, about: &About) -> bool {
        let is_meant = |glob: &Glob| {
            glob.is_match(&about.id) || glob.is_match(&about.monitor) || glob.is_match(&about.junit)
        };
        (self.only.is_empty() || self.only.iter().any(is_meant)) && !self.skip.iter().any(is_meant)
    }
}
