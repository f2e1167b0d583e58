//! Releases of OpenShift, as versions name them: `4.21` of `4.21.0-0.nightly-2026-11-21`.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::fmt;

/// After this minor release of 4 the major release 5 goes on: 4.23 is another name of 5.0.
const LAST_MINOR_OF_4: u64 = 22;

/// A release: major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    major: u64,
    minor: u64,
}

impl Release {
    /// Reads the release of a version; `None` if it is not one.
    pub fn of(version: &str) -> Option<Self> {
        let [major, minor, _] = version_numbers(version)?;
        // A major release alone names no release.
        version.contains('.').then_some(())?;
        Some(if major == 4 && minor > LAST_MINOR_OF_4 {
            Self {
                major: 5,
                minor: minor - LAST_MINOR_OF_4 - 1,
            }
        } else {
            Self { major, minor }
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::of(&text).ok_or_else(|| D::Error::custom(format!("not a release: {text:?}")))
    }
}

/// Returns major, minor and patch of `4.21.0-0.nightly-2026-11-21`.
pub(crate) fn version_numbers(version: &str) -> Option<[u64; 3]> {
    let end = version.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (numbers, rest) = version.split_at(end.unwrap_or(version.len()));
    if !rest.is_empty() && !rest.starts_with(['-', '+']) {
        return None;
    }
    let mut parts = numbers.split('.');
    let major = parts.next()?.parse().ok()?;
    let mut next = || parts.next().map_or(Some(0), |part| part.parse().ok());
    Some([major, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_by_number() {
        let release = |text: &str| Release::of(text).expect(text);
        assert!(release("4.9.58") < release("4.10.0"));
        assert!(release("4.22.1") < release("5.0.0-rc.1"));
        assert_eq!(release("4.23.0"), release("5.0"));
        assert_eq!(release("4.8.0-0.nightly-2021-07-31-065602"), release("4.8"));
        assert_eq!(release("4.19.0-okd-scos.16").to_string(), "4.19");
        for wrong in ["", "x", "4", "v4.8", "4.x", "4.30x"] {
            assert_eq!(Release::of(wrong), None, "{wrong}");
        }
    }
}
