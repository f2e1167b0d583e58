//! Installations and upgrades: requests, acceptance and outcome, from the versions of
//! `ClusterVersion`. Requests from before the recording are not guessed.

use crate::history::ParsedVersion;
use crate::mark::{RecordMark, micros_between};
use crate::objects::{DesiredUpdate, HistoryEntry, VersionObject};
use kubereel_format::RecordedAt;
use kubereel_format::worded;

/// A release in `ClusterVersion`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterRelease {
    /// Its version; may be empty if only an image was given.
    pub version: String,
    /// Its image.
    pub image: String,
}

worded! {
/// The kind of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// The first installation.
    Install = "install",
    /// Any later change of the release.
    Upgrade = "upgrade",
}
}

/// One installation or upgrade, from the first request to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterUpdate {
    /// The kind.
    pub kind: UpdateKind,
    /// The release before; `None` for an installation.
    pub from: Option<ClusterRelease>,
    /// Whether the release before was never complete.
    pub is_from_partial: bool,
    /// The accepted release; `None` before acceptance.
    pub target: Option<ClusterRelease>,
    /// The requests, in order; empty if they were made before the recording.
    pub requests: Vec<UpdateRequest>,
    /// The first moment at which it was observed.
    pub first: RecordMark,
    /// Whether it ran already when the recording first saw `ClusterVersion`.
    pub is_older: bool,
    /// When the cluster-version operator accepted it: a new entry of its history.
    pub accepted: Option<RecordMark>,
    /// The start in the history, by the operator's own clock.
    pub started: Option<RecordedAt>,
    /// Whether the release's signature was verified.
    pub is_verified: Option<bool>,
    /// The risks that were accepted, as text of the operator.
    pub accepted_risks: String,
    /// The outcome; `None` while it runs.
    pub end: Option<UpdateEnd>,
}

/// A request, by a change of `spec.desiredUpdate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRequest {
    /// The first version with the new generation, the only evidence of the time.
    pub asked: RecordMark,
    /// The generation.
    pub generation: u64,
    /// The release.
    pub release: ClusterRelease,
    /// Whether it was forced.
    pub is_forced: bool,
    /// The outcome; `None` while it is pending.
    pub end: Option<RequestEnd>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestEnd {
    /// When it was observed.
    pub mark: RecordMark,
    /// The kind.
    pub how: HowRequestEnded,
}

worded! {
/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowRequestEnded {
    /// It was accepted.
    Accepted = "accepted",
    /// Another request replaced it.
    Replaced = "replaced",
    /// It was withdrawn.
    Withdrawn = "withdrawn",
}
}

/// The end of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateEnd {
    /// When it was observed.
    pub mark: RecordMark,
    /// The kind.
    pub how: HowUpdateEnded,
    /// The completion in the history, by the operator's own clock.
    pub completed: Option<RecordedAt>,
}

worded! {
/// The outcome of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowUpdateEnded {
    /// The control plane has the release.
    Completed = "completed",
    /// Another update was accepted before it was complete.
    Superseded = "superseded",
    /// It was withdrawn before it was accepted.
    Withdrawn = "withdrawn",
    /// The cluster of the recording is another one.
    OtherCluster = "other cluster",
}
}

impl ClusterUpdate {
    /// Returns its length in microseconds; an update that runs lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        micros_between(self.first.at, self.end.map_or(now, |end| end.mark.at))
    }

    /// Names it: `upgrade from 4.22.0 to 4.22.1`.
    pub fn words(&self) -> String {
        let target = match self.target_version() {
            "" => "a release without a version",
            version => version,
        };
        match (self.kind, &self.from) {
            (UpdateKind::Install, _) => format!("installation of {target}"),
            (UpdateKind::Upgrade, Some(from)) if !from.version.is_empty() => {
                format!("upgrade from {} to {target}", from.version)
            }
            (UpdateKind::Upgrade, _) => format!("upgrade to {target}"),
        }
    }

    /// Returns whether the control plane reached the release.
    pub fn is_completed(&self) -> bool {
        self.end
            .is_some_and(|end| end.how == HowUpdateEnded::Completed)
    }

    /// Returns when it was first requested, as far as that was observed.
    pub fn asked(&self) -> Option<RecordMark> {
        self.requests.first().map(|request| request.asked)
    }

    /// Returns the target version: the accepted one, else the last requested one; may be empty.
    pub fn target_version(&self) -> &str {
        let asked = self.requests.last().map(|request| &request.release);
        let release = self.target.as_ref().or(asked);
        release.map_or("", |release| release.version.as_str())
    }
}

