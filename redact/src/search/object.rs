//! Searches an object: a walk over the bytes of its JSON, and the judgement of each value.
//!
//! Invariants:
//!
//! * Bytes that are not replaced stay unchanged: the walk only collects edits.
//! * An edit replaces a whole JSON value, or a part of a string that maps to whole escapes, so the
//!   object stays valid JSON.
//! * Nesting is bounded: what lies deeper than [`NESTED_MOST`] is replaced whole, without
//!   recursion.
//! * A value is judged by its place first, then by the name of its field, then by its text.

use super::announcement::FieldAnnouncement;
use super::command_line::CommandLine;
use super::field_rules::FieldRules;
use super::flag::{FlagArgument, flag_argument};
use super::json::JsonText;
use super::known_parts::{self, KnownCursor};
use super::managed_fields::{OwnedKeys, list_of, value_in};
use super::paired_fields::PairedFields;
use super::scope::{ScopeCursor, TextScope};
use super::text::{self, SearchContext};
use crate::base64;
use crate::decoded::{self, DecodedText};
use crate::forms::{self, ValueForm};
use crate::mark::{self, Edit, Hint, RuleName, is_encoded_mark, is_mark};
use crate::names::{self, NameClass};
use crate::path::PathStep;
use crate::secret_fields::{self, FieldAction, LAST_APPLIED, ObjectIdentity, ValueEncoding};
use crate::text::programs;
use crate::text::{DEPTH_MOST, userinfo};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// The deepest nesting that is walked; what lies deeper is replaced whole, below the 128 levels that
/// the readers of a reel go. No server sends such objects.
const NESTED_MOST: usize = 120;

/// The annotation with the token of a Secret.
const TOKEN_VALUE: &str = "openshift.io/token-secret.value";

/// The shortest text that can be recognized as a secret.
const TEXT_LEAST: usize = 7;

/// The shortest value that is replaced anywhere in `managedFields`; a shorter one only by its
/// place: elsewhere, `TCP` is not a secret.
const REPLACED_LEAST: usize = 6;

/// Fields that refer to an object by kind and name.
const REFERENCES: [&str; 6] = [
    "ownerReferences",
    "involvedObject",
    "regarding",
    "related",
    "objectRef",
    "targetRef",
];

/// What a walk replaces besides what the policy replaces everywhere.
#[derive(Clone, Debug)]
enum WalkGoal<'w> {
    /// Nothing else.
    Policy,
    /// Every value: a name beside it or above it announced a secret.
    Announced(NameClass, &'static str),
    /// Every value without a form: the text is a value of a `ConfigMap`.
    Formless,
    /// Values that were replaced elsewhere in the object, with the rule.
    Replaced(&'w BTreeMap<Vec<u8>, RuleName>),
}

/// One walk over one JSON text.
struct ObjectWalk<'w> {
    context: SearchContext<'w>,
    json: JsonText<'w>,
    rules: FieldRules<'w>,
    identity: ObjectIdentity,
    steps: Vec<PathStep<'w>>,
    edits: Vec<Edit>,
    scope: ScopeCursor<'w>,
    /// How deep this text is nested in other texts.
    depth: u8,
    /// Whether objects within this one are judged by their kind.
    opens: bool,
    /// What the previous argument announced.
    announced: NameClass,
    /// Whether an item of the current list, or of the one that was just left, is a program that takes a password.
    has_program: bool,
    /// What the current field announces.
    field: FieldAnnouncement,
    goal: WalkGoal<'w>,
    /// Whether a field name may be a secret value.
    has_odd_key: bool,
    owned: OwnedKeys,
    /// Parts in which nothing is to be found.
    known: KnownCursor<'w>,
    /// Where parts begin that have an effect on what is beside them, or are under one.
    effects: Vec<usize>,
}

/// What the search of an object found.
#[derive(Debug)]
pub(crate) struct FoundInObject {
    /// The edits, settled.
    pub(crate) edits: Vec<Edit>,
    /// Where parts begin whose search depends on what is beside them, or the other way round.
    pub(crate) effects: Vec<usize>,
}

