//! What the words of refusals name: quotas that leave no room, and webhooks that cannot be called, for
//! admission or to convert custom resources from one version to another. The API server says them to the client
//! that is refused, and they stand in conditions and Events of all kinds.

use crate::collect::Collected;
use crate::lookup::{read, resources};
use crate::problem::ProblemObject;
use crate::sign::{Sign, SignKind};
use crate::span::{SLACK, ShownTime, SignEnd, SignSpan, between, is_creation};
use kubereel_cluster::RecordMark;
use kubereel_format::{EventType, ObjectId, RecordedAt, Seq};
use kubereel_history::Timeline;
use kubereel_history::field::{items, text};
use serde_json::Value;
use std::collections::BTreeMap;

const QUOTA: &str = "exceeded quota: ";
const WEBHOOK: &str = "failed calling webhook \"";
/// Group, version and kind of the object follow, then why: `example.com/v1, Kind=Bucket failed: Post …`.
const CONVERSION: &str = "conversion webhook for ";
/// Once may be a race that the next attempt won.
const REPEATED: u64 = 2;

/// What refusals named in a reel.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// By namespaces and names of quotas.
    quotas: BTreeMap<(String, String), Vec<RefusedTime>>,
    webhooks: BTreeMap<FailedWebhook, FailedCalls>,
}

/// The webhook that a refusal names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FailedWebhook {
    /// One of a configuration for admission, by its name.
    Admission(String),
    /// That of the definition of a custom resource.
    Conversion { group: String, kind: String },
}

/// The calls of a webhook that failed.
#[derive(Debug, Default)]
struct FailedCalls {
    /// The words of the first one that was read.
    message: String,
    all: Vec<RefusedTime>,
}

/// A time in which an object was refused.
#[derive(Clone, Copy, Debug)]
struct RefusedTime {
    from: RecordMark,
    is_older: bool,
    end: SignEnd,
    seen: RecordedAt,
    /// By the count of an Event; 0 for the sign of an object.
    said: u64,
}

/// The times of an object that wants to be called.
#[derive(Clone, Copy, Debug)]
struct WebhookLife {
    object: ObjectId,
    /// When it was created; `None` if it was there before.
    created: Option<RecordMark>,
    /// When it was deleted.
    gone: Option<RecordedAt>,
}

impl Refusals {
    /// Reads the words of the signs that lasted, and of the Events that were repeated.
    pub(crate) fn of(
        found: &Collected,
        lasted: &[(ProblemObject, SignSpan)],
        end: RecordedAt,
    ) -> Self {
        let mut all = Self::default();
        for (shown, span) in lasted {
            all.take(&shown.namespace, span, 0);
        }
        let events = found.events.all();
        for (regarded, event) in events.filter(|(_, event)| event.count >= REPEATED) {
            all.take(
                &regarded.namespace,
                &event.span(SignKind::Events, end),
                event.count,
            );
        }
        all
    }

    fn take(&mut self, namespace: &str, span: &SignSpan, said: u64) {
        let message = &span.sign.message;
        let refused = RefusedTime {
            from: span.from,
            is_older: span.is_older,
            end: span.end,
            seen: span.seen,
            said,
        };
        if let Some((_, after)) = message.split_once(QUOTA) {
            let name = after.split([',', ' ']).next().unwrap_or_default();
            let key = (namespace.to_owned(), name.to_owned());
            self.quotas.entry(key).or_default().push(refused);
        }
        let Some((webhook, words)) = failed_webhook(message) else {
            return;
        };
        let calls = self.webhooks.entry(webhook).or_default();
        if calls.message.is_empty() {
            words.clone_into(&mut calls.message);
        }
        calls.all.push(refused);
    }

    /// Returns since when something was refused for a quota that was used up; `None` if nothing was.
    pub(crate) fn of_full_quota(
        &self,
        namespace: &str,
        name: &str,
        full: &SignSpan,
    ) -> Option<RecordMark> {
        let key = (namespace.to_owned(), name.to_owned());
        let is_then = |one: &&RefusedTime| {
            // The status of a quota follows what was admitted and refused.
            let end = one.end.at();
            let is_over = end.is_some_and(|end| between(end, full.from.at) > SLACK);
            !is_over && full.end.at().is_none_or(|end| one.from.at <= end)
        };
        let refused = self.quotas.get(&key)?.iter().filter(is_then);
        Some(refused.map(|one| one.from).min()?.max(full.from))
    }

