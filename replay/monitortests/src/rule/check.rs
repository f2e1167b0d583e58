//! Owns the reading of checks: one operator each, and the fields that go with it. Refuses fields that
//! would have no effect.

use super::model::{Check, Expected};
use super::read::{Reader, severity};
use super::scope::Stand;
use super::written::{self, CountedPer, Text};
use crate::verdict::Severity;

const OPERATORS: &str = "never, always, atEnd, eventually, leadsTo, until, stays, atMost, flaps, \
                         highest, total";

impl Reader<'_> {
    /// Reads the checks of a rule.
    pub(super) fn checks(
        &mut self,
        rule: &written::Rule,
        watches_objects: bool,
        usual: Severity,
    ) -> Vec<Check> {
        if rule.expect.value.is_empty() {
            let what = "the rule expects nothing";
            let mistake = self.source.of(rule.expect.referenced, what, "add a check");
            self.mistakes.push(mistake);
        }
        let written = rule.expect.value.iter();
        written
            .filter_map(|check| self.check(check, watches_objects, usual))
            .collect()
    }

    fn check(
        &mut self,
        spanned: &serde_saphyr::Spanned<written::Check>,
        watches_objects: bool,
        usual: Severity,
    ) -> Option<Check> {
        let written = &spanned.value;
        let names = operators(written);
        if names.len() != 1 {
            let what = format!("the check has {} operators", names.len());
            let hint = format!("give exactly one of {OPERATORS}");
            let mistake = self.source.of(spanned.referenced, what, hint);
            self.mistakes.push(mistake);
        }
        let name = *names.first()?;
        self.fields(name, written);
        let for_objects = ["until", "stays", "flaps"];
        if !watches_objects && for_objects.contains(&name) {
            let what = format!("`{name}` is for rules over objects");
            let hint = "over intervals there are never, always, atEnd, eventually, leadsTo, atMost, \
                        highest and total";
            self.mistakes
                .push(self.source.of(spanned.referenced, what, hint));
        }
        let (stand, evidence) = match (watches_objects, name) {
            (true, _) => (Stand::ObjectCheck, Stand::ObjectEvidence),
            (false, "eventually") => (Stand::IntervalCheck, Stand::MissingEvidence),
            (false, _) => (Stand::IntervalCheck, Stand::IntervalEvidence),
        };
        let expected = self.expected(written, stand);
        let flake_if = written.flake_if.as_ref();
        let flake_if = flake_if.map(|text| self.cel(text, evidence));
        let reason = written.reason.as_ref();
        let reason = reason.map(|text| self.template(text, evidence));
        let message = self.template(&written.message, evidence);
        Some(Check {
            expected: expected?,
            during: written.during.iter().map(|&during| during.into()).collect(),
            severity: written.severity.map_or(usual, severity),
            flake_if: flake_if.flatten(),
            reason: reason.flatten(),
            message: message?,
        })
    }

    /// Refuses fields that do not go with the operator.
    fn fields(&mut self, name: &str, written: &written::Check) {
        let counted = written.counted_per.as_ref();
        let given: [(&str, Option<serde_saphyr::Location>, &[&str]); 4] = [
            (
                "forAtLeast",
                written.for_at_least.as_ref().map(|text| text.referenced),
                &["never", "always"],
            ),
            (
                "within",
                written.within.as_ref().map(|text| text.referenced),
                &["eventually"],
            ),
            (
                "since",
                written.since.as_ref().map(|text| text.referenced),
                &["eventually"],
            ),
            (
                "countedPer",
                counted.map(|counted| counted.referenced),
                &["atMost", "flaps", "highest", "total"],
            ),
        ];
        for (field, location, with) in given {
            if let Some(location) = location
                && !with.contains(&name)
            {
                let what = format!("`{field}` has no meaning with `{name}`");
                let hint = format!("it goes with {}", with.join(", "));
                self.mistakes.push(self.source.of(location, what, hint));
            }
        }
    }

    fn some_span(&mut self, text: Option<&Text>) -> Result<Option<super::span::Micros>, ()> {
        match text {
            None => Ok(None),
            Some(text) => self.span(text).map(Some).ok_or(()),
        }
    }

    fn expected(&mut self, written: &written::Check, stand: Stand) -> Option<Expected> {
        let per_case = written
            .counted_per
            .as_ref()
            .is_some_and(|per| per.value == CountedPer::Case);
        let at_least = self.some_span(written.for_at_least.as_ref()).ok();
        let within = self.some_span(written.within.as_ref()).ok();
        if let Some(text) = &written.never {
            let bad = self.cel(text, stand)?;
            let at_least = at_least?.unwrap_or_default();
            return Some(Expected::Never { bad, at_least });
        }
        if let Some(text) = &written.always {
            let good = self.cel(text, stand)?;
            let at_least = at_least?.unwrap_or_default();
            return Some(Expected::Always { good, at_least });
        }
        if let Some(text) = &written.at_end {
            let good = self.cel(text, stand)?;
            return Some(Expected::AtEnd { good });
        }
        if let Some(text) = &written.eventually {
            let good = self.cel(text, stand);
            let since = match &written.since {
                None => None,
                Some(text) => Some(self.cel(text, Stand::Since)?),
            };
            return Some(Expected::Eventually {
                good: good?,
                within: within?,
                since,
            });
        }
        if let Some(leads) = &written.leads_to {
            let from = self.cel(&leads.value.from, stand);
            let to = self.cel(&leads.value.to, stand);
            let within = self.span(&leads.value.within);
            return Some(Expected::LeadsTo {
                from: from?,
                to: to?,
                within: within?,
            });
        }
        if let Some(until) = &written.until {
            let hold = self.cel(&until.value.hold, stand);
            let until = self.cel(&until.value.until, stand);
            return Some(Expected::Until {
                hold: hold?,
                until: until?,
            });
        }
        if let Some(stays) = &written.stays {
            let after = self.cel(&stays.value.after, stand);
            let hold = self.cel(&stays.value.hold, stand);
            let span = self.some_span(stays.value.span.as_ref()).ok()?;
            return Some(Expected::Stays {
                after: after?,
                hold: hold?,
                span,
            });
        }
        self.counted(written, stand, per_case)
    }

    fn counted(
        &mut self,
        written: &written::Check,
        stand: Stand,
        per_case: bool,
    ) -> Option<Expected> {
        if let Some(most) = &written.at_most {
            let of = self.cel(&most.value.of, stand);
            let span = self.some_span(most.value.span.as_ref()).ok()?;
            return Some(Expected::AtMost {
                times: most.value.times,
                of: of?,
                span,
                per_case,
            });
        }
        if let Some(flaps) = &written.flaps {
            let of = self.cel(&flaps.value.of, stand);
            let span = self.some_span(flaps.value.span.as_ref()).ok()?;
            return Some(Expected::Flaps {
                more_than: flaps.value.more_than,
                of: of?,
                span,
                per_case,
            });
        }
        if let Some(highest) = &written.highest {
            let of = self.cel(&highest.value.of, stand)?;
            return Some(Expected::Highest {
                of,
                above: highest.value.above,
                per_case,
            });
        }
        let total = written.total.as_ref()?;
        let of = self.cel(&total.value.of, stand);
        let above = self.span(&total.value.above);
        Some(Expected::Total {
            of: of?,
            above: above?,
            per_case,
        })
    }
}

/// Gives the names of the operators that a check has.
fn operators(check: &written::Check) -> Vec<&'static str> {
    let given = [
        ("never", check.never.is_some()),
        ("always", check.always.is_some()),
        ("atEnd", check.at_end.is_some()),
        ("eventually", check.eventually.is_some()),
        ("leadsTo", check.leads_to.is_some()),
        ("until", check.until.is_some()),
        ("stays", check.stays.is_some()),
        ("atMost", check.at_most.is_some()),
        ("flaps", check.flaps.is_some()),
        ("highest", check.highest.is_some()),
        ("total", check.total.is_some()),
    ];
    let given = given.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| name).collect()
}
