//! Searches bytes for secrets: as they are, and as far as they can be decoded and inflated.

use std::collections::{BTreeSet, HashMap};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// As little of a secret as this is a leak.
const WINDOW: usize = 12;

/// How deep encodings are undone: one more than redaction undoes.
const DEPTH_MOST: usize = 4;

/// A shorter run of base64 holds no window.
const RUN_LEAST: usize = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Windows of secrets, in the forms in which they may stand in a text.
#[derive(Default)]
pub(super) struct Needles {
    windows: HashMap<[u8; WINDOW], usize>,
}

impl Needles {
    pub(super) fn add(&mut self, number: usize, secret: &str) {
        self.form(number, secret.as_bytes());
        self.form(number, percent(secret).as_bytes());
        let engine = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
        for before in ["", "x", "xy"] {
            let encoded = engine.encode(format!("{before}{secret}"));
            let inner = encoded.trim_end_matches('=');
            let from = if before.is_empty() { 0 } else { 4 };
            self.form(
                number,
                inner
                    .as_bytes()
                    .get(from..inner.len().saturating_sub(1))
                    .unwrap_or_default(),
            );
        }
    }

    fn form(&mut self, number: usize, bytes: &[u8]) {
        for window in bytes.windows(WINDOW) {
            if let Ok(window) = window.try_into() {
                self.windows.insert(window, number);
            }
        }
    }

    pub(super) fn find(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        self.search(bytes, 0, &mut found);
        found
    }

    fn search(&self, bytes: &[u8], depth: usize, found: &mut BTreeSet<usize>) {
        let windows = bytes.windows(WINDOW);
        found.extend(windows.filter_map(|window| {
            let window: [u8; WINDOW] = window.try_into().ok()?;
            self.windows.get(&window).copied()
        }));
        if depth == DEPTH_MOST {
            return;
        }
        // Lines that were joined: base64 is often broken, as it is or as an escape.
        let joined = join_lines(bytes);
        for text in [Some(bytes), joined.as_deref()].into_iter().flatten() {
            for run in text.split(|byte| !is_digit(*byte)) {
                if run.len() >= RUN_LEAST {
                    self.decoded(run, depth, found);
                }
            }
        }
        if let Some(decoded) = unpercent(bytes) {
            self.search(&decoded, depth + 1, found);
        }
    }

    fn decoded(&self, run: &[u8], depth: usize, found: &mut BTreeSet<usize>) {
        let engine = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
        let run: Vec<u8> = run
            .iter()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => *byte,
            })
            .collect();
        for skip in 0..4 {
            let digits = run.get(skip..).unwrap_or_default();
            // A single digit of a last group says nothing.
            let whole = digits.len() - usize::from(digits.len() % 4 == 1);
            let Some(Ok(bytes)) = digits.get(..whole).map(|digits| engine.decode(digits)) else {
                continue;
            };
            for inflated in inflated(&bytes) {
                self.search(&inflated, depth + 1, found);
            }
            self.search(&bytes, depth + 1, found);
        }
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn inflated(bytes: &[u8]) -> Vec<Vec<u8>> {
    const MOST: usize = 1 << 20;
    let raw = |from: usize| {
        let bytes = bytes.get(from..)?;
        miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, MOST).ok()
    };
    let mut all: Vec<Vec<u8>> = [0, 2, 10].into_iter().filter_map(raw).collect();
    if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        all.extend(zstd::bulk::decompress(bytes, MOST));
    }
    all
}

fn join_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let joined = text
        .replace("\\\\n", "")
        .replace("\\n", "")
        .replace(['\n', ' '], "");
    (joined.len() < text.len() && text.len() < 1 << 20).then(|| joined.into_bytes())
}

pub(super) fn percent(text: &str) -> String {
    let spelt = text.bytes().map(|byte| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    spelt.collect()
}

fn unpercent(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = byte {
            out.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = after;
        }
    }
    (out.len() < bytes.len()).then_some(out)
}