/// Finds the updates, in the order of their begins.
pub(super) fn updates(versions: &[ParsedVersion<VersionObject>]) -> Vec<ClusterUpdate> {
    let mut search = UpdateSearch::default();
    for seen in versions.iter().filter(|seen| !seen.is_gone) {
        search.take(seen);
    }
    search.done.extend(search.running);
    search.done.extend(search.asked);
    search.done.sort_by_key(|update| update.first.seq);
    search.done
}

#[derive(Default)]
struct UpdateSearch<'a> {
    before: Option<&'a VersionObject>,
    done: Vec<ClusterUpdate>,
    /// The pending requests.
    asked: Option<ClusterUpdate>,
    /// The accepted update that is not complete.
    running: Option<ClusterUpdate>,
}

impl<'a> UpdateSearch<'a> {
    fn take(&mut self, seen: &'a ParsedVersion<VersionObject>) {
        let (now, mark) = (&seen.body, seen.mark);
        let before = self
            .before
            .replace(now)
            .filter(|before| before.metadata.uid == now.metadata.uid);
        match before {
            None => {
                self.end_all(mark, HowUpdateEnded::OtherCluster);
                self.begin(seen);
            }
            Some(before) => {
                if now.spec.desired_update != before.spec.desired_update {
                    self.asked_for(before, now, mark);
                }
                self.history(before, now, mark);
            }
        }
    }

    /// Takes the first version of a cluster.
    fn begin(&mut self, seen: &ParsedVersion<VersionObject>) {
        let (now, mark) = (&seen.body, seen.mark);
        let history = &now.status.history;
        match history.as_slice() {
            [] => {
                let mut update = empty(UpdateKind::Install, mark);
                update.is_older = seen.is_first_look;
                self.asked = Some(update);
            }
            [newest, rest @ ..] if !newest.is_completed() => {
                let kind = if rest.is_empty() {
                    UpdateKind::Install
                } else {
                    UpdateKind::Upgrade
                };
                let mut update = empty(kind, mark);
                update.is_older = true;
                accept(&mut update, newest, rest.first());
                self.running = Some(update);
            }
            _ => {}
        }
        // The status still describes the release before while a request is pending.
        if let Some(wanted) = &now.spec.desired_update
            && !is_reached(wanted, now)
            && !history.is_empty()
        {
            let mut update = empty(UpdateKind::Upgrade, mark);
            update.is_older = true;
            update.from = history.first().map(release_of);
            update.requests.push(request(wanted, now, mark));
            self.asked = Some(update);
        }
    }

    fn asked_for(&mut self, before: &VersionObject, now: &VersionObject, mark: RecordMark) {
        // After a gap a request and its acceptance may arrive with one version.
        let is_taken_up = !is_same_top(before, now);
        let wanted = now.spec.desired_update.as_ref();
        let Some(wanted) = wanted.filter(|wanted| is_taken_up || !is_reached(wanted, now)) else {
            self.withdraw(mark);
            return;
        };
        let mut update = self.asked.take().unwrap_or_else(|| {
            let mut update = empty(UpdateKind::Upgrade, mark);
            if let Some(newest) = before.status.history.first() {
                update.from = Some(release_of(newest));
                update.is_from_partial = !newest.is_completed();
            }
            update
        });
        end_request(&mut update, mark, HowRequestEnded::Replaced);
        update.requests.push(request(wanted, now, mark));
        self.asked = Some(update);
    }

    fn withdraw(&mut self, mark: RecordMark) {
        // An installation is requested by the object itself.
        let is_upgrade = |update: &ClusterUpdate| update.kind == UpdateKind::Upgrade;
        if !self.asked.as_ref().is_some_and(is_upgrade) {
            return;
        }
        if let Some(mut update) = self.asked.take() {
            end_request(&mut update, mark, HowRequestEnded::Withdrawn);
            end(&mut update, mark, HowUpdateEnded::Withdrawn, None);
            self.done.push(update);
        }
    }

