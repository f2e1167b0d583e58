//! A resourceVersion: the server's spelling, and its order if it is a number. Other versions can
//! only be compared for equality.

use std::cmp::Ordering;
use std::fmt;

/// A resourceVersion in the server's spelling.
///
/// Small numbers, which nearly all versions are, need no allocation: one is kept for each live
/// object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResourceVersion {
    /// A decimal number without leading zeros.
    Number(u64),
    /// Any other text, also a number that needs more bits.
    Text(Box<str>),
}

impl ResourceVersion {
    /// Parses one; `None` if the server sent none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let is_canonical = text == "0" || !text.starts_with(['0', '+']);
        match text.parse::<u64>() {
            Ok(number) if is_canonical => Some(Self::Number(number)),
            Ok(_) | Err(_) => Some(Self::Text(text.into())),
        }
    }

    /// Returns the number, if it is one.
    pub(crate) fn number(&self) -> Option<u128> {
        match self {
            Self::Number(number) => Some(u128::from(*number)),
            Self::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            Self::Text(_) => None,
        }
    }

    /// Compares two versions of one resource, if both are numbers.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        Some(self.number()?.cmp(&other.number()?))
    }

    /// Returns the version before it, if it is a number above 1: a watch from 0 begins anywhere.
    pub(crate) fn previous(&self) -> Option<Self> {
        let number = self.number()?.checked_sub(1).filter(|number| *number > 0)?;
        Some(match u64::try_from(number) {
            Ok(small) => Self::Number(small),
            Err(_) => Self::Text(number.to_string().into()),
        })
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_spelling() {
        for text in [
            "0",
            "1",
            "4865636482",
            "18446744073709551615",
            "18446744073709551616",
            "340282366920938463463374607431768211455",
            "999999999999999999999999999999999999999",
            "007",
            "+7",
            "abc/7",
        ] {
            let version = ResourceVersion::parse(text).expect("not empty");
            assert_eq!(version.to_string(), text);
        }
        assert_eq!(ResourceVersion::parse(""), None);
    }

    #[test]
    fn orders_numbers_of_any_width_and_nothing_else() {
        let parse = |text| ResourceVersion::parse(text).expect("not empty");
        let small = parse("9");
        let large = parse("18446744073709551616");
        assert_eq!(small.order(&large), Some(Ordering::Less));
        assert_eq!(large.order(&small), Some(Ordering::Greater));
        assert_eq!(small.order(&parse("x")), None);
        assert_eq!(large.previous(), Some(ResourceVersion::Number(u64::MAX)));
        assert_eq!(parse("1").previous(), None);
        assert_eq!(parse("x").previous(), None);
    }
}