    /// Makes spans of the calls that failed, of the objects that want them.
    pub(crate) fn webhook_spans(&self, timeline: &Timeline) -> Vec<SignSpan> {
        let mut spans = Vec::new();
        let mut take = |group: &str, plural: &str, of: &NamedWebhooks| {
            for resource in resources(timeline, group, plural) {
                for &object in timeline.objects_of(resource) {
                    let webhooks = of(timeline, object).into_iter();
                    let calls = webhooks.filter_map(|webhook| self.webhooks.get(&webhook));
                    let life = WebhookLife::of(timeline, object);
                    spans.extend(calls.filter_map(|calls| calls.span(life?)));
                }
            }
        };
        let mut all = self.webhooks.keys();
        if all.any(|webhook| matches!(webhook, FailedWebhook::Admission(_))) {
            let group = "admissionregistration.k8s.io";
            take(group, "mutatingwebhookconfigurations", &admission_webhooks);
            take(
                group,
                "validatingwebhookconfigurations",
                &admission_webhooks,
            );
        }
        let mut all = self.webhooks.keys();
        if all.any(|webhook| matches!(webhook, FailedWebhook::Conversion { .. })) {
            let group = "apiextensions.k8s.io";
            take(group, "customresourcedefinitions", &conversion_webhook);
        }
        spans
    }
}

/// Returns the webhooks that an object wants to be called.
type NamedWebhooks = dyn Fn(&Timeline, ObjectId) -> Vec<FailedWebhook>;

impl WebhookLife {
    fn of(timeline: &Timeline, object: ObjectId) -> Option<Self> {
        let versions = timeline.reel().versions(object);
        let is_deletion = |seq: &Seq| timeline.reel().kind_of(*seq) == Some(EventType::Deleted);
        let (first, last) = (*versions.first()?, *versions.last()?);
        let is_new = is_creation(timeline, first);
        Some(Self {
            object,
            created: is_new.then(|| RecordMark {
                seq: first,
                at: timeline.wall_of(first),
            }),
            gone: is_deletion(&last).then(|| timeline.wall_of(last)),
        })
    }
}

impl FailedCalls {
    /// Makes a span of the calls that failed for an object, while it was there.
    fn span(&self, life: WebhookLife) -> Option<SignSpan> {
        let is_then = |one: &&RefusedTime| {
            let is_over = match (one.end.at(), life.created) {
                (Some(end), Some(created)) => end < created.at,
                _ => false,
            };
            !is_over && life.gone.is_none_or(|gone| one.from.at <= gone)
        };
        let own = self.all.iter().filter(is_then);
        let first = own.clone().min_by_key(|one| one.from)?;
        let ends: Option<Vec<RecordedAt>> = own.clone().map(|one| one.end.at()).collect();
        let end = ends.and_then(|ends| ends.into_iter().max());
        let end = match (end, life.gone) {
            (Some(end), Some(gone)) if end < gone => SignEnd::Recovered(end),
            (_, Some(gone)) => SignEnd::Deleted(gone),
            (Some(end), None) => SignEnd::Recovered(end),
            (None, None) => SignEnd::Open,
        };
        let from = life.created.max(Some(first.from)).unwrap_or(first.from);
        let seen = own.clone().map(|one| one.seen).max()?;
        let until = end.at().unwrap_or(seen);
        let shown: u64 = own.clone().map(|one| u64::from(one.said == 0)).sum();
        let said = own.map(|one| one.said).sum();
        Some(SignSpan {
            object: life.object,
            sign: Sign::new(SignKind::Webhook, "", &self.message),
            from,
            is_older: first.is_older && from == first.from,
            end,
            shown: ShownTime::of(between(from.at, until)),
            run_from: until,
            seen,
            was_well: true,
            count: shown.max(said),
            node: String::new(),
            reasons: Vec::new(),
            message_from: None,
            began: None,
            closed_by: None,
        })
    }
}

/// Reads which webhook a refusal names, and its words from there on.
fn failed_webhook(message: &str) -> Option<(FailedWebhook, &str)> {
    if let Some((_, after)) = message.split_once(WEBHOOK) {
        let words = message.get(message.len() - after.len() - WEBHOOK.len()..)?;
        let name = after.split('"').next().filter(|name| !name.is_empty())?;
        return Some((FailedWebhook::Admission(name.to_owned()), words));
    }
    let (_, after) = message.split_once(CONVERSION)?;
    let words = message.get(message.len() - after.len() - CONVERSION.len()..)?;
    let (version, rest) = after.split_once(", Kind=")?;
    let (group, _) = version.rsplit_once('/')?;
    let (kind, _) = rest.split_once(" failed")?;
    let webhook = FailedWebhook::Conversion {
        group: group.to_owned(),
        kind: kind.to_owned(),
    };
    Some((webhook, words))
}

/// Reads the last version of an object that was not its deletion.
fn last_version(timeline: &Timeline, object: ObjectId) -> Option<Value> {
    let versions = timeline.reel().versions(object).iter().rev();
    let mut living =
        versions.filter(|seq| timeline.reel().kind_of(**seq) != Some(EventType::Deleted));
    read(timeline, *living.next()?)
}

