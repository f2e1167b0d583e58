//! Owns what becomes of one value: by its place, its name, or what it says. Refuses to find it.

use super::Walk;
use super::pairs::Pairs;
use crate::base64;
use crate::edit::{Edit, Hint, Rule};
use crate::flags::{self, Argument};
use crate::json_text::{self, Said};
use crate::mark::{self, is_encoded_mark, is_mark};
use crate::named::{self, Variable};
use crate::path::{self, Step};
use crate::table::Action;
use crate::text;
use std::ops::Range;

/// kubectl's annotation with the object as it was last applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The annotation with the token of a Secret.
const TOKEN_VALUE: &str = "openshift.io/token-secret.value";

/// A shorter text holds no secret that could be told from others.
const TEXT_LEAST: usize = 7;

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
enum Spelling {
    Plain,
    Base64,
}

impl Walk<'_> {
    /// Judges a text; its place includes the quotes.
    pub(super) fn judge_string(&mut self, at: Range<usize>) {
        let is_empty = at.len() <= 2;
        let announced = std::mem::take(&mut self.is_announced);
        if is_empty || self.by_place(&at) || self.by_name(&at) {
            return;
        }
        if self.is_argument() && self.by_flag(&at, announced) {
            return;
        }
        self.scan(at);
    }

    /// Judges anything else: `before` is how many edits there were before it was walked over.
    pub(super) fn judge_other(&mut self, at: Range<usize>, before: usize) {
        let is_map = self
            .text
            .get(at.start..)
            .is_some_and(|text| text.starts_with('{'));
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
        }
    }

    /// Judges the name of a field.
    pub(super) fn judge_key(&mut self, at: Range<usize>) {
        if self.scans {
            self.scan(at);
        }
    }

    /// Judges fields that only mean something together.
    pub(super) fn judge_fields(&mut self, at: Range<usize>, pairs: &Pairs) {
        if !pairs.values.is_empty() && self.is_in_list("env") {
            self.variables(pairs);
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
        for name in &pairs.names {
            let name = self.said(name.clone());
            for value in &pairs.values {
                let is_text = self
                    .text
                    .get(value.start..)
                    .is_some_and(|text| text.starts_with('"'));
                let said = if is_text {
                    self.said(value.clone())
                } else {
                    self.text.get(value.clone()).unwrap_or_default().into()
                };
                match named::variable(&name, &said) {
                    Variable::Proxy if is_text => self.url(value.clone(), "proxy"),
                    Variable::Plain | Variable::Proxy => {}
                    Variable::Secret if matches!(said.as_ref(), "null" | "{}" | "[]") => {}
                    Variable::Secret => {
                        self.steps.push(Step::Key("value".into()));
                        self.replace(value.clone(), "variable".into(), Spelling::Plain);
                        self.steps.pop();
                    }
                }
            }
        }
    }

    fn reference(&mut self, pairs: &Pairs) {
        let uid = pairs.uids.first().map(|uid| self.said(uid.clone()));
        for name in &pairs.names {
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
        let own = self
            .own
            .iter()
            .find(|(_, pattern)| pattern.is_of(&self.steps));
        if let Some((rule, _)) = own {
            let rule = rule.clone();
            self.replace(at.clone(), rule.into(), Spelling::Plain);
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
                    return false;
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

    /// Tells whether the name of a field settles what becomes of its text.
    fn by_name(&mut self, at: &Range<usize>) -> bool {
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
            [.., Step::Key(key)] if named::is_secret_field(key) => "named-field",
            _ => return false,
        };
        let value = self.said(at.clone());
        if named::is_reference(&value) {
            return false;
        }
        self.replace(at.clone(), rule.into(), Spelling::Plain);
        true
    }

    /// Tells whether a flag settles what becomes of an argument.
    fn by_flag(&mut self, at: &Range<usize>, announced: bool) -> bool {
        let said = self.said(at.clone());
        if announced && !said.starts_with('-') {
            if flags::is_worth(&said) {
                self.replace(at.clone(), "argument".into(), Spelling::Plain);
            }
            return true;
        }
        match flags::argument(&said) {
            Argument::Plain => false,
            Argument::Announces => {
                self.is_announced = true;
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
        if !self.scans || at.len() < TEXT_LEAST {
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
    fn replace(&mut self, at: Range<usize>, rule: Rule, spelling: Spelling) {
        let raw = self.text.get(at.clone()).unwrap_or_default();
        let secret = if raw.starts_with('"') {
            let inner = raw.as_bytes().get(1..raw.len() - 1).unwrap_or_default();
            Said::read(inner).text().to_vec()
        } else {
            raw.as_bytes().to_vec()
        };
        let with = match spelling {
            Spelling::Plain if is_mark(&secret) => return,
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
    fn is_in_list(&self, list: &str) -> bool {
        matches!(self.steps.as_slice(), [.., Step::Key(key), Step::Item(_)] if key.eq_ignore_ascii_case(list))
    }

    fn is_field(&self, name: &str) -> bool {
        matches!(self.steps.last(), Some(Step::Key(key)) if key.eq_ignore_ascii_case(name))
    }

    fn is_argument(&self) -> bool {
        self.is_in_list("args") || self.is_in_list("command")
    }
}
