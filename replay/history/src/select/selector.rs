//! The selectors of kubectl. Labels (`-l`): `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`,
//! `a>1`, `a<1`, `a`, `!a`, joined by commas. Fields (`--field-selector`):
//! `status.phase=Running,metadata.name!=a`, of any field of an object: a server indexes only a few
//! fields, a recording has all of them.

use crate::field::{items, text};
use crate::object::number;
use serde_json::Value;
use std::collections::BTreeMap;
use std::str::FromStr;
use thiserror::Error;

/// A text is not a label selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a label selector: {problem} in {text:?}")]
pub struct LabelError {
    /// The error.
    pub problem: String,
    /// The text.
    pub text: String,
}

/// A condition on an object's labels; an empty one matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<LabelRequirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelRequirement {
    key: String,
    test: LabelTest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LabelTest {
    Exists,
    Missing,
    In(Vec<String>),
    /// Also matches if the label is missing, as in Kubernetes.
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    /// Returns whether it matches every object.
    pub const fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Reads the selector of an object, or the map of labels that older kinds have.
    ///
    /// `None` if its meaning is not known: it has an operator that the API does not define, or is
    /// not a selector.
    pub fn of_value(selector: &Value) -> Option<Self> {
        let selector = selector.as_object()?;
        let (labels, terms) = (
            selector.get("matchLabels"),
            selector.get("matchExpressions"),
        );
        let labels = match (labels, terms) {
            (None, None) => Some(selector),
            (labels, _) => labels.and_then(Value::as_object),
        };
        let labels = labels.into_iter().flatten().map(|(key, value)| {
            let test = LabelTest::In(vec![value.as_str()?.to_owned()]);
            let key = key.clone();
            Some(LabelRequirement { key, test })
        });
        let terms = terms.and_then(Value::as_array).into_iter().flatten();
        let terms = terms.map(|term| {
            let values = items(term, "/values").iter().filter_map(Value::as_str);
            let values = values.map(str::to_owned).collect();
            let test = match text(term, "/operator") {
                "In" => LabelTest::In(values),
                "NotIn" => LabelTest::NotIn(values),
                "Exists" => LabelTest::Exists,
                "DoesNotExist" => LabelTest::Missing,
                _ => return None,
            };
            let key = text(term, "/key").to_owned();
            Some(LabelRequirement { key, test })
        });
        let requirements = labels.chain(terms).collect::<Option<_>>()?;
        Some(Self { requirements })
    }

    /// Returns whether it matches these labels.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matches_with(|key| labels.get(key))
    }

    /// Returns whether it matches the labels of which `label` returns the values.
    pub fn matches_with<T: AsRef<str>>(&self, label: impl Fn(&str) -> Option<T>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = label(&requirement.key);
            let value = value.as_ref().map(AsRef::as_ref);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            let is_in =
                |values: &[String]| value.map(|value| values.iter().any(|one| one == value));
            match &requirement.test {
                LabelTest::Exists => value.is_some(),
                LabelTest::Missing => value.is_none(),
                LabelTest::In(values) => is_in(values) == Some(true),
                LabelTest::NotIn(values) => is_in(values) != Some(true),
                LabelTest::Above(bound) => number().is_some_and(|number| number > *bound),
                LabelTest::Below(bound) => number().is_some_and(|number| number < *bound),
            }
        })
    }
}

impl FromStr for LabelSelector {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let mut words = LabelLexer { rest: text };
        let mut requirements = Vec::new();
        let parsed = (|| {
            if words.peek() == LabelToken::End {
                return Ok(());
            }
            loop {
                requirements.push(words.requirement()?);
                match words.next() {
                    LabelToken::End => return Ok(()),
                    LabelToken::Sign(",") => {}
                    other => return Err(format!("expected a comma, found {other}")),
                }
            }
        })();
        match parsed {
            Ok(()) => Ok(Self { requirements }),
            Err(problem) => Err(LabelError {
                problem,
                text: text.to_owned(),
            }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelToken<'a> {
    Text(&'a str),
    Sign(&'a str),
    End,
}

impl std::fmt::Display for LabelToken<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) | Self::Sign(text) => write!(f, "{text:?}"),
            Self::End => f.write_str("the end"),
        }
    }
}

struct LabelLexer<'a> {
    rest: &'a str,
}

impl<'a> LabelLexer<'a> {
    /// Longest first, so that `==` is not two `=`.
    const SIGNS: [&'static str; 9] = ["==", "!=", "=", "!", ",", "(", ")", ">", "<"];

    fn peek(&self) -> LabelToken<'a> {
        LabelLexer { rest: self.rest }.next()
    }

