//! The dialect of `JSONPath` of the API server and kubectl: parses a path, and evaluates it on an
//! object. Paths come from users and definitions, so depth and matches are bounded.

use serde_json::Value;
use std::cmp::Ordering;
use thiserror::Error;

/// A path into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    steps: Vec<JsonPathStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum JsonPathStep {
    Member(String),
    /// All members of an object, all items of a list.
    Every,
    /// A value and all of its descendants.
    Descend,
    JsonPathSlice(JsonPathSlice),
    /// What any of these paths finds.
    Union(Vec<JsonPath>),
    JsonPathFilter(JsonPathFilter),
    /// A literal value.
    Literal(Value),
    /// A word that the dialect does not have: it matches nothing.
    Word,
}

/// `[from:to:by]`; negative places count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JsonPathSlice {
    from: Option<i64>,
    to: Option<i64>,
    /// Whether only the index `from` is meant.
    is_single: bool,
    by: Option<i64>,
}

/// `[?(left operator right)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct JsonPathFilter {
    left: JsonPath,
    /// `None` if existence is sufficient.
    right: Option<(JsonPathOperator, JsonPath)>,
}

/// The deepest nesting of paths. The server has no bound; real paths are far below.
const DEEPEST: usize = 16;

impl JsonPath {
    /// Parses a path; `None` if it is invalid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::parse_located(text).ok()
    }

    /// Parses a path.
    ///
    /// # Errors
    /// The rest of the text from the invalid step on.
    pub(crate) fn parse_located(text: &str) -> Result<Self, &str> {
        Self::parse_to(text, DEEPEST)
    }

    fn parse_at(text: &str, depth: usize) -> Option<Self> {
        Self::parse_to(text, depth).ok()
    }

    fn parse_to(text: &str, depth: usize) -> Result<Self, &str> {
        let depth = depth.checked_sub(1).ok_or(text)?;
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = step(rest, &mut steps, depth).ok_or(rest)?;
        }
        Ok(Self { steps })
    }
}

/// Parses one step and returns the rest.
fn step<'a>(rest: &'a str, steps: &mut Vec<JsonPathStep>, depth: usize) -> Option<&'a str> {
    Some(if let Some(filter) = rest.strip_prefix("[?(") {
        let (condition, after) = condition(filter)?;
        steps.push(JsonPathStep::JsonPathFilter(JsonPathFilter::parse(
            condition, depth,
        )?));
        after
    } else if let Some(after) = rest.strip_prefix("..") {
        if steps.last() == Some(&JsonPathStep::Descend) {
            return None;
        }
        steps.push(JsonPathStep::Descend);
        if after.starts_with(is_word) {
            let (step, after) = member(after);
            steps.push(step);
            after
        } else {
            after
        }
    } else if let Some(after) = rest.strip_prefix('.') {
        let (step, after) = member(after);
        steps.push(step);
        after
    } else if let Some(bracket) = rest.strip_prefix('[') {
        let (inner, after) = bracket.split_once(']')?;
        steps.extend(bracketed(inner, depth)?);
        after
    } else if let Some(after) = rest.strip_prefix([' ', '@', '$']) {
        after
    } else if let Some(after) = rest.strip_prefix('}') {
        // The server encloses paths in braces: the text behind is not part of the path.
        (!after.contains('{')).then_some("")?
    } else {
        let (step, after) = literal(rest)?;
        steps.push(step);
        after
    })
}

/// Returns whether a letter may begin the name of a member after two dots.
fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphabetic() || letter.is_numeric()
}

fn ends_member(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

/// Parses the name of a member; a backslash escapes the next letter.
fn member(text: &str) -> (JsonPathStep, &str) {
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if ends_member(letter) {
            end = at;
            break;
        }
    }
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let step = match name {
        "*" => JsonPathStep::Every,
        // All backslashes are removed, as by the server.
        name => JsonPathStep::Member(name.replace('\\', "")),
    };
    (step, rest)
}

