//! The checks of a rule: one operator each, its operands, and the fields that go with it.

use super::compiler::RuleCompiler;
use super::file::{CountedPer, YamlCheck, YamlRule, YamlText};
use super::model::{
    CheckOperator, Expectation, ExpressionPlace, RuleCheck, Template, TemplatePart,
};
use crate::verdict::Severity;
use serde_saphyr::Location;

/// The operators that only rules over objects have.
const FOR_OBJECTS: [CheckOperator; 3] = [
    CheckOperator::Until,
    CheckOperator::Stays,
    CheckOperator::Flaps,
];

/// An operator of a check with its operands, as they are written.
#[derive(Clone, Copy)]
struct YamlOperator<'y> {
    operator: CheckOperator,
    first: &'y YamlText,
    second: Option<&'y YamlText>,
    span: Option<&'y YamlText>,
    times: u64,
    above: f64,
}

impl<'y> YamlOperator<'y> {
    const fn new(operator: CheckOperator, first: &'y YamlText, span: Option<&'y YamlText>) -> Self {
        Self {
            operator,
            first,
            second: None,
            span,
            times: 0,
            above: 0.0,
        }
    }

    fn with(self, second: &'y YamlText) -> Self {
        Self {
            second: Some(second),
            ..self
        }
    }

    /// Finds the operators that a check has.
    fn all(check: &'y YamlCheck) -> Vec<Self> {
        let at_least = check.for_at_least.as_ref();
        let plain = [
            (CheckOperator::Never, &check.never, at_least),
            (CheckOperator::Always, &check.always, at_least),
            (CheckOperator::AtEnd, &check.at_end, None),
            (
                CheckOperator::Eventually,
                &check.eventually,
                check.within.as_ref(),
            ),
        ];
        let plain = plain
            .into_iter()
            .filter_map(|(operator, first, span)| Some(Self::new(operator, first.as_ref()?, span)));
        let mut all: Vec<Self> = plain.collect();
        all.extend(check.leads_to.as_ref().map(|value| {
            Self::new(CheckOperator::LeadsTo, &value.from, Some(&value.within)).with(&value.to)
        }));
        all.extend(
            check
                .until
                .as_ref()
                .map(|value| Self::new(CheckOperator::Until, &value.hold, None).with(&value.until)),
        );
        all.extend(check.stays.as_ref().map(|value| {
            Self::new(CheckOperator::Stays, &value.after, value.span.as_ref()).with(&value.hold)
        }));
        all.extend(check.at_most.as_ref().map(|value| Self {
            times: value.times,
            ..Self::new(CheckOperator::AtMost, &value.of, value.span.as_ref())
        }));
        all.extend(check.flaps.as_ref().map(|value| Self {
            times: value.more_than,
            ..Self::new(CheckOperator::Flaps, &value.of, value.span.as_ref())
        }));
        all.extend(check.highest.as_ref().map(|value| Self {
            above: value.above,
            ..Self::new(CheckOperator::Highest, &value.of, None)
        }));
        let total = check.total.as_ref();
        all.extend(
            total.map(|value| Self::new(CheckOperator::Total, &value.of, Some(&value.above))),
        );
        all
    }
}

/// Makes the message of a check that has none: what is expected.
fn usual_message(operands: YamlOperator<'_>) -> Template {
    let predicate: Vec<&str> = operands.first.value.split_whitespace().collect();
    let text = format!(
        "against `{}: {}`",
        operands.operator.field(),
        predicate.join(" ")
    );
    Template {
        parts: vec![TemplatePart::Text(text.clone())],
        text,
    }
}

/// The operators that count something, or measure it.
const COUNTING: &[CheckOperator] = &[
    CheckOperator::AtMost,
    CheckOperator::Flaps,
    CheckOperator::Highest,
    CheckOperator::Total,
];

/// Returns where the predicates of a check stand, and where its message does.
fn places_of(operator: CheckOperator, watches_objects: bool) -> (ExpressionPlace, ExpressionPlace) {
    let counts = COUNTING.contains(&operator);
    match (watches_objects, operator) {
        (true, _) if counts => (ExpressionPlace::ObjectCheck, ExpressionPlace::ObjectCount),
        (true, _) => (
            ExpressionPlace::ObjectCheck,
            ExpressionPlace::ObjectEvidence,
        ),
        (false, CheckOperator::Eventually) => (
            ExpressionPlace::IntervalCheck,
            ExpressionPlace::MissingEvidence,
        ),
        (false, _) if counts => (
            ExpressionPlace::IntervalCheck,
            ExpressionPlace::IntervalCount,
        ),
        (false, _) => (
            ExpressionPlace::IntervalCheck,
            ExpressionPlace::IntervalEvidence,
        ),
    }
}

