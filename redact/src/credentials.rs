//! The values of the credentials that this process has read: tokens, passwords, private keys.
//!
//! The policy redacts what looks like a secret, or is at the place of one. A credential of the
//! process itself is known by its value: it is found whatever it looks like and wherever an error
//! message quotes it, also in part. [`crate::Redactor::text`] and [`crate::Redactor::words`] search
//! for both; every text that leaves the process passes one of them.
//!
//! Invariants:
//!
//! * A run of [`WINDOW`] bytes that is part of a remembered value is found, so no part of that
//!   length remains of a value that a message cut or joined with other text.
//! * A value of [`SHORT_LEAST`] to [`WINDOW`] − 1 bytes is found where it is a whole word. Below
//!   that length ordinary words would be replaced.
//! * The memory is bounded. The oldest values are dropped first: those are expired tokens. Guesses
//!   from a file that cannot be parsed never displace values of a file that can.

use crate::base64;
use crate::decoded::{self, DecodedText};
use crate::text::patterns::constant_regex;
use regex::bytes::Regex;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

/// The length in bytes from which a part of a credential is found.
pub const WINDOW: usize = 12;

/// The length in bytes from which a whole credential is found.
pub const SHORT_LEAST: usize = 6;

/// The longest remembered value, in bytes. A PEM of an RSA key of 16,384 bits has 13 kB.
const VALUE_BYTES: usize = 32 * 1024;

/// The bytes of all remembered values, in every spelling. Each uses about 24 bytes of memory.
const READ_BYTES: usize = 128 * 1024;

/// The bytes that are remembered of files that cannot be parsed.
const GUESSED_BYTES: usize = 32 * 1024;

/// The length from which letters of both cases alone are a guess.
const MIXED_LEAST: usize = 16;

/// Remembers credentials, and finds them in a text.
#[derive(Debug, Default)]
pub struct KnownCredentials {
    is_used: AtomicBool,
    known: RwLock<CredentialStore>,
}

static OF_PROCESS: LazyLock<KnownCredentials> = LazyLock::new(KnownCredentials::default);

#[derive(Debug)]
struct CredentialStore {
    read: CredentialValues,
    guessed: CredentialValues,
}

impl Default for CredentialStore {
    fn default() -> Self {
        Self {
            read: CredentialValues::new(READ_BYTES),
            guessed: CredentialValues::new(GUESSED_BYTES),
        }
    }
}