/// Finds what may not be stored of an object; `None` if it cannot be read. The `known` parts are passed over.
pub(crate) fn find(
    context: SearchContext<'_>,
    rules: FieldRules<'_>,
    scope: TextScope<'_>,
    text: &str,
    known: &[Range<usize>],
) -> Option<FoundInObject> {
    let marker = context.marker;
    let mut walk = ObjectWalk::new(context, rules, scope, text, 0);
    walk.opens = true;
    walk.known = KnownCursor::new(known);
    walk.whole()?;
    walk.judge_owned();
    Some(FoundInObject {
        edits: mark::settle(walk.edits, text.as_bytes(), marker),
        effects: walk.effects,
    })
}

/// Finds what may not be stored of an object inside a text, such as the last applied one.
pub(super) fn find_in_text(context: SearchContext<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let begins = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if !matches!(begins, Some(b'{' | b'[')) {
        return Vec::new();
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return Vec::new();
    };
    let mut walk = ObjectWalk::new(
        context,
        FieldRules::default(),
        TextScope::All,
        text,
        depth + 1,
    );
    walk.opens = true;
    if walk.whole().is_none() {
        return Vec::new();
    }
    walk.judge_owned();
    let mut edits = walk.edits;
    // A path within a text has no meaning outside of it.
    for edit in &mut edits {
        edit.path.clear();
    }
    edits
}

impl<'w> ObjectWalk<'w> {
    fn new(
        context: SearchContext<'w>,
        rules: FieldRules<'w>,
        scope: TextScope<'w>,
        text: &'w str,
        depth: u8,
    ) -> Self {
        Self {
            context,
            json: JsonText(text),
            identity: if rules.need_identity() {
                ObjectIdentity::read(text)
            } else {
                ObjectIdentity::default()
            },
            rules,
            steps: Vec::new(),
            edits: Vec::new(),
            scope: ScopeCursor::new(scope),
            depth,
            opens: false,
            announced: NameClass::Plain,
            has_program: false,
            field: FieldAnnouncement::default(),
            goal: WalkGoal::Policy,
            has_odd_key: false,
            owned: OwnedKeys::default(),
            known: KnownCursor::default(),
            effects: Vec::new(),
        }
    }

    /// Begins a walk over a part of this text in which texts are not searched: this walk searches
    /// them.
    fn inner<'i>(&self, text: &'i str, rules: FieldRules<'i>) -> ObjectWalk<'i>
    where
        'w: 'i,
    {
        ObjectWalk::new(self.context, rules, TextScope::None, text, self.depth)
    }

    /// Walks over the whole text; `None` if it is not one JSON value.
    fn whole(&mut self) -> Option<()> {
        let end = self.value(self.json.space(0))?;
        (self.json.space(end) == self.json.0.len()).then_some(())
    }

    /// Walks over the value that begins here and returns its end.
    fn value(&mut self, at: usize) -> Option<usize> {
        let first = self.json.byte(at)?;
        if first == b'"' {
            let end = self.json.string(at)?;
            self.judge_string(at..end);
            return Some(end);
        }
        if let Some(end) = self.known_end(at) {
            return Some(end);
        }
        let before = self.edits.len();
        let is_announced = self.announced != NameClass::Plain;
        let end = match first {
            b'{' if self.steps.len() < NESTED_MOST => self.fields(at)?,
            b'[' if self.steps.len() < NESTED_MOST => self.items(at)?,
            b'{' | b'[' => {
                let end = self.json.nested(at)?;
                self.replace(at..end, "too-deep".into(), ValueEncoding::Plain);
                return Some(end);
            }
            _ => self.json.literal(at)?,
        };
        self.judge_other(at..end, before);
        let is_part = self.steps.len() <= known_parts::LEVELS && matches!(first, b'{' | b'[');
        if is_part && (is_announced || self.has_program) {
            self.effects.push(at);
        }
        Some(end)
    }

