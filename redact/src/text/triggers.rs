//! The prefilter: finds the places in bytes where a secret may be.
//!
//! Every encoding, announcement and form of a secret contains one of a set of three-character
//! sequences. One pass over the text finds them in a bit table; only there a close check follows.
//!
//! Invariant: everything that the slow search finds in a text is suspected in that text, and also
//! in JSON that contains the text, at a place within its quotes. A property test compares both.

use super::announced_names::{TextName, count, is_followed, name_at};
use super::tokens::{self, is_word};
use super::{binary, patterns, programs};
use crate::base64;
use crate::memo::Memo;
use crate::names::{self, NameClass};
use crate::secret_fields;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// How far the string around a name is checked, before and after the name.
const STRING_BYTES: usize = 64;

const SYMBOL_BITS: u32 = 6;
const SYMBOLS: u8 = 1 << SYMBOL_BITS;
const CODES: usize = 1 << (3 * SYMBOL_BITS);
const WORDS: usize = CODES / 64;

/// Letters without case, all digits as one, signs of some trigger; 0 is any other byte.
static FOLD: [u8; 256] = fold();

#[expect(
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a byte is always below 256, and constants cannot call `from`"
)]
const fn fold() -> [u8; 256] {
    const SIGNS: &[u8] = b"-_.$:/~%\\=\" *{";
    let mut fold = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        if byte.is_ascii_alphabetic() {
            fold[byte as usize] = byte & 31;
        } else if byte.is_ascii_digit() {
            fold[byte as usize] = DIGIT;
        }
        byte += 1;
    }
    let (mut rest, mut next) = (SIGNS, DIGIT + 1);
    while let [sign, after @ ..] = rest {
        fold[*sign as usize] = next;
        next += 1;
        rest = after;
    }
    fold
}

const DIGIT: u8 = 27;

fn symbol(byte: u8) -> u8 {
    FOLD.get(usize::from(byte)).copied().unwrap_or(0)
}

/// The result of a close check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suspicion {
    /// No suspicion.
    Unfounded,
    /// The object must be walked: the text has a meaning together with other fields.
    Fields,
    /// The text around it must be searched.
    Text,
}

fn text_if(is_suspect: bool) -> Suspicion {
    if is_suspect {
        Suspicion::Text
    } else {
        Suspicion::Unfounded
    }
}

/// Checks what follows a literal: the text, the begin and end of the literal, and whether the text
/// is raw JSON.
type CloseLook = fn(&[u8], usize, usize, bool) -> Suspicion;

/// A close check for a code.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    /// A name that may announce a secret.
    Name,
    /// A token of this form, and the number of bytes from the start of its prefix to the end of the
    /// code.
    Token(usize, usize),
    /// A literal, how many of its bytes end with the code, whether its case matters, and the close
    /// check.
    Literal(&'static str, usize, bool, CloseLook),
    /// Percent encoding.
    Percent,
    /// An escape that JSON does not require.
    Escape,
}

fn always(_: &[u8], _: usize, _: usize, _: bool) -> Suspicion {
    Suspicion::Text
}

fn rest(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

/// Counts the blanks and line breaks that begin here, plain or as escapes.
fn blanks(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match rest(text, at) {
            [b'\\', b'n' | b'r' | b't', ..] => at += 2,
            [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => at += 1,
            _ => return at,
        }
    }
}

fn eight_more(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    text_if(count(rest(text, end), is_word) >= 8)
}

fn aws(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    text_if(count(rest(text, end), is_part) >= 16)
}

fn azure(text: &[u8], start: usize, _: usize, _: bool) -> Suspicion {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    text_if(before.is_some_and(u8::is_ascii_digit))
}

fn telegram(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    text_if(count(rest(text, end), is_word) >= 32)
}

fn mailchimp(text: &[u8], start: usize, end: usize, _: bool) -> Suspicion {
    let before = start.checked_sub(32).and_then(|from| text.get(from..start));
    text_if(
        text.get(end).is_some_and(u8::is_ascii_digit)
            && before.is_some_and(|before| before.iter().all(u8::is_ascii_hexdigit)),
    )
}

/// The hash of a password of `PostgreSQL`.
fn small_hash(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text_if(count(rest(text, end), is_digit) == 32)
}

/// The hash of a password of `MySQL`.
fn capital_hash(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    text_if(count(rest(text, end), is_digit) == 40)
}

fn scheme(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let rest = rest(text, end);
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'@' => return Suspicion::Text,
            // An escape of one letter; the word may continue behind it.
            b'\\' if rest.get(at + 1) == Some(&b'u') => {}
            b'"' | b'<' | b'>' | b'\\' | b'`' => break,
            byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => break,
            _ => {}
        }
    }
    Suspicion::Unfounded
}

