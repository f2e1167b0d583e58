//! Where the state that a record shows is looked at.

use crate::moment::Cut;
use crate::timeline::Timeline;
use kubereel_format::{Evidence, Seq};

/// First lists that end this long after a record are of the same look at the cluster; one that took longer was delayed.
const LOOK_MICROS: i64 = 10 * 1_000_000;

impl Timeline {
    /// Returns the place at which the state that a record shows is looked at: behind the record. One of a list is
    /// looked at behind the list, and one of the first look at the cluster behind that: inside of it, other objects
    /// are not known yet. A later change of the same object is never passed.
    pub fn shown_by(&self, seq: Seq) -> Cut {
        let reel = self.reel();
        let end = self.look_end(seq).unwrap_or(seq);
        let versions = reel.object_of(seq).map(|object| reel.versions(object));
        let next = versions.and_then(|all| all.iter().find(|own| **own > seq));
        let last = next.map_or(end, |next| end.min(Seq(next.0.saturating_sub(1))));
        Cut::Arrival {
            below: Seq(last.0.saturating_add(1)),
            wall: self.wall_of(last),
        }
    }

    /// Finds the last record of the look at the cluster to which a record belongs.
    fn look_end(&self, seq: Seq) -> Option<Seq> {
        let reel = self.reel();
        let resource = self.key_of(reel.object_of(seq)?)?.resource;
        let coverage = self.coverage(resource)?;
        let at = self.wall_of(seq);
        if coverage.is_only_imported() {
            // An import gives all objects of a file, or of a line, one time.
            let records = (seq.0..reel.end().0).map(Seq);
            return records.take_while(|own| self.wall_of(*own) == at).last();
        }
        let own = coverage.list_end(seq);
        match reel.evidence_of(seq)? {
            Evidence::Listed => own,
            Evidence::Initial => {
                let all = self.resources().iter().map(|info| info.id);
                let firsts = all.filter_map(|id| Some(self.coverage(id)?.first_known()?.0));
                let together =
                    firsts.filter(|end| self.wall_of(*end).micros_since(at) <= LOOK_MICROS);
                own.into_iter().chain(together).max()
            }
            _ => None,
        }
    }
}
