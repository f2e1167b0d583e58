//! Owns what becomes of one value: by its place, its name, or what it says. Refuses to find it.

use super::pairs::Pairs;
use super::{Asked, Scans, Sought, Walk};
use crate::base64;
use crate::edit::{self, Edit, Hint, Rule};
use crate::flags::{self, Argument};
use crate::forms::{self, ValueForm};
use crate::json_text::{self, Said};
use crate::mark::{self, is_encoded_mark, is_mark};
use crate::named;
use crate::names::{self, NameClass};
use crate::path::{self, Step};
use crate::table::Action;
use crate::text::{self, DEPTH_MOST};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// kubectl's annotation with the object as it was last applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The annotation with the token of a Secret.
const TOKEN_VALUE: &str = "openshift.io/token-secret.value";

/// A shorter text holds no secret that could be told from others.
const TEXT_LEAST: usize = 7;

/// A shorter value is replaced in `managedFields` by its place only: elsewhere, `TCP` is no secret.
const KNOWN_LEAST: usize = 6;

/// Fields that refer to an object by kind and name.
const REFERENCES: [&str; 6] = [
    "ownerReferences",
    "involvedObject",
    "regarding",
    "related",
    "objectRef",
    "targetRef",
];

/// How readers expect a value to be spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    Base64,
}