impl KnownCredentials {
    /// Returns the credentials of this process.
    pub fn of_process() -> &'static Self {
        &OF_PROCESS
    }

    /// Remembers a credential, also percent-decoded, JSON-escaped, and, if it is base64 of a text
    /// (`client-key-data`), that text.
    pub fn remember(&self, value: &[u8]) {
        let value = value.trim_ascii();
        if value.len() >= SHORT_LEAST {
            self.add(&spellings(value), |known| &mut known.read);
        }
    }

    /// Remembers a password, and the `Basic` header of it and its user.
    pub fn remember_login(&self, user: &[u8], password: &[u8]) {
        self.remember(password);
        if !password.is_empty() {
            let login = [user, b":", password].concat();
            let encoded = base64::encode(&login).into_bytes();
            self.add(&[login, encoded], |known| &mut known.read);
        }
    }

    /// Remembers user and password of a URL, or of a text that is not a valid URL.
    pub fn remember_url(&self, url: &str) {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let Some((login, _)) = rest.rsplit_once('@') else {
            return;
        };
        let decoded =
            DecodedText::from_percent(login.as_bytes()).map(|decoded| decoded.text().to_vec());
        for login in [Some(login.as_bytes().to_vec()), decoded]
            .into_iter()
            .flatten()
        {
            let colon = login.iter().position(|byte| *byte == b':');
            let (user, password) = login.split_at(colon.unwrap_or(0));
            let password = password.strip_prefix(b":").unwrap_or(password);
            self.remember_login(user, password);
        }
    }

    /// Remembers probable credentials in a file that cannot be parsed: values behind names that
    /// announce one, and runs of letters of both cases and digits. Names, paths and hosts, which
    /// are in lower case, stay readable.
    pub fn remember_unparsable(&self, file: &[u8]) {
        for line in file.split(|byte| matches!(byte, b'\n' | b'\r')) {
            for found in GUESS_PATTERNS.announced.captures_iter(line) {
                // A path names a file; a run of base64 that begins with a slash is found below.
                let value = found.iter().skip(1).flatten().next();
                if let Some(value) = value.filter(|value| !value.as_bytes().starts_with(b"/")) {
                    self.guess(value.as_bytes());
                }
            }
            for found in GUESS_PATTERNS.login.captures_iter(line) {
                if let (Some(user), Some(password)) = (found.get(1), found.get(2)) {
                    let login = [user.as_bytes(), b":", password.as_bytes()].concat();
                    self.guess(password.as_bytes());
                    self.guess(base64::encode(&login).as_bytes());
                }
            }
            for found in GUESS_PATTERNS.run.find_iter(line) {
                if is_mixed(found.as_bytes()) {
                    self.guess(found.as_bytes());
                }
            }
        }
    }

    /// Returns the places of credentials in a text, in order.
    pub fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        if text.len() < SHORT_LEAST || !self.is_used.load(Ordering::Acquire) {
            return Vec::new();
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, window) in text.windows(WINDOW).enumerate() {
            if known.read.has(window) || known.guessed.has(window) {
                match found.last_mut() {
                    Some(last) if at <= last.end => last.end = at + WINDOW,
                    _ => found.push(at..at + WINDOW),
                }
            }
        }
        for value in known.read.short().chain(known.guessed.short()) {
            found.extend(whole_words(text, value));
        }
        drop(known);
        found.sort_by_key(|place| (place.start, place.end));
        found.dedup_by(|next, last| {
            let is_one = next.start < last.end;
            last.end = if is_one {
                last.end.max(next.end)
            } else {
                last.end
            };
            is_one
        });
        found
    }

    fn guess(&self, value: &[u8]) {
        if value.len() >= SHORT_LEAST {
            self.add(&spellings(value), |known| &mut known.guessed);
        }
    }

    fn add(&self, values: &[Vec<u8>], into: fn(&mut CredentialStore) -> &mut CredentialValues) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for value in values {
            into(&mut known).add(value.get(..VALUE_BYTES).unwrap_or(value));
        }
        drop(known);
        self.is_used.store(true, Ordering::Release);
    }
}

/// Values, oldest first, and every part of them that is searched for.
#[derive(Debug)]
struct CredentialValues {
    most: usize,
    bytes: usize,
    queue: VecDeque<Vec<u8>>,
    /// The number of values with this part.
    windows: HashMap<[u8; WINDOW], u32>,
}

impl CredentialValues {
    fn new(most: usize) -> Self {
        Self {
            most,
            bytes: 0,
            queue: VecDeque::new(),
            windows: HashMap::new(),
        }
    }

    fn has(&self, window: &[u8]) -> bool {
        let window: Result<[u8; WINDOW], _> = window.try_into();
        window.is_ok_and(|window| self.windows.contains_key(&window))
    }

    /// Returns the values that are too short to be searched for in part.
    fn short(&self) -> impl Iterator<Item = &[u8]> {
        let values = self.queue.iter().map(Vec::as_slice);
        values.filter(|value| value.len() < WINDOW)
    }

    fn is_covered(&self, value: &[u8]) -> bool {
        if value.len() < WINDOW {
            return self.queue.iter().any(|known| known == value);
        }
        value.windows(WINDOW).all(|window| self.has(window))
    }

    fn add(&mut self, value: &[u8]) {
        if value.len() < SHORT_LEAST || self.is_covered(value) {
            return;
        }
        self.bytes += value.len();
        for window in windows(value) {
            *self.windows.entry(window).or_default() += 1;
        }
        self.queue.push_back(value.to_vec());
        while self.bytes > self.most {
            let Some(oldest) = self.queue.pop_front() else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(oldest.len());
            for window in windows(&oldest) {
                if let Some(count) = self.windows.get_mut(&window) {
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        self.windows.remove(&window);
                    }
                }
            }
        }
    }
}