fn credentials(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let rest = rest(text, end);
    let skip = blanks(rest);
    let is_part = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=');
    let value = rest.get(skip..).unwrap_or_default();
    text_if(skip > 0 && count(value, is_part) >= 12)
}

fn authorization(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let rest = rest(text, end);
    // Quotes and blanks, plain or as escapes.
    let between = count(rest, |byte| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b'n' | b'r' | b't')
    });
    text_if(matches!(rest.get(between), Some(b':' | b'=')))
}

/// JSON within strings: its own walk judges it.
fn inner_field(text: &[u8], _: usize, end: usize, is_json: bool) -> Suspicion {
    let slashes = count(rest(text, end), |byte| byte == b'\\');
    text_if((slashes > 0 || !is_json) && text.get(end + slashes) == Some(&b'"'))
}

fn inner_kind(text: &[u8], start: usize, end: usize, is_json: bool) -> Suspicion {
    let rest = rest(text, end);
    if !is_json || !matches!(rest.first(), Some(b'"')) {
        return inner_field(text, start, end, is_json);
    }
    let is_space = |byte: u8| byte.is_ascii_whitespace();
    let between = rest.get(1..).unwrap_or_default().trim_ascii_start();
    let Some(value) = between.strip_prefix(b":") else {
        return Suspicion::Unfounded;
    };
    let value = value.get(count(value, is_space)..).unwrap_or_default();
    let Some(value) = value.strip_prefix(b"\"") else {
        return Suspicion::Unfounded;
    };
    let len = memchr::memchr2(b'"', b'\\', value).unwrap_or(0);
    let kind = std::str::from_utf8(value.get(..len).unwrap_or_default());
    match kind {
        Ok(kind)
            if value.get(len) == Some(&b'"')
                && secret_fields::of_kind(kind).is_empty()
                && secret_fields::kind_of_items(kind).is_none() =>
        {
            Suspicion::Unfounded
        }
        _ => Suspicion::Fields,
    }
}

/// A program that takes a password: an argument by itself, or a word of a command line.
fn program(text: &[u8], start: usize, end: usize, is_json: bool) -> Suspicion {
    let is_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    let before = text.get(..start).unwrap_or_default().iter().rev();
    let is_argument = before.copied().find(|byte| !is_path(&byte)) == Some(b'"');
    match rest(text, end) {
        [b'"', ..] if is_json && is_argument => Suspicion::Fields,
        [byte, ..] => text_if(b"\"'\\;|&)".contains(byte) || byte.is_ascii_whitespace()),
        // What was piped into it may be before it.
        [] => text_if(true),
    }
}

/// The password of an SQL statement, or of another line whose words are divided by blanks.
fn spaced(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    text_if(blanks(rest(text, end)) > 0)
}

/// A word with a text in quotes behind it.
fn quoted(text: &[u8], _: usize, end: usize, _: bool) -> Suspicion {
    let rest = rest(text, end);
    let skip = blanks(rest);
    text_if(skip > 0 && matches!(rest.get(skip), Some(b'"' | b'\'' | b'\\')))
}

/// The address of a Go database driver, `user:password@tcp(host)`.
fn driver_address(text: &[u8], start: usize, _: usize, _: bool) -> Suspicion {
    text_if(start.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'@'))
}

fn fields(_: &[u8], _: usize, _: usize, _: bool) -> Suspicion {
    Suspicion::Fields
}