    fn next(&mut self) -> LabelToken<'a> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return LabelToken::End;
        }
        for sign in Self::SIGNS {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                return LabelToken::Sign(sign);
            }
        }
        let end = self
            .rest
            .find(|c: char| c.is_whitespace() || "=!,()<>".contains(c))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        LabelToken::Text(text)
    }

    fn requirement(&mut self) -> Result<LabelRequirement, String> {
        let (key, is_negated) = match self.next() {
            LabelToken::Text(key) => (key, false),
            LabelToken::Sign("!") => match self.next() {
                LabelToken::Text(key) => (key, true),
                other => return Err(format!("expected a key, found {other}")),
            },
            other => return Err(format!("expected a key, found {other}")),
        };
        if !is_key(key) {
            return Err(format!("invalid label key {key:?}"));
        }
        let test = if is_negated {
            LabelTest::Missing
        } else {
            self.test()?
        };
        Ok(LabelRequirement {
            key: key.to_owned(),
            test,
        })
    }

    fn test(&mut self) -> Result<LabelTest, String> {
        match self.peek() {
            LabelToken::End | LabelToken::Sign(",") => Ok(LabelTest::Exists),
            LabelToken::Sign("=" | "==") => {
                self.next();
                Ok(LabelTest::In(vec![self.value()?]))
            }
            LabelToken::Sign("!=") => {
                self.next();
                Ok(LabelTest::NotIn(vec![self.value()?]))
            }
            LabelToken::Text("in") => {
                self.next();
                Ok(LabelTest::In(self.values()?))
            }
            LabelToken::Text("notin") => {
                self.next();
                Ok(LabelTest::NotIn(self.values()?))
            }
            LabelToken::Sign(">") => {
                self.next();
                Ok(LabelTest::Above(self.number()?))
            }
            LabelToken::Sign("<") => {
                self.next();
                Ok(LabelTest::Below(self.number()?))
            }
            other => Err(format!("expected =, !=, in or notin, found {other}")),
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let word = self.next();
        let LabelToken::Text(text) = word else {
            return Err(format!("expected a number, found {word}"));
        };
        let number = text.parse().ok();
        number.ok_or_else(|| format!("expected a number, found {word}"))
    }

    /// Parses one value; an absent value is the empty one.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            LabelToken::Text(text) => {
                self.next();
                if !is_value(text) {
                    return Err(format!("invalid label value {text:?}"));
                }
                Ok(text.to_owned())
            }
            LabelToken::End | LabelToken::Sign("," | ")") => Ok(String::new()),
            other @ LabelToken::Sign(_) => Err(format!("expected a value, found {other}")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            LabelToken::Sign("(") => {}
            other => return Err(format!("expected (, found {other}")),
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            match self.next() {
                LabelToken::Sign(")") => return Ok(values),
                LabelToken::Sign(",") => {}
                other => return Err(format!("expected , or ), found {other}")),
            }
        }
    }
}

/// Returns whether a text has the form of a label key: `name` or `prefix/name`.
fn is_key(key: &str) -> bool {
    let (prefix, name) = key
        .split_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_prefix = |prefix: &str| {
        prefix.len() <= 253
            && prefix.split('.').all(|part| {
                is_framed(part, |b| b.is_ascii_lowercase() || b.is_ascii_digit())
                    && !part.contains(['_', '.'])
            })
    };
    name.len() <= 63
        && is_framed(name, |b| b.is_ascii_alphanumeric())
        && prefix.is_none_or(is_prefix)
}

fn is_value(value: &str) -> bool {
    value.is_empty() || value.len() <= 63 && is_framed(value, |b| b.is_ascii_alphanumeric())
}

/// Returns whether a text begins and ends with `edge` bytes and otherwise contains only those, `-`,
/// `_`, `.`.
fn is_framed(text: &str, edge: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|&byte| edge(byte));
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|&byte| edge(byte) || b"-_.".contains(&byte))
}

/// A text is not a field selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FieldSelectorError {
    /// A term is not a comparison.
    #[error("not a field selector: {term:?} is neither FIELD=VALUE nor FIELD!=VALUE in {text:?}")]
    Term {
        /// The invalid term.
        term: String,
        /// The text.
        text: String,
    },
    /// A field is in a list.
    #[error("a field selector has no items of lists: {term:?}")]
    Item {
        /// The invalid term.
        term: String,
    },
}

/// A condition on an object's fields; an empty one matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<FieldTerm>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldTerm {
    members: Vec<String>,
    value: String,
    is_negated: bool,
}

/// The name by which the API server selects Events of a component: their source has more fields.
const SOURCE: &str = "source";

/// Fields that the API server leaves out if they are false, and selects by.
const BOOLEANS: [[&str; 2]; 2] = [["spec", "unschedulable"], ["spec", "hostNetwork"]];

/// The name by which the API server selects Jobs by their succeeded Pods, and the field that it is.
const SUCCESSFUL: [&str; 2] = ["status", "successful"];
const SUCCEEDED: [&str; 2] = ["status", "succeeded"];

