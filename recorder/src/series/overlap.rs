//! The proof that two reels overlap: for every resource, the previous reel has reached the first
//! list of the next one. Elapsed time proves nothing; an overlap that is not proven is named.

use crate::health::{RecordingProgress, ResourceCoverage};
use crate::version::ResourceVersion;
use kubereel_format::qualified;
use std::cmp::Ordering;
use std::time::Duration;

/// The number of resources that are named.
const NAMED: usize = 20;

/// How long the next reel waits until the previous one has reached its first lists: more than a
/// minute, within which a server sends a quiet resource a bookmark.
const BOOKMARK_SECS: u64 = 75;

/// How long the previous reel waits for a resource that the next one cannot list, or that it has not
/// recorded up to the present itself.
pub(super) const LIST_SECS: u64 = 600;

/// The part of a reel's time that may go into waiting for bookmarks.
const PART: u32 = 4;

/// How two reels overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SeriesOverlap {
    /// The number of resources with a proven overlap.
    pub(super) proven: usize,
    /// Resources of both reels whose first list in the next one was not reached by the previous
    /// one.
    pub(super) open: Vec<String>,
    /// How many of these the previous reel does not follow up to the present: it still has to read
    /// what came before, which the next one does not have.
    pub(super) behind: usize,
    /// Resources without a list in the next reel.
    pub(super) lacking: Vec<String>,
    /// Resources that one of the two does not record, although the previous one did: changes may be
    /// in neither.
    pub(super) apart: Vec<String>,
}

/// The timeouts for the rest of the proof.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverlapPatience {
    bookmark: Duration,
    list: Duration,
}

impl OverlapPatience {
    /// Limits the wait for bookmarks to a part of the interval between two reels.
    pub(super) fn of(every: Duration) -> Self {
        Self {
            bookmark: Duration::from_secs(BOOKMARK_SECS).min(every / PART),
            list: Duration::from_secs(LIST_SECS),
        }
    }
}

impl SeriesOverlap {
    /// Compares how far two recordings of one cluster have come.
    pub(super) fn of(old: &RecordingProgress, new: &RecordingProgress) -> Self {
        let mut overlap = Self::default();
        let is_same = old.cluster == new.cluster && !old.cluster.is_empty();
        // A resource that the previous reel only names has no objects that could be lost between
        // the two.
        let before = old.resources.iter();
        for (name, before) in before.filter(|(_, before)| before.come.is_anywhere()) {
            let words = qualified(&name.1, &name.0);
            let after = new.resources.get(name);
            if is_given_up(before.state) || after.is_some_and(|after| is_left_out(after.state)) {
                overlap.apart.push(words);
                continue;
            }
            let listed = after.filter(|after| after.state == ResourceCoverage::Complete);
            let listed = listed.and_then(|after| after.come.listed.as_ref());
            match (listed, &before.come.reached) {
                (None, _) => overlap.lacking.push(words),
                (Some(listed), Some(reached)) if is_same && is_past(reached, listed) => {
                    overlap.proven += 1;
                }
                (Some(_), _) => {
                    let is_behind = before.state != ResourceCoverage::Complete;
                    overlap.behind += usize::from(is_behind);
                    overlap.open.push(words);
                }
            }
        }
        overlap
    }

    /// Returns whether the previous reel may end.
    pub(super) fn is_enough(
        &self,
        waited: Duration,
        since_lists: Option<Duration>,
        patience: OverlapPatience,
    ) -> bool {
        if self.proven == 0 {
            // Nothing can be compared: there is no cluster, or it is another one.
            return waited >= patience.list;
        }
        let can_be_proven = self.lacking.is_empty() && self.behind == 0;
        match (can_be_proven, self.open.is_empty()) {
            (true, true) => true,
            (true, false) => since_lists.is_some_and(|since| since >= patience.bookmark),
            (false, _) => waited >= patience.list,
        }
    }

    /// Returns the text that the next reel stores.
    pub(super) fn words(&self) -> String {
        let all = self.proven + self.open.len() + self.lacking.len() + self.apart.len();
        let mut parts = vec![format!("proven for {} of {all} resources", self.proven)];
        for (what, names) in [
            ("by time only for", &self.open),
            ("not listed yet", &self.lacking),
            ("not recorded in both", &self.apart),
        ] {
            let named: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
            let named = named.join(", ");
            match names.len().saturating_sub(NAMED) {
                0 if names.is_empty() => {}
                0 => parts.push(format!("{what}: {named}")),
                more => parts.push(format!("{what}: {named} and {more} more")),
            }
        }
        parts.join("; ")
    }
}

/// The recorder does not wait for a resource that it leaves out itself.
fn is_left_out(state: ResourceCoverage) -> bool {
    state == ResourceCoverage::LeftOut
}

/// Returns whether a resource that was recorded is not recorded any more.
fn is_given_up(state: ResourceCoverage) -> bool {
    is_left_out(state) || state == ResourceCoverage::NotCovered
}