/// Returns the webhooks of a configuration for admission.
fn admission_webhooks(timeline: &Timeline, object: ObjectId) -> Vec<FailedWebhook> {
    let body = last_version(timeline, object).unwrap_or_default();
    let names = items(&body, "/webhooks")
        .iter()
        .map(|one| text(one, "/name"));
    let all = names.map(|name| FailedWebhook::Admission(name.to_owned()));
    all.collect()
}

/// Returns the webhook that converts the custom resources of a definition, whether it still has one or not.
fn conversion_webhook(timeline: &Timeline, object: ObjectId) -> Vec<FailedWebhook> {
    let body = last_version(timeline, object).unwrap_or_default();
    vec![FailedWebhook::Conversion {
        group: text(&body, "/spec/group").to_owned(),
        kind: text(&body, "/spec/names/kind").to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(message: &str, from: i64, end: SignEnd) -> SignSpan {
        let at = RecordedAt::from_micros(from);
        SignSpan {
            object: ObjectId(0),
            sign: Sign::new(SignKind::CreateFailed, "FailedCreate", message),
            from: RecordMark {
                seq: Seq(u64::try_from(from).expect("positive")),
                at,
            },
            is_older: false,
            end,
            shown: ShownTime::default(),
            run_from: at,
            seen: at,
            was_well: true,
            count: 1,
            node: String::new(),
            reasons: Vec::new(),
            message_from: None,
            began: None,
            closed_by: None,
        }
    }

    #[test]
    fn refusals_name_the_quota_and_the_webhook() {
        let mut all = Refusals::default();
        let quota = "pods \"web-1\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
        all.take("shop", &span(quota, 5, SignEnd::Open), 0);
        let full = |from, end| span("pods: 2 of 2 used", from, end);
        let refused = |namespace, name, full: &SignSpan| {
            let mark = all.of_full_quota(namespace, name, full);
            mark.map(|mark| mark.seq)
        };
        let open = full(3, SignEnd::Open);
        assert_eq!(refused("shop", "small", &open), Some(Seq(5)));
        assert_eq!(refused("shop", "large", &open), None);
        assert_eq!(refused("other", "small", &open), None);
        assert_eq!(
            refused("shop", "small", &full(6, SignEnd::Open)),
            Some(Seq(6))
        );
        let before = SignEnd::Recovered(RecordedAt::from_micros(4));
        assert_eq!(refused("shop", "small", &full(3, before)), None);

        let call = "Internal error occurred: failed calling webhook \"pods.gate.example\": no endpoints available";
        let ended = SignEnd::Recovered(RecordedAt::from_micros(9));
        all.take("shop", &span(call, 7, ended), 0);
        all.take("shop", &span(call, 6, SignEnd::Open), 12);
        let gate = FailedWebhook::Admission("pods.gate.example".to_owned());
        let calls = all.webhooks.get(&gate).expect("its calls");
        let mut life = WebhookLife {
            object: ObjectId(3),
            created: None,
            gone: None,
        };
        let of = |life| {
            let span: Option<SignSpan> = calls.span(life);
            span.map(|span| (span.from.seq, span.end, span.count))
        };
        assert_eq!(of(life), Some((Seq(6), SignEnd::Open, 12)));
        let words = calls.span(life).map(|span| span.sign.message);
        assert!(words.is_some_and(|words| words.starts_with("failed calling webhook")));
        // What was deleted is called no more, and its successor has failures of its own.
        let gone = RecordedAt::from_micros(8);
        life.gone = Some(gone);
        assert_eq!(of(life), Some((Seq(6), SignEnd::Deleted(gone), 12)));
        life.gone = Some(RecordedAt::from_micros(5));
        assert_eq!(of(life), None);
        life = WebhookLife {
            created: Some(RecordMark {
                seq: Seq(8),
                at: gone,
            }),
            gone: None,
            ..life
        };
        assert_eq!(of(life), Some((Seq(8), SignEnd::Open, 12)));
    }

    #[test]
    fn a_failed_conversion_names_the_custom_resource() {
        let message = "Failed to delete all resource types, 1 remaining: conversion webhook for example.com/v1, Kind=Bucket failed: Post \"https://convert.storage.svc:443/?timeout=30s\": service \"convert\" not found";
        let (webhook, words) = failed_webhook(message).expect("a webhook");
        let bucket = FailedWebhook::Conversion {
            group: "example.com".to_owned(),
            kind: "Bucket".to_owned(),
        };
        assert_eq!(webhook, bucket);
        assert!(
            words.starts_with("conversion webhook for example.com/v1"),
            "{words}"
        );
        for other in [
            "conversion webhook for ",
            "conversion webhook for v1, Kind=Bucket failed: x",
            "conversion webhook for example.com/v1, Kind=Bucket returned 2 objects, expected 1",
            "failed calling webhook \"",
        ] {
            assert_eq!(failed_webhook(other), None, "{other}");
        }
    }
}
