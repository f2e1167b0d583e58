//! Owns the search for installations and upgrades in the versions of `ClusterVersion`. Refuses to guess
//! what was asked for before the recording.

use super::mark::Mark;
use super::update::{
    HowRequestEnded, HowUpdateEnded, Release, Request, RequestEnd, Update, UpdateEnd, UpdateKind,
};
use crate::read::{ClusterVersion, DesiredUpdate, HistoryEntry, ReadVersion};

/// Finds the updates, in the order in which they began.
pub(super) fn updates(versions: &[ReadVersion<ClusterVersion>]) -> Vec<Update> {
    let mut search = Search::default();
    for seen in versions.iter().filter(|seen| !seen.is_gone) {
        search.take(seen);
    }
    search.done.extend(search.running);
    search.done.extend(search.asked);
    search.done.sort_by_key(|update| update.first.seq);
    search.done
}

#[derive(Default)]
struct Search<'a> {
    before: Option<&'a ClusterVersion>,
    done: Vec<Update>,
    /// What was asked for and not accepted yet.
    asked: Option<Update>,
    /// What was accepted and is not complete.
    running: Option<Update>,
}

impl<'a> Search<'a> {
    fn take(&mut self, seen: &'a ReadVersion<ClusterVersion>) {
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
    fn begin(&mut self, seen: &ReadVersion<ClusterVersion>) {
        let (now, mark) = (&seen.body, seen.mark);
        let history = &now.status.history;
        match history.as_slice() {
            [] => {
                let mut update = empty(UpdateKind::Install, mark);
                update.is_older = seen.is_initial();
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
        // The status of a request that waits speaks of the release before.
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

    fn asked_for(&mut self, before: &ClusterVersion, now: &ClusterVersion, mark: Mark) {
        // After a gap a request and its acceptance may come with one version.
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

    fn withdraw(&mut self, mark: Mark) {
        // An installation is asked for by the object itself.
        let is_upgrade = |update: &Update| update.kind == UpdateKind::Upgrade;
        if !self.asked.as_ref().is_some_and(is_upgrade) {
            return;
        }
        if let Some(mut update) = self.asked.take() {
            end_request(&mut update, mark, HowRequestEnded::Withdrawn);
            end(&mut update, mark, HowUpdateEnded::Withdrawn, None);
            self.done.push(update);
        }
    }

    fn history(&mut self, before: &ClusterVersion, now: &ClusterVersion, mark: Mark) {
        let [newest, rest @ ..] = now.status.history.as_slice() else {
            return;
        };
        if !is_same_top(before, now) {
            if let Some(mut update) = self.running.take() {
                end(&mut update, mark, HowUpdateEnded::Superseded, None);
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
        // The version is filled in later where only an image was given.
        update.target = Some(release_of(newest));
        if newest.is_completed() {
            end(update, mark, HowUpdateEnded::Completed, newest.completed());
            self.done.extend(self.running.take());
        }
    }

    fn end_all(&mut self, mark: Mark, how: HowUpdateEnded) {
        for mut update in [self.running.take(), self.asked.take()]
            .into_iter()
            .flatten()
        {
            end(&mut update, mark, how, None);
            self.done.push(update);
        }
    }
}

/// Tells whether the newest entry of the history is the same.
fn is_same_top(before: &ClusterVersion, now: &ClusterVersion) -> bool {
    match (before.status.history.first(), now.status.history.first()) {
        (Some(old), Some(new)) => old.is_same(new),
        (None, None) => true,
        _ => false,
    }
}

fn empty(kind: UpdateKind, first: Mark) -> Update {
    Update {
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

fn request(wanted: &DesiredUpdate, now: &ClusterVersion, asked: Mark) -> Request {
    Request {
        asked,
        generation: now.metadata.generation,
        release: Release {
            version: wanted.version.clone(),
            image: wanted.image.clone(),
        },
        is_forced: wanted.force,
        end: None,
    }
}

fn release_of(entry: &HistoryEntry) -> Release {
    Release {
        version: entry.version.clone(),
        image: entry.image.clone(),
    }
}

/// Tells whether a cluster has taken up already what is wanted.
fn is_reached(wanted: &DesiredUpdate, now: &ClusterVersion) -> bool {
    let desired = &now.status.desired;
    if wanted.image.is_empty() {
        wanted.version == desired.version
    } else {
        wanted.image == desired.image
    }
}

fn accept(update: &mut Update, newest: &HistoryEntry, before: Option<&HistoryEntry>) {
    update.target = Some(release_of(newest));
    update.started = newest.started();
    update.is_verified = Some(newest.verified);
    update.accepted_risks.clone_from(&newest.accepted_risks);
    if let Some(before) = before {
        update.from = Some(release_of(before));
        update.is_from_partial = !before.is_completed();
    }
}

fn end_request(update: &mut Update, mark: Mark, how: HowRequestEnded) {
    if let Some(request) = update.requests.last_mut() {
        request.end.get_or_insert(RequestEnd { mark, how });
    }
}

fn end(
    update: &mut Update,
    mark: Mark,
    how: HowUpdateEnded,
    completed: Option<kubereel_format::RecordedAt>,
) {
    update.end = Some(UpdateEnd {
        mark,
        how,
        completed,
    });
}