    /// Returns the end of a known part that begins here.
    fn known_end(&mut self, at: usize) -> Option<usize> {
        let end = self.known.end_of(at)?;
        if self.announced != NameClass::Plain || self.has_program {
            self.effects.push(at);
        }
        Some(end)
    }

    fn items(&mut self, at: usize) -> Option<usize> {
        let mut at = self.json.space(at + 1);
        if self.json.byte(at) == Some(b']') {
            return Some(at + 1);
        }
        let outer = std::mem::take(&mut self.announced);
        self.has_program = false;
        for item in 0.. {
            self.steps.push(PathStep::Item(item));
            let end = self.value(at)?;
            self.steps.pop();
            at = self.json.space(end);
            match self.json.byte(at)? {
                b',' => at = self.json.space(at + 1),
                b']' => break,
                _ => return None,
            }
        }
        self.announced = outer;
        Some(at + 1)
    }

    fn fields(&mut self, begin: usize) -> Option<usize> {
        let mut at = self.json.space(begin + 1);
        if self.json.byte(at) == Some(b'}') {
            return Some(at + 1);
        }
        let mut pairs = PairedFields::default();
        loop {
            if self.json.byte(at)? != b'"' {
                return None;
            }
            let key_end = self.json.string(at)?;
            self.judge_key(at..key_end);
            let key = self.json.string_value(&(at..key_end));
            if self.owned.is_inside() && key.starts_with(['k', 'v']) {
                self.judge_owned_key(at..key_end);
            }
            let colon = self.json.space(key_end);
            if self.json.byte(colon)? != b':' {
                return None;
            }
            let value = self.json.space(colon + 1);
            let is_owned = key == "fieldsV1" && self.is_in_list("managedFields");
            let outside = is_owned.then(|| self.owned.enter(self.steps.len() + 1));
            let above = self.field;
            let may_announce = self.may_announce(at..key_end);
            self.announce(&key, may_announce);
            self.steps.push(PathStep::Key(key.clone()));
            let end = self.value(value)?;
            self.steps.pop();
            self.field = above;
            if let Some(outside) = outside {
                self.owned.leave(outside);
            }
            let has_program = std::mem::take(&mut self.has_program);
            pairs.note(&key, value..end, has_program);
            at = self.json.space(end);
            match self.json.byte(at)? {
                b',' => at = self.json.space(at + 1),
                b'}' => break,
                _ => return None,
            }
        }
        self.judge_fields(begin..at + 1, &pairs);
        Some(at + 1)
    }

    /// Notes what the name of a field announces: its own, or as the field of one above it.
    fn announce(&mut self, key: &str, may_announce: bool) {
        let own = if may_announce {
            names::class(key)
        } else {
            NameClass::Plain
        };
        let is_schema = self.is_field("properties") || self.owned.is_inside();
        self.field = self.field.below(key, own, is_schema, &self.steps);
    }

    /// Returns whether the name of a field may announce a secret; its place includes the quotes.
    /// The caller must ask in the order of the names.
    fn may_announce(&mut self, at: Range<usize>) -> bool {
        self.scope.has_name(&at) || memchr::memchr(b'\\', self.json.raw(&at).as_bytes()).is_some()
    }

    /// Walks over an object within this one, as one of its own kind.
    fn open(&mut self, place: &Range<usize>, kind: &str) {
        let rules = FieldRules::of_kind(kind);
        if rules.is_empty() {
            return;
        }
        let mut inner = self.inner(self.json.raw(place), rules);
        if inner.value(0).is_none() {
            return;
        }
        let above = self.path_text();
        for mut edit in inner.edits {
            edit.place = edit.place.start + place.start..edit.place.end + place.start;
            if self.context.has_paths {
                edit.path = format!("{above}{}", edit.path);
            }
            self.edits.push(edit);
        }
    }