fn windows(value: &[u8]) -> impl Iterator<Item = [u8; WINDOW]> {
    let windows = value.windows(WINDOW);
    windows.filter_map(|window| window.try_into().ok())
}

/// Returns the spellings of a value in messages.
fn spellings(value: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut spell = |value: &[u8]| {
        all.push(value.to_vec());
        if let Some(decoded) = DecodedText::from_percent(value) {
            all.push(decoded.text().to_vec());
        }
        let encoded = decoded::to_percent(value);
        if encoded != value && value.len() < VALUE_BYTES / 3 {
            all.push(encoded);
        }
        let quoted: Vec<u8> = value.escape_ascii().collect();
        if quoted != value {
            all.push(quoted);
        }
    };
    if is_pem(value) {
        for body in pem_bodies(value) {
            spell(&body);
        }
        return all;
    }
    spell(value);
    let digits: Vec<u8> = value
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let decoded = base64::decode(&digits).filter(|text| std::str::from_utf8(text).is_ok());
    match decoded {
        Some(text) if is_pem(&text) => {
            for body in pem_bodies(&text) {
                spell(&body);
            }
        }
        Some(text) if text.len() >= WINDOW => spell(&text),
        _ => {}
    }
    all
}

fn is_pem(value: &[u8]) -> bool {
    memchr::memmem::find(value, b"-----BEGIN ").is_some()
}

/// Returns the content between the begin and end lines of a PEM, which are the same in many files:
/// as lines, and as one line.
fn pem_bodies(pem: &[u8]) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let mut body: Vec<&[u8]> = Vec::new();
    let mut close = |body: &mut Vec<&[u8]>| {
        if !body.is_empty() {
            bodies.extend([body.join(&b'\n'), body.concat()]);
            body.clear();
        }
    };
    for line in pem.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.starts_with(b"-----") {
            close(&mut body);
        } else if !line.is_empty() {
            body.push(line);
        }
    }
    close(&mut body);
    bodies
}

fn whole_words<'a>(text: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_inside = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    memchr::memmem::find_iter(text, word)
        .map(|at| at..at + word.len())
        .filter(move |place| {
            let before = place.start.checked_sub(1).and_then(|at| text.get(at));
            !is_inside(before) && !is_inside(text.get(place.end))
        })
}

/// The forms of credentials in a text that cannot be parsed.
struct GuessPatterns {
    announced: Regex,
    login: Regex,
    run: Regex,
}