/// Fields of checks, where they are given, and the operators that they go with.
fn fields(written: &YamlCheck) -> [(&'static str, Option<Location>, &'static [CheckOperator]); 4] {
    use CheckOperator::{Always, Eventually, Never};
    let place = |text: &Option<YamlText>| text.as_ref().map(|text| text.referenced);
    let counted = written.counted_per.as_ref();
    [
        ("forAtLeast", place(&written.for_at_least), &[Never, Always]),
        ("within", place(&written.within), &[Eventually]),
        ("since", place(&written.since), &[Eventually]),
        (
            "countedPer",
            counted.map(|counted| counted.referenced),
            COUNTING,
        ),
    ]
}

/// Reads the checks of one rule.
pub(super) struct CheckReader<'r, 'a> {
    compiler: &'r mut RuleCompiler<'a>,
    watches_objects: bool,
    /// The severity of a check that names none.
    usual: Severity,
}

impl<'r, 'a> CheckReader<'r, 'a> {
    pub(super) const fn new(
        compiler: &'r mut RuleCompiler<'a>,
        watches_objects: bool,
        usual: Severity,
    ) -> Self {
        Self {
            compiler,
            watches_objects,
            usual,
        }
    }

    /// Reads all of them.
    pub(super) fn all(mut self, rule: &YamlRule) -> Vec<RuleCheck> {
        let Some(expect) = &rule.expect else {
            let hint = "a list of checks, such as `- never: object.status.phase == \"Failed\"`";
            self.compiler.missing(rule.at, "expect", hint);
            return Vec::new();
        };
        if expect.is_empty() {
            let what = "the rule has no checks";
            self.compiler.wrong_at(rule.expect_at, what, "add a check");
        }
        expect
            .iter()
            .filter_map(|check| self.check(check))
            .collect()
    }

    fn check(&mut self, written: &YamlCheck) -> Option<RuleCheck> {
        let operators = YamlOperator::all(written);
        if operators.len() != 1 {
            let what = format!("the check has {} operators", operators.len());
            let hint = "give exactly one of never, always, atEnd, eventually, leadsTo, until, stays, \
                        atMost, flaps, highest, total";
            self.compiler.wrong_at(written.at, what, hint);
        }
        let operands = *operators.first()?;
        let operator = operands.operator;
        for (field, location, with) in fields(written) {
            if let Some(location) = location.filter(|_| !with.contains(&operator)) {
                let what = format!("`{field}` has no meaning with `{}`", operator.field());
                let with: Vec<&str> = with.iter().map(|operator| operator.field()).collect();
                let hint = format!("it goes with {}", with.join(", "));
                self.compiler.wrong_at(location, what, hint);
            }
        }
        if !self.watches_objects && FOR_OBJECTS.contains(&operator) {
            let what = format!("`{}` is for rules over objects", operator.field());
            let hint = "over intervals there are never, always, atEnd, eventually, leadsTo, atMost, \
                        highest and total";
            self.compiler.wrong_at(written.at, what, hint);
        }
        let (stand, evidence) = places_of(operator, self.watches_objects);
        let expected = self.expected(written, operands, stand);
        let flake_if = written.flake_if.as_ref();
        let flake_if = flake_if.map(|text| self.compiler.cel(text, evidence));
        let reason = written.reason.as_ref();
        let reason = reason.map(|text| self.compiler.template(text, evidence));
        let message = match &written.message {
            Some(message) => self.compiler.template(message, evidence),
            None => Some(usual_message(operands)),
        };
        Some(RuleCheck {
            expected: expected?,
            during: written.during.0.clone(),
            severity: written.severity.unwrap_or(self.usual),
            flake_if: flake_if.flatten(),
            reason: reason.flatten(),
            message: message?,
        })
    }

    fn expected(
        &mut self,
        written: &YamlCheck,
        operands: YamlOperator<'_>,
        place: ExpressionPlace,
    ) -> Option<Expectation> {
        let span = operands.span.map(|text| self.compiler.span(text));
        let first = self.compiler.cel(operands.first, place);
        let second = operands.second.map(|text| self.compiler.cel(text, place));
        let since = written.since.as_ref();
        let since = since.map(|text| self.compiler.cel(text, ExpressionPlace::Since));
        // What is written and wrong is a mistake; what is not written is none.
        let (span, second, since) = match (span, second, since) {
            (Some(None), ..) | (_, Some(None), _) | (.., Some(None)) => return None,
            (span, second, since) => (span.flatten(), second.flatten(), since.flatten()),
        };
        if !operands.above.is_finite() {
            self.compiler
                .wrong(operands.first, "`above` is not a number", "write a number");
        }
        let counted = written.counted_per.as_ref();
        Some(Expectation {
            operator: operands.operator,
            first: first?,
            second,
            span,
            times: operands.times,
            above: operands.above,
            since,
            per_case: counted.is_some_and(|per| per.value == CountedPer::Case),
        })
    }
}
