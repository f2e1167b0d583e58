//! Deadlines: what becomes wrong by the passing of time alone, while the object stays as it is. A `CronJob`
//! that does not run when it is due; a certificate that expires.
//!
//! That a deadline passed is only claimed where a later moment was observed: the end of a recording and
//! times without a watch prove nothing.

use crate::certificate::CertificateLife;
use crate::schedule::CronSchedule;
use crate::sign::{Sign, SignKind};
use crate::span::between;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::tz::TimeZone;
use kubereel_format::{RecordedAt, ResourceId, ResourceInfo};
use kubereel_history::field::{at, is_being_deleted, is_true, items, text};
use kubereel_history::{Timeline, timetext};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// A run that begins this late was not missed: a controller manager that took over, clocks that differ.
const LATE_RUN: Duration = Duration::from_mins(2);
/// A certificate that lives no longer than this is about to expire.
const EXPIRING: Duration = Duration::from_hours(24);
/// Of one that lives shortly, this part of its life must be left: those of OpenShift are renewed after four
/// fifths of it.
const EXPIRING_PART: u32 = 10;
/// A certificate that is to be renewed may be so this long after its time.
const LATE_RENEWAL: Duration = Duration::from_hours(1);

/// The fields of objects with deadlines, besides those of their signs.
pub(crate) const PATHS: &[&str] = &[
    "metadata.annotations",
    "metadata.creationTimestamp",
    "spec.schedule",
    "spec.timeZone",
    "spec.concurrencyPolicy",
    "status.lastScheduleTime",
    "status.active",
    "status.notBefore",
    "status.notAfter",
    "status.renewalTime",
    "status.certificatesExpiryDate",
];

/// Returns the further fields that are read of a resource whose objects hold bundles of certificate
/// authorities: the places of the bundles.
pub(crate) fn bundle_paths(info: &ResourceInfo) -> &'static [&'static str] {
    match (info.group.as_str(), info.plural.as_str()) {
        ("", "configmaps") => &[
            "data[*.crt]",
            "data[*.pem]",
            "data[client-ca-file]",
            "data[requestheader-client-ca-file]",
        ],
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations" | "validatingwebhookconfigurations",
        ) => &["webhooks.name", "webhooks.clientConfig.caBundle"],
        ("apiregistration.k8s.io", "apiservices") => &["spec.caBundle"],
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            &["spec.conversion.webhook.clientConfig.caBundle"]
        }
        _ => &[],
    }
}

/// A sign that an object shows from a time on, if it stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// When the sign begins.
    pub(crate) from: RecordedAt,
    /// When it is proven, if the object is still the same then.
    proven: RecordedAt,
    pub(crate) sign: Sign,
    /// What it was computed of: another schedule is another deadline.
    basis: String,
}

/// Returns whether objects of a resource have deadlines.
pub(crate) fn is_kept(info: &ResourceInfo) -> bool {
    matches!(
        (info.group.as_str(), info.plural.as_str()),
        ("batch", "cronjobs")
            | ("cert-manager.io", "certificates")
            | ("cluster.x-k8s.io", "machines")
            | ("", "secrets")
    ) || !bundle_paths(info).is_empty()
}

impl Deadline {
    /// Reads the deadline of a version that came at a time; `before` is that of the version before it.
    pub(crate) fn of(
        info: &ResourceInfo,
        object: &Value,
        at: RecordedAt,
        before: Option<&Self>,
    ) -> Option<Self> {
        if is_being_deleted(object) {
            return None;
        }
        match (info.group.as_str(), info.plural.as_str()) {
            ("batch", "cronjobs") => run(object, at, before),
            _ if is_of_revision(object) => None,
            _ => expiry(object, at).or_else(|| bundle_expiry(info, object, at)),
        }
    }

    /// Returns whether it has passed at a time that was observed.
    pub(crate) fn has_passed(&self, at: RecordedAt) -> bool {
        self.proven <= at
    }
}

