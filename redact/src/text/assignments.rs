//! Finds values that a text assigns to a name that announces a secret.
//!
//! These are `name: value` and `name=value` of YAML, JSON, properties, INI, queries and shells,
//! blocks and lists of YAML, neighbours such as `name: X` and `value: Y`, elements and attributes
//! of XML, flags, `.netrc`, and the values of a Secret in YAML. Prose about secrets is kept, as far
//! as it can be recognized.

use super::announced_names::{
    TextName, begins_line, count, count_back, is_blank, is_name_byte, is_neighbour, is_netrc,
    is_signature, names_in,
};
use super::flow_maps::FlowMapsText;
use super::name_surroundings::{NamePosition, NameSurroundings};
use super::neighbours::ValueBeside;
use super::prose::{is_message, is_phrase, is_prose_word, is_reference, unescaped};
use super::shell_words::{ShellWord, backquoted, is_open, word_len};
use super::xml::{XmlElement, XmlText};
use super::yaml_lines::{
    IndentedLine, YamlLinesText, YamlSecretValue, closing, is_block_header, is_end_of_line,
    written_secret_values,
};
use crate::forms;
use crate::mark::{is_encoded_mark, is_mark};
use crate::names::{self, NameClass};
use std::ops::Range;

/// The shortest value after a colon that may be a secret.
const VALUE_LEAST: usize = 4;

/// The same after `=`, where prose is rarer.
const ASSIGNED_LEAST: usize = 3;

/// Finds the values. In a command every word behind a flag is its value; in other texts it may be the next word of a
/// sentence about the flag.
pub(crate) fn values(text: &[u8], is_command: bool) -> Vec<Range<usize>> {
    let mut search = AssignmentSearch {
        text,
        has_lines: memchr::memchr(b'\n', text).is_some(),
        is_command,
        of: None,
        found: Vec::new(),
    };
    let mut from = 0;
    for name in names_in(text) {
        // A finding is replaced whole: names in it do not count.
        if name.place.start >= from {
            let known = search.found.len();
            let of = text.get(name.place.clone());
            search.of = of.and_then(|of| std::str::from_utf8(of).ok());
            search.name(&name);
            let found = search.found.get(known..).unwrap_or_default();
            from = found
                .iter()
                .map(|place| place.end)
                .max()
                .unwrap_or(from)
                .max(from);
        }
    }
    search.of = None;
    search.secrets();
    search.found
}

/// How a value is assigned to its name.
#[derive(Clone, Copy, Debug)]
struct AssignmentSign {
    is_colon: bool,
    position: NamePosition,
    /// Whether prose has such a name and a colon, too.
    is_doubtful: bool,
}

struct AssignmentSearch<'t> {
    text: &'t [u8],
    has_lines: bool,
    is_command: bool,
    /// The current name.
    of: Option<&'t str>,
    found: Vec<Range<usize>>,
}

impl<'t> AssignmentSearch<'t> {
    fn get(&self, place: Range<usize>) -> &'t [u8] {
        self.text.get(place).unwrap_or_default()
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// Takes a value, unless it may be kept under a name of the class.
    fn take(&mut self, place: Range<usize>, class: NameClass) {
        if self.is_secret(self.get(place.clone()), class) {
            self.found.push(place);
        }
    }

    /// Returns whether a value is one that is not kept under a name of the class.
    fn is_secret(&self, value: &[u8], class: NameClass) -> bool {
        let is_kept = std::str::from_utf8(unescaped(value)).is_ok_and(|value| {
            forms::is_kept(class, value) || self.of.is_some_and(|name| forms::is_count(name, value))
        });
        !value.is_empty() && !is_mark(value) && !is_encoded_mark(value) && !is_kept
    }