/// The literals, with the place of the three characters by which they are found.
const LITERALS: &[(&str, usize, bool, CloseLook)] = &[
    ("PRIVATE KEY", 6, true, always),
    ("PuTTY-User-Key-File-", 4, true, always),
    ("eyJ", 0, true, eight_more),
    ("AKIA", 1, true, aws),
    ("ASIA", 1, true, aws),
    ("ABIA", 1, true, aws),
    ("ACCA", 1, true, aws),
    ("T3BlbkFJ", 4, true, always),
    (".atlasv1.", 4, true, always),
    (":AA", 0, true, telegram),
    ("-us", 0, true, mailchimp),
    ("$1$", 0, true, always),
    ("$5$", 0, true, always),
    ("$6$", 0, true, always),
    ("$y$", 0, true, always),
    ("$2a$", 0, true, always),
    ("$2b$", 0, true, always),
    ("$2x$", 0, true, always),
    ("$2y$", 0, true, always),
    ("$apr1$", 0, true, always),
    ("$argon2", 0, true, always),
    ("{sha", 0, false, always),
    ("{ssha", 0, false, always),
    ("{md5", 0, false, always),
    ("{smd5", 0, false, always),
    ("{crypt}", 0, false, always),
    ("pbkdf2", 1, false, always),
    ("SCRAM-SHA-", 4, true, always),
    ("://", 0, true, scheme),
    ("bearer", 3, false, credentials),
    ("basic", 2, false, credentials),
    ("authorization", 5, false, authorization),
    ("kind", 1, false, inner_kind),
    ("env", 0, false, inner_field),
    ("args", 1, false, inner_field),
    ("command", 4, false, inner_field),
    ("kty", 0, true, always),
    ("identified", 2, false, spaced),
    ("password", 0, false, quoted),
    ("set password for", 2, false, spaced),
    ("neighbor", 1, true, spaced),
    ("message-digest-key", 7, true, spaced),
    ("set_header", 3, true, spaced),
    ("set-header", 3, true, spaced),
    ("tcp(", 0, true, driver_address),
    ("unix(", 0, true, driver_address),
    ("_proxy", 3, false, fields),
    ("last-applied-configuration", 3, false, fields),
];

struct TriggerTable {
    bits: Box<[u64]>,
    /// For each code, the index of its list of triggers.
    lists: Box<[u16]>,
    triggers: Vec<Vec<Trigger>>,
}

static TABLE: LazyLock<TriggerTable> = LazyLock::new(TriggerTable::new);

impl TriggerTable {
    fn new() -> Self {
        let mut table = Self {
            bits: vec![0; WORDS].into(),
            lists: vec![0; CODES].into(),
            triggers: vec![Vec::new()],
        };
        for letters in names::trigrams() {
            let sets = letters.map(|letter| match letter {
                b'_' => (0..SYMBOLS)
                    .filter(|one| !(1..DIGIT).contains(one))
                    .collect(),
                letter => vec![symbol(letter)],
            });
            table.add(&sets, Trigger::Name);
        }
        for (literal, from, is_exact, closely) in LITERALS {
            let bytes = literal.as_bytes();
            let sets = [0, 1, 2].map(|at| vec![symbol(*bytes.get(from + at).unwrap_or(&b' '))]);
            table.add(
                &sets,
                Trigger::Literal(literal, from + 3, *is_exact, *closely),
            );
        }
        for name in programs::names() {
            let mut letters = name.bytes().map(|byte| vec![symbol(byte)]);
            let sets = [(); 3].map(|()| letters.next().unwrap_or_default());
            table.add(&sets, Trigger::Literal(name, 3, true, program));
        }
        let any: Vec<u8> = (0..SYMBOLS).collect();
        let is_hex = |one: &u8| *one == DIGIT || (1..=6).contains(one);
        let hex: Vec<u8> = any.iter().copied().filter(is_hex).collect();
        table.add(
            &[vec![symbol(b'%')], hex.clone(), hex.clone()],
            Trigger::Percent,
        );
        table.add(
            &[vec![symbol(b'*')], hex.clone(), hex.clone()],
            Trigger::Literal("*", 3, true, capital_hash),
        );
        table.add(
            &[vec![symbol(b'd')], vec![DIGIT], hex],
            Trigger::Literal("md5", 4, true, small_hash),
        );
        let slash = vec![symbol(b'\\')];
        table.add(
            &[slash.clone(), vec![symbol(b'u')], vec![DIGIT]],
            Trigger::Escape,
        );
        table.add(&[slash, vec![symbol(b'/')], any.clone()], Trigger::Escape);
        table.add(
            &[vec![DIGIT], vec![symbol(b'q')], vec![symbol(b'~')]],
            Trigger::Literal("Q~", 2, true, azure),
        );
        for (form, prefix) in tokens::prefixes().enumerate() {
            let bytes = prefix.as_bytes();
            // Three characters with a sign among them are rarer than three letters.
            let from = bytes
                .windows(3)
                .rposition(|three| three.iter().any(|byte| symbol(*byte) >= DIGIT))
                .unwrap_or(0);
            let sets = [0, 1, 2].map(|at| {
                let byte = bytes.get(from + at);
                byte.map_or_else(|| any.clone(), |byte| vec![symbol(*byte)])
            });
            table.add(&sets, Trigger::Token(form, from + 3));
        }
        table
    }

