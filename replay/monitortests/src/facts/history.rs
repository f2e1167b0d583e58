//! What the history of the `ClusterVersion` tells, seen over time: the installation and each
//! upgrade, when they began and ended. It does not handle what the history was pruned of and nobody
//! saw.

use super::known::UpgradeWindow;
use crate::gather::moment;
use crate::reading;
use kubereel_format::RecordedAt;
use serde_json::Value;

/// An entry of the history, as it came to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VersionEntry {
    /// When it was started, as its writer says: with the image, this tells entries apart.
    started: Option<RecordedAt>,
    image: String,
    version: String,
    from: RecordedAt,
    to: Option<RecordedAt>,
    is_completed: bool,
    /// Whether it is the first of its cluster: an installation.
    is_first: bool,
}

/// The history, as it came to be known.
#[derive(Clone, Debug, Default)]
pub(super) struct VersionHistory {
    /// Oldest first.
    entries: Vec<VersionEntry>,
    /// The uid of the object, and where its entries begin: another one is that of another cluster.
    uid: String,
    own: usize,
    last_seen: Option<RecordedAt>,
    saw_install: bool,
}

impl VersionHistory {
    /// Takes a `ClusterVersion` as it was seen at a moment.
    pub(super) fn see(&mut self, version: &Value, at: RecordedAt) {
        let entries = reading::list(version, "/status/history");
        let uid = reading::text(version, "/metadata/uid");
        if self.uid != uid {
            uid.clone_into(&mut self.uid);
            self.own = self.entries.len();
        }
        if self.entries.is_empty() {
            // An object without history is one whose installation has not begun.
            let oldest = entries.last();
            self.saw_install |=
                oldest.is_none_or(|oldest| reading::text(oldest, "/state") != "Completed");
        }
        for entry in entries.iter().rev() {
            self.take(entry, at);
        }
        self.last_seen = Some(at);
    }

    fn take(&mut self, seen: &Value, at: RecordedAt) {
        let started = reading::time(seen, "/startedTime");
        let image = reading::text(seen, "/image");
        let is_first = self.own == self.entries.len();
        let mut own = self.entries.iter().skip(self.own);
        let known = own.position(|known| known.started == started && known.image == image);
        let known = known.map(|place| self.own.saturating_add(place));
        let entry = match known.and_then(|place| self.entries.get_mut(place)) {
            Some(entry) => entry,
            None => self.entries.push_mut(VersionEntry {
                started,
                image: image.to_owned(),
                version: String::new(),
                from: moment(started, self.last_seen, at),
                to: None,
                is_completed: false,
                is_first,
            }),
        };
        let version = reading::text(seen, "/version");
        if !version.is_empty() {
            version.clone_into(&mut entry.version);
        }
        if entry.to.is_none() {
            let completed = reading::time(seen, "/completionTime");
            entry.to = completed.map(|_| moment(completed, self.last_seen, at));
        }
        entry.is_completed |= reading::text(seen, "/state") == "Completed";
    }

    /// Returns the upgrades, in order: every entry but the first of a cluster.
    pub(super) fn upgrades(&self) -> Vec<UpgradeWindow> {
        let pairs = self.entries.iter().zip(self.entries.iter().skip(1));
        let pairs = pairs.filter(|(_, entry)| !entry.is_first);
        let windows = pairs.map(|(before, entry)| UpgradeWindow {
            from_version: before.version.clone(),
            to_version: entry.version.clone(),
            from: entry.from,
            to: entry.to,
            is_completed: entry.is_completed,
        });
        windows.collect()
    }

    /// Returns the installation: its version, its begin and its end.
    pub(super) fn install(&self) -> Option<UpgradeWindow> {
        self.entries.first().map(|entry| UpgradeWindow {
            from_version: String::new(),
            to_version: entry.version.clone(),
            from: entry.from,
            to: entry.to,
            is_completed: entry.is_completed,
        })
    }

    /// Returns whether the installation was seen to run.
    pub(super) const fn saw_install(&self) -> bool {
        self.saw_install
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(text: &str) -> RecordedAt {
        kubereel_history::timetext::parsed(text).expect("a time")
    }

    fn entry(version: &str, state: &str, started: &str, completed: Option<&str>) -> Value {
        json!({"version": version, "image": format!("image:{version}"), "state": state,
            "startedTime": started, "completionTime": completed})
    }

    #[test]
    fn an_install_and_an_upgrade_are_seen_to_run() {
        let mut history = VersionHistory::default();
        let (first, second) = ("2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z");
        let see = |history: &mut VersionHistory, entries: &[Value], moment: &str| {
            history.see(&json!({"status": {"history": entries}}), at(moment));
        };
        see(
            &mut history,
            &[entry("1", "Partial", first, None)],
            "2026-01-01T10:00:00.250Z",
        );
        assert!(history.saw_install());
        let done = entry("1", "Completed", first, Some("2026-01-01T10:30:00Z"));
        see(
            &mut history,
            std::slice::from_ref(&done),
            "2026-01-01T10:30:00.500Z",
        );
        let partial = entry("2", "Partial", second, None);
        see(
            &mut history,
            &[partial, done.clone()],
            "2026-01-01T11:00:00.750Z",
        );
        let install = history.install().expect("an install");
        assert_eq!(install.from, at("2026-01-01T10:00:00.250Z"));
        assert_eq!(install.to, Some(at("2026-01-01T10:30:00.500Z")));
        let upgrades = history.upgrades();
        assert_eq!(upgrades.len(), 1);
        assert_eq!(upgrades[0].from, at("2026-01-01T11:00:00.750Z"));
        assert_eq!((upgrades[0].to, upgrades[0].is_completed), (None, false));
        assert_eq!(
            (&*upgrades[0].from_version, &*upgrades[0].to_version),
            ("1", "2")
        );
        let completed = entry("2", "Completed", second, Some("2026-01-01T11:20:00Z"));
        see(&mut history, &[completed, done], "2026-01-01T11:20:05Z");
        let upgrades = history.upgrades();
        // A late sight is dated by the writer.
        assert_eq!(upgrades[0].to, Some(at("2026-01-01T11:20:00Z")));
    }

    #[test]
    fn the_installation_of_another_cluster_is_no_upgrade() {
        let mut history = VersionHistory::default();
        let done = entry(
            "1",
            "Completed",
            "2026-01-01T10:00:00Z",
            Some("2026-01-01T10:30:00Z"),
        );
        let next = entry("2", "Partial", "2026-01-01T11:00:00Z", None);
        for (uid, entry, moment) in [
            ("a", done, "2026-01-01T10:30:00Z"),
            ("b", next, "2026-01-01T11:00:00Z"),
        ] {
            let version = json!({"metadata": {"uid": uid}, "status": {"history": [entry]}});
            history.see(&version, at(moment));
        }
        assert_eq!(history.upgrades(), []);
    }

    #[test]
    fn a_finished_cluster_was_not_seen_to_be_installed() {
        let mut history = VersionHistory::default();
        let done = entry(
            "1",
            "Completed",
            "2026-01-01T10:00:00Z",
            Some("2026-01-01T10:30:00Z"),
        );
        history.see(
            &json!({"status": {"history": [done]}}),
            at("2026-01-02T10:00:00Z"),
        );
        assert!(!history.saw_install());
        let install = history.install().expect("an install");
        assert_eq!(install.to, Some(at("2026-01-01T10:30:00Z")));
    }
}
