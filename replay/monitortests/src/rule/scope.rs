//! Owns which variables an expression may read, by where in a rule it stands. Refuses their values.

/// The variables that every rule knows, by their places; those of `related` follow.
pub(crate) mod place {
    pub(crate) const OBJECT: usize = 0;
    pub(crate) const OLD: usize = 1;
    pub(crate) const FORMER: usize = 2;
    pub(crate) const ACTION: usize = 3;
    pub(crate) const AT: usize = 4;
    pub(crate) const ITEM: usize = 5;
    pub(crate) const OLD_ITEM: usize = 6;
    pub(crate) const INTERVAL: usize = 7;
    pub(crate) const FACTS: usize = 8;
    pub(crate) const PHASE: usize = 9;
    pub(crate) const ALSO: usize = 10;
    pub(crate) const PLACE: usize = 11;
    pub(crate) const FROM: usize = 12;
    pub(crate) const TO: usize = 13;
    pub(crate) const DURATION: usize = 14;
    pub(crate) const COUNT: usize = 15;
    pub(crate) const APPEARED: usize = 16;
    pub(crate) const STARTED: usize = 17;
    pub(crate) const OTHER: usize = 18;
    pub(crate) const RELATED: usize = 19;
}

/// Their names; the item has the name that the rule gives it.
const NAMES: [&str; place::RELATED] = [
    "object", "old", "former", "action", "at", "", "oldItem", "interval", "facts", "phase", "also",
    "place", "from", "to", "duration", "count", "appeared", "started", "other",
];

/// Where in a rule an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// `when`.
    When,
    /// `where` and `items` of objects, and `related`'s `name` and selectors.
    Object,
    /// `related`'s `where`.
    Related,
    /// A predicate of a check of objects.
    ObjectCheck,
    /// `since`.
    Since,
    /// `per` of objects.
    ObjectPer,
    /// A message, reason or `flakeIf` of objects.
    ObjectEvidence,
    /// `where` and `subject` of intervals, and `per`.
    Interval,
    /// A predicate of a check of intervals.
    IntervalCheck,
    /// A message, reason or `flakeIf` of intervals.
    IntervalEvidence,
    /// The same where the finding is that no interval came.
    MissingEvidence,
}

/// The variables of a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The name of an item; empty without items.
    pub(crate) item: String,
    /// The names of related objects.
    pub(crate) related: Vec<String>,
}

impl Scope {
    /// Gives the names of all variables by place; an empty one is none.
    pub(crate) fn all(&self) -> Vec<String> {
        let mut names: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        if let Some(item) = names.get_mut(place::ITEM) {
            item.clone_from(&self.item);
        }
        names.extend(self.related.iter().cloned());
        names
    }

    /// Tells whether a name is one that rules give a meaning themselves.
    pub(crate) fn is_taken(name: &str) -> bool {
        name == "constants" || (!name.is_empty() && NAMES.contains(&name))
    }

    /// Gives the names that may be read somewhere.
    pub(crate) fn readable(&self, stand: Stand) -> Vec<String> {
        let fixed: &[&str] = match stand {
            Stand::When => &["facts", "also"],
            Stand::Related => &["object", "other"],
            Stand::ObjectCheck => &["object", "old", "former", "action", "at"],
            Stand::Since => &["object", "appeared", "started"],
            Stand::Object | Stand::ObjectPer => &["object"],
            Stand::ObjectEvidence => &[
                "object", "old", "former", "action", "at", "from", "to", "duration", "count",
                "place", "facts", "phase", "also",
            ],
            Stand::Interval => &["interval", "facts", "phase"],
            Stand::IntervalCheck => &["interval", "facts", "phase", "also", "place"],
            Stand::IntervalEvidence => &[
                "interval", "facts", "phase", "also", "place", "from", "to", "duration", "count",
            ],
            Stand::MissingEvidence => &[
                "facts", "phase", "also", "place", "from", "to", "duration", "count",
            ],
        };
        let mut names: Vec<String> = fixed.iter().map(|&name| name.to_owned()).collect();
        let sees_items = matches!(
            stand,
            Stand::ObjectCheck | Stand::Since | Stand::ObjectPer | Stand::ObjectEvidence
        );
        if sees_items && !self.item.is_empty() {
            names.push(self.item.clone());
            if matches!(stand, Stand::ObjectCheck | Stand::ObjectEvidence) {
                names.push("oldItem".to_owned());
            }
        }
        if matches!(stand, Stand::ObjectCheck | Stand::ObjectEvidence) {
            names.extend(self.related.iter().cloned());
        }
        names
    }

    /// Says why a known variable cannot be read somewhere, and what to do.
    pub(crate) fn why_not(name: &str, stand: Stand) -> Option<&'static str> {
        match (name, stand) {
            ("facts" | "phase" | "also" | "place", Stand::ObjectCheck | Stand::Object) => {
                Some("a predicate over objects does not read it: use `when`, `during` or `flakeIf`")
            }
            ("phase", Stand::When) => Some("the end of a run tells little of it: use `during`"),
            ("object", _) => Some("this rule watches intervals: read `interval`"),
            ("interval", Stand::MissingEvidence) => {
                Some("what did not happen has no interval: read `place`, `from` or `facts`")
            }
            ("interval", _) => Some("this rule watches objects: read `object`"),
            ("oldItem", _) => Some("it is there where the rule has `items`"),
            _ => None,
        }
    }
}