/// Parses the content of brackets.
fn bracketed(inner: &str, depth: usize) -> Option<Vec<JsonPathStep>> {
    if inner.contains('\n') {
        return None;
    }
    if inner.contains(',') {
        let each = inner
            .split(',')
            .map(|one| JsonPath::parse_at(&format!("[{}]", one.trim_matches(' ')), depth));
        return Some(vec![JsonPathStep::Union(each.collect::<Option<_>>()?)]);
    }
    let quoted = inner
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    if let Some(name) = quoted.filter(|name| !name.contains('\'')) {
        // A quoted name is parsed like the text behind a dot: it may be several steps.
        return Some(JsonPath::parse_at(&format!(".{name}"), depth)?.steps);
    }
    Some(vec![JsonPathStep::JsonPathSlice(slice(inner)?)])
}

/// Reads `1`, `-1`, `1:`, `:3`, `1:3:2`, `*`.
fn slice(text: &str) -> Option<JsonPathSlice> {
    let text = if text == "*" { ":" } else { text };
    let mut places = text.split(':');
    let mut place = || match places.next() {
        None => Some(None),
        Some("") => Some(Some(None)),
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => digits.parse().ok().map(|place| Some(Some(place))),
    };
    let (from, to, by) = (place()?, place()?, place()?);
    if places.next().is_some() {
        return None;
    }
    Some(JsonPathSlice {
        from: from.flatten(),
        to: to.flatten(),
        is_single: to.is_none(),
        by: by.flatten(),
    })
}

/// Parses a filter's condition up to the closing parenthesis outside of quotes.
fn condition(text: &str) -> Option<(&str, &str)> {
    let (mut opened, mut is_closed) = (None, false);
    let mut before = '(';
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => return None,
            '"' | '\'' => match opened {
                None => opened = Some(letter),
                Some(quote) => is_closed |= before != '\\' && letter == quote,
            },
            ')' if opened.is_some() == is_closed => {
                let (condition, rest) = text.split_at_checked(at)?;
                return Some((condition, rest.strip_prefix(")]")?));
            }
            _ => {}
        }
        before = letter;
    }
    None
}

impl JsonPathFilter {
    /// Reads `@.type=="Ready"`, or a path alone.
    fn parse(condition: &str, depth: usize) -> Option<Self> {
        let is_operator = |letter| matches!(letter, '!' | '<' | '>' | '=');
        let compared = condition.find(is_operator).filter(|at| *at > 0);
        let compared = compared.and_then(|at| {
            let (left, rest) = condition.split_at_checked(at)?;
            let right = rest.trim_start_matches(is_operator);
            let operator = rest.strip_suffix(right)?;
            (!right.is_empty()).then_some((left, operator, right))
        });
        let Some((left, operator, right)) = compared else {
            let left = JsonPath::parse_at(condition, depth)?;
            return Some(Self { left, right: None });
        };
        Some(Self {
            left: JsonPath::parse_at(left, depth)?,
            right: Some((
                JsonPathOperator::named(operator),
                JsonPath::parse_at(right, depth)?,
            )),
        })
    }
}

/// Parses a number, a quoted text, a boolean, or another word.
fn literal(text: &str) -> Option<(JsonPathStep, &str)> {
    let first = text.chars().next()?;
    if let '"' | '\'' = first {
        let (value, after) = quoted(text.get(1..)?, first)?;
        return Some((JsonPathStep::Literal(Value::from(value)), after));
    }
    if matches!(first, '+' | '-') || first.is_ascii_digit() {
        let digits = text.trim_start_matches(['+', '-']);
        let after =
            digits.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
        let number = text.strip_suffix(after)?;
        let whole = number.parse::<i64>().ok().map(Value::from);
        let value = whole.or_else(|| number.parse::<f64>().ok().map(Value::from))?;
        return Some((JsonPathStep::Literal(value), after));
    }
    if !is_word(first) {
        return None;
    }
    let end = text.find(ends_member).unwrap_or(text.len());
    let (word, after) = text.split_at_checked(end)?;
    let step = word.parse().map_or(JsonPathStep::Word, |truth| {
        JsonPathStep::Literal(Value::Bool(truth))
    });
    Some((step, after))
}

