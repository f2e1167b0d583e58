//! Owns which process of the cluster-version operator led, and when none did: the lease tells.

use super::super::read::Seen;
use super::mark::Mark;
use super::version_pod::NAMESPACE;
use crate::moment::Cut;
use crate::timeline::QueryError;
use crate::timeline::Timeline;
use serde::Deserialize;

const LEASE: &str = "version";

/// A change of the leading process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// Who led before; empty if nobody did.
    pub from: String,
    /// When it let go; `None` if that was not seen: it was taken from it, or never held.
    pub released: Option<Mark>,
    /// Who led then; empty while nobody did.
    pub to: String,
    /// When it took over; `None` if nobody had by the moment asked about.
    pub taken: Option<Mark>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Lease {
    spec: Option<LeaseSpec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeaseSpec {
    holder_identity: Option<String>,
}

impl Lease {
    fn holder(&self) -> &str {
        let holder = self
            .spec
            .as_ref()
            .and_then(|spec| spec.holder_identity.as_ref());
        holder.map_or("", String::as_str)
    }
}

impl Timeline {
    /// Reads the changes of the leading process, in order.
    pub(super) fn handovers(&self, cut: Cut) -> Result<Vec<Handover>, QueryError> {
        let tracks = self.tracks(("coordination.k8s.io", "leases"), cut, |key| {
            key.namespace == NAMESPACE && key.name == LEASE
        });
        let mut all = Vec::new();
        for seqs in tracks.values() {
            all.extend(changes(&self.read_seqs::<Lease>(seqs)?));
        }
        Ok(all)
    }
}

fn changes(versions: &[Seen<Lease>]) -> Vec<Handover> {
    let mut all: Vec<Handover> = Vec::new();
    let mut holder: Option<&str> = None;
    for seen in versions {
        let now = if seen.is_gone { "" } else { seen.body.holder() };
        if holder == Some(now) {
            continue;
        }
        let before = holder.replace(now);
        match (before, all.last_mut()) {
            (Some(""), Some(open)) if open.taken.is_none() => {
                now.clone_into(&mut open.to);
                open.taken = Some(seen.mark);
            }
            // Who was there at first sight took over from nobody that was seen.
            (None, _) if seen.is_initial => {}
            (before, _) => {
                let is_release = now.is_empty();
                all.push(Handover {
                    from: before.unwrap_or_default().to_owned(),
                    released: is_release.then_some(seen.mark),
                    to: now.to_owned(),
                    taken: (!is_release).then_some(seen.mark),
                });
            }
        }
    }
    all
}