impl FieldTerm {
    /// Returns what the API server compares with if an object does not have the field; `None` if it compares with nothing.
    fn default(&self, object: &Value) -> Option<&'static str> {
        if self.counts_successes(object) {
            return Some("0");
        }
        let is_boolean = BOOLEANS.iter().any(|path| self.members == *path);
        is_boolean.then_some("false")
    }

    fn counts_successes(&self, object: &Value) -> bool {
        self.members == SUCCESSFUL && object.get("kind").is_some_and(|kind| kind == "Job")
    }

    fn find<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        if self.counts_successes(object) {
            return SUCCEEDED.iter().try_fold(object, |of, name| of.get(name));
        }
        let found = self
            .members
            .iter()
            .try_fold(object, |of, name| of.get(name));
        match found {
            Some(Value::Object(source)) if self.members == [SOURCE] => source
                .get("component")
                .or_else(|| object.get("reportingComponent")),
            found => found,
        }
    }
}

impl FieldSelector {
    /// Returns whether it matches every object.
    pub const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the first field that an object does not have, unless the API server leaves it out.
    pub fn absent_field(&self, object: &Value) -> Option<String> {
        let mut terms = self.terms.iter();
        let absent =
            terms.find(|term| term.find(object).is_none() && term.default(object).is_none());
        absent.map(|term| term.members.join("."))
    }

    /// Returns whether it matches an object; an absent field is empty, or false or 0 where the API server says so.
    pub fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|term| {
            let own = match term.find(object) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number::printed(number),
                Some(Value::Bool(truth)) => truth.to_string(),
                _ => term.default(object).unwrap_or_default().to_owned(),
            };
            (own == term.value) != term.is_negated
        })
    }
}

impl FromStr for FieldSelector {
    type Err = FieldSelectorError;

    fn from_str(text: &str) -> Result<Self, FieldSelectorError> {
        let mut terms = Vec::new();
        for term in split(text).into_iter().filter(|term| !term.is_empty()) {
            let read = FieldTerm::read(&term).ok_or_else(|| FieldSelectorError::Term {
                term: term.clone(),
                text: text.to_owned(),
            })?;
            if read.members.iter().any(|name| name.contains(['[', ']'])) {
                return Err(FieldSelectorError::Item { term });
            }
            terms.push(read);
        }
        Ok(Self { terms })
    }
}

/// Splits at commas without a backslash.
fn split(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == ',' {
            terms.push(String::new());
        } else if let Some(term) = terms.last_mut() {
            term.push(letter);
            if letter == '\\' {
                term.extend(letters.next());
            }
        }
    }
    terms
}

impl FieldTerm {
    fn read(term: &str) -> Option<Self> {
        let at = term.find(['!', '='])?;
        let (field, rest) = term.split_at_checked(at)?;
        let signs = [("!=", true), ("==", false), ("=", false)];
        let (value, is_negated) = signs
            .iter()
            .find_map(|(sign, is_negated)| Some((rest.strip_prefix(sign)?, *is_negated)))?;
        let members: Vec<String> = field.split('.').map(str::to_owned).collect();
        if members.iter().any(String::is_empty) {
            return None;
        }
        Some(Self {
            members,
            value: unescaped(value)?,
            is_negated,
        })
    }
}

/// Removes backslashes; `None` if an unescaped sign remains.
fn unescaped(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(
                letters
                    .next()
                    .filter(|next| ['\\', ',', '='].contains(next))?,
            ),
            '=' => return None,
            other => text.push(other),
        }
    }
    Some(text)
}