    /// Judges a text; its place includes the quotes.
    fn judge_string(&mut self, at: Range<usize>) {
        let announced = std::mem::take(&mut self.announced);
        if at.len() <= 2 || self.by_place(&at) || self.by_annotation(&at) || self.by_goal(&at) {
            return;
        }
        if matches!(self.steps.last(), Some(PathStep::Item(_))) && self.by_flag(&at, announced) {
            return;
        }
        if self.field.class() != NameClass::Plain && self.by_name(&at) {
            return;
        }
        self.scan(at);
    }

    /// Judges any other value; `before` is the number of edits before the walk over it.
    fn judge_other(&mut self, at: Range<usize>, before: usize) {
        let is_map = self.json.starts_with(&at, '{');
        let is_nothing = matches!(self.json.raw(&at), "null" | "{}" | "[]");
        if is_nothing {
            return;
        }
        if let Some(field) = self.rules.for_other(&self.steps, is_map) {
            self.edits.truncate(before);
            self.replace(at, field.rule.into(), field.action.encoding());
            return;
        }
        // Lists and objects are judged by their content.
        if !is_map
            && !self.json.starts_with(&at, '[')
            && !self.by_own(&at)
            && !self.by_goal(&at)
            && self.field.class() != NameClass::Nested
        {
            self.by_name(&at);
        }
    }

