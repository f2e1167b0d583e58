//! Uids in their usual spelling as numbers: 16 bytes instead of a text of 36.

use std::borrow::Cow;
use std::fmt;

/// The length of a UUID as text.
const UUID_LEN: usize = 36;

/// The uid of an object in a reel; empty if the server sent none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UidRef<'a>(Spelling<'a>);

/// Never the spelling of a number, so that equal uids are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spelling<'a> {
    Number(u128),
    Text(&'a str),
}

impl<'a> UidRef<'a> {
    /// Reads a uid.
    pub fn new(uid: &'a str) -> Self {
        Self(uuid_number(uid).map_or(Spelling::Text(uid), Spelling::Number))
    }

    /// Returns the number, if it has one.
    pub(crate) const fn number(self) -> Option<u128> {
        match self.0 {
            Spelling::Number(number) => Some(number),
            Spelling::Text(_) => None,
        }
    }

    pub(crate) const fn of_number(number: u128) -> Self {
        Self(Spelling::Number(number))
    }

    /// Returns the server's spelling.
    pub fn text(self) -> Cow<'a, str> {
        match self.0 {
            Spelling::Number(number) => Cow::Owned(uuid_text(number)),
            Spelling::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Returns whether the server sent none.
    pub const fn is_empty(self) -> bool {
        match self.0 {
            Spelling::Number(_) => false,
            Spelling::Text(text) => text.is_empty(),
        }
    }
}

impl fmt::Display for UidRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl PartialEq<str> for UidRef<'_> {
    fn eq(&self, other: &str) -> bool {
        *self == UidRef::new(other)
    }
}

/// Returns the number of a UUID in lower-case hex with dashes, if it is one.
pub(crate) fn uuid_number(uid: &str) -> Option<u128> {
    if uid.len() != UUID_LEN {
        return None;
    }
    uid.bytes()
        .enumerate()
        .try_fold(0, |number: u128, (place, byte)| {
            let digit = match byte {
                b'-' if matches!(place, 8 | 13 | 18 | 23) => return Some(number),
                _ if matches!(place, 8 | 13 | 18 | 23) => return None,
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            Some(number << 4 | u128::from(digit))
        })
}

/// Returns the text from which [`uuid_number`] makes a number.
pub(crate) fn uuid_text(number: u128) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let mut text = String::with_capacity(UUID_LEN);
    for (place, byte) in number.to_be_bytes().into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 15] {
            text.push(DIGITS.get(usize::from(nibble)).copied().unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_uuid_is_its_number(number in any::<u128>()) {
            let text = uuid_text(number);
            prop_assert_eq!(uuid_number(&text), Some(number));
            prop_assert_eq!(UidRef::new(&text), UidRef::of_number(number));
        }

        #[test]
        fn every_uid_is_spelt_as_it_came(
            uid in prop_oneof![".{0,40}", "[0-9a-fA-F-]{36}", any::<u128>().prop_map(uuid_text)],
        ) {
            prop_assert_eq!(UidRef::new(&uid).text(), uid.as_str());
            prop_assert!(UidRef::new(&uid) == *uid);
        }
    }

    #[test]
    fn other_spellings_stay_texts() {
        for uid in [
            "",
            "0",
            "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
            "6f9619ff8b86d011b42d00cf4fc964ff",
            "6f9619ff-8b86-d011-b42d-00cf4fc964fg",
            "6f9619ff-8b86-d011-b42d000cf4fc964ff",
        ] {
            assert_eq!(uuid_number(uid), None, "{uid}");
        }
    }
}