#[cfg(test)]
mod label_tests {
    use super::*;
    use serde_json::json;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        selector
            .parse::<LabelSelector>()
            .expect(selector)
            .matches(&labels)
    }

    #[test]
    fn each_form_holds_where_it_should() {
        let labels = [
            ("app", "etcd"),
            ("tier", "control-plane"),
            ("empty", ""),
            ("size", "3"),
        ];
        for (selector, holds) in [
            ("", true),
            ("app", true),
            ("!app", false),
            ("!absent", true),
            ("app=etcd", true),
            ("app==etcd", true),
            ("app = etcd", true),
            ("app=other", false),
            ("app!=etcd", false),
            ("absent!=etcd", true),
            ("absent=", false),
            ("empty=", true),
            ("app!=", true),
            ("app in (etcd, other)", true),
            ("app in (other)", false),
            ("app in(etcd)", true),
            ("app notin (etcd)", false),
            ("absent notin (etcd)", true),
            ("empty in (,a)", true),
            ("app=etcd,tier in (control-plane),!absent", true),
            ("app=etcd,tier=worker", false),
            ("size>2", true),
            ("size > 3", false),
            ("size<4", true),
            ("app<4", false),
            ("absent>0", false),
        ] {
            assert_eq!(matches(selector, &labels), holds, "{selector:?}");
        }
        assert!(matches(
            "node-role.kubernetes.io/master=",
            &[("node-role.kubernetes.io/master", "")]
        ));
    }

    #[test]
    fn a_key_may_bear_the_name_of_an_operator() {
        assert!(matches("in in (in)", &[("in", "in")]));
        assert!(matches("notin", &[("notin", "")]));
    }

    #[test]
    fn broken_selectors_are_refused() {
        for selector in [
            ",",
            "a,",
            "=b",
            "a=b=c",
            "a b",
            "a in",
            "a in b",
            "a in (b",
            "a in (b c)",
            "a notin",
            "!",
            "!a=b",
            "a=(b)",
            "-a=b",
            "a=b-",
            "A.B/c/d=e",
            "UPPER.io/x=1",
            "a>b",
            "a>",
            "a<1.5",
        ] {
            assert!(
                selector.parse::<LabelSelector>().is_err(),
                "{selector:?} was read"
            );
        }
    }

    #[test]
    fn an_error_says_where() {
        let error = "app in etcd"
            .parse::<LabelSelector>()
            .expect_err("no paren");
        assert_eq!(
            error.to_string(),
            r#"not a label selector: expected (, found "etcd" in "app in etcd""#
        );
    }

    #[test]
    fn the_selector_of_an_object_has_labels_and_expressions() {
        let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
        let selects = |selector: Value| {
            LabelSelector::of_value(&selector).map(|selector| selector.matches(&labels))
        };
        let term = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "app", "operator": operator, "values": values}]});
        for (selector, expected) in [
            (json!({}), Some(true)),
            (json!({"app": "web"}), Some(true)),
            (json!({"app": "api"}), Some(false)),
            (json!({"matchLabels": {"app": "web"}}), Some(true)),
            (json!({"matchLabels": {"x": "web"}}), Some(false)),
            (term("In", json!(["web", "api"])), Some(true)),
            (term("In", json!([])), Some(false)),
            (term("NotIn", json!(["web"])), Some(false)),
            (term("Exists", json!(null)), Some(true)),
            (term("DoesNotExist", json!(null)), Some(false)),
            (term("Like", json!(["w"])), None),
            (json!({"app": 7}), None),
            (json!(null), None),
        ] {
            assert_eq!(selects(selector.clone()), expected, "{selector}");
        }
    }
}

#[cfg(test)]
mod field_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_equal_or_not_and_missing_ones_are_empty() {
        let object = json!({"metadata": {"name": "a,b=c"}, "status": {"phase": "Running"},
            "spec": {"unschedulable": true, "n": 3}, "source": {"component": "kubelet"}});
        for (text, expected) in [
            ("", true),
            ("status.phase=Running", true),
            ("status.phase==Running,spec.n=3", true),
            ("status.phase!=Running", false),
            ("spec.unschedulable=true", true),
            ("spec.nodeName=", true),
            ("spec.nodeName!=x", true),
            ("spec.nodeName=x", false),
            ("spec.hostNetwork=false", true),
            ("spec.hostNetwork!=false", false),
            (r"metadata.name=a\,b\=c", true),
            ("source=kubelet", true),
            ("source.component=kubelet", true),
        ] {
            let selector: FieldSelector = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(selector.matches(&object), expected, "{text}");
        }
    }

    #[test]
    fn jobs_are_selected_by_the_server_s_name_of_their_successes() {
        let matches = |text: &str, job: Value| {
            let selector: FieldSelector = text.parse().expect(text);
            assert_eq!(selector.absent_field(&job), None, "{text}");
            selector.matches(&job)
        };
        let done = json!({"kind": "Job", "status": {"succeeded": 3}});
        let new = json!({"kind": "Job", "status": {}});
        assert!(matches("status.successful=3", done.clone()));
        assert!(!matches("status.successful=0", done));
        assert!(matches("status.successful=0", new.clone()));
        assert!(!matches("status.successful=3", new));
    }

    #[test]
    fn a_field_that_no_object_has_is_named() {
        let absent = |text: &str| {
            let selector: FieldSelector = text.parse().expect(text);
            selector.absent_field(&json!({"status": {"phase": "Running"}}))
        };
        assert_eq!(absent("status.phase=x,spec.hostNetwork=true"), None);
        assert_eq!(absent("status.phas=x"), Some("status.phas".to_owned()));
    }

    #[test]
    fn everything_else_is_refused() {
        let item = "spec.taints[0].key=a".parse::<FieldSelector>();
        assert!(matches!(item, Err(FieldSelectorError::Item { .. })));
        for text in ["a", "=a", "a=b=c", ".a=b", "a!b", r"a=\x", r"a=\", "a=b,c"] {
            assert!(text.parse::<FieldSelector>().is_err(), "{text}");
        }
    }
}
