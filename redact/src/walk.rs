//! Owns the walk over JSON by its bytes: which value stands where. Refuses to judge one, and to write JSON
//! anew: what is not replaced stays as it came.

mod judge;
mod pairs;

use crate::config_map::Identity;
use crate::edit::{self, Edit, Rule};
use crate::names::{self, NameClass};
use crate::path::Step;
use crate::subject::Subject;
use crate::table::{self, Place};
use crate::text::{Context, Places};
use judge::Spelling;
use pairs::Pairs;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// What lies deeper is replaced whole. No server sends such.
const NESTED_MOST: usize = 200;

/// What a part of an object is walked over for, beside what the policy looks for everywhere.
#[derive(Clone, Debug)]
pub(super) enum Sought<'w> {
    /// Nothing else.
    Nothing,
    /// Every value: a name beside it, or above it, announced a secret.
    Announced(NameClass, &'static str),
    /// Every value without a form: the text is a value of a `ConfigMap`.
    Formless,
    /// Values that were replaced elsewhere in the object, with the rule.
    Known(&'w BTreeMap<Vec<u8>, Rule>),
}

/// One walk.
pub(crate) struct Walk<'w> {
    context: Context<'w>,
    text: &'w str,
    places: Vec<&'static Place>,
    /// The user's own rules for places.
    own: Vec<&'w (String, crate::path::Pattern)>,
    identity: Identity,
    steps: Vec<Step<'w>>,
    edits: Vec<Edit>,
    /// Which texts are searched.
    scans: Scans<'w>,
    /// How many places of `scans` lie behind: texts, names.
    passed: (usize, usize),
    /// How deep in texts within texts this one stands.
    depth: u8,
    /// Whether objects within this one are known by their kind.
    opens: bool,
    /// What the argument before announced.
    announced: NameClass,
    /// What the field at hand announces.
    class: NameClass,
    sought: Sought<'w>,
    /// Where the steps of a `fieldsV1` begin, while it is walked over.
    owned_from: Option<usize>,
    /// Whether a field has a name that may be a value.
    has_odd_key: bool,
    /// Keys of `fieldsV1` that hold values.
    owned: Vec<Range<usize>>,
}

/// Which texts of an object are searched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scans<'w> {
    None,
    All,
    /// Those with such a place in them, found in the same JSON.
    At(&'w Places),
}

/// What a walk is to know.
pub(crate) struct Asked<'w> {
    pub(crate) context: Context<'w>,
    pub(crate) places: Vec<&'static Place>,
    pub(crate) own: Vec<&'w (String, crate::path::Pattern)>,
    pub(crate) scans: Scans<'w>,
}

/// Finds what may not be kept of an object, settled; `None` if it cannot be read.
pub(crate) fn object(asked: Asked<'_>, text: &str) -> Option<Vec<Edit>> {
    let marker = asked.context.marker;
    let mut walk = Walk::new(asked, text, 0);
    walk.opens = true;
    let end = walk.value(walk.space(0))?;
    (walk.space(end) == text.len()).then_some(())?;
    walk.judge_owned();
    Some(edit::settle(walk.edits, text.as_bytes(), marker))
}

/// Finds what may not be kept of an object that stands in a text, such as what was applied last.
pub(crate) fn inner_json(context: Context<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let begins = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if !matches!(begins, Some(b'{' | b'[')) {
        return Vec::new();
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return Vec::new();
    };
    let asked = Asked {
        context,
        places: Vec::new(),
        own: Vec::new(),
        scans: Scans::All,
    };
    let mut walk = Walk::new(asked, text, depth + 1);
    walk.opens = true;
    let end = walk.value(walk.space(0));
    let is_whole = end.is_some_and(|end| walk.space(end) == text.len());
    walk.judge_owned();
    // The places are of the text, and nobody can go there by a path.
    let mut edits = if is_whole { walk.edits } else { Vec::new() };
    for edit in &mut edits {
        edit.path.clear();
    }
    edits
}

