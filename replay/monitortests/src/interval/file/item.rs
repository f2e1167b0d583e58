//! How one item of a file reads, whichever generation it is of. It does not handle items that
//! upstream refuses: another level, a time that is none.

use super::flat;
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, SharedTexts, Source};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// An item as it stands in a file. Of a member that stands twice, the later one counts: upstream's own
/// test files have both the flat text and the object that replaced it.
#[derive(Debug, Default)]
pub(super) struct FileItem {
    level: String,
    source: String,
    display: bool,
    locator: Text<ItemPlace>,
    message: Text<ItemMessage>,
    better_locator: ItemPlace,
    better_message: ItemMessage,
    from: Option<Time>,
    to: Option<Time>,
    at: Option<Time>,
}

/// A flat text, or what replaced it.
#[derive(Debug)]
enum Text<T> {
    Flat(String),
    Whole(T),
}

impl<T: Default> Default for Text<T> {
    fn default() -> Self {
        Self::Whole(T::default())
    }
}

/// A time, or none.
#[derive(Clone, Copy, Debug)]
struct Time(Option<RecordedAt>);

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct ItemPlace {
    r#type: Option<String>,
    keys: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ItemMessage {
    reason: Option<String>,
    cause: Option<String>,
    human_message: Option<String>,
    annotations: Option<BTreeMap<String, String>>,
}

impl FileItem {
    /// Returns the interval, and its begin if it tells one.
    ///
    /// # Errors
    /// When its level is none that upstream knows.
    pub(super) fn interval(
        self,
        words: &mut SharedTexts,
    ) -> Result<(Option<RecordedAt>, Interval), String> {
        let level = match self.level.as_str() {
            "Info" => Level::Info,
            "Warning" => Level::Warning,
            "Error" => Level::Error,
            other => {
                return Err(format!(
                    "its level is {other:?}, not Info, Warning or Error"
                ));
            }
        };
        let locator = match self.locator {
            _ if self.better_locator.is_there() => self.better_locator.locator(words),
            Text::Whole(whole) => whole.locator(words),
            Text::Flat(flat) => flat::locator(&flat, words),
        };
        let message = match self.message {
            _ if self.better_message.is_there() => self.better_message.message(words),
            Text::Whole(whole) => whole.message(words),
            Text::Flat(flat) => flat::message(&flat, words),
        };
        let at = self.at.and_then(|time| time.0);
        let from = self.from.and_then(|time| time.0).or(at);
        let to = self.to.and_then(|time| time.0).or(at);
        let interval = Interval {
            level,
            source: Source(words.kept(&self.source)),
            display: if self.display {
                Display::Drawn
            } else {
                Display::Hidden
            },
            locator,
            message,
            from: from.unwrap_or_default(),
            to,
            seq: None,
        };
        Ok((from, interval))
    }
}

impl ItemPlace {
    fn is_there(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| !keys.is_empty())
    }

    fn locator(self, words: &mut SharedTexts) -> Locator {
        let keys = self.keys.unwrap_or_default();
        Locator {
            kind: words.kept(&self.r#type.unwrap_or_default()),
            keys: words.pairs(keys.iter().map(|(key, value)| (&**key, &**value))),
        }
    }
}

impl ItemMessage {
    fn is_there(&self) -> bool {
        self.annotations
            .as_ref()
            .is_some_and(|known| !known.is_empty())
            || self
                .human_message
                .as_ref()
                .is_some_and(|words| !words.is_empty())
    }

    fn message(self, words: &mut SharedTexts) -> IntervalMessage {
        let annotations = self.annotations.unwrap_or_default();
        let mut kept = |text: Option<String>| words.kept(&text.unwrap_or_default());
        IntervalMessage {
            reason: kept(self.reason),
            cause: kept(self.cause),
            human: kept(self.human_message),
            annotations: words.pairs(annotations.iter().map(|(name, value)| (&**name, &**value))),
        }
    }
}

impl<'de> Deserialize<'de> for FileItem {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ItemMembers)
    }
}

struct ItemMembers;

impl<'de> Visitor<'de> for ItemMembers {
    type Value = FileItem;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an interval")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<FileItem, A::Error> {
        let mut item = FileItem::default();
        while let Some(name) = from.next_key::<Cow<'de, str>>()? {
            match name.as_ref() {
                "level" => item.level = from.next_value()?,
                "source" | "tempSource" => {
                    item.source = from.next_value::<Option<String>>()?.unwrap_or_default();
                }
                "display" => item.display = from.next_value::<Option<bool>>()?.unwrap_or(false),
                "locator" => item.locator = from.next_value()?,
                "message" => item.message = from.next_value()?,
                "tempStructuredLocator" => {
                    item.better_locator =
                        from.next_value::<Option<ItemPlace>>()?.unwrap_or_default();
                }
                "tempStructuredMessage" => {
                    item.better_message = from
                        .next_value::<Option<ItemMessage>>()?
                        .unwrap_or_default();
                }
                "from" => item.from = Some(from.next_value()?),
                "to" => item.to = Some(from.next_value()?),
                "initiatedAt" => item.at = Some(from.next_value()?),
                _ => drop(from.next_value::<IgnoredAny>()?),
            }
        }
        Ok(item)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextOrMap<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrMap<T> {
            type Value = Text<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text or an object")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<T>, E> {
                Ok(Text::Flat(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, from: A) -> Result<Text<T>, A::Error> {
                let from = serde::de::value::MapAccessDeserializer::new(from);
                T::deserialize(from).map(Text::Whole)
            }
        }
        from.deserialize_any(TextOrMap(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Some(text) = Option::<Cow<'de, str>>::deserialize(from)? else {
            return Ok(Self(None));
        };
        // Go writes no time so where it does not write null.
        if text.starts_with("0001-01-01T00:00:00") {
            return Ok(Self(None));
        }
        let at = timetext::parsed(&text);
        let at = at.ok_or_else(|| D::Error::custom(format!("{text:?} is not a time")))?;
        Ok(Self(Some(at)))
    }
}
