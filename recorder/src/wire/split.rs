//! Splits a list response into items while it arrives. Each item is returned with its exact bytes,
//! one after the other, so that the response is never in memory as a whole.

use crate::number::len64;
use kubereel_format::MAX_BODY;

/// The longest metadata of a list, in bytes.
const MAX_METADATA: usize = 1024 * 1024;

/// The longest key, in bytes.
const MAX_KEY: usize = 64;

/// A piece of a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ListPiece {
    /// A whole item.
    Item(Vec<u8>),
    /// A part of an item that is too long for one piece.
    Part {
        /// The part.
        bytes: Vec<u8>,
        /// The length of the item up to the end of this part.
        len_so_far: u64,
        /// Whether the item ends here.
        is_last: bool,
    },
}

/// The metadata of a list.
#[derive(Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct ListMeta {
    /// The resourceVersion of the list; empty if there is none.
    #[serde(default, rename = "resourceVersion")]
    pub(crate) version: String,
    /// The continue token; empty on the last page.
    #[serde(default, rename = "continue")]
    pub(crate) token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Start,
    BeforeKey,
    InKey { escaped: bool },
    BeforeColon,
    BeforeValue,
    InValue(ValueScan),
    BetweenItems,
    InItem(ValueScan),
    End,
    Broken,
}

/// The state of the scanner within a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ValueScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    is_scalar: bool,
}

/// The meaning of the next byte for a value.
enum ByteStep {
    /// It is a part of the value.
    Inside,
    /// It is the last byte of the value.
    Last,
    /// It follows a value that has no end of its own, such as a number.
    After,
}

impl ValueScan {
    fn begin(byte: u8) -> Self {
        Self {
            depth: u32::from(matches!(byte, b'{' | b'[')),
            in_string: byte == b'"',
            escaped: false,
            is_scalar: !matches!(byte, b'{' | b'[' | b'"'),
        }
    }

    fn step(&mut self, byte: u8) -> ByteStep {
        if self.in_string {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
                if self.depth == 0 {
                    return ByteStep::Last;
                }
            }
            return ByteStep::Inside;
        }
        if self.is_scalar {
            return match byte {
                b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' => ByteStep::After,
                _ => ByteStep::Inside,
            };
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return ByteStep::Last;
                }
            }
            _ => {}
        }
        ByteStep::Inside
    }
}

/// Splits a list.
#[derive(Debug)]
pub(crate) struct ListSplitter {
    at: At,
    key: Vec<u8>,
    metadata: Vec<u8>,
    item: Vec<u8>,
    handed_out: u64,
    max_item: usize,
    has_items: bool,
}

impl ListSplitter {
    /// Creates a splitter for one response.
    pub(crate) fn new() -> Self {
        Self::with_max(MAX_BODY)
    }

    fn with_max(max_item: usize) -> Self {
        Self {
            at: At::Start,
            key: Vec::new(),
            metadata: Vec::new(),
            item: Vec::new(),
            handed_out: 0,
            max_item,
            has_items: false,
        }
    }

    /// Takes the next chunk and appends the completed pieces to `out`.
    pub(crate) fn push(&mut self, chunk: &[u8], out: &mut Vec<ListPiece>) {
        for byte in chunk {
            self.byte(*byte, out);
        }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<ListPiece>) {
        let is_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.at = match self.at {
            At::Start if is_space => At::Start,
            At::Start if byte == b'{' => At::BeforeKey,
            At::BeforeKey if is_space || byte == b',' => At::BeforeKey,
            At::BeforeKey if byte == b'"' => {
                self.key.clear();
                At::InKey { escaped: false }
            }
            At::BeforeKey if byte == b'}' => At::End,
            At::InKey { escaped } => self.key_byte(byte, escaped),
            At::BeforeColon if is_space => At::BeforeColon,
            At::BeforeColon if byte == b':' => At::BeforeValue,
            At::BeforeValue if is_space => At::BeforeValue,
            At::BeforeValue => self.begin_value(byte),
            At::InValue(scan) => self.value_byte(byte, scan),
            At::BetweenItems if is_space || byte == b',' => At::BetweenItems,
            At::BetweenItems if byte == b']' => At::BeforeKey,
            At::BetweenItems => {
                self.item.push(byte);
                At::InItem(ValueScan::begin(byte))
            }
            At::InItem(scan) => self.item_byte(byte, scan, out),
            At::End if is_space => At::End,
            At::Start | At::BeforeKey | At::BeforeColon | At::End | At::Broken => At::Broken,
        };
    }

    fn key_byte(&mut self, byte: u8, escaped: bool) -> At {
        if byte == b'"' && !escaped {
            return At::BeforeColon;
        }
        if self.key.len() < MAX_KEY {
            self.key.push(byte);
        }
        At::InKey {
            escaped: byte == b'\\' && !escaped,
        }
    }

    fn begin_value(&mut self, byte: u8) -> At {
        if self.key == b"items" {
            self.has_items = true;
            if byte == b'[' {
                return At::BetweenItems;
            }
        }
        if self.key == b"metadata" {
            self.metadata.clear();
            self.metadata.push(byte);
        }
        At::InValue(ValueScan::begin(byte))
    }

    fn value_byte(&mut self, byte: u8, mut scan: ValueScan) -> At {
        let step = scan.step(byte);
        if matches!(step, ByteStep::After) {
            return if byte == b'}' { At::End } else { At::BeforeKey };
        }
        if self.key == b"metadata" && self.metadata.len() < MAX_METADATA {
            self.metadata.push(byte);
        }
        match step {
            ByteStep::Last => At::BeforeKey,
            ByteStep::Inside | ByteStep::After => At::InValue(scan),
        }
    }

