//! Names with `*` (any characters, or none) and `?` (one character). Brackets are literal: names of JUnit
//! cases contain them.

use serde::Deserialize;
use std::fmt;

/// A name with places left open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "String")]
pub struct Glob {
    text: String,
    letters: Vec<char>,
}

impl Glob {
    /// Reads a name; every text is one.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            letters: text.chars().collect(),
        }
    }

    /// Returns the text that it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether a name is meant; all of it must match.
    ///
    /// It takes at most the product of both lengths.
    pub fn is_match(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut here) = (0, 0);
        // Where the last star stands, and what it took so far.
        let mut star: Option<(usize, usize)> = None;
        while let Some(letter) = name.get(here) {
            match self.letters.get(at) {
                Some('*') => {
                    star = Some((at, here));
                    at += 1;
                }
                Some(same) if *same == '?' || same == letter => {
                    at += 1;
                    here += 1;
                }
                _ => {
                    let Some((place, taken)) = star else {
                        return false;
                    };
                    star = Some((place, taken + 1));
                    at = place + 1;
                    here = taken + 1;
                }
            }
        }
        self.letters.iter().skip(at).all(|letter| *letter == '*')
    }
}

impl From<String> for Glob {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_letters() {
        for (glob, name, is_match) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "any", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("*b", "abc", false),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("*aab", "aaaab", true),
            ("?", "é", true),
            ("??", "é", false),
            (
                "[bz-*] clusteroperator/* x",
                "[bz-Etcd] clusteroperator/etcd x",
                true,
            ),
        ] {
            assert_eq!(Glob::new(glob).is_match(name), is_match, "{glob} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let glob = Glob::new(&"*a".repeat(200));
        assert!(!glob.is_match(&format!("{}b", "a".repeat(5000))));
    }
}
