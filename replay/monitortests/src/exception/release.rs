//! Ranges of releases: `>=4.18 <4.21`, `4.20`. Builds within a release, such as `4.22.0-rc.1`, have no order: one
//! is itself only.

use crate::release::version_numbers;
use std::cmp::Ordering;

/// A range of releases; all of its bounds hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Releases(Vec<ReleaseLimit>);

/// One bound of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ReleaseLimit {
    /// By the numbers that are written.
    Numbers(ReleaseBound, Vec<u64>),
    /// One build.
    Build(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReleaseBound {
    Less,
    LessOrSame,
    Same,
    SameOrMore,
    More,
}

const SIGNS: [(&str, ReleaseBound); 5] = [
    ("<=", ReleaseBound::LessOrSame),
    (">=", ReleaseBound::SameOrMore),
    ("<", ReleaseBound::Less),
    (">", ReleaseBound::More),
    ("=", ReleaseBound::Same),
];

impl Releases {
    /// Reads a range.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        let bounds = words.map(|word| {
            let (bound, number) = SIGNS
                .iter()
                .find_map(|(sign, bound)| word.strip_prefix(sign).map(|rest| (*bound, rest)))
                .unwrap_or((ReleaseBound::Same, word));
            let parts: Option<Vec<u64>> = number.split('.').map(|part| part.parse().ok()).collect();
            let parts = parts.filter(|parts| parts.len() <= 3);
            let is_build = number.contains(['-', '+']) && version_numbers(number).is_some();
            match parts {
                Some(parts) => Ok(ReleaseLimit::Numbers(bound, parts)),
                None if is_build && bound == ReleaseBound::Same => {
                    Ok(ReleaseLimit::Build(number.to_owned()))
                }
                None if is_build => Err(format!("builds have no order: {word:?}")),
                None => Err(format!(
                    "not a release such as 4.20, >=4.18.3 or 4.22.0-rc.1: {word:?}"
                )),
            }
        });
        let bounds: Vec<_> = bounds.collect::<Result<_, String>>()?;
        if bounds.is_empty() {
            return Err("no release".to_owned());
        }
        Ok(Self(bounds))
    }

    /// Returns whether a version lies in the range, as exact as the bounds are: 4.20.3 is 4.20.
    pub(super) fn has(&self, version: &str) -> bool {
        let Some(numbers) = version_numbers(version) else {
            return false;
        };
        self.0.iter().all(|limit| match limit {
            ReleaseLimit::Build(build) => build == version,
            ReleaseLimit::Numbers(bound, parts) => {
                let order = numbers.iter().take(parts.len()).cmp(parts.iter());
                match bound {
                    ReleaseBound::Less => order == Ordering::Less,
                    ReleaseBound::LessOrSame => order != Ordering::Greater,
                    ReleaseBound::Same => order == Ordering::Equal,
                    ReleaseBound::SameOrMore => order != Ordering::Less,
                    ReleaseBound::More => order == Ordering::Greater,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_as_exact_as_it_is_written() {
        for (range, version, is_in) in [
            ("4.20", "4.20.3", true),
            ("4.20", "4.2.0", false),
            ("4.20.3", "4.20.4", false),
            (">=4.18 <4.21", "4.18.0-rc.1", true),
            (">=4.18, <4.21", "4.21.0-0.nightly-2026", false),
            (">4.20", "4.20.9", false),
            ("<=4.20", "4.20.9", true),
            ("=4", "4.9.1", true),
            ("4.22.0-b", "4.22.0-b", true),
            ("4.22.0-b", "4.22.0-a", false),
            (
                "=4.22.0-0.nightly-2026-11-21",
                "4.22.0-0.nightly-2026-11-21",
                true,
            ),
            ("4", "none", false),
            ("4", "", false),
        ] {
            let range = Releases::read(range).expect("a range");
            assert_eq!(range.has(version), is_in, "{range:?} {version}");
        }
        for wrong in ["", "x", ">=", "4.1.2.3", "4.x", ">=4.22.0-b", "x-b"] {
            assert!(Releases::read(wrong).is_err(), "{wrong}");
        }
    }
}