    fn item_byte(&mut self, byte: u8, mut scan: ValueScan, out: &mut Vec<ListPiece>) -> At {
        let step = scan.step(byte);
        if !matches!(step, ByteStep::After) {
            if self.item.len() >= self.max_item {
                out.push(self.part(false));
            }
            self.item.push(byte);
        }
        match step {
            ByteStep::Inside => At::InItem(scan),
            ByteStep::Last | ByteStep::After => {
                out.push(self.whole());
                if byte == b']' && matches!(step, ByteStep::After) {
                    At::BeforeKey
                } else {
                    At::BetweenItems
                }
            }
        }
    }

    fn part(&mut self, is_last: bool) -> ListPiece {
        let bytes = std::mem::take(&mut self.item);
        let len = len64(bytes.len());
        let len_so_far = self.handed_out.saturating_add(len);
        self.handed_out = if is_last { 0 } else { len_so_far };
        ListPiece::Part {
            bytes,
            len_so_far,
            is_last,
        }
    }

    fn whole(&mut self) -> ListPiece {
        if self.handed_out > 0 {
            return self.part(true);
        }
        ListPiece::Item(std::mem::take(&mut self.item))
    }

    /// Returns the bytes of the unfinished item in memory.
    pub(crate) fn buffered(&self) -> usize {
        self.item.len()
    }

    /// Returns the metadata of the list after the response has ended; `None` if it was not a whole
    /// list.
    pub(crate) fn finish(self) -> Option<ListMeta> {
        if self.at != At::End || !self.has_items {
            return None;
        }
        if self.metadata.is_empty() {
            return Some(ListMeta::default());
        }
        serde_json::from_slice(&self.metadata).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &[u8], chunk: usize) -> (Vec<ListPiece>, Option<ListMeta>) {
        let mut splitter = ListSplitter::new();
        let mut out = Vec::new();
        for part in text.chunks(chunk.max(1)) {
            splitter.push(part, &mut out);
        }
        (out, splitter.finish())
    }

    fn item(text: &str) -> ListPiece {
        ListPiece::Item(text.as_bytes().to_vec())
    }

    const LIST: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"abc]","remainingItemCount":3},"items":[{"a":"]}\"" , "b":[1,{}]},{"metadata":{"x":1e3}} , {}], "extra":[1,2],"more":7}
"#;

    #[test]
    fn every_chunking_gives_the_exact_items() {
        for chunk in 1..=LIST.len() {
            let (items, meta) = split(LIST.as_bytes(), chunk);
            let expected = [
                item(r#"{"a":"]}\"" , "b":[1,{}]}"#),
                item(r#"{"metadata":{"x":1e3}}"#),
                item("{}"),
            ];
            assert_eq!(items, expected);
            let meta = meta.expect("a whole list");
            assert_eq!(meta.version, "12");
            assert_eq!(meta.token, "abc]");
        }
    }

    #[test]
    fn no_items_is_a_list_too() {
        for (text, version) in [
            (r#"{"metadata":{"resourceVersion":"1"},"items":[]}"#, "1"),
            (r#"{"metadata":{"resourceVersion":"2"},"items":null}"#, "2"),
            (r#"{"items":null,"metadata":{"resourceVersion":"3"}}"#, "3"),
            (r#"{"items":[]}"#, ""),
        ] {
            let (items, meta) = split(text.as_bytes(), 7);
            assert_eq!(items, []);
            assert_eq!(meta.expect("a whole list").version, version, "{text}");
        }
    }

    #[test]
    fn a_broken_or_cut_answer_is_no_list() {
        for text in [
            "",
            "<html>",
            "[]",
            r#"{"metadata":{"resourceVersion":"1"},"items":[{}"#,
            r#"{"metadata":{"resourceVersion":"1"},"items":[]"#,
            r#"{"metadata":{"resourceVersion":"1"},"items":[]} x"#,
            r#"{"metadata":{"resourceVersion":1},"items":[]}"#,
            r#"{"kind":"Status","metadata":{},"code":500}"#,
        ] {
            assert_eq!(split(text.as_bytes(), 3).1, None, "{text}");
        }
    }

    #[test]
    fn a_long_item_comes_in_parts() {
        let mut splitter = ListSplitter::with_max(5);
        let mut out = Vec::new();
        splitter.push(br#"{"metadata":{},"items":[["abcdefg"],{}]}"#, &mut out);
        let part = |text: &str, len_so_far, is_last| ListPiece::Part {
            bytes: text.as_bytes().to_vec(),
            len_so_far,
            is_last,
        };
        let expected = [
            part("[\"abc", 5, false),
            part("defg\"", 10, false),
            part("]", 11, true),
            item("{}"),
        ];
        assert_eq!(out, expected);
        assert!(splitter.finish().is_some());
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            ".{0,12}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map(".{0,6}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn agrees_with_a_parser(items in prop::collection::vec(json(), 0..6), chunk in 1_usize..40) {
            let list = serde_json::json!({"apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":items});
            let (pieces, meta) = split(list.to_string().as_bytes(), chunk);
            let expected: Vec<ListPiece> = items.iter().map(|value| item(&value.to_string())).collect();
            prop_assert_eq!(pieces, expected);
            prop_assert_eq!(meta.expect("a whole list").version, "5");
        }

        #[test]
        fn survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (_, meta) = split(&bytes, 9);
            prop_assert!(meta.is_none() || serde_json::from_slice::<serde_json::Value>(&bytes).is_ok() || !bytes.is_empty());
        }
    }
}