/// Reads when the next run of a `CronJob` is missed.
fn run(object: &Value, at: RecordedAt, before: Option<&Deadline>) -> Option<Deadline> {
    let waits = text(object, "/spec/concurrencyPolicy") == "Forbid"
        && !items(object, "/status/active").is_empty();
    if is_true(object, "/spec/suspend") || waits {
        return None;
    }
    let (written, zone_name) = (
        text(object, "/spec/schedule"),
        text(object, "/spec/timeZone"),
    );
    let schedule = CronSchedule::parse(written)?;
    let last = timetext::parsed(text(object, "/status/lastScheduleTime"));
    let zone = match zone_name {
        // It is that of the controller manager: UTC, if the last run was due then.
        "" => {
            let is_utc = last.map_or_else(
                || schedule.is_same_everywhere(),
                |last| schedule.is_due(&TimeZone::UTC, last),
            );
            is_utc.then_some(TimeZone::UTC)?
        }
        name => TimeZone::get(name).ok()?,
    };
    let basis = format!("{written} {zone_name}");
    // A run that was due before this version is still due, if no run came.
    let waited =
        before.filter(|before| before.basis == basis && last.is_none_or(|last| last < before.from));
    let due = if let Some(before) = waited {
        before.from
    } else {
        let created = timetext::parsed(text(object, "/metadata/creationTimestamp"));
        let start = last.or(created).unwrap_or(at);
        schedule.next_after(&zone, start, last.map_or(at, |last| last.max(at)))?
    };
    let ran = last.map_or_else(
        || "it never ran".to_owned(),
        |last| format!("its last run was that of {}", timetext::rfc3339_secs(last)),
    );
    let in_zone = if zone_name.is_empty() {
        String::new()
    } else {
        format!(" in {zone_name}")
    };
    let message = format!(
        "the run of {} ({written}{in_zone}) did not begin; {ran}",
        timetext::rfc3339_secs(due)
    );
    Some(Deadline {
        from: due,
        proven: later(due, LATE_RUN),
        sign: Sign::new(SignKind::RunMissed, "", &message),
        basis,
    })
}

/// Returns whether an object is a copy for one revision of a static Pod: its certificates are never renewed.
fn is_of_revision(object: &Value) -> bool {
    let mut owners = items(object, "/metadata/ownerReferences").iter();
    owners.any(|owner| text(owner, "/kind") == "ConfigMap")
}

/// When a certificate ends, by the object that says it.
#[derive(Clone, Copy, Debug)]
struct CertificateTimes<'a> {
    begin: &'a str,
    renewal: &'a str,
    end: &'a str,
}

impl<'a> CertificateTimes<'a> {
    fn of(object: &'a Value) -> Option<Self> {
        let noted = |name: &str| {
            let annotations = at(object, "/metadata/annotations")?;
            annotations.get(name).and_then(Value::as_str)
        };
        let given = |end| Self {
            begin: noted("auth.openshift.io/certificate-not-before").unwrap_or_default(),
            renewal: "",
            end,
        };
        match text(object, "/status/notAfter") {
            "" => noted("auth.openshift.io/certificate-not-after")
                .or_else(|| noted("service.beta.openshift.io/expiry"))
                .or_else(|| at(object, "/status/certificatesExpiryDate")?.as_str())
                .map(given),
            end => Some(Self {
                begin: text(object, "/status/notBefore"),
                renewal: text(object, "/status/renewalTime"),
                end,
            }),
        }
    }
}

/// Reads when a certificate is about to expire and not renewed.
fn expiry(object: &Value, at: RecordedAt) -> Option<Deadline> {
    let times = CertificateTimes::of(object)?;
    let end = timetext::parsed(times.end)?;
    let mut from = expiring_from(timetext::parsed(times.begin), end);
    if let Some(renewal) = timetext::parsed(times.renewal) {
        let patience = LATE_RENEWAL.min(between(renewal, end) / 2);
        from = from.max(later(renewal, patience));
    }
    let message = format!(
        "the certificate {} at {} and is not renewed",
        expires(end, at),
        times.end
    );
    Some(Deadline {
        from,
        proven: from,
        sign: Sign::new(SignKind::Certificate, "", &message),
        basis: times.end.to_owned(),
    })
}

/// Returns the verb for the end of a certificate in a version of its object.
fn expires(end: RecordedAt, at: RecordedAt) -> &'static str {
    if end <= at { "expired" } else { "expires" }
}

/// Returns from when on a certificate is about to expire.
fn expiring_from(begin: Option<RecordedAt>, end: RecordedAt) -> RecordedAt {
    let soon = match begin {
        Some(begin) => EXPIRING.min(between(begin, end) / EXPIRING_PART),
        None => EXPIRING,
    };
    earlier(end, soon)
}

