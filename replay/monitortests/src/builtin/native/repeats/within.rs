//! Owns the spans inside which an Event may repeat: intervals of the same run that an entry of the list
//! describes. Refuses a span without an end unless the run ends it.

use super::allowed::AllowedError;
use crate::interval::{Interval, Intervals};
use kubereel_format::RecordedAt;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Which intervals excuse, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shadow {
    pub(super) source: String,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    reason: Option<String>,
    message: Option<String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    #[serde(default)]
    before_secs: u32,
    #[serde(default)]
    after_secs: u32,
}

/// The spans of a run inside which an Event may repeat.
#[derive(Debug)]
pub(crate) struct Within(Vec<(RecordedAt, RecordedAt)>);

impl Within {
    /// Finds them.
    ///
    /// # Errors
    /// When `pattern` refuses a regular expression.
    pub(crate) fn new(
        shadows: &[Shadow],
        intervals: &Intervals,
        pattern: &dyn Fn(&str) -> Result<Regex, AllowedError>,
    ) -> Result<Self, AllowedError> {
        let mut spans = Vec::new();
        for shadow in shadows {
            let keys = patterns(&shadow.keys, pattern)?;
            let annotations = patterns(&shadow.annotations, pattern)?;
            let reason = shadow.reason.as_deref().map(pattern).transpose()?;
            let message = shadow.message.as_deref().map(pattern).transpose()?;
            let fits = |pattern: &Option<Regex>, text: &str| {
                pattern
                    .as_ref()
                    .is_none_or(|pattern| pattern.is_match(text))
            };
            let meant = intervals.of(&shadow.source).filter(|interval| {
                let locator = &interval.locator;
                let said = &interval.message;
                keys.iter()
                    .all(|(key, pattern)| pattern.is_match(locator.get(key).unwrap_or_default()))
                    && annotations.iter().all(|(name, pattern)| {
                        pattern.is_match(said.annotation(name).unwrap_or_default())
                    })
                    && fits(&reason, &said.reason)
                    && fits(&message, &said.human)
            });
            spans.extend(meant.map(|interval| {
                let widened = |at: RecordedAt, secs: i64| RecordedAt {
                    micros: at.micros.saturating_add(secs.saturating_mul(1_000_000)),
                };
                (
                    widened(interval.from, -i64::from(shadow.before_secs)),
                    widened(
                        interval.to_or(intervals.end()),
                        i64::from(shadow.after_secs),
                    ),
                )
            }));
        }
        Ok(Self(spans))
    }

    /// Tells whether an Event lies strictly inside one of them.
    pub(crate) fn holds(&self, event: &Interval) -> bool {
        let to = event.to.unwrap_or(event.from);
        let mut spans = self.0.iter();
        spans.any(|(from, until)| *from < event.from && to < *until)
    }
}

fn patterns(
    written: &BTreeMap<String, String>,
    pattern: &dyn Fn(&str) -> Result<Regex, AllowedError>,
) -> Result<Vec<(String, Regex)>, AllowedError> {
    let ready = written
        .iter()
        .map(|(key, text)| Ok((key.clone(), pattern(text)?)));
    ready.collect()
}