    fn add(&mut self, sets: &[Vec<u8>; 3], trigger: Trigger) {
        let [first, second, third] = sets;
        for one in first {
            for two in second {
                for three in third {
                    let code = [*one, *two, *three].into_iter().fold(0, next_symbol);
                    self.add_code(code, trigger);
                }
            }
        }
    }

    fn add_code(&mut self, code: usize, trigger: Trigger) {
        if let Some(word) = self.bits.get_mut(code / 64) {
            *word |= 1 << (code % 64);
        }
        let list = self.lists.get(code).copied().unwrap_or(0);
        let mut triggers = self
            .triggers
            .get(usize::from(list))
            .cloned()
            .unwrap_or_default();
        triggers.push(trigger);
        let place = self.triggers.len();
        self.triggers.push(triggers);
        #[expect(
            clippy::expect_used,
            reason = "a trigger that is dropped would leave a secret in a reel; every test of texts builds the table"
        )]
        let place = u16::try_from(place).expect("fewer lists than the type counts");
        if let Some(list) = self.lists.get_mut(code) {
            *list = place;
        }
    }

    fn is_hit(&self, code: usize) -> bool {
        self.bits
            .get(code / 64)
            .is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    fn at(&self, code: usize) -> &[Trigger] {
        let list = self.lists.get(code).copied().unwrap_or(0);
        self.triggers
            .get(usize::from(list))
            .map_or(&[], Vec::as_slice)
    }
}

fn next_symbol(code: usize, symbol: u8) -> usize {
    (code << SYMBOL_BITS | usize::from(symbol)) & (CODES - 1)
}

/// The suspicious places of a JSON text.
#[derive(Debug, Default)]
pub(crate) struct SuspectPlaces {
    /// Where suspicious texts begin, in order.
    pub(crate) texts: Vec<usize>,
    /// Where names may announce a secret, in order: each at most two bytes behind a byte of the
    /// name.
    pub(crate) names: Vec<usize>,
    /// Whether the object must be walked.
    pub(crate) has_fields: bool,
}

/// Returns whether a text may contain a secret, apart from encodings.
pub(super) fn suspects_as_is(text: &[u8]) -> bool {
    let mut pass = TriggerPass::new(text, false);
    pass.any(|_, suspicion| suspicion == Suspicion::Text) || patterns::dots(text).next().is_some()
}

/// Finds the places in an object's JSON where a secret may be, apart from encodings.
fn trigger_places(json: &[u8]) -> SuspectPlaces {
    let mut places = SuspectPlaces::default();
    let mut pass = TriggerPass::new(json, true);
    pass.any(|at, suspicion| {
        match suspicion {
            Suspicion::Text => places.texts.push(at),
            Suspicion::Fields => places.has_fields = true,
            Suspicion::Unfounded => {}
        }
        false
    });
    places.names = pass.names;
    places.texts.extend(patterns::dots(json));
    places
}

