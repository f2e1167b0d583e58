//! The bytes that are kept of a line that cannot be stored as an object.

use crate::wire;
use kubereel_redact::{Redactor, ResourceType};
use std::borrow::Cow;
use std::ops::Range;

/// Returns the part of an anomalous line of a resource that may be stored: a line with an object without its
/// secrets; of unreadable bytes nothing if the kind has secrets.
pub(super) fn keepable(redactor: &Redactor, subject: &ResourceType<'_>, bytes: &[u8]) -> Vec<u8> {
    if let Some(line) = wire::line(bytes)
        && let Some(place) = place(bytes, line.object)
        && let Some(object) = redactor.object(subject, line.object)
    {
        let before = redactor.text(bytes.get(..place.start).unwrap_or_default());
        let after = redactor.text(bytes.get(place.end..).unwrap_or_default());
        return [before, object, after].concat();
    }
    if redactor.is_closed(subject) {
        return Vec::new();
    }
    // Bytes that are not UTF-8 hide fields from the policy: it judges the text that a reader
    // would see.
    if let Cow::Owned(text) = String::from_utf8_lossy(bytes)
        && let Some(line) = wire::line(text.as_bytes())
        && let Some(Cow::Owned(_)) = redactor.object(subject, line.object)
    {
        return keepable(redactor, subject, text.as_bytes());
    }
    if let Cow::Owned(text) = String::from_utf8_lossy(bytes)
        && let Some(Cow::Owned(object)) = redactor.object(subject, text.as_bytes())
    {
        return object;
    }
    let kept = redactor.object(subject, bytes);
    kept.map(Cow::into_owned).unwrap_or_default()
}

/// Returns the range of a slice within its line.
fn place(line: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let range = start..start.checked_add(part.len())?;
    (line.get(range.clone())? == part).then_some(range)
}