fn is_past(reached: &ResourceVersion, listed: &ResourceVersion) -> bool {
    reached == listed
        || matches!(
            reached.order(listed),
            Some(Ordering::Greater | Ordering::Equal)
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{ResourceProgress, ResourceReach};

    fn stand(uid: &str, rows: &[(&str, Option<&str>, Option<&str>)]) -> RecordingProgress {
        let version = |text: Option<&str>| text.and_then(ResourceVersion::parse);
        let rows = rows.iter().map(|(name, listed, reached)| {
            let come = ResourceReach {
                listed: version(*listed),
                reached: version(*reached),
            };
            let state = match listed {
                Some(_) => ResourceCoverage::Complete,
                None => ResourceCoverage::Behind,
            };
            let stands = ResourceProgress { state, come };
            ((String::new(), (*name).to_owned()), stands)
        });
        RecordingProgress {
            cluster: uid.to_owned(),
            resources: rows.collect(),
        }
    }

    #[test]
    fn the_reel_before_must_have_gone_past_the_first_list_of_the_next() {
        let old = stand(
            "u",
            &[
                ("pods", Some("1"), Some("50")),
                ("nodes", Some("1"), Some("49")),
                ("odd", Some("1"), Some("x")),
                ("late", Some("1"), Some("99")),
                ("events", Some("1"), None),
            ],
        );
        let new = stand(
            "u",
            &[
                ("pods", Some("50"), Some("50")),
                ("nodes", Some("50"), Some("50")),
                ("odd", Some("y"), None),
                ("events", Some("50"), None),
                ("more", Some("50"), None),
            ],
        );
        let overlap = SeriesOverlap::of(&old, &new);
        assert_eq!(overlap.proven, 1);
        assert_eq!(overlap.open, ["events", "nodes", "odd"]);
        assert_eq!(overlap.lacking, ["late"]);
        assert_eq!(
            overlap.words(),
            "proven for 1 of 5 resources; by time only for: events, nodes, odd; not listed yet: late"
        );
        let other = stand("w", &[("pods", Some("50"), Some("50"))]);
        assert_eq!(SeriesOverlap::of(&old, &other).proven, 0);
        let unknown = stand("", &[("pods", Some("50"), Some("50"))]);
        assert_eq!(SeriesOverlap::of(&unknown, &unknown).proven, 0);
    }

    #[test]
    fn a_resource_that_one_of_the_two_leaves_out_is_named_and_not_waited_for() {
        let row = |name| (name, Some("50"), Some("50"));
        let rows = [row("events"), row("leases"), row("nodes"), row("pods")];
        let (mut old, mut new) = (stand("u", &rows), stand("u", &rows));
        let leave_out = |progress: &mut RecordingProgress, plural: &str, state| {
            let name = (String::new(), plural.to_owned());
            progress.resources.get_mut(&name).expect("a row").state = state;
        };
        leave_out(&mut old, "leases", ResourceCoverage::LeftOut);
        leave_out(&mut new, "events", ResourceCoverage::LeftOut);
        leave_out(&mut old, "nodes", ResourceCoverage::NotCovered);
        let overlap = SeriesOverlap::of(&old, &new);
        let words = "proven for 1 of 4 resources; not recorded in both: events, leases, nodes";
        assert_eq!(overlap.words(), words);
        let patience = OverlapPatience::of(Duration::from_hours(24));
        assert!(overlap.is_enough(Duration::ZERO, Some(Duration::ZERO), patience));
    }

    #[test]
    fn what_is_not_proven_is_waited_for_and_not_for_ever() {
        let patience = OverlapPatience::of(Duration::from_hours(24));
        let secs = Duration::from_secs;
        let overlap = |proven, open: &[&str], lacking: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            SeriesOverlap {
                proven,
                open: names(open),
                behind: 0,
                lacking: names(lacking),
                apart: Vec::new(),
            }
        };
        let is_enough = |proven, open: &[&str], lacking: &[&str], waited, lists| {
            let overlap = overlap(proven, open, lacking);
            overlap.is_enough(secs(waited), Some(secs(lists)), patience)
        };
        assert!(is_enough(3, &[], &[], 0, 0));
        assert!(!is_enough(3, &["a"], &[], 74, 74));
        assert!(is_enough(3, &["a"], &[], 80, 75));
        assert!(!is_enough(3, &[], &["a"], 599, 599));
        assert!(is_enough(3, &[], &["a"], 600, 0));
        assert!(!is_enough(0, &[], &[], 599, 599), "nothing is no proof");
        // What the previous reel still has to read is not given up for lack of a bookmark.
        let behind = SeriesOverlap {
            behind: 1,
            ..overlap(3, &["a"], &[])
        };
        assert!(!behind.is_enough(secs(599), Some(secs(599)), patience));
        assert!(behind.is_enough(secs(600), Some(secs(600)), patience));
        let short = OverlapPatience::of(secs(4));
        assert_eq!(short.bookmark, secs(1));
    }
}
