//! Owns how attempts are told apart: by the operator's Events, its Pods and what `ClusterVersion` said,
//! whichever of them were recorded. A start of the operator itself is no attempt: it loads the
//! release that it runs.

use super::mark::Mark;
use super::retrieval::{
    PodEvent, Retrieval, RetrievalEnd, Retrievals, Told, after_failure, quoted,
};
use super::version_pod::VersionPod;
use crate::condition::StatusCondition;
use crate::read::{ClusterVersion, ReadVersion};
use kubereel_history::Logged;
use std::collections::BTreeMap;

/// What an attempt begins, ends or shows itself by.
enum Sign<'a> {
    /// The Event of its begin, and how many begins its count tells beyond those seen.
    Begins {
        image: &'a str,
        unseen: u64,
    },
    Pod(&'a VersionPod),
    Loading {
        image: &'a str,
    },
    Loaded {
        image: &'a str,
    },
    Fails {
        image: &'a str,
        step: &'a str,
        message: &'a str,
    },
    Told {
        reason: &'a str,
        message: &'a str,
    },
    Warned {
        reason: &'a str,
        message: &'a str,
    },
    /// The update was accepted.
    Accepted,
}

/// Puts the attempts of an update together, from the moment it was asked for to that at which it was
/// accepted, or given up.
pub(super) fn retrievals(
    versions: &[ReadVersion<ClusterVersion>],
    pods: &[VersionPod],
    events: &[LoggedEvent],
    from: Mark,
    accepted: Option<Mark>,
    to: Option<Mark>,
) -> Retrievals {
    let mut signs: Vec<(Mark, Sign<'_>)> = Vec::new();
    let is_between = |mark: Mark| mark.seq >= from.seq && to.is_none_or(|to| mark.seq <= to.seq);
    signs.extend(
        pods.iter()
            .map(|pod| (pod.created, Sign::Pod(pod)))
            .chain(of_events(versions, events))
            .chain(of_versions(versions))
            .filter(|(mark, _)| is_between(*mark)),
    );
    signs.extend(accepted.map(|mark| (mark, Sign::Accepted)));
    signs.sort_by_key(|(mark, _)| mark.seq);
    let mut tale = Tale::default();
    for (mark, sign) in signs {
        tale.take(mark, &sign);
    }
    tale.close();
    let mut all = tale.all;
    for attempt in &mut all.attempts {
        if let Some(pod) = &attempt.pod {
            attempt.events = about(&pod.name, events);
        }
    }
    all
}

fn about(pod: &str, events: &[LoggedEvent]) -> Vec<PodEvent> {
    events
        .iter()
        .filter(|logged| logged.said.regarding.kind == "Pod" && logged.said.regarding.name == pod)
        .map(|logged| PodEvent {
            mark: mark_of(logged),
            reason: logged.said.reason.clone(),
            severity: logged.said.severity.clone(),
            message: logged.said.message.clone(),
            count: logged.said.count,
        })
        .collect()
}

const fn mark_of(logged: &LoggedEvent) -> Mark {
    Mark {
        seq: logged.seq,
        at: logged.at,
    }
}

/// Gives the image that the cluster runs, or goes to, when a record comes.
fn current_image(versions: &[ReadVersion<ClusterVersion>], mark: Mark) -> &str {
    let count = versions.partition_point(|seen| seen.mark.seq < mark.seq);
    let last = count.checked_sub(1).and_then(|last| versions.get(last));
    last.map_or("", |seen| seen.body.status.desired.image.as_str())
}

fn of_events<'a>(
    versions: &'a [ReadVersion<ClusterVersion>],
    events: &'a [Logged],
) -> Vec<(Mark, Sign<'a>)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut signs = Vec::new();
    for logged in events {
        let said = &logged.said;
        if said.regarding.kind != "ClusterVersion" {
            continue;
        }
        let mark = mark_of(logged);
        let image = quoted(&said.message, "image").unwrap_or_default();
        let before = counts.insert(&logged.name, said.count);
        // The operator that starts loads what it runs already.
        if !image.is_empty() && image == current_image(versions, mark) {
            continue;
        }
        let unseen = said.count.saturating_sub(before.unwrap_or(0) + 1);
        let message = said.message.as_str();
        let sign = match said.reason.as_str() {
            // The version operator reuses the reason to warn that the release of a forced update
            // cannot be verified: that belongs to the attempt under way.
            "RetrievePayload" if said.severity == "Warning" => Sign::Warned {
                reason: &said.reason,
                message,
            },
            "RetrievePayload" => Sign::Begins { image, unseen },
            "LoadPayload" => Sign::Loading { image },
            "PayloadLoaded" => Sign::Loaded { image },
            "PreconditionWarn" => Sign::Warned {
                reason: &said.reason,
                message,
            },
            "PreconditionBlock" => Sign::Fails {
                image,
                step: "PreconditionChecks",
                message,
            },
            other => match other.strip_suffix("Failed") {
                Some(step @ ("RetrievePayload" | "LoadPayload" | "VerifyPayloadVersion")) => {
                    Sign::Fails {
                        image,
                        step,
                        message,
                    }
                }
                _ => continue,
            },
        };
        signs.push((mark, sign));
    }
    signs
}