    fn name(&mut self, name: &TextName) {
        let around = NameSurroundings::new(self.text, name);
        let is_header = around.is_header();
        if !is_header && is_neighbour(self.text, name) {
            self.neighbour(name);
            return;
        }
        match XmlText(self.text).element(name) {
            XmlElement::Content(place) => return self.take(place, name.class),
            XmlElement::Closed => return,
            XmlElement::None => {}
        }
        let rest = self.rest(name.place.end);
        let slashes = count(rest, |byte| byte == b'\\');
        let is_quoted = matches!(rest.get(slashes), Some(b'"' | b'\''));
        let mut at = name.place.end + if is_quoted { slashes + 1 } else { 0 };
        let blanks = count(self.rest(at), is_blank);
        at += blanks;
        let (len, is_colon) = match self.rest(at) {
            [b':', b'/', b'/', ..] | [b'=', b'=', ..] => return,
            [b':', b'=', ..] | [b'=', b'>', ..] => (2, false),
            [b'=', ..] => (1, false),
            [b':', ..] => (1, true),
            _ => {
                if !self.is_argument(name, at) {
                    self.without_sign(name, at, blanks);
                }
                return;
            }
        };
        at += len;
        let position = around.position();
        let next = self.rest(at).first().copied();
        let is_word = self.is_weak(name);
        // In prose a colon follows such a word, too: `invalid token: expired`. A name that only
        // mentions a secret begins many sentences: `OAuthServerAvailable: no pods`.
        let is_mention = name.class == NameClass::Mentions;
        let value = self.rest(at + count(self.rest(at), is_blank));
        let is_text = is_quoted
            && matches!(
                value.iter().find(|byte| **byte != b'\\'),
                Some(b'"' | b'\'')
            );
        if is_mention && is_colon && (!is_text || is_signature(self.get(name.place.clone()))) {
            return;
        }
        let is_inside = position == NamePosition::Inside;
        if is_colon && is_quoted && is_inside && is_phrase(self.rest(at)) {
            return;
        }
        let is_doubtful = is_colon && !is_quoted && is_word && !is_header;
        if is_doubtful
            && (is_inside
                || next.is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'')
                }))
        {
            return;
        }
        let is_line = self.has_lines || position == NamePosition::FirstEscaped;
        let sign = AssignmentSign {
            is_colon,
            position,
            is_doubtful: is_doubtful && !is_line,
        };
        self.assigned(at, name, sign);
    }

    /// Takes the value that is assigned at a place.
    fn assigned(&mut self, at: usize, name: &TextName, sign: AssignmentSign) {
        let around = NameSurroundings::new(self.text, name);
        let is_colon = sign.is_colon;
        let is_spaced = self.rest(at).first().is_some_and(|byte| is_blank(*byte));
        // `NAME=value`, as shells have it.
        let is_joined = !is_colon && !is_spaced;
        let mut at = at + count(self.rest(at), is_blank);
        // A tag or an anchor of YAML.
        while is_colon && matches!(self.rest(at), [b'!' | b'&', ..]) {
            at += count(self.rest(at), |byte| !byte.is_ascii_whitespace());
            at += count(self.rest(at), is_blank);
        }
        let rest = self.rest(at);
        if is_colon && (is_end_of_line(rest) || is_block_header(rest)) {
            self.block(at, name, is_block_header(rest));
            return;
        }
        if rest.first() == Some(&b'[') {
            self.list(at + 1, name.class);
            return;
        }
        if is_colon && rest.first() == Some(&b'{') && self.map(at, name) {
            return;
        }
        let rest = self.rest(at);
        let slashes = count(rest, |byte| byte == b'\\');
        if let Some(quote @ (b'"' | b'\'')) = rest.get(slashes).copied() {
            if !(is_joined && slashes == 0 && self.shell_word(at, name)) {
                self.quoted(at, slashes, quote, name.class);
            }
            return;
        }
        if is_joined && let Some(place) = around.phrase_in_quotes(at) {
            self.take(place, name.class);
            return;
        }
        let is_line = self.has_lines
            && sign.position == NamePosition::First
            && !around.is_in_flow()
            && !name.is_flag;
        if !is_line && !sign.is_doubtful && self.backquoted(at, name) {
            return;
        }
        if !is_line && is_joined && self.shell_word(at, name) {
            return;
        }
        if is_line {
            self.line(at, name, sign);
        } else {
            self.bare(at, name, sign, is_spaced);
        }
    }

    /// Takes the value in quotes at a place.
    fn quoted(&mut self, at: usize, slashes: usize, quote: u8, class: NameClass) {
        let start = at + slashes + 1;
        let mut place = start..closing(self.text, start, quote, slashes);
        let tripled = [quote; 3];
        if let Some(rest) = self.rest(at).strip_prefix(&tripled)
            && let Some(len) = memchr::memmem::find(rest, &tripled)
        {
            place = at + 3..at + 3 + len;
        } else if quote == b'\'' && slashes == 0 {
            // YAML writes a quote in single quotes as two.
            while self.rest(place.end).starts_with(b"''") {
                let end = closing(self.text, place.end + 2, quote, 0);
                if end == self.text.len() {
                    break;
                }
                place.end = end;
            }
        }
        if !is_reference(self.get(place.clone())) {
            self.take(place, class);
        }
    }

    /// Takes a word of a shell that has several parts; returns whether it is one.
    fn shell_word(&mut self, at: usize, name: &TextName) -> bool {
        let word = ShellWord::read(self.text, at, name.place.start);
        if !word.is_joined() {
            return false;
        }
        let is_part = |part: &Range<usize>| {
            let value = self.get(part.clone());
            !is_reference(value) && self.is_secret(value, name.class)
        };
        if word.parts.iter().any(is_part) {
            self.found.push(word.place);
        }
        true
    }

    /// Takes a word in backquotes; returns whether there is one.
    fn backquoted(&mut self, at: usize, name: &TextName) -> bool {
        let Some(inner) = backquoted(self.rest(at)) else {
            return false;
        };
        if is_open(self.text, name.place.start, b'`') {
            return false;
        }
        let place = at + inner.start..at + inner.end;
        let value = self.get(place.clone());
        if value.len() >= ASSIGNED_LEAST && !is_prose_word(value) && !is_reference(value) {
            self.take(place, name.class);
        }
        true
    }

    /// Returns whether a name is a word that prose uses, too: `token`, `secret`, `auth`.
    fn is_weak(&self, name: &TextName) -> bool {
        let text = self.get(name.place.clone());
        name.class < NameClass::Secret || text.len() <= 6 || text.eq_ignore_ascii_case(b"cookies")
    }

    /// Takes the value without quotes that is the rest of its line.
    fn line(&mut self, at: usize, name: &TextName, sign: AssignmentSign) {
        let rest = self.rest(at);
        let line = count(rest, |byte| byte != b'\n' && byte != b'\r');
        let line = rest.get(..line).unwrap_or_default();
        let comment = memchr::memmem::find(line, b" #");
        let value = line.get(..comment.unwrap_or(line.len()));
        let value = value.unwrap_or_default().trim_ascii_end();
        let least = least(sign);
        let is_short = sign.is_doubtful && value.len() < least;
        if is_short || is_prose_word(value) || is_reference(value) {
            return;
        }
        if sign.is_colon && self.is_weak(name) && is_message(value) {
            return;
        }
        let place = at..at + value.len();
        if comment.is_none() && is_cut(value) {
            self.properties(place, name.class);
            return;
        }
        if !self.is_secret(value, name.class) {
            return;
        }
        let yaml = YamlLinesText(self.text);
        let end = (sign.is_colon && comment.is_none())
            .then(|| yaml.continued(at, name.place.start))
            .flatten();
        self.found.push(at..end.unwrap_or(place.end));
    }

    /// Takes the value without quotes at a place: a word, or behind a blank several.
    fn bare(&mut self, at: usize, name: &TextName, sign: AssignmentSign, is_spaced: bool) {
        let rest = self.rest(at);
        let is_flow = NameSurroundings::new(self.text, name).is_in_flow();
        let ends = |byte: u8| ends(byte) || is_flow && matches!(byte, b',' | b'}' | b']');
        let trimmed = |len: usize| {
            let value = rest.get(..len).unwrap_or_default();
            let is_tail = |byte| matches!(byte, b',' | b'.' | b')' | b']' | b'}');
            value
                .get(..len - count_back(value, is_tail))
                .unwrap_or_default()
        };
        // A password may begin with this sign, too; behind a blank it begins a placeholder or a redirection.
        let is_angle =
            !is_spaced && matches!(rest, [b'<', byte, ..] if byte.is_ascii_alphanumeric());
        let angle = usize::from(is_angle);
        let len = match braced_len(rest) {
            Some(len) if !is_spaced => len,
            _ => angle + word_len(self.text, at + angle, ends),
        };
        let word = trimmed(len);
        let value = if is_spaced && !name.is_flag && !sign.is_doubtful {
            trimmed(phrase_len(rest, len, ends, sign.position))
        } else {
            word
        };
        // A line of a message whose line breaks are written.
        let line = count(rest, |byte| !matches!(byte, b'\n' | b'\\' | b'"' | b'\''));
        let is_line = sign.position == NamePosition::FirstEscaped && sign.is_colon && !is_flow;
        if is_line && self.is_weak(name) && is_message(rest.get(..line).unwrap_or_default()) {
            return;
        }
        // A single line in prose: only a value that looks like a credential.
        let is_prose = sign.is_doubtful
            && !(value.len() >= 16 || value.iter().any(u8::is_ascii_digit))
            || sign.is_doubtful && value.len() + at < self.text.len();
        if value.len() < least(sign) || is_prose || is_reference(value) {
            return;
        }
        // A sentence that begins with such a word is not a value.
        let is_sentence = sign.position != NamePosition::FirstEscaped
            && (is_prose_word(word)
                || value.len() > word.len() && !self.is_secret(word, name.class));
        if is_sentence || is_prose_word(value) {
            return;
        }
        self.take(at..at + value.len(), name.class);
    }

    /// Takes a value of properties that a backslash continues on the next lines.
    fn properties(&mut self, first: Range<usize>, class: NameClass) {
        let mut end = first.end;
        let mut value = Vec::new();
        let mut line = self.get(first.clone());
        while is_cut(line) {
            value.extend_from_slice(line.strip_suffix(b"\\").unwrap_or(line));
            let rest = self.rest(end);
            let Some(start) = memchr::memchr(b'\n', rest).map(|at| end + at + 1) else {
                break;
            };
            let start = start + count(self.rest(start), is_blank);
            let len = count(self.rest(start), |byte| byte != b'\n' && byte != b'\r');
            line = self.get(start..start + len).trim_ascii_end();
            end = start + line.len();
        }
        value.extend_from_slice(line.strip_suffix(b"\\").unwrap_or(line));
        if !is_reference(&value) && self.is_secret(&value, class) {
            self.found.push(first.start..end);
        }
    }

    /// Takes the item of a list behind a flag that is an item; returns whether it is one.
    fn is_argument(&mut self, name: &TextName, at: usize) -> bool {
        if !name.is_flag || name.class < NameClass::Possible {
            return false;
        }
        let rest = self.rest(at);
        let place = if rest.first() == Some(&b',') {
            let at = at
                + 1
                + count(rest.get(1..).unwrap_or_default(), |byte| {
                    byte.is_ascii_whitespace()
                });
            let rest = self.rest(at);
            let slashes = count(rest, |byte| byte == b'\\');
            let around = NameSurroundings::new(self.text, name);
            let is_list = around.is_in_brackets();
            match rest.get(slashes).copied() {
                Some(quote @ (b'"' | b'\'')) if is_list || around.is_quoted() => {
                    let start = at + slashes + 1;
                    start..closing(self.text, start, quote, slashes)
                }
                Some(_) if is_list => {
                    at..at
                        + count(rest, |byte| {
                            !ends(byte) && !matches!(byte, b',' | b']' | b'}')
                        })
                }
                _ => return true,
            }
        } else if is_end_of_line(rest) {
            match YamlLinesText(self.text).item_behind(name.place.start) {
                Some(place) => place,
                None => return false,
            }
        } else {
            return false;
        };
        let value = self.get(place.clone());
        if !value.starts_with(b"-") && !is_reference(value) {
            self.take(place, name.class);
        }
        true
    }

    /// Judges a name without a sign of assignment behind it.
    fn without_sign(&mut self, name: &TextName, at: usize, blanks: usize) {
        let is_netrc = is_netrc(self.text, name);
        let at = if is_netrc {
            at + count(self.rest(at), |byte| byte.is_ascii_whitespace())
        } else {
            at
        };
        let rest = self.rest(at);
        if at == name.place.end || !(blanks > 0 || is_netrc) {
            return;
        }
        if name.is_flag && name.class >= NameClass::Possible || is_netrc {
            if !is_netrc && self.shell_word(at, name) {
                return;
            }
            let rest = self.rest(at);
            if let Some(quote @ (b'"' | b'\'')) = rest.first().copied() {
                self.quoted(at, 0, quote, name.class);
                return;
            }
            let len = word_len(self.text, at, ends);
            let value = rest.get(..len).unwrap_or_default();
            let is_plain = value.starts_with(b"-") || is_prose_word(value) || is_reference(value);
            // In a sentence, words follow a flag.
            let is_worth = if self.is_command && !is_netrc {
                self.is_argument_of(name, at, value)
            } else {
                value.len() >= VALUE_LEAST
                    && (is_netrc
                        || value.len() >= 16
                        || value.iter().any(|byte| !byte.is_ascii_lowercase()))
            };
            if !is_plain && is_worth {
                self.take(at..at + len, name.class);
            }
            return;
        }
        // `requirepass VALUE` as a line of a file.
        if self.has_lines && name.class == NameClass::Secret && begins_line(self.text, name, false)
        {
            let len = count(rest, |byte| !byte.is_ascii_whitespace());
            let value = rest.get(..len).unwrap_or_default();
            let is_alone = is_end_of_line(rest.get(len..).unwrap_or_default());
            if is_alone
                && value.len() >= VALUE_LEAST
                && !is_prose_word(value)
                && !is_reference(value)
                && value.first().is_some_and(u8::is_ascii_alphanumeric)
            {
                self.take(at..at + len, name.class);
            }
        }
    }

    /// Returns whether the word behind a flag of a command is its value, not an operator of the shell. A flag such as
    /// `--no-password` has none.
    fn is_argument_of(&self, name: &TextName, at: usize, value: &[u8]) -> bool {
        let is_operator = value.first().is_none_or(|byte| b"|()#".contains(byte));
        let is_stream = value.iter().all(u8::is_ascii_digit)
            && matches!(self.rest(at + value.len()), [b'>' | b'<', ..]);
        !is_operator && !is_stream && !self.get(name.place.clone()).starts_with(b"no-")
    }

    /// Takes the value beside a name: `name: X, value: Y`, in either order, and in XML.
    fn neighbour(&mut self, name: &TextName) {
        match ValueBeside::of(self.text, name) {
            Some(ValueBeside::Content(at)) => {
                self.take(XmlText(self.text).content(at), name.class);
            }
            Some(ValueBeside::Assigned {
                at,
                field,
                is_colon,
            }) => {
                let field = TextName {
                    place: field,
                    ..name.clone()
                };
                let position = NameSurroundings::new(self.text, &field).position();
                self.assigned(at, &field, certain(is_colon, position));
            }
            None => {}
        }
    }

    /// Takes the items of a list in brackets.
    fn list(&mut self, at: usize, class: NameClass) {
        let mut at = at;
        loop {
            at += count(self.rest(at), |byte| {
                byte.is_ascii_whitespace() || byte == b','
            });
            let rest = self.rest(at);
            let slashes = count(rest, |byte| byte == b'\\');
            let place = match rest.get(slashes).copied() {
                Some(quote @ (b'"' | b'\'')) => {
                    let start = at + slashes + 1;
                    let end = closing(self.text, start, quote, slashes);
                    at = end + slashes + 1;
                    start..end
                }
                None | Some(b']' | b'{' | b'[') => return,
                Some(_) => {
                    let len = count(rest, |byte| {
                        !ends(byte) && !matches!(byte, b',' | b']' | b'}')
                    });
                    if len == 0 {
                        return;
                    }
                    at += len;
                    at - len..at
                }
            };
            if !is_reference(self.get(place.clone())) {
                self.take(place, class);
            }
        }
    }

    /// Takes the fields of a map in braces; returns whether there are any.
    fn map(&mut self, at: usize, name: &TextName) -> bool {
        let fields = FlowMapsText(self.text).fields(at);
        let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
        for (field, class) in fields.into_iter().zip(self.classes_below(name, &names)) {
            if !is_reference(self.get(field.value.clone())) {
                self.take(field.value, class);
            }
        }
        !names.is_empty()
    }

    /// Returns what the fields of a map announce that is below a name; nothing where the names in the map announce it.
    fn classes_below(&self, name: &TextName, fields: &[Range<usize>]) -> Vec<NameClass> {
        let text = |place: &Range<usize>| {
            let word = std::str::from_utf8(self.get(place.clone())).unwrap_or_default();
            word.trim_matches(['"', '\''])
        };
        let above = text(&name.place);
        // Schemas describe a field of this name.
        let is_schema = fields.iter().any(|field| text(field) == "type");
        let has_below = !is_schema && names::has_secrets_below(above, name.class);
        let class = |field| match text(field) {
            word if names::is_value_field(word) => name.class,
            word if has_below && names::class(word) == NameClass::Plain => {
                names::class_below(above, word)
            }
            _ => NameClass::Plain,
        };
        fields.iter().map(class).collect()
    }

    /// Takes what belongs to a field of YAML on the lines below it.
    fn block(&mut self, at: usize, name: &TextName, is_scalar: bool) {
        let yaml = YamlLinesText(self.text);
        let place = if is_scalar {
            yaml.block_scalar(at, name.place.start)
        } else {
            self.nested_fields(&yaml.below(at, name.place.start, false), name)
        };
        if let Some(place) = place
            && !is_reference(self.get(place.clone()))
        {
            self.take(place, name.class);
        }
    }

    /// Takes the items and the value fields of the lines below a field, and returns the place of a
    /// scalar there.
    fn nested_fields(&mut self, lines: &[IndentedLine], name: &TextName) -> Option<Range<usize>> {
        let yaml = YamlLinesText(self.text);
        let (first, column) = lines.first().map(|line| (line.indent(), line.column()))?;
        let field = |line: &IndentedLine| {
            let (len, sign) = yaml.field(line.scalar())?;
            let start = line.scalar().start;
            Some((start..start + len, sign))
        };
        let fields: Vec<_> = lines.iter().filter_map(field).map(|(at, _)| at).collect();
        let mut classes = self.classes_below(name, &fields).into_iter();
        let mut scalar: Option<Range<usize>> = None;
        for line in lines {
            let (content, item) = (line.content(), line.scalar());
            match field(line) {
                Some((place, sign)) => {
                    let class = classes.next().unwrap_or_default();
                    if line.column() == column && class != NameClass::Plain {
                        let field = TextName {
                            place,
                            class,
                            ..name.clone()
                        };
                        self.assigned(sign, &field, certain(true, NamePosition::First));
                    }
                }
                None if line.is_item() => {
                    let quoted = self.get(item.clone());
                    let is_quoted =
                        quoted.len() >= 2 && matches!(quoted.first(), Some(b'"' | b'\''));
                    let place = if is_quoted {
                        item.start + 1..item.end - 1
                    } else {
                        item
                    };
                    self.take(place, name.class);
                }
                None if line.indent() >= first => {
                    let from = scalar.map_or(content.start, |scalar| scalar.start);
                    scalar = Some(from..content.end);
                }
                None => {}
            }
        }
        scalar
    }

    /// Takes the values of each Secret in YAML.
    fn secrets(&mut self) {
        for place in FlowMapsText(self.text).secret_values() {
            self.take_all(place);
        }
        for value in written_secret_values(self.text) {
            self.secret_value(value);
        }
        if !self.has_lines {
            return;
        }
        for value in YamlLinesText(self.text).secret_values() {
            self.secret_value(value);
        }
    }

    /// Takes a value of a Secret in YAML.
    fn secret_value(&mut self, value: YamlSecretValue) {
        if !value.is_block {
            self.take_all(value.place);
        } else if !is_reference(self.get(value.place.clone())) {
            self.take(value.place, NameClass::Secret);
        }
    }

    /// Takes a place unconditionally.
    fn take_all(&mut self, place: Range<usize>) {
        let value = self.get(place.clone());
        if !value.is_empty() && !is_mark(value) && !is_encoded_mark(value) && !is_reference(value) {
            self.found.push(place);
        }
    }
}

