//! The rules that decide a value by its place: those of the policy, and those of the user.

use crate::extra::PlaceRule;
use crate::path::{PathPattern, PathStep};
use crate::secret_fields::{self, FieldAction, ResourceType, SecretField};

/// The rules for the objects of a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldRules<'w> {
    fields: Vec<&'static SecretField>,
    /// The rules of the user.
    own: Vec<&'w (String, PathPattern)>,
}

impl<'w> FieldRules<'w> {
    /// Returns the rules of the policy and of the user for a resource.
    pub(crate) fn of(resource: &ResourceType<'_>, own: &'w [PlaceRule]) -> Self {
        let own = own.iter().filter(|rule| rule.is_for(resource));
        Self {
            fields: secret_fields::of(resource),
            own: own.map(|rule| &rule.place).collect(),
        }
    }

    /// Returns the rules of the policy for an object of which only the kind is certain.
    pub(super) fn of_kind(kind: &str) -> Self {
        Self {
            fields: secret_fields::of_kind(kind),
            own: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.own.is_empty()
    }

    /// Returns whether a rule asks for the identity of the object.
    pub(crate) fn need_identity(&self) -> bool {
        self.fields.iter().any(|field| {
            use FieldAction::{Config, ConfigBase64, Name};
            matches!(field.action, Config | ConfigBase64 | Name)
        })
    }

    /// Returns the rule of the policy for the text at a place.
    pub(super) fn for_text(&self, steps: &[PathStep<'_>]) -> Option<&'static SecretField> {
        let mut fields = self.fields.iter().copied();
        fields.find(|field| field.pattern.is_of(steps))
    }

    /// Returns the rule of the policy for a value at a place that is not a text.
    pub(super) fn for_other(
        &self,
        steps: &[PathStep<'_>],
        is_map: bool,
    ) -> Option<&'static SecretField> {
        let mut fields = self.fields.iter().copied();
        fields.find(|field| {
            let takes = match field.action {
                FieldAction::Map => !is_map,
                FieldAction::Whole
                | FieldAction::Base64
                | FieldAction::Config
                | FieldAction::ConfigBase64 => true,
                FieldAction::Text | FieldAction::Url | FieldAction::Name => false,
            };
            takes && field.pattern.is_of(steps)
        })
    }

    /// Returns the name of the user's rule for a place, or for a place above it.
    pub(super) fn own(&self, steps: &[PathStep<'_>]) -> Option<&'w str> {
        let mut own = self.own.iter();
        let found = own.find(|(_, pattern)| pattern.covers(steps));
        found.map(|(rule, _)| rule.as_str())
    }
}