    /// Returns the value of a string, or the JSON of anything else.
    fn written(&self, at: &Range<usize>) -> Cow<'_, str> {
        if self.json.starts_with(at, '"') {
            self.json.string_value(at)
        } else {
            self.json.raw(at).into()
        }
    }

    /// Judges the name of a field.
    fn judge_key(&mut self, at: Range<usize>) {
        if matches!(self.goal, WalkGoal::Formless)
            && !forms::is_plain_field(&self.json.string_value(&at))
        {
            self.has_odd_key = true;
        }
        self.scan(at);
    }

    /// Judges fields that have a meaning only together.
    fn judge_fields(&mut self, at: Range<usize>, pairs: &PairedFields) {
        if !pairs.values().is_empty() && matches!(self.goal, WalkGoal::Policy | WalkGoal::Formless)
        {
            self.variables(pairs);
            self.patch(pairs);
        }
        if matches!(self.goal, WalkGoal::Policy | WalkGoal::Formless) {
            for lists in pairs.command_lines() {
                self.command_line(&lists);
            }
        }
        for member in pairs.key_members() {
            self.replace(member.clone(), "json-web-key".into(), ValueEncoding::Plain);
        }
        if pairs.kinds().is_empty() {
            return;
        }
        let kinds: Vec<_> = pairs
            .kinds()
            .iter()
            .map(|kind| self.json.string_value(kind))
            .collect();
        let is_reference = REFERENCES
            .iter()
            .any(|list| self.is_in_list(list) || self.is_field(list));
        for kind in &kinds {
            if is_reference && secret_fields::has_secret_name(kind) {
                self.reference(pairs);
            }
            if self.opens && (!self.steps.is_empty() || self.depth > 0) {
                self.open(&at, kind);
            }
            if self.opens
                && let Some(kind) = secret_fields::kind_of_items(kind)
            {
                self.open_items(pairs, kind);
            }
        }
    }

    /// Walks over the items of a list, as objects of a kind.
    fn open_items(&mut self, pairs: &PairedFields, kind: &str) {
        for (field, list) in pairs.items() {
            self.steps.push(PathStep::Key(field.clone().into()));
            for (item, at) in self.json.items(list.start).into_iter().enumerate() {
                self.steps.push(PathStep::Item(item));
                self.open(&at, kind);
                self.steps.pop();
            }
            self.steps.pop();
        }
    }

    /// Judges an operation of a JSON patch: the last name of its path is that of its value.
    fn patch(&mut self, pairs: &PairedFields) {
        for path in pairs.patched_paths() {
            let path = self.json.string_value(path);
            let is_index =
                |part: &&str| *part == "-" || part.bytes().all(|byte| byte.is_ascii_digit());
            let name = path.rsplit('/').find(|part| !is_index(part));
            let name = name.unwrap_or_default().replace("~1", "/");
            let class = names::class(&name);
            if class == NameClass::Plain {
                continue;
            }
            for (field, value) in pairs.values() {
                // The fields of an object have names of their own.
                if !self.json.starts_with(value, '{') && !self.is_count(&name, value) {
                    self.steps.push(PathStep::Key(field.clone().into()));
                    self.within(value, WalkGoal::Announced(class, "named-pair"));
                    self.steps.pop();
                }
            }
        }
    }

    /// Returns whether a value is a short number under a plural.
    fn is_count(&self, name: &str, value: &Range<usize>) -> bool {
        forms::is_count(name, &self.written(value))
    }

    fn variables(&mut self, pairs: &PairedFields) {
        let rule = if self.is_in_list("env") {
            "variable"
        } else {
            "named-pair"
        };
        for name in pairs.variables() {
            let name = self.json.string_value(name);
            let is_proxy = name.len() >= 6
                && name
                    .get(name.len() - 6..)
                    .is_some_and(|end| end.eq_ignore_ascii_case("_proxy"));
            let class = names::class(&name);
            if class == NameClass::Plain && !is_proxy {
                continue;
            }
            for (field, value) in pairs.values() {
                self.steps.push(PathStep::Key(field.clone().into()));
                if is_proxy && self.json.starts_with(value, '"') {
                    self.url(value.clone(), "proxy");
                } else if !self.is_count(&name, value) {
                    self.within(value, WalkGoal::Announced(class, rule));
                }
                self.steps.pop();
            }
        }
    }

    /// Judges a command line that consists of lists of arguments.
    fn command_line(&mut self, lists: &[(String, Range<usize>)]) {
        for (argument, place) in CommandLine::read(self.json, lists).passwords() {
            let field = argument.field.to_owned();
            self.steps.push(PathStep::Key(field.into()));
            self.steps.push(PathStep::Item(argument.item));
            self.part(&argument.at, place, "argument");
            self.steps.truncate(self.steps.len() - 2);
        }
    }

    /// Walks over a part of this text with a goal of its own.
    fn within(&mut self, place: &Range<usize>, goal: WalkGoal<'_>) {
        let mut inner = self.inner(self.json.raw(place), FieldRules::default());
        inner.goal = goal;
        inner.steps.clone_from(&self.steps);
        if inner.value(0).is_none() {
            return;
        }
        for mut edit in inner.edits {
            edit.place = edit.place.start + place.start..edit.place.end + place.start;
            self.edits.push(edit);
        }
    }

    /// Judges a key of `fieldsV1` with a value: `v:"…"` is an item of a set, `k:{…}` are the fields
    /// that identify an item of a list. A value is replaced here if it is replaced at the same
    /// place of the object.
    fn judge_owned_key(&mut self, at: Range<usize>) {
        let Some(key) = self.json.decoded(&at) else {
            return;
        };
        let Some(value) = value_in(key.text()) else {
            return;
        };
        self.owned.note(at.clone());
        let class = names::class(list_of(&self.steps));
        let Ok(value) = std::str::from_utf8(value) else {
            return;
        };
        let is_plain = class == NameClass::Plain && !names::may_announce(value.as_bytes());
        if is_plain && self.rules.is_empty() {
            return;
        }
        let mut inner = self.inner(value, self.rules.clone());
        inner.steps = self.owned.steps_in_object(&self.steps);
        inner.field = FieldAnnouncement::of(class);
        if inner.value(0).is_some() {
            let edits = inner.edits;
            self.push_owned(&at, &key, edits);
        }
    }

    /// Replaces in `fieldsV1` the values that were replaced in the object.
    fn judge_owned(&mut self) {
        let keys = self.owned.take_keys();
        if self.edits.is_empty() || keys.is_empty() {
            return;
        }
        let mut replaced = BTreeMap::new();
        for edit in &self.edits {
            let raw = self.json.raw(&edit.place);
            let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
            if let Some(inner) = inner.filter(|inner| inner.len() >= REPLACED_LEAST) {
                let value = DecodedText::from_json(inner.as_bytes()).text().to_vec();
                replaced.insert(value, edit.rule.clone());
            }
        }
        if replaced.is_empty() {
            return;
        }
        for at in keys {
            let Some(key) = self.json.decoded(&at) else {
                continue;
            };
            let value = key.text().get(2..);
            let Some(value) = value.and_then(|value| std::str::from_utf8(value).ok()) else {
                continue;
            };
            let mut inner = self.inner(value, FieldRules::default());
            inner.goal = WalkGoal::Replaced(&replaced);
            if inner.value(0).is_some() {
                let edits = inner.edits;
                self.push_owned(&at, &key, edits);
            }
        }
    }

    /// Takes edits of the value in a key of `fieldsV1`.
    fn push_owned(&mut self, at: &Range<usize>, key: &DecodedText<'_>, edits: Vec<Edit>) {
        for mut edit in edits {
            edit.place = edit.place.start + 2..edit.place.end + 2;
            self.push_part(at, key, edit);
        }
    }

    fn reference(&mut self, pairs: &PairedFields) {
        let uid = pairs.uid().map(|uid| self.json.string_value(uid));
        for name in pairs.objects() {
            self.rename(name.clone(), uid.as_deref().unwrap_or_default());
        }
    }

    /// Replaces the name of an object.
    fn rename(&mut self, at: Range<usize>, uid: &str) {
        let name = self.json.string_value(&at);
        if name.is_empty() || is_mark(name.as_bytes()) {
            return;
        }
        let with = mark::name_of(uid).unwrap_or_else(|| self.context.marker.word(name.as_bytes()));
        self.push(
            at,
            format!("\"{with}\""),
            "oauth-name".into(),
            name.as_bytes(),
        );
    }

    /// Returns whether the place of a field decides about its text.
    fn by_place(&mut self, at: &Range<usize>) -> bool {
        if self.by_own(at) {
            return true;
        }
        let Some(place) = self.rules.for_text(&self.steps) else {
            return false;
        };
        let (rule, action) = (place.rule, place.action);
        match action {
            FieldAction::Whole | FieldAction::Text | FieldAction::Map | FieldAction::Base64 => {
                self.replace(at.clone(), rule.into(), action.encoding());
            }
            FieldAction::Config | FieldAction::ConfigBase64 => {
                let value = self.json.string_value(at);
                let key = match self.steps.last() {
                    Some(PathStep::Key(key)) => key.as_ref(),
                    _ => "",
                };
                if self.identity.keeps(key, &value) {
                    // The list has judged the name of the key with the value.
                    self.scan(at.clone());
                    return true;
                }
                let is_secret = names::class(key) == NameClass::Secret;
                if action == FieldAction::ConfigBase64 || is_secret || !self.by_fields(at) {
                    self.replace(at.clone(), rule.into(), action.encoding());
                }
            }
            FieldAction::Url => {
                self.url(at.clone(), rule);
                return false;
            }
            FieldAction::Name => {
                let uid = self.identity.uid().to_owned();
                self.rename(at.clone(), &uid);
            }
        }
        true
    }

    /// Returns whether a rule of the user decides about a value: a rule for its place or for a
    /// place above it.
    fn by_own(&mut self, at: &Range<usize>) -> bool {
        let Some(rule) = self.rules.own(&self.steps) else {
            return false;
        };
        let rule = rule.to_owned();
        self.replace(at.clone(), rule.into(), ValueEncoding::Plain);
        true
    }

    /// Returns whether the goal of this walk decides about a value.
    fn by_goal(&mut self, at: &Range<usize>) -> bool {
        let rule = match &self.goal {
            WalkGoal::Policy => return false,
            WalkGoal::Announced(class, rule) => {
                if forms::is_kept(*class, &self.written(at)) {
                    return false;
                }
                RuleName::from(*rule)
            }
            WalkGoal::Formless => {
                if forms::form(&self.written(at)) <= ValueForm::Word {
                    return false;
                }
                "config-map".into()
            }
            WalkGoal::Replaced(replaced) => match replaced.get(self.written(at).as_bytes()) {
                Some(rule) => rule.clone(),
                None => return false,
            },
        };
        self.replace(at.clone(), rule, ValueEncoding::Plain);
        true
    }

    /// Judges a value of a `ConfigMap` field by field, if it is JSON: `false` if it is not.
    fn by_fields(&mut self, at: &Range<usize>) -> bool {
        let Some(value) = self.json.decoded(at) else {
            return false;
        };
        let Ok(text) = std::str::from_utf8(value.text()) else {
            return false;
        };
        if !text.trim_start().starts_with(['{', '[']) || self.depth >= DEPTH_MOST {
            return false;
        }
        let rules = FieldRules::default();
        let mut inner = ObjectWalk::new(self.context, rules, TextScope::All, text, self.depth + 1);
        (inner.opens, inner.goal) = (true, WalkGoal::Formless);
        if inner.whole().is_none() || inner.has_odd_key {
            return false;
        }
        for mut edit in mark::settle(inner.edits, text.as_bytes(), self.context.marker) {
            edit.path.clear();
            self.push_part(at, &value, edit);
        }
        true
    }

    /// Returns whether an annotation's name decides about its text.
    fn by_annotation(&mut self, at: &Range<usize>) -> bool {
        let rule = match self.steps.as_slice() {
            [.., PathStep::Key(above), PathStep::Key(key)] if above == "annotations" => {
                if key.eq_ignore_ascii_case(LAST_APPLIED) {
                    "last-applied"
                } else if key.eq_ignore_ascii_case(TOKEN_VALUE) {
                    "token-annotation"
                } else {
                    return false;
                }
            }
            _ => return false,
        };
        self.replace(at.clone(), rule.into(), ValueEncoding::Plain);
        true
    }

    /// Returns whether the name of a field decides about its value.
    fn by_name(&mut self, at: &Range<usize>) -> bool {
        let is_count =
            matches!(self.steps.last(), Some(PathStep::Key(key)) if self.is_count(key, at));
        if is_count || forms::is_kept(self.field.class(), &self.written(at)) {
            return false;
        }
        self.replace(at.clone(), "named-field".into(), ValueEncoding::Plain);
        true
    }

    /// Returns whether a flag decides about an argument.
    fn by_flag(&mut self, at: &Range<usize>, announced: NameClass) -> bool {
        let text = self.json.string_value(at);
        if announced != NameClass::Plain && !text.starts_with('-') {
            if forms::is_kept(announced, &text) {
                return false;
            }
            self.replace(at.clone(), "argument".into(), ValueEncoding::Plain);
            return true;
        }
        self.has_program |= programs::is_program(&text);
        match flag_argument(&text) {
            FlagArgument::Plain => false,
            FlagArgument::Announces(class) => {
                self.announced = class;
                false
            }
            FlagArgument::Secret(place) => {
                self.part(at, place, "argument");
                true
            }
        }
    }

    /// Replaces user and password of a URL, and the values of its query.
    fn url(&mut self, at: Range<usize>, rule: &'static str) {
        let text = self.json.string_value(&at).into_owned();
        let bytes = text.as_bytes();
        let scheme = memchr::memmem::find(bytes, b"://").map_or(0, |found| found + 3);
        if let Some(place) = userinfo(bytes, scheme, true) {
            self.part(&at, place, rule);
        }
        let Some(query) = memchr::memchr(b'?', bytes) else {
            return;
        };
        let mut from = query + 1;
        for pair in text.get(query + 1..).unwrap_or_default().split('&') {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            let end = from + pair.len();
            if !value.is_empty() {
                self.part(&at, end - value.len()..end, rule);
            }
            from = end + 1;
        }
    }

    /// Searches a text.
    fn scan(&mut self, at: Range<usize>) {
        if at.len() < TEXT_LEAST || !self.scope.has_text(&at) {
            return;
        }
        let Some(string) = self.json.decoded(&at) else {
            return;
        };
        let context = SearchContext {
            is_command: ["command", "args", "script"]
                .iter()
                .any(|name| self.is_in_list(name) || self.is_field(name)),
            ..self.context
        };
        for edit in text::find_in_value(context, string.text(), self.depth) {
            self.push_part(&at, &string, edit);
        }
    }

    /// Replaces a part of a text by a mark.
    fn part(&mut self, at: &Range<usize>, place: Range<usize>, rule: &'static str) {
        let Some(string) = self.json.decoded(at) else {
            return;
        };
        if let Some(edit) = self.context.edit(string.text(), place, rule) {
            self.push_part(at, &string, edit);
        }
    }

    fn push_part(&mut self, at: &Range<usize>, string: &DecodedText<'_>, edit: Edit) {
        let Some(place) = string.place(&edit.place) else {
            return;
        };
        let offset = at.start + 1;
        let path = self.path();
        self.edits.push(Edit {
            place: place.start + offset..place.end + offset,
            with: decoded::to_json(&edit.with),
            path,
            ..edit
        });
    }

    /// Replaces a whole value by a mark, unless it is one.
    fn replace(&mut self, at: Range<usize>, rule: RuleName, encoding: ValueEncoding) {
        let string = if self.json.starts_with(&at, '"') {
            self.json.decoded(&at)
        } else {
            None
        };
        let secret = match &string {
            Some(string) => string.text().to_vec(),
            None => self.json.raw(&at).as_bytes().to_vec(),
        };
        let with = match encoding {
            // A name may announce a value that the kind of its object has replaced in base64.
            ValueEncoding::Plain if is_mark(&secret) || is_encoded_mark(&secret) => return,
            ValueEncoding::Base64 if is_encoded_mark(&secret) => return,
            ValueEncoding::Plain => self.context.marker.sentence(&secret),
            ValueEncoding::Base64 => {
                // The mark is made of the decoded value, so that it equals the mark of the same
                // value elsewhere.
                let value = base64::decode(&secret);
                let mark = self
                    .context
                    .marker
                    .sentence(value.as_deref().unwrap_or(&secret));
                base64::encode(mark.as_bytes())
            }
        };
        self.push(at, format!("\"{with}\""), rule, &secret);
    }

    fn push(&mut self, place: Range<usize>, with: String, rule: RuleName, secret: &[u8]) {
        let path = self.path();
        self.edits.push(Edit {
            place,
            with: with.into_bytes(),
            rule,
            hint: Hint::of(secret),
            path,
        });
    }

    fn path(&self) -> String {
        if self.context.has_paths {
            self.path_text()
        } else {
            String::new()
        }
    }

    /// Writes the place of the walk.
    fn path_text(&self) -> String {
        let steps = self.owned.shown(&self.steps);
        self.context.path_text(steps)
    }

    /// Returns whether the object is an item of a list with that name.
    fn is_in_list(&self, list: &str) -> bool {
        matches!(self.steps.as_slice(), [.., PathStep::Key(key), PathStep::Item(_)] if key.eq_ignore_ascii_case(list))
    }

    fn is_field(&self, name: &str) -> bool {
        matches!(self.steps.last(), Some(PathStep::Key(key)) if key.eq_ignore_ascii_case(name))
    }
}

/// Returns whether an object may be nested too deep to be walked.
pub(crate) fn may_be_deep(json: &[u8]) -> bool {
    // `[` and `{` differ in one bit. Without it `;` and other characters count as well, which is
    // harmless.
    json.iter().filter(|byte| **byte | 0x20 == b'{').count() >= NESTED_MOST
}
