//! Owns the label selectors of `kubectl -l`: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`,
//! `a>1`, `a<1`, `a`, `!a`, joined by commas. Refuses field selectors.

use std::collections::BTreeMap;
use std::str::FromStr;
use thiserror::Error;

/// A text is no label selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a label selector: {problem} in {text:?}")]
pub struct LabelError {
    /// What is wrong.
    pub problem: String,
    /// The text.
    pub text: String,
}

/// A condition on an object's labels; the empty one holds for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Missing,
    In(Vec<String>),
    /// Holds also where the label is missing, as in Kubernetes.
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    /// Tells whether it holds for every object.
    pub const fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Tells whether it holds for an object with these labels.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match &requirement.test {
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::Above(bound) => number().is_some_and(|number| number > *bound),
                Test::Below(bound) => number().is_some_and(|number| number < *bound),
            }
        })
    }
}

impl FromStr for LabelSelector {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let mut words = Words { rest: text };
        let mut requirements = Vec::new();
        let parsed = (|| {
            if words.peek() == Word::End {
                return Ok(());
            }
            loop {
                requirements.push(words.requirement()?);
                match words.next() {
                    Word::End => return Ok(()),
                    Word::Sign(",") => {}
                    other => return Err(format!("{other} where a comma belongs")),
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
enum Word<'a> {
    Text(&'a str),
    Sign(&'a str),
    End,
}

impl std::fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) | Self::Sign(text) => write!(f, "{text:?}"),
            Self::End => f.write_str("the end"),
        }
    }
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// Longest first, so that `==` is not two `=`.
    const SIGNS: [&'static str; 9] = ["==", "!=", "=", "!", ",", "(", ")", ">", "<"];

    fn peek(&self) -> Word<'a> {
        Words { rest: self.rest }.next()
    }

    fn next(&mut self) -> Word<'a> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return Word::End;
        }
        for sign in Self::SIGNS {
            if let Some(rest) = self.rest.strip_prefix(sign) {
                self.rest = rest;
                return Word::Sign(sign);
            }
        }
        let end = self
            .rest
            .find(|c: char| c.is_whitespace() || "=!,()<>".contains(c))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Word::Text(text)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (key, is_negated) = match self.next() {
            Word::Text(key) => (key, false),
            Word::Sign("!") => match self.next() {
                Word::Text(key) => (key, true),
                other => return Err(format!("{other} where a key belongs")),
            },
            other => return Err(format!("{other} where a key belongs")),
        };
        if !is_key(key) {
            return Err(format!("{key:?} cannot be a label's key"));
        }
        let test = if is_negated {
            Test::Missing
        } else {
            self.test()?
        };
        Ok(Requirement {
            key: key.to_owned(),
            test,
        })
    }

    fn test(&mut self) -> Result<Test, String> {
        match self.peek() {
            Word::End | Word::Sign(",") => Ok(Test::Exists),
            Word::Sign("=" | "==") => {
                self.next();
                Ok(Test::In(vec![self.value()?]))
            }
            Word::Sign("!=") => {
                self.next();
                Ok(Test::NotIn(vec![self.value()?]))
            }
            Word::Text("in") => {
                self.next();
                Ok(Test::In(self.values()?))
            }
            Word::Text("notin") => {
                self.next();
                Ok(Test::NotIn(self.values()?))
            }
            Word::Sign(">") => {
                self.next();
                Ok(Test::Above(self.number()?))
            }
            Word::Sign("<") => {
                self.next();
                Ok(Test::Below(self.number()?))
            }
            other => Err(format!("{other} where =, !=, in or notin belongs")),
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let word = self.next();
        let Word::Text(text) = word else {
            return Err(format!("{word} where a number belongs"));
        };
        let number = text.parse().ok();
        number.ok_or_else(|| format!("{word} where a number belongs"))
    }

    /// Reads one value; none at all is the empty one.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            Word::Text(text) => {
                self.next();
                if !is_value(text) {
                    return Err(format!("{text:?} cannot be a label's value"));
                }
                Ok(text.to_owned())
            }
            Word::End | Word::Sign("," | ")") => Ok(String::new()),
            other @ Word::Sign(_) => Err(format!("{other} where a value belongs")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            Word::Sign("(") => {}
            other => return Err(format!("{other} where ( belongs")),
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            match self.next() {
                Word::Sign(")") => return Ok(values),
                Word::Sign(",") => {}
                other => return Err(format!("{other} where , or ) belongs")),
            }
        }
    }
}

/// Tells whether a text has the form of a label's key: `name` or `prefix/name`.
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

/// Tells whether a text begins and ends with `edge` bytes and has only those, `-`, `_`, `.` between.
fn is_framed(text: &str, edge: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|&byte| edge(byte));
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|&byte| edge(byte) || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            r#"not a label selector: "etcd" where ( belongs in "app in etcd""#
        );
    }
}
