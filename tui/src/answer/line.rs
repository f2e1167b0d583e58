//! A line of a panel: styled parts, a text at the right end, a field, a target. Columns belong to the view.

use crate::lane::LaneState;
use crate::subject::NamedObject;
use kubereel_cluster::VersionChanges;
use kubereel_format::Seq;
use kubereel_history::{Change, FieldPath, cut, harmless};
use serde_json::Value;

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
    /// Gives how the new value of a change is drawn: healthy or not, where the field tells; all else as changed.
    pub(crate) fn of_change(change: &Change, changes: VersionChanges<'_>) -> Self {
        Self::of_health(changes.health(change))
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
}

impl PanelLine {
    /// Makes a line of one part.
    pub(crate) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            parts: vec![(ink, text.into())],
            ..Self::default()
        }
    }

    /// Adds a part.
    pub(crate) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.parts.push((ink, text.into()));
        self
    }

    /// Adds the old value of a field and the new one.
    pub(super) fn and_values(self, change: &Change, changes: VersionChanges<'_>) -> Self {
        let line = match &change.old {
            Some(old) => self.and(Ink::Gone, short(old)),
            None => self,
        };
        match &change.new {
            Some(new) => {
                let ink = Ink::of_change(change, changes);
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
    cut(&harmless(&text), MOST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_cluster::StateKind;
    use kubereel_history::ComparisonScope;
    use serde_json::json;

    #[test]
    fn a_value_that_turned_bad_is_red_and_says_so() {
        let line = |old: &Value, new: &Value| {
            let changes = ComparisonScope::default().changes(old, new);
            let last = changes.last().expect("a change");
            let all = VersionChanges::of(StateKind::UNKNOWN, &changes);
            PanelLine::default().and_values(last, all)
        };
        let object = |status: &str| json!({"status": {"conditions": [{"type": "Degraded", "status": status}]}});
        let (well, ill) = (object("False"), object("True"));
        let turned_bad = line(&well, &ill);
        assert_eq!(turned_bad.text(), "False → True ▓");
        assert_eq!(turned_bad.parts.last(), Some(&(Ink::Bad, " ▓".to_owned())));
        let turned_good = line(&ill, &well);
        assert_eq!(turned_good.text(), "True → False");
        assert!(turned_good.parts.contains(&(Ink::Good, "False".to_owned())));
        let other = line(&json!({"spec": {"x": "a"}}), &json!({"spec": {"x": "b"}}));
        assert!(other.parts.contains(&(Ink::Changed, "b".to_owned())));
    }
}