    fn history(&mut self, before: &VersionObject, now: &VersionObject, mark: RecordMark) {
        let [newest, rest @ ..] = now.status.history.as_slice() else {
            return;
        };
        if !is_same_top(before, now) {
            if let Some(mut update) = self.running.take() {
                // After a gap its completion may arrive with the next update.
                let own = before.status.history.first();
                let mut later = rest.iter().filter(|entry| entry.is_completed());
                match own.and_then(|own| later.find(|entry| entry.is_same(own))) {
                    Some(done) => {
                        let completed = done.completed();
                        end(&mut update, mark, HowUpdateEnded::Completed, completed);
                    }
                    None => end(&mut update, mark, HowUpdateEnded::Superseded, None),
                }
                self.done.push(update);
            }
            let mut update = self
                .asked
                .take()
                .unwrap_or_else(|| empty(UpdateKind::Upgrade, mark));
            end_request(&mut update, mark, HowRequestEnded::Accepted);
            accept(&mut update, newest, rest.first());
            update.accepted = Some(mark);
            self.running = Some(update);
        }
        let Some(update) = &mut self.running else {
            return;
        };
        // The version is added later if only an image was given.
        update.target = Some(release_of(newest));
        if newest.is_completed() {
            end(update, mark, HowUpdateEnded::Completed, newest.completed());
            self.done.extend(self.running.take());
        }
    }

    fn end_all(&mut self, mark: RecordMark, how: HowUpdateEnded) {
        for mut update in [self.running.take(), self.asked.take()]
            .into_iter()
            .flatten()
        {
            end(&mut update, mark, how, None);
            self.done.push(update);
        }
    }
}

/// Returns whether the newest entry of the history is the same.
fn is_same_top(before: &VersionObject, now: &VersionObject) -> bool {
    match (before.status.history.first(), now.status.history.first()) {
        (Some(old), Some(new)) => old.is_same(new),
        (None, None) => true,
        _ => false,
    }
}

fn empty(kind: UpdateKind, first: RecordMark) -> ClusterUpdate {
    ClusterUpdate {
        kind,
        from: None,
        is_from_partial: false,
        target: None,
        requests: Vec::new(),
        first,
        is_older: false,
        accepted: None,
        started: None,
        is_verified: None,
        accepted_risks: String::new(),
        end: None,
    }
}

fn request(wanted: &DesiredUpdate, now: &VersionObject, asked: RecordMark) -> UpdateRequest {
    UpdateRequest {
        asked,
        generation: now.metadata.generation,
        release: ClusterRelease {
            version: wanted.version.clone(),
            image: wanted.image.clone(),
        },
        is_forced: wanted.force,
        end: None,
    }
}

fn release_of(entry: &HistoryEntry) -> ClusterRelease {
    ClusterRelease {
        version: entry.version.clone(),
        image: entry.image.clone(),
    }
}

/// Returns whether a cluster has already accepted the requested release.
fn is_reached(wanted: &DesiredUpdate, now: &VersionObject) -> bool {
    let desired = &now.status.desired;
    if wanted.image.is_empty() {
        wanted.version == desired.version
    } else {
        wanted.image == desired.image
    }
}

fn accept(update: &mut ClusterUpdate, newest: &HistoryEntry, before: Option<&HistoryEntry>) {
    update.target = Some(release_of(newest));
    update.started = newest.started();
    update.is_verified = Some(newest.verified);
    update.accepted_risks.clone_from(&newest.accepted_risks);
    if let Some(before) = before {
        update.from = Some(release_of(before));
        update.is_from_partial = !before.is_completed();
    }
}

fn end_request(update: &mut ClusterUpdate, mark: RecordMark, how: HowRequestEnded) {
    if let Some(request) = update.requests.last_mut() {
        request.end.get_or_insert(RequestEnd { mark, how });
    }
}

fn end(
    update: &mut ClusterUpdate,
    mark: RecordMark,
    how: HowUpdateEnded,
    completed: Option<RecordedAt>,
) {
    update.end = Some(UpdateEnd {
        mark,
        how,
        completed,
    });
}
