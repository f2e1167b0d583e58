//! A line of a panel: styled parts, a text at the right end, a field, a target. Columns belong to the view.

use crate::lane::LaneState;
use crate::subject::NamedObject;
use kubereel_cluster::{StateKind, StatusCondition};
use kubereel_format::Seq;
use kubereel_history::{Change, FieldPath, FieldStep, harmless};
use serde_json::{Value, json};

/// How a part of a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// As text.
    Plain,
    /// As what can be passed over.
    Faint,
    /// As what matters.
    Strong,
    /// As what changed last.
    Changed,
    /// As what is gone.
    Gone,
    /// As what is well.
    Good,
    /// As what is wrong.
    Bad,
    /// As what needs care.
    Wary,
    /// As what was searched for.
    Found,
}

impl Ink {
    /// Gives how a new value is drawn: what is well or wrong so, where the field tells; all else as changed.
    pub(crate) fn of_value(path: &FieldPath, value: &Value) -> Self {
        Self::of_health(field_health(path, value))
    }

    /// Gives how a state is drawn within a text.
    pub(crate) const fn of_health(health: Option<LaneState>) -> Self {
        match health {
            Some(LaneState::Good) => Self::Good,
            Some(LaneState::Bad | LaneState::Down) => Self::Bad,
            _ => Self::Changed,
        }
    }

    /// Gives what stands behind a value, so that it is not told by colour alone.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Bad => " ▓",
            _ => "",
        }
    }
}

/// Gives what a value of a field means, as the derivation of states reads it; `None` where it does not.
fn field_health(path: &FieldPath, value: &Value) -> Option<LaneState> {
    let steps = path.steps();
    if let [
        ..,
        FieldStep::Member(list),
        FieldStep::Item(parts),
        FieldStep::Member(member),
    ] = steps
        && (list.as_str(), member.as_str()) == ("conditions", "status")
    {
        let kind = parts.iter().find(|part| part.name == "type")?;
        let item = json!({"type": kind.value, "status": value});
        let own = |health: StateKind| health.health_of(&kind.value, value.as_str()?);
        let usual = StatusCondition::of(&item).usual_health();
        return usual.or_else(|| StateKind::ALL.into_iter().find_map(own));
    }
    let names = steps.iter().filter_map(|step| match step {
        FieldStep::Member(name) => Some(name.as_str()),
        _ => None,
    });
    let names: Vec<&str> = names.collect();
    let object = match names.as_slice() {
        ["status", "phase"] => json!({"status": {"phase": value}}),
        [
            "status",
            "containerStatuses" | "initContainerStatuses",
            "state",
            "waiting",
            "reason",
        ] => {
            json!({"status": {"phase": "Running", "containerStatuses": [
                {"ready": false, "state": {"waiting": {"reason": value}}}
            ]}})
        }
        _ => return None,
    };
    StateKind::Pod.whole(&object).map(|(health, _)| health)
}

/// Where a line leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineTarget {
    /// To a version of the object.
    Version(Seq),
    /// To an object.
    Object(NamedObject),
    /// To an object, as a record left it.
    Moment(Seq, NamedObject),
}

/// A line of a panel: parts, each with its ink, harmless to a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PanelLine {
    /// The parts.
    pub(crate) parts: Vec<(Ink, String)>,
    /// What stands at the right end.
    pub(crate) aside: String,
    /// The field that it shows, where it shows one.
    pub(crate) field: Option<FieldPath>,
    /// Where it leads, if it can be taken.
    pub(crate) target: Option<LineTarget>,
    /// Whether it is a text to read, which is broken rather than cut.
    pub(crate) is_prose: bool,
}

impl PanelLine {
    /// Makes a line of one part.
    pub(crate) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            parts: vec![(ink, text.into())],
            ..Self::default()
        }
    }

    /// Makes a text to read.
    pub(crate) fn prose(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            is_prose: true,
            ..Self::of(ink, text)
        }
    }

    /// Adds a part.
    pub(crate) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.parts.push((ink, text.into()));
        self
    }

    /// Adds the old value of a field and the new one.
    pub(super) fn and_values(self, change: &Change) -> Self {
        let line = match &change.old {
            Some(old) => self.and(Ink::Gone, short(old)),
            None => self,
        };
        match &change.new {
            Some(new) => {
                let ink = Ink::of_value(&change.path, new);
                let line = line.and(Ink::Faint, " → ").and(ink, short(new));
                line.and(ink, ink.sign())
            }
            None => line.and(Ink::Faint, " gone"),
        }
    }

    /// Lets it lead somewhere.
    pub(crate) fn to(mut self, target: LineTarget) -> Self {
        self.target = Some(target);
        self
    }

    /// Gives its text without what stands beside it.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// Writes a value within a line, shortened.
pub(super) fn short(value: &Value) -> String {
    const MOST: usize = 120;
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let text = harmless(&text);
    if text.chars().count() <= MOST {
        return text.into_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_turned_bad_is_red_and_says_so() {
        let ink = |path: &str, value: &str| {
            let old = json!({"status": {"phase": "", "conditions": [{"type": "Degraded", "status": ""}, {"type": "Ready", "status": ""}]}, "spec": {"x": ""}});
            let mut new = old.clone();
            *new.pointer_mut(path).expect("a field") = json!(value);
            let scope = kubereel_history::ComparisonScope::default();
            let change = scope.changes(&old, &new).pop().expect("a change");
            Ink::of_value(&change.path, change.new.as_ref().expect("a value"))
        };
        assert_eq!(ink("/status/conditions/0/status", "True"), Ink::Bad);
        assert_eq!(ink("/status/conditions/0/status", "False"), Ink::Good);
        assert_eq!(ink("/status/conditions/1/status", "False"), Ink::Bad);
        assert_eq!(ink("/status/phase", "Failed"), Ink::Bad);
        assert_eq!(ink("/status/phase", "Running"), Ink::Good);
        assert_eq!(ink("/spec/x", "True"), Ink::Changed);
        assert_eq!(Ink::Bad.sign(), " ▓");
    }
}