struct TriggerPass<'t> {
    text: &'t [u8],
    is_json: bool,
    names: Vec<usize>,
    /// The end of the last name, and its suspicion.
    name: (usize, Suspicion),
}

impl<'t> TriggerPass<'t> {
    fn new(text: &'t [u8], is_json: bool) -> Self {
        Self {
            text,
            is_json,
            names: Vec::new(),
            name: (0, Suspicion::Unfounded),
        }
    }

    /// Reports suspicions until one is sufficient.
    fn any(&mut self, mut is_enough: impl FnMut(usize, Suspicion) -> bool) -> bool {
        let table = &*TABLE;
        let text = self.text;
        let mut code = 0;
        let mut look = |code, at: usize| {
            table.at(code).iter().any(|trigger| {
                let suspicion = self.look(*trigger, at + 1);
                suspicion != Suspicion::Unfounded && is_enough(at.saturating_sub(1), suspicion)
            })
        };
        for (at, byte) in text.iter().enumerate() {
            code = next_symbol(code, symbol(*byte));
            if table.is_hit(code) && look(code, at) {
                return true;
            }
        }
        // The end is the end of a word.
        code = next_symbol(code, 0);
        table.is_hit(code) && look(code, text.len())
    }

    /// Checks every code before `end`.
    fn look(&mut self, trigger: Trigger, end: usize) -> Suspicion {
        let text = self.text;
        match trigger {
            Trigger::Name => self.look_at_name(end.saturating_sub(2)),
            Trigger::Token(form, len) => {
                let is_token = end
                    .checked_sub(len)
                    .is_some_and(|at| tokens::begins(form, text, at));
                text_if(is_token)
            }
            Trigger::Literal(literal, len, is_exact, closely) => {
                let Some(start) = end.checked_sub(len) else {
                    return Suspicion::Unfounded;
                };
                let close = start + literal.len();
                let Some(found) = text.get(start..close) else {
                    return Suspicion::Unfounded;
                };
                let is_met = if is_exact {
                    found == literal.as_bytes()
                } else {
                    found.eq_ignore_ascii_case(literal.as_bytes())
                };
                if is_met {
                    closely(text, start, close, self.is_json)
                } else {
                    Suspicion::Unfounded
                }
            }
            Trigger::Percent => Suspicion::Text,
            Trigger::Escape => {
                let at = end.saturating_sub(3);
                // Behind another backslash it is a letter of a text within the text.
                let is_inner = !self.is_json || at > 0 && text.get(at - 1) == Some(&b'\\');
                text_if(is_inner || !is_of_servers(rest(text, at)))
            }
        }
    }

    fn look_at_name(&mut self, at: usize) -> Suspicion {
        if self.is_json {
            self.names.push(at);
        }
        if at < self.name.0 {
            return Suspicion::Unfounded;
        }
        let Some(name) = name_at(self.text, at) else {
            return Suspicion::Unfounded;
        };
        self.name.0 = name.place.end;
        if name.class >= NameClass::Mentions && is_followed(self.text, &name, self.is_json) {
            return Suspicion::Text;
        }
        let is_field = self.is_json
            && (name.class != NameClass::Plain || self.is_class(&name) || self.has_spaces(&name))
            && !self.is_plain_value(&name)
            && !rest(self.text, name.place.end).starts_with(b"\":{}");
        if is_field {
            Suspicion::Fields
        } else {
            Suspicion::Unfounded
        }
    }

    /// Returns whether the name is in the value of a field that does not name its neighbours: a
    /// path, a reason, a message. Items of lists may be arguments.
    fn is_plain_value(&self, name: &TextName) -> bool {
        let from = name.place.start.saturating_sub(STRING_BYTES);
        let before = self.text.get(from..name.place.start).unwrap_or_default();
        let Some(open) = memchr::memrchr(b'"', before) else {
            return false;
        };
        let before = before.get(..open).unwrap_or_default();
        let Some(field) = before
            .trim_ascii_end()
            .strip_suffix(b":")
            .and_then(|before| before.trim_ascii_end().strip_suffix(b"\""))
        else {
            return false;
        };
        let begin = memchr::memrchr2(b'"', b'\\', field);
        let field = begin.and_then(|begin| field.get(begin..)?.strip_prefix(b"\""));
        // The path of a JSON patch names its value.
        let is_patch = field.is_some_and(|field| field.eq_ignore_ascii_case(b"path"))
            && self.text.get(from + open + 1) == Some(&b'/');
        field
            .and_then(|field| std::str::from_utf8(field).ok())
            .is_some_and(|field| !names::is_name_field(field) && !field.is_empty() && !is_patch)
    }

