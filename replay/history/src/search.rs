//! Searches the values of all objects over all time for a pattern: field, object, and from when to
//! when the field had the value.
//!
//! A version is parsed only if its bytes may contain a match: with the escapes replaced, a value
//! occurs in them literally.

use crate::changes::{FieldPath, FieldStep, keys_of, last_member};
use crate::object::number;
use crate::timeline::Timeline;
use kubereel_format::{EventType, ObjectId, ObjectKeyRef, ReadError, RecordedAt, ResourceId, Seq};
use regex::Regex;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// A query.
#[derive(Clone, Debug)]
pub struct ValueQuestion<'a> {
    /// The pattern, which must match a part of the value.
    pub pattern: &'a Regex,
    /// Only objects of these resources: one may be recorded in several versions.
    pub resources: Option<Vec<ResourceId>>,
    /// Only objects of this namespace.
    pub namespace: Option<&'a str>,
    /// Only this object.
    pub name: Option<&'a str>,
    /// Only values that an object has from this record on.
    pub from: Seq,
    /// Only versions before this record.
    pub to: Seq,
    /// The number of values that are kept, others are counted; `None` for all.
    pub limit: Option<usize>,
}

/// A matching value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundValue {
    /// The object.
    pub object: ObjectId,
    /// The field.
    pub field: FieldPath,
    /// The value.
    pub value: String,
    /// The first version with it.
    pub seq: Seq,
    /// When that was received.
    pub from: RecordedAt,
    /// Since when it may have had the value, if its begin was not observed or was received late.
    pub begin_unknown_since: Option<RecordedAt>,
    /// When it was replaced or the object deleted; `None` if no version up to the end shows that, or if the end was
    /// not observed or was received late.
    pub to: Option<RecordedAt>,
    /// Since when it may have lost the value, if a later version shows that its end was not observed or was received
    /// late.
    pub end_unknown_since: Option<RecordedAt>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundValues {
    /// The values, by their first time.
    pub values: Vec<FoundValue>,
    /// The number of further matching values, beyond the limit.
    pub more: u64,
    /// The number of searched versions.
    pub versions: u64,
    /// The first unreadable versions.
    pub unreadable: Vec<String>,
}

/// The number of unreadable versions that are named.
const UNREADABLE_NAMED: usize = 10;

impl ValueQuestion<'_> {
    fn takes(&self, key: ObjectKeyRef<'_>) -> bool {
        let resources = self.resources.as_ref();
        resources.is_none_or(|only| only.contains(&key.resource))
            && self.namespace.is_none_or(|only| only == key.namespace)
            && self.name.is_none_or(|only| only == key.name)
    }
}

impl Timeline {
    /// Searches the values of all versions; `metadata.managedFields` and `resourceVersion` are left
    /// out.
    ///
    /// `progress` receives each record.
    pub fn search(&self, asked: &ValueQuestion<'_>, mut progress: impl FnMut(Seq)) -> FoundValues {
        let mut search = ValueSearch {
            timeline: self,
            has_begun: false,
            open: BTreeMap::new(),
            unread: BTreeMap::new(),
            found: FoundValues::default(),
            matching: ValuePattern {
                pattern: asked.pattern,
                is_anchored: is_anchored(asked.pattern.as_str()),
            },
            limit: asked.limit,
        };
        let replaced = self.replaced().map(|(old, by)| (by, old));
        let replaced: HashMap<Seq, ObjectId> = replaced.collect();
        // Only an earlier version shows which values an object has at the begin, and since when.
        for (step, read) in self.versions(Seq(0)..asked.to, |key| asked.takes(key)) {
            progress(step.seq);
            if step.seq >= asked.from {
                search.begin();
            }
            if let Some(old) = replaced.get(&step.seq) {
                search.gone(*old, step.seq, step.at);
            }
            if step.kind == EventType::Deleted {
                search.gone(step.object, step.seq, step.at);
                continue;
            }
            search.found.versions += 1;
            search.version(step.object, step.seq, step.at, read.map(|read| read.now));
        }
        // Behind the recording no object is known to have any.
        if asked.from < self.reel().end() {
            search.begin();
        }
        search.found
    }
}