const fn certain(is_colon: bool, position: NamePosition) -> AssignmentSign {
    AssignmentSign {
        is_colon,
        position,
        is_doubtful: false,
    }
}

const fn least(sign: AssignmentSign) -> usize {
    if sign.is_colon {
        VALUE_LEAST
    } else {
        ASSIGNED_LEAST
    }
}

/// Returns how long a value of several words is whose first word has a length: it goes on to the next field, and in a
/// sentence to a word or a sign that passwords rarely have.
fn phrase_len(
    rest: &[u8],
    word: usize,
    ends: impl Fn(u8) -> bool + Copy,
    position: NamePosition,
) -> usize {
    let is_sentence = position == NamePosition::Inside;
    let mut len = word;
    loop {
        let last = len.checked_sub(1).and_then(|at| rest.get(at));
        let is_over = last.is_none_or(|byte| is_sentence && b",;:.)]}".contains(byte));
        let rest = rest.get(len..).unwrap_or_default();
        let blanks = count(rest, is_blank);
        let next = rest.get(blanks..).unwrap_or_default();
        let word = next.get(..word_len(next, 0, ends)).unwrap_or_default();
        if is_over || blanks == 0 || word.is_empty() {
            return len;
        }
        let is_field = match word.get(count(word, is_name_byte)..) {
            Some([b'=', ..]) => position != NamePosition::FirstEscaped,
            Some(tail) => tail == b":",
            None => false,
        };
        let is_prose = is_prose_word(word) || word.starts_with(b"(") || word.starts_with(b"-");
        if is_field || is_sentence && is_prose {
            return len;
        }
        len += blanks + word.len();
    }
}

/// Returns the length of a value in braces, as ODBC and JDBC write one with a semicolon.
fn braced_len(rest: &[u8]) -> Option<usize> {
    let inner = rest.strip_prefix(b"{")?;
    let len = count(inner, |byte| !matches!(byte, b'}' | b'\n' | b'"' | b'\''));
    let value = inner.get(..len)?;
    let is_closed = inner.get(len) == Some(&b'}') && memchr::memchr(b';', value).is_some();
    (is_closed && matches!(inner.get(len + 1), None | Some(b';' | b'"' | b'\''))).then_some(len + 2)
}

/// Returns whether a line of properties goes on in the next one. A backslash behind a blank
/// continues a command instead.
fn is_cut(line: &[u8]) -> bool {
    let slashes = count_back(line, |byte| byte == b'\\');
    let before = line.get(..line.len() - slashes).unwrap_or_default();
    slashes % 2 == 1 && !before.last().is_some_and(|byte| is_blank(*byte))
}

pub(super) fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'\\' | b'&' | b';' | b'<' | b'>'
        )
}

#[cfg(test)]
#[path = "assignments_tests.rs"]
mod tests;