/// Gives the moments at which the condition says something new of a failure.
fn of_versions(versions: &[ReadVersion<ClusterVersion>]) -> Vec<(Mark, Sign<'_>)> {
    let mut last = "";
    let mut signs = Vec::new();
    for seen in versions.iter().filter(|seen| !seen.is_gone) {
        let accepted = StatusCondition::find(&seen.body.status.conditions, "ReleaseAccepted");
        let failed = accepted.filter(|condition| condition.is("False"));
        let message = failed.map_or("", |condition| condition.message);
        if message != last
            && let Some(condition) = failed
        {
            let reason = condition.reason;
            signs.push((seen.mark, Sign::Told { reason, message }));
        }
        last = message;
    }
    signs
}

#[derive(Default)]
struct Tale {
    all: Retrievals,
    open: Option<Retrieval>,
}

impl Tale {
    fn take(&mut self, mark: Mark, sign: &Sign<'_>) {
        match *sign {
            Sign::Begins { image, unseen } => {
                self.all.counted_only += unseen;
                // Its Pod may come first: watches are one a resource.
                let is_known = self.open.as_ref().is_some_and(|open| {
                    open.end.is_none() && open.told.is_none() && open.began_by_pod_at(mark)
                });
                if is_known {
                    if let Some(open) = &mut self.open {
                        open.began = Some(mark);
                    }
                    return;
                }
                self.close();
                self.open = Some(begin(image, Some(mark)));
            }
            Sign::Pod(pod) => {
                let is_free = |open: &Retrieval| open.pod.is_none() && open.end.is_none();
                if !self.open.as_ref().is_some_and(is_free) {
                    self.close();
                    self.open = Some(begin(&pod.image, Some(mark)));
                }
                if let Some(open) = &mut self.open {
                    if open.image.is_empty() {
                        open.image.clone_from(&pod.image);
                    }
                    open.pod = Some(pod.clone());
                }
            }
            Sign::Loading { image } => {
                self.open.get_or_insert_with(|| begin(image, None));
            }
            Sign::Loaded { image } => self.end(image, mark, "", ""),
            Sign::Fails {
                image,
                step,
                message,
            } => self.end(image, mark, step, message),
            Sign::Told { reason, message } => self.told(mark, reason, message),
            Sign::Warned { reason, message } => self.all.warnings.push(Told {
                mark,
                reason: reason.to_owned(),
                message: message.to_owned(),
            }),
            Sign::Accepted => {
                if let Some(open) = &mut self.open {
                    open.end.get_or_insert(loaded(mark));
                }
            }
        }
    }

    fn close(&mut self) {
        let Some(mut attempt) = self.open.take() else {
            return;
        };
        // Where its Event is missing, the condition tells its end.
        if let (None, Some(told)) = (&attempt.end, &attempt.told) {
            attempt.end = Some(RetrievalEnd {
                mark: told.mark,
                failed_step: told.reason.clone(),
                message: told.message.clone(),
            });
        }
        self.all.attempts.push(attempt);
    }

    fn end(&mut self, image: &str, mark: Mark, step: &str, message: &str) {
        if self.open.as_ref().is_none_or(|open| open.end.is_some()) {
            self.close();
            self.open = Some(begin(image, None));
        }
        if let Some(open) = &mut self.open {
            open.end = Some(RetrievalEnd {
                mark,
                failed_step: step.to_owned(),
                message: message.to_owned(),
            });
        }
    }

    /// Finds the attempt that the condition speaks of: the one whose Pod it names, else the last
    /// that it has not spoken of.
    fn told(&mut self, mark: Mark, reason: &str, message: &str) {
        let told = Told {
            mark,
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        let failure = after_failure(message);
        let is_named = |attempt: &&mut Retrieval| {
            let pod = attempt.pod.as_ref();
            pod.is_some_and(|pod| names(failure, &pod.name))
        };
        let mut attempts = self.all.attempts.iter_mut().chain(&mut self.open).rev();
        if let Some(attempt) = attempts.find(is_named) {
            attempt.told.get_or_insert(told);
            return;
        }
        if let Some(open) = &mut self.open
            && open.told.is_none()
        {
            open.told = Some(told);
            return;
        }
        // Without Events the condition is all that tells of a failure.
        self.close();
        let mut attempt = begin(quoted(message, "image").unwrap_or_default(), None);
        attempt.end = Some(RetrievalEnd {
            mark,
            failed_step: reason.to_owned(),
            message: message.to_owned(),
        });
        attempt.told = Some(told);
        self.open = Some(attempt);
    }
}

/// Tells whether a text names a Pod: `pod version--abcde failed`.
fn names(text: &str, pod: &str) -> bool {
    let mut words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    words.any(|word| word == pod)
}

fn begin(image: &str, began: Option<Mark>) -> Retrieval {
    Retrieval {
        image: image.to_owned(),
        began,
        pod: None,
        end: None,
        told: None,
        events: Vec::new(),
    }
}

const fn loaded(mark: Mark) -> RetrievalEnd {
    RetrievalEnd {
        mark,
        failed_step: String::new(),
        message: String::new(),
    }
}

impl Retrieval {
    /// Tells whether its Pod alone told of its begin, just before.
    fn began_by_pod_at(&self, mark: Mark) -> bool {
        const DELIVERY_MICROS: i64 = 1_000_000;
        self.pod.as_ref().is_some_and(|pod| {
            self.began == Some(pod.created)
                && mark.at.micros_since(pod.created.at) < DELIVERY_MICROS
        })
    }
}
