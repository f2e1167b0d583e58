//! What refusals name: exhausted quotas, and webhooks that cannot be called. The API server returns
//! them to the client, and they appear in conditions and Events of all kinds.

use crate::collect::Collected;
use crate::lookup::{read, resources};
use crate::problem::ProblemObject;
use crate::sign::{Sign, SignKind};
use crate::span::{SignEnd, SignSpan, between};
use kubereel_cluster::RecordMark;
use kubereel_format::{EventType, ObjectId, RecordedAt};
use kubereel_history::Timeline;
use kubereel_history::field::{items, text};
use std::collections::{BTreeMap, BTreeSet};

const QUOTA: &str = "exceeded quota: ";
const WEBHOOK: &str = "failed calling webhook \"";
/// Once may be a race that the next attempt won.
const REPEATED: u64 = 2;

/// What refusals named in a reel.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// Namespaces and names of quotas.
    quotas: BTreeSet<(String, String)>,
    webhooks: BTreeMap<String, FailedCalls>,
}

/// The calls of a webhook that failed.
#[derive(Debug)]
struct FailedCalls {
    message: String,
    from: RecordMark,
    is_older: bool,
    end: SignEnd,
    seen: RecordedAt,
    /// By the signs of objects.
    shown: u64,
    /// By the counts of Events.
    said: u64,
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
        if let Some((_, after)) = message.split_once(QUOTA) {
            let name = after.split([',', ' ']).next().unwrap_or_default();
            self.quotas.insert((namespace.to_owned(), name.to_owned()));
        }
        let Some(at) = message.find(WEBHOOK) else {
            return;
        };
        let words = message.get(at..).unwrap_or_default();
        let Some(name) = words.split('"').nth(1) else {
            return;
        };
        let calls = self.webhooks.entry(name.to_owned()).or_insert(FailedCalls {
            message: words.to_owned(),
            from: span.from,
            is_older: span.is_older,
            end: span.end,
            seen: span.seen,
            shown: 0,
            said: 0,
        });
        if span.from < calls.from {
            calls.from = span.from;
            calls.is_older = span.is_older;
        }
        calls.end = match (calls.end.at(), span.end.at()) {
            (Some(one), Some(other)) => SignEnd::Recovered(one.max(other)),
            _ => SignEnd::Open,
        };
        calls.seen = calls.seen.max(span.seen);
        calls.shown += u64::from(said == 0);
        calls.said += said;
    }

    /// Returns whether something was refused for a quota.
    pub(crate) fn name_quota(&self, namespace: &str, name: &str) -> bool {
        let key = (namespace.to_owned(), name.to_owned());
        self.quotas.contains(&key)
    }

    /// Makes spans of the calls that failed, of the configurations that want them.
    pub(crate) fn webhook_spans(&self, timeline: &Timeline) -> Vec<SignSpan> {
        let mut spans = Vec::new();
        if self.webhooks.is_empty() {
            return spans;
        }
        let group = "admissionregistration.k8s.io";
        let plurals = [
            "mutatingwebhookconfigurations",
            "validatingwebhookconfigurations",
        ];
        for resource in plurals
            .iter()
            .flat_map(|plural| resources(timeline, group, plural))
        {
            for &object in timeline.objects_of(resource) {
                for name in webhooks(timeline, object) {
                    let calls = self.webhooks.get(&name);
                    spans.extend(calls.map(|calls| calls.span(object)));
                }
            }
        }
        spans
    }
}

impl FailedCalls {
    fn span(&self, object: ObjectId) -> SignSpan {
        let until = self.end.at().unwrap_or(self.seen);
        SignSpan {
            object,
            sign: Sign::new(SignKind::Webhook, "", &self.message),
            from: self.from,
            is_older: self.is_older,
            end: self.end,
            shown: between(self.from.at, until),
            run_from: until,
            seen: self.seen,
            was_well: true,
            count: self.shown.max(self.said),
            node: String::new(),
        }
    }
}

/// Returns the names of the webhooks of a configuration, by its last version.
fn webhooks(timeline: &Timeline, object: ObjectId) -> Vec<String> {
    let versions = timeline.reel().versions(object).iter().rev();
    let mut living =
        versions.filter(|seq| timeline.reel().kind_of(**seq) != Some(EventType::Deleted));
    let Some(body) = living.next().and_then(|seq| read(timeline, *seq)) else {
        return Vec::new();
    };
    let webhooks = items(&body, "/webhooks").iter();
    webhooks.map(|one| text(one, "/name").to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::Seq;

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
            shown: std::time::Duration::ZERO,
            run_from: at,
            seen: at,
            was_well: true,
            count: 1,
            node: String::new(),
        }
    }

    #[test]
    fn refusals_name_the_quota_and_the_webhook() {
        let mut all = Refusals::default();
        let quota = "pods \"web-1\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
        all.take("shop", &span(quota, 5, SignEnd::Open), 0);
        assert!(all.name_quota("shop", "small"));
        assert!(!all.name_quota("shop", "large") && !all.name_quota("other", "small"));

        let call = "Internal error occurred: failed calling webhook \"pods.gate.example\": no endpoints available";
        let ended = SignEnd::Recovered(RecordedAt::from_micros(9));
        all.take("shop", &span(call, 7, ended), 0);
        all.take("shop", &span(call, 6, SignEnd::Open), 12);
        let calls = all.webhooks.get("pods.gate.example").expect("its calls");
        let span = calls.span(ObjectId(3));
        assert_eq!(
            (span.from.seq, span.end, span.count),
            (Seq(6), SignEnd::Open, 12)
        );
        assert!(span.sign.message.starts_with("failed calling webhook"));
    }
}