static GUESS_PATTERNS: LazyLock<GuessPatterns> = LazyLock::new(|| GuessPatterns {
    announced: constant_regex(
        r#"(?i-u)(?:token|pass|passwd|password|secret|key|data|value|credentials?|auth)["']?[ \t]*[:=][ \t]*(?:"([^"]*)|'([^']*)|([^\s"',}\]][^\s,}\]]*))"#,
    ),
    login: constant_regex(r#"(?-u)://([^\s/:@"']*):([^\s/"']+)@"#),
    run: constant_regex(r"(?-u)[A-Za-z0-9+/=_.~-]+"),
});

/// Returns whether a run of letters and digits looks random: hosts, paths and names are in lower
/// case.
fn is_mixed(run: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    let is_both = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    is_both && (run.len() >= MIXED_LEAST || run.len() >= WINDOW && has(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(known: &KnownCredentials, text: &str) -> Vec<String> {
        let places = known.find(text.as_bytes());
        let parts = places.into_iter().filter_map(|place| text.get(place));
        parts.map(str::to_owned).collect()
    }

    #[test]
    fn every_part_of_a_credential_is_found_from_the_window_on() {
        let known = KnownCredentials::default();
        let token = "q7Wb2kTz9XcVn4Rm8LpYs6Jd";
        assert!(found(&known, token).is_empty());
        known.remember(format!("{token}\n").as_bytes());
        for from in 0..=token.len() - WINDOW {
            for to in from + WINDOW..=token.len() {
                let part = &token[from..to];
                assert_eq!(found(&known, &format!("a {part} b")), [part]);
            }
        }
        let short = &token[..WINDOW - 1];
        assert!(found(&known, short).is_empty());
        let twice = format!("{}-{}", &token[..14], &token[3..17]);
        assert_eq!(found(&known, &twice), [&token[..14], &token[3..17]]);
    }

    #[test]
    fn short_credentials_are_found_as_whole_words() {
        let known = KnownCredentials::default();
        known.remember(b"hunter2");
        known.remember(b"short");
        assert_eq!(found(&known, "is 'hunter2' right?"), ["hunter2"]);
        assert!(found(&known, "hunter21 xhunter2 short").is_empty());
    }

    #[test]
    fn a_credential_is_found_as_messages_spell_it() {
        let known = KnownCredentials::default();
        known.remember_url("http://ci%2Duser:p%40ss%2Fw\"rd+long@proxy:3128");
        for spelling in [
            "p%40ss%2Fw\"rd+long",
            "p@ss/w\"rd+long",
            "p@ss/w\\\"rd+long",
            &base64::encode(b"ci-user:p@ss/w\"rd+long"),
        ] {
            assert_eq!(found(&known, spelling), [spelling]);
        }
        assert!(found(&known, "http://proxy:3128").is_empty());
    }

    #[test]
    fn a_key_is_found_by_each_of_its_lines_and_not_by_its_frame() {
        let known = KnownCredentials::default();
        let lines = ["Zm9vYmFyYmF6cXV4Y29y", "Z2VncmF1bHRnYXJwbHl3"];
        let kind = "RSA PRIVATE KEY";
        let pem = format!(
            "-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n",
            lines.join("\n")
        );
        let encoded = base64::encode(pem.as_bytes());
        known.remember(encoded.as_bytes());
        for line in lines {
            assert_eq!(found(&known, &format!("{line}, and")), [line]);
        }
        assert_eq!(found(&known, &encoded[30..60]), [&encoded[30..60]]);
        assert_eq!(found(&known, &lines.concat()), [lines.concat()]);
        assert!(found(&known, &format!("-----BEGIN {kind}-----")).is_empty());
    }

    #[test]
    fn what_cannot_be_parsed_is_guessed() {
        let known = KnownCredentials::default();
        known.remember_unparsable(
            b"users: [\n  token: lower-case-secret\n  client-key-data: LS0tLS1CRUdJTiBS\n  x: aB3aB3aB3aB3\n  proxy-url: http://u:proxy-word@p\n- server: https://api.example.com:6443\n  client-key: /tmp/key-of-client.pem\n  {\"password\":\"in quotes, long\"}",
        );
        for secret in [
            "lower-case-secret",
            "LS0tLS1CRUdJTiBS",
            "aB3aB3aB3aB3",
            "proxy-word",
            "in quotes, long",
        ] {
            assert_eq!(found(&known, secret), [secret]);
        }
        let public = "https://api.example.com:6443 /tmp/key-of-client.pem";
        assert!(found(&known, public).is_empty());
    }

    #[test]
    fn the_oldest_go_first_and_guesses_never_displace_what_was_read() {
        let known = KnownCredentials::default();
        let value = |number: u32| format!("{number:08}-aBcDeFgHiJkLmNoPqRsTuVwXyZ-{number:08}");
        known.remember(value(0).as_bytes());
        for number in 1..2_000 {
            known.remember_unparsable(value(number).as_bytes());
        }
        assert_eq!(found(&known, &value(0)), [value(0)]);
        for number in 1..10_000 {
            known.remember(value(number).as_bytes());
        }
        assert!(found(&known, "00000000-aBc").is_empty());
        let last = value(9_999);
        assert_eq!(found(&known, &last), [last.as_str()]);
        let inner = known.known.read().expect("nobody panicked");
        assert!(inner.read.bytes <= READ_BYTES && inner.guessed.bytes <= GUESSED_BYTES);
        assert!(inner.read.windows.len() <= READ_BYTES);
    }
}