/// Reads a text up to its closing quote.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.chars();
    loop {
        match letters.next()? {
            '\n' => return None,
            '\\' => value.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' => '\\',
                letter if letter == quote => quote,
                // Other escapes are not supported.
                _ => return None,
            }),
            letter if letter == quote => return Some((value, letters.as_str())),
            letter => value.push(letter),
        }
    }
}

pub(crate) type JsonPathMatches<'a> = Vec<&'a Value>;

/// The largest number of values of a step. The server has no bound; real objects have fewer.
const MOST: usize = 100_000;

/// A step did not match: the path finds nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum JsonPathMismatch {
    #[error("the list has {len} items")]
    OutOfRange { len: usize },
    #[error("the value is not a list")]
    NotAList,
    #[error("unknown word")]
    Word,
    #[error("the values cannot be compared")]
    Comparison,
    #[error("more than {} values", MOST)]
    TooMany,
}

impl JsonPath {
    /// Returns the first value at the path.
    pub(crate) fn first<'a>(&'a self, object: &'a Value) -> Option<&'a Value> {
        let found = self.all(object).ok()?;
        found.first().copied()
    }

    /// Returns all values at the path.
    pub(crate) fn all<'a>(
        &'a self,
        object: &'a Value,
    ) -> Result<JsonPathMatches<'a>, JsonPathMismatch> {
        self.walk(vec![object])
    }

    fn walk<'a>(
        &'a self,
        from: JsonPathMatches<'a>,
    ) -> Result<JsonPathMatches<'a>, JsonPathMismatch> {
        self.steps
            .iter()
            .try_fold(from, |found, step| step.of(&found))
    }
}