/// The matching values of an object, by field.
type MatchingFields = BTreeMap<FieldPath, OpenValue>;

/// A matching value that an object still has.
#[derive(Clone)]
struct OpenValue {
    found: FoundValue,
    /// Its index among the findings; `None` if it is not kept.
    place: Option<usize>,
}

/// The first of the versions of an object that cannot be read, up to its next readable one.
struct UnreadVersion {
    since: RecordedAt,
    words: String,
}

struct ValueSearch<'a> {
    timeline: &'a Timeline,
    matching: ValuePattern<'a>,
    limit: Option<usize>,
    /// Whether the searched time has begun: what ends before is not found.
    has_begun: bool,
    open: BTreeMap<ObjectId, MatchingFields>,
    unread: BTreeMap<ObjectId, UnreadVersion>,
    found: FoundValues,
}

impl ValueSearch<'_> {
    /// Begins the searched time with the values that objects have there.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        for unread in self.unread.values() {
            self.found.note_unreadable(&unread.words);
        }
        let mut open = std::mem::take(&mut self.open);
        let mut all: Vec<&mut OpenValue> =
            open.values_mut().flat_map(BTreeMap::values_mut).collect();
        all.sort_by_key(|one| one.found.seq);
        for one in all {
            one.place = self.keep(&one.found);
        }
        self.open = open;
    }

    fn version(
        &mut self,
        object: ObjectId,
        seq: Seq,
        at: RecordedAt,
        body: Result<std::sync::Arc<[u8]>, ReadError>,
    ) {
        let matching = match body {
            Ok(body) => (self.matching.of(&body)).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let matching = match matching {
            Ok(matching) => matching,
            Err(error) => {
                let words = format!("record {seq}: {error}");
                if self.has_begun {
                    self.found.note_unreadable(&words);
                }
                let unread = UnreadVersion { since: at, words };
                self.unread.entry(object).or_insert(unread);
                return;
            }
        };
        let unseen = self.unseen(object, seq);
        let since = self.changed_since(unseen, seq);
        // Between two lists of an import nothing is known of any value: there, only a change is of an unknown time.
        let is_broken = unseen.is_some() && self.timeline.listed_before(seq).is_none();
        let mut before = self.open.remove(&object).unwrap_or_default();
        let mut now = MatchingFields::new();
        for (field, value) in matching {
            let open = match before.remove(&field) {
                Some(open) if open.found.value == value && !is_broken => open,
                old => {
                    if let Some(old) = old {
                        self.close(&old, at, since);
                    }
                    self.add(FoundValue {
                        object,
                        field: field.clone(),
                        value,
                        seq,
                        from: at,
                        begin_unknown_since: since,
                        to: None,
                        end_unknown_since: None,
                    })
                }
            };
            now.insert(field, open);
        }
        for open in before.into_values() {
            self.close(&open, at, since);
        }
        if !now.is_empty() {
            self.open.insert(object, now);
        }
    }

    fn gone(&mut self, object: ObjectId, seq: Seq, at: RecordedAt) {
        let unseen = self.unseen(object, seq);
        let since = self.changed_since(unseen, seq);
        for open in self.open.remove(&object).unwrap_or_default().into_values() {
            self.close(&open, at, since);
        }
    }

    /// Returns since when the change that a version shows may have been made, if it was not received as it was made:
    /// the state before is not known, or the version was received late.
    fn changed_since(&self, unseen: Option<RecordedAt>, seq: Seq) -> Option<RecordedAt> {
        unseen
            .into_iter()
            .chain(self.timeline.late_since(seq))
            .min()
    }

    /// Returns since when the state before a version is not known.
    fn unseen(&mut self, object: ObjectId, seq: Seq) -> Option<RecordedAt> {
        let unread = self.unread.remove(&object).map(|unread| unread.since);
        let unseen = self.timeline.unseen_before(seq);
        let unseen = unread.into_iter().chain(unseen).min();
        // What was there before the recording has no earlier time.
        unseen.filter(|since| *since > self.timeline.start())
    }

    fn add(&mut self, found: FoundValue) -> OpenValue {
        let place = self.has_begun.then(|| self.keep(&found)).flatten();
        OpenValue { found, place }
    }

    /// Keeps a value unless there are enough, and returns its index.
    fn keep(&mut self, found: &FoundValue) -> Option<usize> {
        let kept = self.found.values.len();
        if self.limit.is_some_and(|limit| kept >= limit) {
            self.found.more += 1;
            return None;
        }
        self.found.values.push(found.clone());
        Some(kept)
    }

    fn close(&mut self, open: &OpenValue, at: RecordedAt, since: Option<RecordedAt>) {
        if let Some(found) = open
            .place
            .and_then(|place| self.found.values.get_mut(place))
        {
            // Records order it: a clock that was set back does not end it before it began.
            found.to = since.is_none().then_some(at.max(found.from));
            // Of a value that was received late, also the end may be earlier than that.
            let begin = found.begin_unknown_since.unwrap_or(found.from);
            found.end_unknown_since = since.map(|since| since.max(begin));
        }
    }
}

