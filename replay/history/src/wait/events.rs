//! Owns when an Event about an object gave a reason. Refuses what was said before the recording: when
//! that was is not known.

use super::answer::MissedWhy;
use super::judge::Truth;
use super::series::{Piece, Series};
use super::span::Instant;
use super::walk::WaitQuestion;
use crate::cluster_events::{EventQuestion, Regarding};
use crate::moment::Cut;
use crate::select::ObjectFilter;
use crate::timeline::Timeline;
use kubereel_format::{Evidence, Seq};

impl Timeline {
    /// Gives the moments at which an Event about the object gave a reason, and the times in which
    /// Events were not seen.
    pub(super) fn said(&self, question: &WaitQuestion<'_>, reason: &str) -> Series {
        let span = &question.span;
        let mut steps: Vec<(Instant, Option<Seq>, Truth)> = Vec::new();
        let resources = self.event_resources();
        let unseen = Truth::Unknown(MissedWhy::NotObserved);
        // Where a recording knows Events by two groups, they are the same ones.
        let dark = resources
            .first()
            .map(|&events| self.dark(events, &ObjectFilter::default(), span));
        let is_unrecorded = dark.is_none();
        for dark in dark.into_iter().flatten() {
            let from = Instant {
                below: dark.below,
                at: dark.from,
            };
            let to = Instant {
                below: dark.until,
                at: crate::tables::before(dark.until).map_or(dark.from, |seq| self.wall_of(seq)),
            };
            steps.push((from, None, Truth::Unknown(dark.why)));
            steps.push((to, None, Truth::NotMet));
        }
        let log = self.event_log(EventQuestion {
            namespace: (!question.namespace.is_empty()).then(|| question.namespace.to_owned()),
            from: Some(Cut::Arrival {
                below: span.from.below,
                wall: span.from.at,
            }),
            to: Some(Cut::Arrival {
                below: span.to.below,
                wall: span.to.at,
            }),
            about: Some(Regarding {
                kind: question.resource.kind.clone(),
                namespace: question.namespace.to_owned(),
                name: question.name.to_owned(),
                uid: String::new(),
                api_version: String::new(),
            }),
            severity: None,
        });
        for logged in log {
            let Ok(logged) = logged else {
                let unreadable = Truth::Unknown(MissedWhy::Unreadable);
                steps.push((span.from, None, unreadable));
                continue;
            };
            if logged.said.reason == reason && logged.evidence != Evidence::Initial {
                let at = Instant {
                    below: Seq(logged.seq.0.saturating_add(1)),
                    at: logged.at,
                };
                steps.push((at, Some(logged.seq), Truth::Met));
            }
        }
        steps.sort_by_key(|(at, ..)| *at);
        let mut series = Series::until(span.to);
        let mut now = if is_unrecorded { unseen } else { Truth::NotMet };
        let piece = |from, seq, truth| Piece { from, seq, truth };
        let begun = steps.partition_point(|(at, ..)| *at <= span.from);
        for (_, _, truth) in steps.iter().take(begun) {
            now = truth.clone();
        }
        series.push(piece(span.from, None, now.clone()));
        for (at, seq, truth) in steps.into_iter().skip(begun) {
            if at > span.to {
                break;
            }
            if truth == Truth::Met {
                // It is said at a moment: right after it, all is as before.
                series.push(piece(at, seq, Truth::Met));
            } else {
                now = truth;
            }
            series.push(piece(at, None, now.clone()));
        }
        series
    }
}