    /// Returns whether the name has a class as the name of a field, also behind a `/` in it: in a
    /// text, that is the name of an object.
    fn is_class(&self, name: &TextName) -> bool {
        let name = self.text.get(name.place.clone()).unwrap_or_default();
        memchr::memchr(b'/', name).is_some()
            && std::str::from_utf8(name).is_ok_and(|name| names::class(name) != NameClass::Plain)
    }

    /// Returns whether a name may be one of several words of a field or of another name.
    fn has_spaces(&self, name: &TextName) -> bool {
        let is_end =
            |at: Option<usize>| matches!(at.and_then(|at| self.text.get(at)), None | Some(b'"'));
        let place = &name.place;
        let before = self.text.get(..place.start).unwrap_or_default();
        let is_start = is_end(place.start.checked_sub(1)) || before.ends_with(b"\"f:");
        if is_start && is_end(Some(place.end)) {
            return false;
        }
        let from = place.start.saturating_sub(STRING_BYTES);
        let before = self.text.get(from..place.start).unwrap_or_default();
        let after = self.text.get(place.end..).unwrap_or_default();
        let after = after
            .get(..STRING_BYTES.min(after.len()))
            .unwrap_or_default();
        memchr::memrchr(b'"', before).is_some() && memchr::memchr(b'"', after).is_some()
    }
}

/// Returns whether an escape is one that servers write: of `<`, `>` or `&`.
fn is_of_servers(escape: &[u8]) -> bool {
    match escape {
        [b'\\', b'u', b'0', b'0', high, low, ..] => match high {
            b'2' => *low == b'6',
            b'3' => matches!(low, b'c' | b'C' | b'e' | b'E'),
            b'4'..=b'7' => false,
            _ => true,
        },
        [b'\\', b'u', ..] => true,
        _ => false,
    }
}

/// The depth to which texts within texts are searched.
pub(crate) const DEPTH_MOST: u8 = 3;

/// The least number of consecutive printable characters in a decoded text; with fewer it is noise.
const LEGIBLE_LEAST: usize = 7;

/// The patterns of the user's rules, which are suspicious as well.
type OwnPatterns = [(String, Regex)];

/// Finds the places in an object's JSON where a secret or its encoding may be, but for those in objects and lists that
/// are `known`, in order. With rules of the user, every text is suspicious, because JSON may escape a match in any way.
pub(crate) fn places(
    json: &[u8],
    extra: &OwnPatterns,
    known: &[Range<usize>],
) -> Option<SuspectPlaces> {
    if !extra.is_empty() {
        return None;
    }
    let mut all = SuspectPlaces::default();
    let mut from = 0;
    let ends = known.iter().map(|part| part.start + BEYOND);
    let begins = known.iter().map(|part| part.end - BEYOND);
    for (end, next) in ends.zip(begins).chain([(json.len(), json.len())]) {
        let part = json.get(from..end).unwrap_or_default();
        let found = trigger_places(part);
        let mut texts = found.texts;
        texts.extend(hiding(part, 0, extra, true));
        texts.sort_unstable();
        all.texts.extend(texts.into_iter().map(|at| at + from));
        all.names
            .extend(found.names.into_iter().map(|at| at + from));
        all.has_fields |= found.has_fields;
        from = next;
    }
    Some(all)
}

/// How many bytes of what is known are looked at beside it: a sequence that begins or ends with a bracket.
const BEYOND: usize = 2;

