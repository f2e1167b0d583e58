//! Owns how a field that is null or absent is read: as empty. Refuses wrong types.

use jiff::Timestamp;
use kubereel_format::RecordedAt;
use serde::{Deserialize, Deserializer};

/// Reads null as the default.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a time as objects write it; `None` if it is empty or none.
pub(crate) fn time(text: &str) -> Option<RecordedAt> {
    let at: Timestamp = text.parse().ok()?;
    Some(RecordedAt::from_micros(at.as_microsecond()))
}