impl FoundValues {
    fn note_unreadable(&mut self, words: &str) {
        if self.unreadable.len() < UNREADABLE_NAMED {
            self.unreadable.push(words.to_owned());
        }
    }
}

/// The pattern of a search.
struct ValuePattern<'a> {
    pattern: &'a Regex,
    is_anchored: bool,
}

impl ValuePattern<'_> {
    /// Returns the matching values of a version, with their fields.
    fn of(&self, body: &[u8]) -> Result<Vec<(FieldPath, String)>, serde_json::Error> {
        let text = std::str::from_utf8(body).ok().filter(|_| !self.is_anchored);
        let text = text.and_then(without_escapes);
        if text.is_some_and(|text| !self.pattern.is_match(&text)) {
            return Ok(Vec::new());
        }
        let object: Value = serde_json::from_slice(body)?;
        let mut walk = LeafWalk {
            pattern: self.pattern,
            path: FieldPath::default(),
            matching: Vec::new(),
        };
        walk.take(&object);
        Ok(walk.matching)
    }
}

/// Returns a JSON text with the escapes of its strings replaced; nothing if one of them is wrong.
fn without_escapes(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    let mut rest = text;
    let mut plain = String::with_capacity(text.len());
    while let Some((before, escaped)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut chars = escaped.chars();
        let one = match chars.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (unit, behind) = utf16_unit(chars.as_str())?;
                chars = behind.chars();
                if let Some(one) = char::from_u32(u32::from(unit)) {
                    one
                } else {
                    let (low, behind) = utf16_unit(behind.strip_prefix("\\u")?)?;
                    chars = behind.chars();
                    char::decode_utf16([unit, low]).next()?.ok()?
                }
            }
            same @ ('"' | '\\' | '/') => same,
            _ => return None,
        };
        plain.push(one);
        rest = chars.as_str();
    }
    plain.push_str(rest);
    Some(Cow::Owned(plain))
}

/// Reads the four hexadecimal digits behind `\u`, and returns them with the text behind them.
fn utf16_unit(text: &str) -> Option<(u16, &str)> {
    let (digits, behind) = text.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let unit = is_hex.then(|| u16::from_str_radix(digits, 16).ok())?;
    Some((unit?, behind))
}

/// Returns whether a pattern may match a value although it does not match the bytes around it: it
/// has an anchor.
fn is_anchored(pattern: &str) -> bool {
    pattern.contains(['^', '$'])
        || ["\\A", "\\z", "\\B", "\\b"]
            .iter()
            .any(|one| pattern.contains(one))
}

struct LeafWalk<'a> {
    pattern: &'a Regex,
    path: FieldPath,
    matching: Vec<(FieldPath, String)>,
}