/// Returns whether a text, or what it encodes, may contain a secret.
pub(crate) fn suspects(text: &[u8], depth: u8, extra: &OwnPatterns) -> bool {
    // Most of what looks like base64 is a name and decodes to noise.
    if depth > 0 && extra.is_empty() && !is_legible(text) {
        return false;
    }
    suspects_as_is(text)
        || extra.iter().any(|(_, pattern)| pattern.is_match(text))
        || depth < DEPTH_MOST && hiding(text, depth, extra, false).next().is_some()
}

/// Returns whether enough printable characters are consecutive for the shortest secret of a known
/// form with its announcement: `://a:b@`.
fn is_legible(text: &[u8]) -> bool {
    let mut run = 0;
    text.iter().any(|byte| {
        let is_print = matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        run = if is_print { run + 1 } else { 0 };
        run >= LEGIBLE_LEAST
    })
}

/// Decodes runs of base64 and returns where those begin that may contain a secret; in JSON, names
/// of fields are skipped.
fn hiding(
    text: &[u8],
    depth: u8,
    extra: &OwnPatterns,
    is_json: bool,
) -> impl Iterator<Item = usize> {
    let hides = move |run: &base64::Base64Run| {
        let is_field = is_json && text.get(run.range.end..run.range.end + 2) == Some(b"\":");
        let digits = text.get(run.range.clone()).unwrap_or_default();
        let before = run.range.start.checked_sub(1).and_then(|at| text.get(at));
        // The first digit may be the letter of an escape.
        let behind_letter = match digits {
            [b'n' | b't' | b'r' | b'b' | b'f', rest @ ..] if before == Some(&b'\\') => rest,
            _ => &[],
        };
        !is_field
            && (run.goes_on
                || is_suspect_run(digits, depth, extra)
                || !behind_letter.is_empty() && is_suspect_run(behind_letter, depth, extra))
    };
    base64::runs(text)
        .filter(move |run| hides(run))
        .map(|run| run.range.start)
}

/// Returns whether a run of base64 may contain a secret, at any alignment.
fn is_suspect_run(digits: &[u8], depth: u8, extra: &OwnPatterns) -> bool {
    let is_suspect = || {
        (0..4).any(|skip| {
            let decoded = digits.get(skip..).and_then(base64::decode);
            decoded.is_some_and(|inner| {
                suspects(&inner, depth + 1, extra)
                    || binary::secret(&inner, |text| suspects(text, depth + 1, extra)).is_some()
            })
        })
    };
    // Most runs are names of types and fields that occur in every object of their kind.
    if depth == 0 && extra.is_empty() {
        RUNS.with(|runs| runs.get(digits, is_suspect))
    } else {
        is_suspect()
    }
}

thread_local! {
    static RUNS: Memo<bool> = Memo::of_names();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_objects_are_passed() {
        for text in [
            r#"{"kind":"Pod","metadata":{"name":"etcd-0","uid":"0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11","annotations":{"a":"25%"}},"spec":{"containers":[{"image":"quay.io/a/b@sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6","terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],"volumes":[{"secret":{"secretName":"x"}}],"tolerations":[{"key":"node.kubernetes.io/not-ready"}]}}"#,
            r#"{"message":"Get \"https://10.0.0.1:6443/api\": dial tcp 10.0.0.1:6443: connect: connection refused","note":"a \u003c b"}"#,
            r#"{"message":"secret \"pull-secret\" not found; basic access is off"}"#,
        ] {
            let places = places(text.as_bytes(), &[], &[]).expect("no rules");
            assert!(places.texts.is_empty(), "{text}: {places:?}");
        }
    }

    #[test]
    fn what_servers_escape_is_suspected() {
        for text in [
            r#"{"message":"\u003cpassword\u003ehunter2x\u003c/password\u003e"}"#,
            r#"{"message":"\u003ca:password b\u003ehunter2x"}"#,
            r#"{"message":"x\u0026password=hunter2x"}"#,
            r#"{"message":"\nenvH4sIAAAAAAAAA0tMSgYAAAAA"}"#,
        ] {
            let places = places(text.as_bytes(), &[], &[]).expect("no rules");
            assert!(!places.texts.is_empty(), "{text}");
        }
    }
}
