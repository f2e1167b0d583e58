//! Owns the search of a file as it stands, compressed: a window at a time, so that nothing between two is
//! missed. Refuses to take for a secret what compressed bytes look like by chance.

use crate::canary::{Canaries, Met};
use crate::found::{Found, Place, Report, ScanError};
use kubereel_redact::{Finding, Redactor};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// How much is searched at once.
const WINDOW_BYTES: usize = 1024 * 1024;

/// How much of a window is searched again with the next: longer than what a pattern needs to be met.
const OVERLAP_BYTES: usize = 8 * 1024;

/// A shorter find of the policy stands in compressed bytes by chance.
const FOUND_LEAST: usize = 12;

/// Searches the file.
pub(crate) fn search(
    report: &mut Report,
    path: &Path,
    canaries: &Canaries,
    redactor: &Redactor,
) -> Result<(), ScanError> {
    let failed = |source| ScanError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(failed)?;
    let overlap = OVERLAP_BYTES.max(canaries.longest());
    let mut window: Vec<u8> = Vec::new();
    let mut start = 0_u64;
    loop {
        let before = window.len();
        let most = u64::try_from(WINDOW_BYTES).unwrap_or(u64::MAX);
        let read = file
            .by_ref()
            .take(most)
            .read_to_end(&mut window)
            .map_err(failed)?;
        if read == 0 {
            return Ok(());
        }
        report.file_bytes = report
            .file_bytes
            .saturating_add(u64::try_from(read).unwrap_or(0));
        // What lies wholly in the bytes that were searched before was told then.
        let is_new = |end: usize| end > before;
        for met in canaries.find(&window) {
            if is_new(met.at + met.len) {
                report.push(by_canary(met, Place::File, start));
            }
        }
        for finding in redactor.text_findings(&window) {
            let end = finding.at + finding.len;
            let secret = window.get(finding.at..end).unwrap_or_default();
            let is_text = secret
                .iter()
                .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'));
            if is_new(end) && is_text && secret.len() >= FOUND_LEAST {
                report.push(by_policy(finding, Place::File, start));
            }
        }
        let cut = window.len().saturating_sub(overlap);
        window.drain(..cut);
        start = start.saturating_add(u64::try_from(cut).unwrap_or(0));
    }
}

/// Says what the policy found.
pub(crate) fn by_policy(finding: Finding, place: Place, start: u64) -> Found {
    Found {
        rule: finding.rule,
        form: "",
        place,
        path: finding.path,
        offset: start.saturating_add(u64::try_from(finding.at).unwrap_or(u64::MAX)),
        len: finding.len,
        begin: finding.begin,
    }
}

/// Says which canary was met.
pub(crate) fn by_canary(met: Met, place: Place, start: u64) -> Found {
    Found {
        rule: format!("canary {}", met.number),
        form: met.form,
        place,
        path: String::new(),
        offset: start.saturating_add(u64::try_from(met.at).unwrap_or(u64::MAX)),
        len: met.len,
        begin: met.begin,
    }
}