/// Reads when the first of an object's bundles of certificate authorities is about to have no valid one left.
fn bundle_expiry(info: &ResourceInfo, object: &Value, at: RecordedAt) -> Option<Deadline> {
    let bundles = bundles(info, object).into_iter();
    let lives = bundles.filter_map(|(place, pem)| Some((place, CertificateLife::of_bundle(&pem)?)));
    let (place, life) = lives.min_by_key(|(_, life)| life.end)?;
    let end = timetext::rfc3339_secs(life.end);
    let which = if life.certificates == 1 {
        "the certificate authority".to_owned()
    } else {
        format!("the last of {} certificate authorities", life.certificates)
    };
    let serial = &life.serial;
    let message = format!(
        "{which} in {place} {} at {end} and is not replaced; its serial number is {serial}",
        expires(life.end, at)
    );
    let from = expiring_from(Some(life.begin), life.end);
    Some(Deadline {
        from,
        proven: from,
        // All objects that trust the same authority have the same problem.
        sign: Sign::new(SignKind::Certificate, "", &message).of_part(&format!("{serial} {end}")),
        basis: end,
    })
}

/// Returns the bundles of certificate authorities of an object in PEM, each with its place.
fn bundles(info: &ResourceInfo, object: &Value) -> Vec<(String, Vec<u8>)> {
    let encoded = |place: String, value: Option<&Value>| {
        let pem = BASE64_STANDARD.decode(value?.as_str()?).ok()?;
        Some((place, pem))
    };
    match info.plural.as_str() {
        "configmaps" => {
            let data = at(object, "/data").and_then(Value::as_object);
            let texts = data.into_iter().flatten();
            texts
                .filter_map(|(name, value)| {
                    let pem = value.as_str()?.as_bytes().to_vec();
                    Some((format!("its key {name}"), pem))
                })
                .collect()
        }
        "apiservices" => {
            let bundle = encoded("spec.caBundle".to_owned(), at(object, "/spec/caBundle"));
            bundle.into_iter().collect()
        }
        "customresourcedefinitions" => {
            let place = "spec.conversion.webhook.clientConfig.caBundle";
            let value = at(object, "/spec/conversion/webhook/clientConfig/caBundle");
            encoded(place.to_owned(), value).into_iter().collect()
        }
        _ => {
            let webhooks = items(object, "/webhooks").iter();
            webhooks
                .filter_map(|webhook| {
                    let place = format!("the caBundle of webhook {}", text(webhook, "/name"));
                    encoded(place, at(webhook, "/clientConfig/caBundle"))
                })
                .collect()
        }
    }
}