impl JsonPathStep {
    fn of<'a>(&'a self, from: &[&'a Value]) -> Result<JsonPathMatches<'a>, JsonPathMismatch> {
        let mut found = Vec::new();
        match self {
            Self::Literal(value) => found.push(value),
            Self::Word => return Err(JsonPathMismatch::Word),
            Self::Union(paths) => {
                for path in paths {
                    add(&mut found, path.walk(from.to_vec())?)?;
                }
            }
            Self::Member(name) => {
                let members = from.iter().filter_map(|value| value.get(name));
                add(&mut found, members)?;
            }
            Self::Every => {
                for value in from {
                    add(&mut found, parts(value))?;
                }
            }
            Self::Descend => {
                for value in from {
                    descend(value, &mut found)?;
                }
            }
            Self::JsonPathSlice(slice) => {
                for value in from.iter().filter(|value| !value.is_null()) {
                    add(&mut found, slice.of(items(value)?)?)?;
                }
            }
            Self::JsonPathFilter(filter) => {
                for value in from {
                    for item in items(value)? {
                        if filter.passes(item)? {
                            add(&mut found, [item])?;
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

impl JsonPathSlice {
    fn of(self, items: &[Value]) -> Result<impl Iterator<Item = &Value>, JsonPathMismatch> {
        let outside = JsonPathMismatch::OutOfRange { len: items.len() };
        let len = i64::try_from(items.len()).ok().ok_or(outside)?;
        let place = |at: i64| usize::try_from(at).ok().ok_or(outside);
        let from = self.from.unwrap_or_default();
        let mut end = if self.is_single {
            from.checked_add(1).ok_or(outside)?
        } else {
            self.to.unwrap_or(len)
        };
        if end < 0 || (end == 0 && self.is_single) {
            end += len;
        }
        let from = if from < 0 { from + len } else { from };
        let taken = if from == end {
            &[]
        } else {
            let is_within = (0..len).contains(&from) && (from..=len).contains(&end);
            let range = is_within.then_some(place(from)?..place(end)?);
            range.and_then(|range| items.get(range)).ok_or(outside)?
        };
        let by = place(self.by.unwrap_or(1))?;
        if by == 0 {
            return Err(outside);
        }
        Ok(taken.iter().step_by(by))
    }
}

impl JsonPathFilter {
    fn passes(&self, item: &Value) -> Result<bool, JsonPathMismatch> {
        let left = self.left.walk(vec![item]);
        let Some((operator, right)) = &self.right else {
            // A value that does not match exists all the same.
            return Ok(left.map_or(true, |found| !found.is_empty()));
        };
        let left = left?;
        if left.is_empty() {
            return Ok(false);
        }
        let right = right.walk(vec![item])?;
        match (left.as_slice(), right.as_slice()) {
            ([_], []) => Ok(false),
            ([left], [right]) => operator
                .holds(left, right)
                .ok_or(JsonPathMismatch::Comparison),
            // Several values cannot be compared.
            _ => Err(JsonPathMismatch::Comparison),
        }
    }
}

fn add<'a>(
    found: &mut JsonPathMatches<'a>,
    more: impl IntoIterator<Item = &'a Value>,
) -> Result<(), JsonPathMismatch> {
    for value in more {
        if found.len() >= MOST {
            return Err(JsonPathMismatch::TooMany);
        }
        found.push(value);
    }
    Ok(())
}

fn items(value: &Value) -> Result<&[Value], JsonPathMismatch> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or(JsonPathMismatch::NotAList)
}

fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// Adds a value and all of its descendants.
fn descend<'a>(value: &'a Value, found: &mut JsonPathMatches<'a>) -> Result<(), JsonPathMismatch> {
    let parts = parts(value);
    let has_parts = !parts.is_empty() || value.as_str().is_some_and(|text| !text.is_empty());
    if has_parts {
        add(found, [value])?;
    }
    // The depth is bounded: the parser refuses more than 128 levels.
    parts.into_iter().try_for_each(|part| descend(part, found))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonPathOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// An unknown operator: it compares nothing.
    Unknown,
}

impl JsonPathOperator {
    /// Reads an operator.
    fn named(text: &str) -> Self {
        match text {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => Self::Unknown,
        }
    }

    /// Returns whether the comparison is true; `None` if the two values are not comparable.
    fn holds(self, left: &Value, right: &Value) -> Option<bool> {
        let order = match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => match self {
                Self::Equal => return Some(left == right),
                Self::NotEqual => return Some(left != right),
                // Booleans have no order.
                _ => return None,
            },
            (Value::String(left), Value::String(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => left.cmp(&right),
                (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
                _ => return None,
            },
            _ => return None,
        };
        Some(match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
            Self::Unknown => return None,
        })
    }
}

#[cfg(test)]
mod parse_tests {
    use super::*;

    #[test]
    fn other_forms_are_refused() {
        for path in [
            "(name)",
            "....a",
            ".a[",
            ".a[x]",
            ".a[+1]",
            ".a[1:2:3:4]",
            ".a[99999999999999999999]",
            ".a['b]",
            ".a['b,c']",
            ".a[?(@.b]",
            ".a[?(@.b==\"x)]",
            ".a[?(@.b==1.2.3)]",
            ".a[?(@.b==%)]",
            ".a[?(@.b=='\\q')]",
            "{.a}",
            ".a}{.b}",
        ] {
            assert_eq!(JsonPath::parse(path), None, "{path}");
        }
    }

    #[test]
    fn an_error_says_where() {
        for (path, place) in [
            (".a.b[x].c", "[x].c"),
            ("%a", "%a"),
            (".a[?(@.b==%)].c", "[?(@.b==%)].c"),
        ] {
            let left = JsonPath::parse_located(path).err().unwrap_or_default();
            assert_eq!(left, place, "{path}");
        }
    }

    #[test]
    fn paths_within_paths_are_bounded() {
        let nested = |depth| ".a[?(@".repeat(depth) + &")]".repeat(depth);
        assert!(JsonPath::parse(&nested(1)).is_some());
        assert_eq!(JsonPath::parse(&nested(100_000)), None);
        assert_eq!(JsonPath::parse_at(".a['b']", 1), None);
    }
}

#[cfg(test)]
mod walk_tests {
    use super::*;
    use serde_json::json;

    fn first(path: &str, object: &Value) -> Option<Value> {
        let path = JsonPath::parse(path).unwrap_or_else(|| panic!("{path} is a path"));
        path.first(object).cloned()
    }

    #[test]
    fn paths_lead_to_the_first_value() {
        let object = json!({
            "metadata": {"name": "a", "annotations": {"x.io/y": "z"}},
            "status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Degraded", "status": "False", "n": 7},
            ]},
            "list": ["first", "middle", "last"],
            "x": {"y": "deep"},
        });
        for (path, expected) in [
            (".metadata.name", json!("a")),
            ("$.metadata.name", json!("a")),
            (r".metadata.annotations.x\.io/y", json!("z")),
            (r".metadata.annotations['x\.io/y']", json!("z")),
            // A dot in quotes separates like one outside.
            ("['x.y']", json!("deep")),
            (
                r#".status.conditions[?(@.type=="Degraded")].status"#,
                json!("False"),
            ),
            (
                ".status.conditions[?(@.type == 'Degraded')].status",
                json!("False"),
            ),
            (".status.conditions[?(@.n==7)].type", json!("Degraded")),
            (".status.conditions[?(@.n>6)].type", json!("Degraded")),
            (".status.conditions[?(@.n)].type", json!("Degraded")),
            (
                r#".status.conditions[?(@.type!="Available")].type"#,
                json!("Degraded"),
            ),
            (r#".status.conditions[?(@.type==")")].type"#, json!(null)),
            (".status.conditions[*].type", json!("Available")),
            (".status.conditions[1].type", json!("Degraded")),
            (".status.conditions[?(@.x==word)].type", json!(null)),
            (".metadata.name} more", json!("a")),
            (".list[0]", json!("first")),
            (".list[-1]", json!("last")),
            (".list[-1:]", json!("last")),
            (".list[1:]", json!("middle")),
            (".list[:-1]", json!("first")),
            (".list[0:3:2]", json!("first")),
            (".list[2,0]", json!("last")),
            (".metadata['name','annotations']", json!("a")),
            (".metadata.*", json!({"x.io/y": "z"})),
            ("..y", json!("deep")),
            ("..status", json!(object["status"])),
        ] {
            let expected = Some(expected).filter(|value| !value.is_null());
            assert_eq!(first(path, &object), expected, "{path}");
        }
    }

    #[test]
    fn what_does_not_fit_finds_nothing() {
        let object = json!({"list": [1, 2.5, "a", null], "name": "a", "null": null, "none": []});
        for path in [
            ".nothing.at.all",
            ".list[4]",
            ".list[-5]",
            ".list[3:1]",
            ".list[0:5]",
            ".list[1:1]",
            ".list[0:2:0]",
            ".list[0,9]",
            ".none[0]",
            ".none[*]",
            ".name.more",
            ".name[0]",
            ".list.x",
            ".null[0]",
            ".null.x",
            ".null[?(@.x)]",
            ".list[?(@ == 'a')]",
            ".list[?(@ == word)]",
            ".name word",
            ".",
        ] {
            assert_eq!(first(path, &object), None, "{path}");
        }
    }

    #[test]
    fn what_is_found_is_bounded() {
        let mut object = json!([1]);
        for _ in 0..64 {
            object = json!([object.take()]);
        }
        let path = "[*,*]".repeat(64);
        assert_eq!(first(&path, &object), None);
    }
}

#[cfg(test)]
mod compare_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_one_kind_compare() {
        for (left, operator, right, expected) in [
            (json!("a"), "==", json!("a"), Some(true)),
            (json!("a"), "<", json!("b"), Some(true)),
            (json!(2), ">=", json!(2), Some(true)),
            (json!(2), ">", json!(2), Some(false)),
            (json!(2.5), "<=", json!(2.25), Some(false)),
            (json!(true), "!=", json!(false), Some(true)),
            (json!(true), "<", json!(false), None),
            (json!(2), "==", json!(2.5), None),
            (json!("2"), "==", json!(2), None),
            (json!(null), "==", json!(null), None),
            (json!([1]), "==", json!([1]), None),
            (json!(1), "=", json!(1), None),
        ] {
            let found = JsonPathOperator::named(operator).holds(&left, &right);
            assert_eq!(found, expected, "{left} {operator} {right}");
        }
    }
}