impl<'w> Walk<'w> {
    fn new(asked: Asked<'w>, text: &'w str, depth: u8) -> Self {
        let needs_identity = asked.places.iter().any(|place| {
            use table::Action::{Config, ConfigBase64, Name};
            matches!(place.action, Config | ConfigBase64 | Name)
        });
        Self {
            context: asked.context,
            text,
            places: asked.places,
            own: asked.own,
            identity: if needs_identity {
                Identity::read(text)
            } else {
                Identity::default()
            },
            steps: Vec::new(),
            edits: Vec::new(),
            scans: asked.scans,
            passed: (0, 0),
            depth,
            opens: false,
            announced: NameClass::Plain,
            class: NameClass::Plain,
            sought: Sought::Nothing,
            owned_from: None,
            has_odd_key: false,
            owned: Vec::new(),
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn space(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    }

    /// Gives the end of the string whose quote stands here.
    fn string(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut from = at + 1;
        loop {
            let found = from + memchr::memchr2(b'"', b'\\', bytes.get(from..)?)?;
            if bytes.get(found) == Some(&b'"') {
                return Some(found + 1);
            }
            from = found + 2;
        }
    }

    fn literal(&self, at: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(at..)?;
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let len = rest.iter().take_while(|byte| is_part(byte)).count();
        (len > 0).then_some(at + len)
    }

    /// Walks over the value that begins here and gives its end.
    fn value(&mut self, at: usize) -> Option<usize> {
        let first = self.byte(at)?;
        if first == b'"' {
            let end = self.string(at)?;
            self.judge_string(at..end);
            return Some(end);
        }
        let before = self.edits.len();
        let end = match first {
            b'{' if self.steps.len() < NESTED_MOST => self.fields(at)?,
            b'[' if self.steps.len() < NESTED_MOST => self.items(at)?,
            b'{' | b'[' => {
                let end = self.nested(at)?;
                self.replace(at..end, "too-deep".into(), Spelling::Plain);
                return Some(end);
            }
            _ => self.literal(at)?,
        };
        self.judge_other(at..end, before);
        Some(end)
    }

    /// Gives the end of the object or list that begins here, without recursion.
    fn nested(&self, at: usize) -> Option<usize> {
        let mut open = 0_usize;
        let mut at = at;
        loop {
            match self.byte(at)? {
                b'"' => {
                    at = self.string(at)?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            at += 1;
            if open == 0 {
                return Some(at);
            }
        }
    }

    fn items(&mut self, at: usize) -> Option<usize> {
        let mut at = self.space(at + 1);
        if self.byte(at) == Some(b']') {
            return Some(at + 1);
        }
        let outer = std::mem::take(&mut self.announced);
        for item in 0.. {
            self.steps.push(Step::Item(item));
            let end = self.value(at)?;
            self.steps.pop();
            at = self.space(end);
            match self.byte(at)? {
                b',' => at = self.space(at + 1),
                b']' => break,
                _ => return None,
            }
        }
        self.announced = outer;
        Some(at + 1)
    }

    fn fields(&mut self, begin: usize) -> Option<usize> {
        let mut at = self.space(begin + 1);
        if self.byte(at) == Some(b'}') {
            return Some(at + 1);
        }
        let mut pairs = Pairs::default();
        loop {
            if self.byte(at)? != b'"' {
                return None;
            }
            let key_end = self.string(at)?;
            self.judge_key(at..key_end);
            let key = self.said(at..key_end);
            if self.owned_from.is_some() && key.starts_with(['k', 'v']) {
                self.judge_owned_key(at..key_end);
            }
            let colon = self.space(key_end);
            if self.byte(colon)? != b':' {
                return None;
            }
            let value = self.space(colon + 1);
            let owned_from = self.owned_from;
            if key == "fieldsV1" && self.is_in_list("managedFields") {
                self.owned_from = Some(self.steps.len() + 1);
            }
            let above = self.class;
            self.class = if self.may_announce(at..key_end) {
                names::class(&key)
            } else {
                NameClass::Plain
            };
            if self.class == NameClass::Plain
                && above >= NameClass::Possible
                && names::is_value_field(&key)
            {
                self.class = above;
            }
            self.steps.push(Step::Key(key.clone()));
            let end = self.value(value)?;
            self.steps.pop();
            self.class = above;
            self.owned_from = owned_from;
            pairs.note(&key, value..end);
            at = self.space(end);
            match self.byte(at)? {
                b',' => at = self.space(at + 1),
                b'}' => break,
                _ => return None,
            }
        }
        self.judge_fields(begin..at + 1, &pairs);
        Some(at + 1)
    }

    /// Tells whether the name of a field may announce something; its place includes the quotes. Names are
    /// asked about in the order in which they stand.
    fn may_announce(&mut self, at: Range<usize>) -> bool {
        let Scans::At(places) = self.scans else {
            return true;
        };
        let (_, passed) = &mut self.passed;
        let found = next_place(&places.names, passed, at.start);
        found.is_some_and(|found| found <= at.end)
            || memchr::memchr(b'\\', self.text.as_bytes().get(at).unwrap_or_default()).is_some()
    }

    /// Tells whether a text is to be searched; its place includes the quotes.
    fn scans(&mut self, at: &Range<usize>) -> bool {
        match self.scans {
            Scans::None => false,
            Scans::All => true,
            Scans::At(places) => {
                let (passed, _) = &mut self.passed;
                let found = next_place(&places.texts, passed, at.start);
                found.is_some_and(|found| found < at.end)
            }
        }
    }

    /// Gives what a string says, quotes included in the place; empty if it is none.
    fn said(&self, place: Range<usize>) -> Cow<'w, str> {
        let raw = self.text.get(place).unwrap_or_default();
        let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
        let inner = inner.unwrap_or_default();
        if inner.contains('\\') {
            serde_json::from_str(raw).unwrap_or_else(|_| Cow::Owned(inner.to_owned()))
        } else {
            Cow::Borrowed(inner)
        }
    }

    /// Walks over an object within this one, as one of its kind.
    fn open(&mut self, place: &Range<usize>, kind: &str) {
        let places = table::of_kind(kind);
        if places.is_empty() {
            return;
        }
        let Some(text) = self.text.get(place.clone()) else {
            return;
        };
        let asked = Asked {
            context: self.context,
            places,
            own: Vec::new(),
            scans: Scans::None,
        };
        let mut inner = Walk::new(asked, text, self.depth);
        if inner.value(0).is_none() {
            return;
        }
        let above = self.place_text();
        for mut edit in inner.edits {
            edit.place = edit.place.start + place.start..edit.place.end + place.start;
            if self.context.tells {
                edit.path = format!("{above}{}", edit.path);
            }
            self.edits.push(edit);
        }
    }
}

/// Gives the first place that is not before `from`.
fn next_place(places: &[usize], passed: &mut usize, from: usize) -> Option<usize> {
    while let Some(place) = places.get(*passed).copied() {
        if place >= from {
            return Some(place);
        }
        *passed += 1;
    }
    None
}

/// Tells whether an object may be nested too deep to be walked over.
pub(crate) fn may_be_deep(json: &[u8]) -> bool {
    // `[` and `{` differ in one bit; without it, so do `;` and others that do no harm.
    json.iter().filter(|byte| **byte | 0x20 == b'{').count() >= NESTED_MOST
}

/// Gives the places of the user's own rules that are meant for a resource.
pub(crate) fn own_for<'w>(
    rules: &'w [crate::extra::PlaceRule],
    subject: &Subject<'_>,
) -> Vec<&'w (String, crate::path::Pattern)> {
    rules
        .iter()
        .filter(|rule| rule.is_for(subject))
        .map(|rule| &rule.place)
        .collect()
}
