//! What the name of a field announces about its value: by itself, or as the name of a field below another one.

use crate::names::{self, NameClass};
use crate::path::PathStep;

/// The announcement of the field that a walk is in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldAnnouncement {
    class: NameClass,
    /// The step to the field above, or to this one, whose name announces secrets in all fields below it.
    secrets_from: Option<usize>,
}

impl FieldAnnouncement {
    /// Creates the announcement of a class for this field only.
    pub(super) const fn of(class: NameClass) -> Self {
        Self {
            class,
            secrets_from: None,
        }
    }

    /// Returns what the field announces.
    pub(super) const fn class(self) -> NameClass {
        self.class
    }

    /// Returns the announcement of a field below this one; `steps` lead to this one. The name `own` of a field that
    /// cannot announce a secret by itself is [`NameClass::Plain`], and schemas only describe fields of a name.
    pub(super) fn below(
        self,
        key: &str,
        own: NameClass,
        is_schema: bool,
        steps: &[PathStep<'_>],
    ) -> Self {
        if own != NameClass::Plain {
            let has_below = !is_schema && names::has_secrets_below(key, own);
            return Self {
                class: own,
                secrets_from: has_below.then_some(steps.len()),
            };
        }
        if self.class >= NameClass::Possible && names::is_value_field(key) {
            return self;
        }
        let above = self.secrets_from.and_then(|from| steps.get(from..));
        let name = |step: &PathStep<'_>| match step {
            PathStep::Key(key) => Some(key.to_string()),
            PathStep::Item(_) => None,
        };
        let names: Vec<_> = above.unwrap_or_default().iter().filter_map(name).collect();
        let class = if names.is_empty() {
            NameClass::Plain
        } else {
            names::class_below(&names.join("."), key)
        };
        Self {
            class,
            // What a property of a secret consists of is not secret.
            secrets_from: self.secrets_from.filter(|_| class > NameClass::Related),
        }
    }
}