impl LeafWalk<'_> {
    // The depth is bounded: the parser refuses more than 128 levels.
    fn take(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                let is_metadata = matches!(
                    self.path.steps(),
                    [FieldStep::Member(only)] if only == "metadata"
                );
                for (name, member) in members {
                    if is_metadata && matches!(name.as_str(), "managedFields" | "resourceVersion") {
                        continue;
                    }
                    self.path.push(FieldStep::Member(name.clone()));
                    self.take(member);
                    self.path.pop();
                }
            }
            Value::Array(items) => {
                let list = last_member(&self.path).map(str::to_owned);
                let keys = keys_of(list.as_deref(), items, &[]);
                for (at, item) in items.iter().enumerate() {
                    let key = keys.as_ref().and_then(|(keys, _)| keys.get(at));
                    let step = key.cloned().map_or(FieldStep::Index(at), FieldStep::Item);
                    self.path.push(step);
                    self.take(item);
                    self.path.pop();
                }
            }
            Value::String(text) => self.leaf(text),
            // As the server writes it: the raw text is searched first.
            Value::Number(number) => self.leaf(&number::written(number)),
            Value::Bool(truth) => self.leaf(if *truth { "true" } else { "false" }),
            Value::Null => {}
        }
    }

    fn leaf(&mut self, text: &str) {
        if self.pattern.is_match(text) {
            self.matching.push((self.path.clone(), text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_stands_in_the_text_without_escapes(text in any::<String>(), is_ascii in any::<bool>()) {
            let mut json = serde_json::to_string(&text).unwrap();
            if is_ascii {
                let units = json.encode_utf16();
                let ascii = units.map(|unit| match u8::try_from(unit) {
                    Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
                    _ => format!("\\u{unit:04X}"),
                });
                json = ascii.collect();
            }
            let parsed: String = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&parsed, &text);
            let plain = without_escapes(&json).unwrap();
            prop_assert_eq!(plain, format!("\"{text}\""));
        }

        #[test]
        fn odd_escapes_are_read_as_the_parser_reads_them(text in "[\\\\u0-9a-dDn\"é]{0,12}") {
            let json = format!("\"{text}\"");
            let plain = without_escapes(&json);
            if let Ok(parsed) = serde_json::from_str::<String>(&json) {
                prop_assert_eq!(plain.unwrap(), format!("\"{parsed}\""));
            }
        }
    }

    fn matching(pattern: &str, body: &str) -> Vec<(String, String)> {
        let pattern = Regex::new(pattern).expect("a pattern");
        let pattern = ValuePattern {
            is_anchored: is_anchored(pattern.as_str()),
            pattern: &pattern,
        };
        let found = pattern.of(body.as_bytes()).expect("JSON");
        found
            .into_iter()
            .map(|(field, value)| (field.to_string(), value))
            .collect()
    }

    #[test]
    fn a_number_is_found_as_it_was_written() {
        let body = r#"{"spec":{"small":0.000001,"large":123456789.5}}"#;
        for text in ["0.000001", "123456789.5"] {
            let all = matching(&regex::escape(text), body);
            let values: Vec<_> = all.into_iter().map(|(_, value)| value).collect();
            assert_eq!(values, [text]);
        }
    }

    #[test]
    fn values_are_found_with_their_fields() {
        let body = r#"{"metadata":{"name":"a","managedFields":[{"manager":"x-1"}]},
            "spec":{"containers":[{"name":"app","image":"x:1"}],"on":true,"n":42},"m":"say \"x:1\""}"#;
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            matching("x:1", body),
            [
                field("m", "say \"x:1\""),
                field("spec.containers[app].image", "x:1")
            ]
        );
        assert_eq!(matching("say \"x", body), [field("m", "say \"x:1\"")]);
        assert_eq!(matching("^x:1$", body).len(), 1);
        assert_eq!(matching("42", body), [field("spec.n", "42")]);
        assert_eq!(matching("^true$", body), [field("spec.on", "true")]);
        assert_eq!(matching("x-1", body), [], "writers are no values");
        assert_eq!(matching("name", body), [], "names of fields are no values");
    }
}