fn micros(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

fn later(at: RecordedAt, by: Duration) -> RecordedAt {
    RecordedAt::from_micros(at.micros.saturating_add(micros(by)))
}

fn earlier(at: RecordedAt, by: Duration) -> RecordedAt {
    RecordedAt::from_micros(at.micros.saturating_sub(micros(by)))
}

/// The times in which resources with deadlines were not observed.
#[derive(Debug, Default)]
pub(crate) struct ObservedTimes(BTreeMap<ResourceId, Vec<(RecordedAt, RecordedAt)>>);

impl ObservedTimes {
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let kept = timeline.resources().iter().filter(|info| is_kept(info));
        let of = |info: &ResourceInfo| {
            let spans = timeline.unobserved_spans(info.id).iter();
            (info.id, spans.map(|span| (span.from, span.to)).collect())
        };
        Self(kept.map(of).collect())
    }

    /// Returns the deadline's sign, if it passed at a moment before `until` that was observed.
    pub(crate) fn passed<'d>(
        &self,
        deadline: &'d Deadline,
        resource: ResourceId,
        until: RecordedAt,
    ) -> Option<&'d Deadline> {
        let mut at = deadline.proven;
        // By their begin: what ends one may lie in the next.
        for (from, to) in self.0.get(&resource).into_iter().flatten() {
            if *from <= at && at < *to {
                at = *to;
            }
        }
        (at < until).then_some(deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(time: &str) -> RecordedAt {
        timetext::parsed(time).expect("a time")
    }

    fn cron_job(last: &str, more: &Value) -> Value {
        let mut spec = json!({"schedule": "*/10 * * * *"});
        for (name, value) in more.as_object().expect("fields") {
            spec[name] = value.clone();
        }
        json!({"spec": spec, "status": {"lastScheduleTime": last}})
    }

    #[test]
    fn a_run_that_did_not_begin_stays_due_until_one_begins() {
        let seen = |last: &str, now: &str, before: Option<&Deadline>| {
            run(&cron_job(last, &json!({})), at(now), before)
        };
        let first = seen("2026-11-23T10:00:00Z", "2026-11-23T10:03:00Z", None);
        let first = first.expect("a deadline");
        assert_eq!(first.from, at("2026-11-23T10:10:00Z"));
        assert!(!first.has_passed(at("2026-11-23T10:11:59Z")));
        assert!(first.has_passed(at("2026-11-23T10:12:00Z")));
        // An edit is no run.
        let edited = seen("2026-11-23T10:00:00Z", "2026-11-23T10:25:00Z", Some(&first));
        assert_eq!(edited.as_ref().map(|one| one.from), Some(first.from));
        let ran = seen(
            "2026-11-23T10:30:00Z",
            "2026-11-23T10:30:01Z",
            edited.as_ref(),
        );
        assert_eq!(ran.map(|one| one.from), Some(at("2026-11-23T10:40:00Z")));
    }

    #[test]
    fn no_run_is_missed_by_what_is_suspended_or_of_an_unknown_time_zone() {
        let now = at("2026-11-23T10:03:00Z");
        let last = "2026-11-23T10:00:00Z";
        assert!(run(&cron_job(last, &json!({"suspend": true})), now, None).is_none());
        let nowhere = json!({"timeZone": "Nowhere/Land"});
        assert!(run(&cron_job(last, &nowhere), now, None).is_none());
        // The last run was due at no time of UTC: the controller manager has another zone.
        assert!(run(&cron_job("2026-11-23T10:03:00Z", &json!({})), now, None).is_none());
        let mut busy = cron_job(last, &json!({"concurrencyPolicy": "Forbid"}));
        busy["status"]["active"] = json!([{"name": "a"}]);
        assert!(run(&busy, now, None).is_none());
        let zone = json!({"schedule": "0 6 * * *", "timeZone": "Europe/Berlin"});
        let due = run(&cron_job(last, &zone), now, None);
        assert_eq!(due.map(|one| one.from), Some(at("2026-11-24T05:00:00Z")));
    }

    #[test]
    fn a_certificate_is_late_when_its_renewal_is() {
        let first = at("2026-11-23T10:00:00Z");
        let of = |status: Value| expiry(&json!({"status": status}), first).map(|one| one.from);
        let long = json!({"notAfter": "2027-01-10T00:00:00Z"});
        assert_eq!(of(long), Some(at("2027-01-09T00:00:00Z")));
        let short =
            json!({"notBefore": "2027-01-01T00:00:00Z", "notAfter": "2027-01-01T10:00:00Z"});
        assert_eq!(of(short), Some(at("2027-01-01T09:00:00Z")));
        let renewed =
            json!({"renewalTime": "2027-01-09T12:00:00Z", "notAfter": "2027-01-10T00:00:00Z"});
        assert_eq!(of(renewed), Some(at("2027-01-09T13:00:00Z")));
    }

    #[test]
    fn the_annotations_of_a_secret_say_when_its_certificate_ends() {
        let mut secret = json!({"metadata": {"annotations": {
            "auth.openshift.io/certificate-not-before": "2021-08-03T09:07:18Z",
            "auth.openshift.io/certificate-not-after": "2021-08-04T09:07:18Z",
        }}});
        let of = |first: &str| expiry(&secret, at(first)).expect("a deadline");
        let found = of("2021-08-03T10:00:00Z");
        assert_eq!(found.from, at("2021-08-04T06:43:18Z"));
        assert!(found.sign.message.contains("expires at"));
        let over = of("2021-08-05T10:00:00Z").sign.message;
        assert!(over.contains("expired at"));
        // The copy of a revision is as old as the revision.
        let info = ResourceInfo::new(ResourceId(1), "v1", "secrets", "");
        let deadline =
            |secret: &Value| Deadline::of(&info, secret, at("2021-08-03T10:00:00Z"), None);
        assert!(deadline(&secret).is_some());
        secret["metadata"]["ownerReferences"] =
            json!([{"kind": "ConfigMap", "name": "revision-4"}]);
        assert!(deadline(&secret).is_none());
    }
}
