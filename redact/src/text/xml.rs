//! XML in a text: the elements that a name opens or closes, and their content.

use super::announced_names::{NAME_BYTES, TextName, count, count_back};
use super::neighbours::NEIGHBOUR_BYTES;
use std::ops::Range;

/// A text that may contain XML.
#[derive(Clone, Copy, Debug)]
pub(super) struct XmlText<'t>(pub(super) &'t [u8]);

/// What a name is in XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum XmlElement {
    /// Not the name of an element.
    None,
    /// The name of an element that ends here.
    Closed,
    /// The name of an element with this content.
    Content(Range<usize>),
}

impl<'t> XmlText<'t> {
    fn get(self, place: Range<usize>) -> &'t [u8] {
        self.0.get(place).unwrap_or_default()
    }

    fn rest(self, at: usize) -> &'t [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// Reads a name as that of an element.
    pub(super) fn element(self, name: &TextName) -> XmlElement {
        let before = self.get(0..name.place.start);
        let near = before.get(before.len().saturating_sub(NAME_BYTES)..);
        let prefix = count_back(near.unwrap_or_default(), |byte| {
            byte.is_ascii_alphanumeric() || byte == b':'
        });
        let before = before.get(..before.len() - prefix).unwrap_or_default();
        if before.last() != Some(&b'<') {
            return if before.ends_with(b"</") {
                XmlElement::Closed
            } else {
                XmlElement::None
            };
        }
        let rest = self.rest(name.place.end);
        let Some(end) = rest
            .iter()
            .take(NEIGHBOUR_BYTES)
            .position(|byte| matches!(byte, b'>' | b'<'))
        else {
            return XmlElement::None;
        };
        if rest.get(end) == Some(&b'>') && !rest.get(..end).is_some_and(|tag| tag.ends_with(b"/")) {
            return XmlElement::Content(self.content(name.place.end + end + 1));
        }
        XmlElement::None
    }

    /// Returns the content of the element whose tag ends before a place.
    pub(super) fn content(self, at: usize) -> Range<usize> {
        let rest = self.rest(at);
        let blanks = count(rest, |byte| byte.is_ascii_whitespace());
        let (at, end) = match rest
            .get(blanks..)
            .and_then(|rest| rest.strip_prefix(b"<![CDATA["))
        {
            Some(inner) => (
                at + blanks + 9,
                memchr::memmem::find(inner, b"]]>").unwrap_or(inner.len()),
            ),
            None => (
                at + blanks,
                memchr::memchr(b'<', rest.get(blanks..).unwrap_or_default())
                    .unwrap_or(rest.len() - blanks),
            ),
        };
        let len = self.get(at..at + end).trim_ascii_end().len();
        at..at + len
    }
}