impl Walk<'_> {
    /// Judges a text; its place includes the quotes.
    pub(super) fn judge_string(&mut self, at: Range<usize>) {
        let announced = std::mem::take(&mut self.announced);
        if at.len() <= 2 || self.by_place(&at) || self.by_annotation(&at) || self.by_sought(&at) {
            return;
        }
        if matches!(self.steps.last(), Some(Step::Item(_))) && self.by_flag(&at, announced) {
            return;
        }
        if self.class != NameClass::Plain && self.by_name(&at) {
            return;
        }
        self.scan(at);
    }

    /// Judges anything else: `before` is how many edits there were before it was walked over.
    pub(super) fn judge_other(&mut self, at: Range<usize>, before: usize) {
        let is_map = self.starts_with(&at, '{');
        let is_nothing = matches!(self.text.get(at.clone()), Some("null" | "{}" | "[]"));
        if is_nothing {
            return;
        }
        let found = self.places.iter().find(|place| {
            let takes = match place.action {
                Action::Map => !is_map,
                Action::Whole | Action::Base64 | Action::Config | Action::ConfigBase64 => true,
                Action::Text | Action::Url | Action::Name => false,
            };
            takes && place.pattern.is_of(&self.steps)
        });
        if let Some(place) = found {
            let (rule, action) = (place.rule, place.action);
            self.edits.truncate(before);
            let spelling = match action {
                Action::Base64 | Action::ConfigBase64 => Spelling::Base64,
                _ => Spelling::Plain,
            };
            self.replace(at, rule.into(), spelling);
            return;
        }
        // Lists and objects are judged by what is in them.
        if !is_map && !self.starts_with(&at, '[') && !self.by_own(&at) && !self.by_sought(&at) {
            self.by_name(&at);
        }
    }

    fn starts_with(&self, at: &Range<usize>, first: char) -> bool {
        self.text
            .get(at.start..)
            .is_some_and(|text| text.starts_with(first))
    }

    /// Gives what a text says, or how anything else is written.
    fn written(&self, at: &Range<usize>) -> Cow<'_, str> {
        if self.starts_with(at, '"') {
            self.said(at.clone())
        } else {
            self.text.get(at.clone()).unwrap_or_default().into()
        }
    }

    /// Judges the name of a field.
    pub(super) fn judge_key(&mut self, at: Range<usize>) {
        if matches!(self.sought, Sought::Formless) && !forms::is_plain_field(&self.said(at.clone()))
        {
            self.has_odd_key = true;
        }
        self.scan(at);
    }

    /// Judges fields that only mean something together.
    pub(super) fn judge_fields(&mut self, at: Range<usize>, pairs: &Pairs) {
        if !pairs.values.is_empty() && matches!(self.sought, Sought::Nothing | Sought::Formless) {
            self.variables(pairs);
        }
        if pairs.is_key {
            for member in &pairs.key_members {
                self.replace(member.clone(), "json-web-key".into(), Spelling::Plain);
            }
        }
        if pairs.kinds.is_empty() {
            return;
        }
        let kinds: Vec<_> = pairs
            .kinds
            .iter()
            .map(|kind| self.said(kind.clone()))
            .collect();
        let is_reference = REFERENCES
            .iter()
            .any(|list| self.is_in_list(list) || self.is_field(list));
        for kind in &kinds {
            if is_reference && named::has_secret_name(kind) {
                self.reference(pairs);
            }
            if self.opens && (!self.steps.is_empty() || self.depth > 0) {
                self.open(&at, kind);
            }
        }
    }

    fn variables(&mut self, pairs: &Pairs) {
        let rule = if self.is_in_list("env") {
            "variable"
        } else {
            "named-pair"
        };
        for (_, name) in &pairs.names {
            let name = self.said(name.clone());
            let is_proxy = name.len() >= 6
                && name
                    .get(name.len() - 6..)
                    .is_some_and(|end| end.eq_ignore_ascii_case("_proxy"));
            let class = names::class(&name);
            if class == NameClass::Plain && !is_proxy {
                continue;
            }
            for (field, value) in &pairs.values {
                self.steps.push(Step::Key(field.clone().into()));
                if is_proxy && self.starts_with(value, '"') {
                    self.url(value.clone(), "proxy");
                } else {
                    self.within(value, Sought::Announced(class, rule));
                }
                self.steps.pop();
            }
        }
    }

    /// Walks over a part of this text for something.
    fn within(&mut self, place: &Range<usize>, sought: Sought<'_>) {
        let Some(text) = self.text.get(place.clone()) else {
            return;
        };
        let asked = Asked {
            context: self.context,
            places: Vec::new(),
            own: Vec::new(),
            scans: Scans::None,
        };
        let mut inner = Walk::new(asked, text, self.depth);
        inner.sought = sought;
        inner.steps.clone_from(&self.steps);
        if inner.value(0).is_none() {
            return;
        }
        for mut edit in inner.edits {
            edit.place = edit.place.start + place.start..edit.place.end + place.start;
            self.edits.push(edit);
        }
    }

    /// Judges a key of `fieldsV1` that holds a value: `v:"…"` is an item of a set, `k:{…}` are the fields by
    /// which an item of a list is known. The same is replaced there as in the object, where it stands at
    /// the same place.
    pub(super) fn judge_owned_key(&mut self, at: Range<usize>) {
        let Some(raw) = self.text.as_bytes().get(at.start + 1..at.end - 1) else {
            return;
        };
        let said = Said::read(raw);
        let Some(value) = said
            .text()
            .strip_prefix(b"k:")
            .or_else(|| said.text().strip_prefix(b"v:"))
        else {
            return;
        };
        self.owned.push(at.clone());
        let list = self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => key.strip_prefix("f:"),
            Step::Item(_) => None,
        });
        let class = names::class(list.unwrap_or_default());
        let Ok(value) = std::str::from_utf8(value) else {
            return;
        };
        let is_plain = class == NameClass::Plain && !names::may_announce(value.as_bytes());
        if is_plain && self.own.is_empty() && self.places.is_empty() {
            return;
        }
        let steps = self
            .steps
            .get(self.owned_from.unwrap_or(0)..)
            .unwrap_or_default();
        let mut steps: Vec<_> = steps
            .iter()
            .map(|step| match step {
                Step::Key(key) => match key.strip_prefix("f:") {
                    Some(field) => Step::Key(field.to_owned().into()),
                    None => Step::Item(0),
                },
                Step::Item(item) => Step::Item(*item),
            })
            .collect();
        steps.push(Step::Item(0));
        let asked = Asked {
            context: self.context,
            places: self.places.clone(),
            own: self.own.clone(),
            scans: Scans::None,
        };
        let mut inner = Walk::new(asked, value, self.depth);
        (inner.steps, inner.class) = (steps, class);
        if inner.value(0).is_some() {
            let edits = inner.edits;
            self.push_owned(&at, &said, edits);
        }
    }

    /// Replaces in `fieldsV1` what was replaced in the object.
    pub(super) fn judge_owned(&mut self) {
        if self.edits.is_empty() || self.owned.is_empty() {
            return;
        }
        let mut known = BTreeMap::new();
        for edit in &self.edits {
            let raw = self.text.get(edit.place.clone()).unwrap_or_default();
            let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
            if let Some(inner) = inner.filter(|inner| inner.len() >= KNOWN_LEAST) {
                let value = Said::read(inner.as_bytes()).text().to_vec();
                known.insert(value, edit.rule.clone());
            }
        }
        if known.is_empty() {
            return;
        }
        for at in std::mem::take(&mut self.owned) {
            let Some(raw) = self.text.as_bytes().get(at.start + 1..at.end - 1) else {
                continue;
            };
            let said = Said::read(raw);
            let Some(value) = said
                .text()
                .get(2..)
                .and_then(|value| std::str::from_utf8(value).ok())
            else {
                continue;
            };
            let asked = Asked {
                context: self.context,
                places: Vec::new(),
                own: Vec::new(),
                scans: Scans::None,
            };
            let mut inner = Walk::new(asked, value, self.depth);
            inner.sought = Sought::Known(&known);
            if inner.value(0).is_some() {
                let edits = inner.edits;
                self.push_owned(&at, &said, edits);
            }
        }
    }

    /// Takes edits of the value in a key of `fieldsV1`.
    fn push_owned(&mut self, at: &Range<usize>, said: &Said<'_>, edits: Vec<Edit>) {
        for mut edit in edits {
            edit.place = edit.place.start + 2..edit.place.end + 2;
            self.push_part(at, said, edit);
        }
    }

    fn reference(&mut self, pairs: &Pairs) {
        let uid = pairs.uids.first().map(|uid| self.said(uid.clone()));
        for (_, name) in pairs.names.iter().filter(|(is_name, _)| *is_name) {
            self.rename(name.clone(), uid.as_deref().unwrap_or_default());
        }
    }

    /// Replaces the name of an object.
    fn rename(&mut self, at: Range<usize>, uid: &str) {
        let name = self.said(at.clone());
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

    /// Tells whether the place of a field settles what becomes of its text.
    fn by_place(&mut self, at: &Range<usize>) -> bool {
        if self.by_own(at) {
            return true;
        }
        let found = self
            .places
            .iter()
            .find(|place| place.pattern.is_of(&self.steps));
        let Some(place) = found else {
            return false;
        };
        let (rule, action) = (place.rule, place.action);
        match action {
            Action::Whole | Action::Text | Action::Map => {
                self.replace(at.clone(), rule.into(), Spelling::Plain);
            }
            Action::Base64 => self.replace(at.clone(), rule.into(), Spelling::Base64),
            Action::Config | Action::ConfigBase64 => {
                let value = self.said(at.clone());
                let key = match self.steps.last() {
                    Some(Step::Key(key)) => key.as_ref(),
                    _ => "",
                };
                if self.identity.keeps(key, &value) {
                    // The list has judged the name of the key with the value.
                    self.scan(at.clone());
                    return true;
                }
                let class = names::class(key);
                if action == Action::Config && class != NameClass::Secret && self.by_fields(at) {
                    return true;
                }
                let spelling = if action == Action::Config {
                    Spelling::Plain
                } else {
                    Spelling::Base64
                };
                self.replace(at.clone(), rule.into(), spelling);
            }
            Action::Url => {
                self.url(at.clone(), rule);
                return false;
            }
            Action::Name => {
                let uid = self.identity.uid().to_owned();
                self.rename(at.clone(), &uid);
            }
        }
        true
    }

    /// Tells whether a rule of the user's own settles what becomes of a value: one for its place, or for
    /// what it stands in.
    fn by_own(&mut self, at: &Range<usize>) -> bool {
        let own = self
            .own
            .iter()
            .find(|(_, pattern)| pattern.covers(&self.steps));
        let Some((rule, _)) = own else {
            return false;
        };
        let rule = rule.clone();
        self.replace(at.clone(), rule.into(), Spelling::Plain);
        true
    }

    /// Tells whether a value is one that this walk is for.
    fn by_sought(&mut self, at: &Range<usize>) -> bool {
        let rule = match &self.sought {
            Sought::Nothing => return false,
            Sought::Announced(class, rule) => {
                if forms::is_kept(*class, &self.written(at)) {
                    return false;
                }
                Rule::from(*rule)
            }
            Sought::Formless => {
                if forms::form(&self.written(at)) <= ValueForm::Word {
                    return false;
                }
                "config-map".into()
            }
            Sought::Known(known) => match known.get(self.written(at).as_bytes()) {
                Some(rule) => rule.clone(),
                None => return false,
            },
        };
        self.replace(at.clone(), rule, Spelling::Plain);
        true
    }

    /// Judges a value of a `ConfigMap` field by field, if it is JSON: `false` if it is not.
    fn by_fields(&mut self, at: &Range<usize>) -> bool {
        let Some(raw) = self.text.as_bytes().get(at.start + 1..at.end - 1) else {
            return false;
        };
        let said = Said::read(raw);
        let Ok(text) = std::str::from_utf8(said.text()) else {
            return false;
        };
        if !text.trim_start().starts_with(['{', '[']) || self.depth >= DEPTH_MOST {
            return false;
        }
        let asked = Asked {
            context: self.context,
            places: Vec::new(),
            own: Vec::new(),
            scans: Scans::All,
        };
        let mut inner = Walk::new(asked, text, self.depth + 1);
        (inner.opens, inner.sought) = (true, Sought::Formless);
        let end = inner.value(inner.space(0));
        if end.is_none_or(|end| inner.space(end) != text.len()) || inner.has_odd_key {
            return false;
        }
        for mut edit in edit::settle(inner.edits, text.as_bytes(), self.context.marker) {
            edit.path.clear();
            self.push_part(at, &said, edit);
        }
        true
    }

    /// Tells whether an annotation's name settles what becomes of its text.
    fn by_annotation(&mut self, at: &Range<usize>) -> bool {
        let rule = match self.steps.as_slice() {
            [.., Step::Key(above), Step::Key(key)] if above == "annotations" => {
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
        self.replace(at.clone(), rule.into(), Spelling::Plain);
        true
    }

    /// Tells whether the name of a field settles what becomes of its value.
    fn by_name(&mut self, at: &Range<usize>) -> bool {
        let value = self.written(at);
        let is_count = matches!(self.steps.last(), Some(Step::Key(key)) if names::is_plural(key))
            && forms::form(&value) == ValueForm::Number;
        if is_count || forms::is_kept(self.class, &value) {
            return false;
        }
        self.replace(at.clone(), "named-field".into(), Spelling::Plain);
        true
    }

    /// Tells whether a flag settles what becomes of an argument.
    fn by_flag(&mut self, at: &Range<usize>, announced: NameClass) -> bool {
        let said = self.said(at.clone());
        if announced != NameClass::Plain && !said.starts_with('-') {
            if forms::is_kept(announced, &said) {
                return false;
            }
            self.replace(at.clone(), "argument".into(), Spelling::Plain);
            return true;
        }
        match flags::argument(&said) {
            Argument::Plain => false,
            Argument::Announces(class) => {
                self.announced = class;
                false
            }
            Argument::Secret(place) => {
                self.part(at, place, "argument");
                true
            }
        }
    }

    /// Replaces user and password of a URL, and the values of its query.
    fn url(&mut self, at: Range<usize>, rule: &'static str) {
        let said = self.said(at.clone()).into_owned();
        let bytes = said.as_bytes();
        let scheme = memchr::memmem::find(bytes, b"://").map_or(0, |found| found + 3);
        if let Some(place) = text::userinfo(bytes, scheme, true) {
            self.part(&at, place, rule);
        }
        let Some(query) = memchr::memchr(b'?', bytes) else {
            return;
        };
        let mut from = query + 1;
        for pair in said.get(query + 1..).unwrap_or_default().split('&') {
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
        if at.len() < TEXT_LEAST || !self.scans(&at) {
            return;
        }
        let Some(raw) = self.text.as_bytes().get(at.start + 1..at.end - 1) else {
            return;
        };
        let said = Said::read(raw);
        if !self.context.suspects(said.text(), self.depth) {
            return;
        }
        for edit in text::find(self.context, said.text(), self.depth) {
            self.push_part(&at, &said, edit);
        }
    }

    /// Replaces a part of what a text says by a word.
    fn part(&mut self, at: &Range<usize>, place: Range<usize>, rule: &'static str) {
        let Some(raw) = self.text.as_bytes().get(at.start + 1..at.end - 1) else {
            return;
        };
        let said = Said::read(raw);
        if let Some(edit) = self.context.edit(said.text(), place, rule) {
            self.push_part(at, &said, edit);
        }
    }

    fn push_part(&mut self, at: &Range<usize>, said: &Said<'_>, edit: Edit) {
        let Some(place) = said.place(&edit.place) else {
            return;
        };
        let offset = at.start + 1;
        let path = self.path();
        self.edits.push(Edit {
            place: place.start + offset..place.end + offset,
            with: json_text::spell(&edit.with),
            path,
            ..edit
        });
    }

    /// Replaces a whole value by a mark, unless it is one.
    pub(super) fn replace(&mut self, at: Range<usize>, rule: Rule, spelling: Spelling) {
        let raw = self.text.get(at.clone()).unwrap_or_default();
        let secret = if raw.starts_with('"') {
            let inner = raw.as_bytes().get(1..raw.len() - 1).unwrap_or_default();
            Said::read(inner).text().to_vec()
        } else {
            raw.as_bytes().to_vec()
        };
        let with = match spelling {
            // A name may announce what the kind of its object has replaced in base64.
            Spelling::Plain if is_mark(&secret) || is_encoded_mark(&secret) => return,
            Spelling::Base64 if is_encoded_mark(&secret) => return,
            Spelling::Plain => self.context.marker.sentence(&secret),
            Spelling::Base64 => {
                // The value is what it decodes to: so it is equal to the same one elsewhere.
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

    fn push(&mut self, place: Range<usize>, with: String, rule: Rule, secret: &[u8]) {
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
        if self.context.tells {
            self.place_text()
        } else {
            String::new()
        }
    }

    pub(super) fn place_text(&self) -> String {
        path::write(&self.steps)
    }

    /// Tells whether the object at hand is an item of a list of that name.
    pub(super) fn is_in_list(&self, list: &str) -> bool {
        matches!(self.steps.as_slice(), [.., Step::Key(key), Step::Item(_)] if key.eq_ignore_ascii_case(list))
    }

    fn is_field(&self, name: &str) -> bool {
        matches!(self.steps.last(), Some(Step::Key(key)) if key.eq_ignore_ascii_case(name))
    }
}
