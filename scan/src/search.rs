//! Searches a reel: objects, names, notes, documents, then the raw file.
//!
//! Unreadable parts do not end the search: they are reported, and the rest is searched. The file is
//! searched in windows, which overlap by more than the length that a pattern needs.

use crate::canary::{Canaries, CanaryMatch};
use crate::report::{FindingPlace, ScanError, ScanFinding, ScanReport, UnreadPart};
use kubereel_format::{
    BlobId, Damage, Loss, Note, NoteEntry, ObjectId, ObjectKeyRef, Reel, ResourceId, ResourceInfo,
};
use kubereel_redact::{Extra, RandomStrings, RedactionFinding, Redactor, ResourceType};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The number of kinds of unreadable parts that are listed.
const UNREAD_MOST: usize = 100;

/// What to search for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScanOptions {
    /// Words that must not be in the reel.
    pub canaries: Canaries,
    /// Rules besides those of the policy.
    pub extra: Extra,
}

impl ScanOptions {
    /// Searches for what the policy would replace, for canaries, and with extra rules.
    pub fn new(canaries: Canaries, extra: Extra) -> Self {
        Self { canaries, extra }
    }
}

/// Searches a reel. `progress` receives the number of searched records.
///
/// # Errors
///
/// If the raw file cannot be read. Damage is not an error: see [`ScanReport::unread`].
pub fn scan(
    reel: &Reel,
    options: &ScanOptions,
    mut progress: impl FnMut(u64),
) -> Result<ScanReport, ScanError> {
    let mut search = ReelSearch {
        reel,
        options,
        redactor: Redactor::new(options.extra.clone())?,
        random: RandomStrings::default(),
        resources: BTreeMap::new(),
        report: ScanReport {
            canaries: len_u64(options.canaries.count()),
            ..ScanReport::default()
        },
    };
    // What exists elsewhere, too, is searched there.
    let lost = |damage: &&Damage| damage.loss != Loss::Nothing;
    for damage in reel.damage().iter().filter(lost) {
        let count = reel.lost_in(damage.loss).unwrap_or_default();
        search.unread(&format!("{}: {}", damage.place, damage.cause), count);
    }
    for entry in reel.notes() {
        if let Note::Resource(info) = &entry.note {
            search.resources.insert(info.id, info.clone());
        }
    }
    search.names();
    for event in reel.scan() {
        match event {
            Ok(event) => {
                search.event(&event);
                progress(event.head.seq.0);
            }
            // The damaged places name them.
            Err(_) if reel.has_losses() => {}
            Err(error) => search.unread(&error.to_string(), 1),
        }
    }
    for entry in reel.notes() {
        search.note(entry);
    }
    search_file(
        &mut search.report,
        reel.path(),
        &options.canaries,
        &search.redactor,
    )?;
    Ok(search.report)
}

struct ReelSearch<'a> {
    reel: &'a Reel,
    options: &'a ScanOptions,
    redactor: Redactor,
    random: RandomStrings,
    resources: BTreeMap<ResourceId, ResourceInfo>,
    report: ScanReport,
}

impl ReelSearch<'_> {
    fn unread(&mut self, what: &str, count: u64) {
        let words = self.shown(what);
        let unread = &mut self.report.unread;
        if let Some(known) = unread.iter_mut().find(|part| part.words == words) {
            known.count = known.count.saturating_add(count);
        } else if unread.len() < UNREAD_MOST {
            unread.push(UnreadPart { words, count });
        }
    }

    /// Returns a text of the reel as the report shows it: without secrets and canaries.
    fn shown(&self, text: &str) -> String {
        self.options.canaries.hide(&self.redactor.words(text))
    }

    fn names(&mut self) {
        for object in self.reel.objects() {
            let key = &object.key;
            let place = FindingPlace::Name {
                object: self.called(object.id),
            };
            let resource_type = self.resource_type(key.resource);
            let uid = key.uid.text();
            // The policy would have replaced a name that is a secret.
            let is_bare = self.redactor.hides_names(&resource_type)
                && self.redactor.name(&resource_type, key.name, &uid) != key.name;
            if is_bare {
                let found = ScanFinding {
                    rule: "oauth-name".to_owned(),
                    form: "",
                    place: place.clone(),
                    path: ".metadata.name".to_owned(),
                    offset: 0,
                    len: key.name.len(),
                    begin: String::new(),
                };
                self.report.push(found);
            }
            for text in [key.namespace, key.name, &uid] {
                self.text(text.as_bytes(), &place);
            }
        }
    }

    fn event(&mut self, event: &kubereel_format::Event) {
        self.report.objects = self.report.objects.saturating_add(1);
        let head = &event.head;
        let resource = self.object_key(head.object).map(|key| key.resource);
        let resource_type = resource
            .map(|resource| self.resource_type(resource))
            .unwrap_or_default();
        let findings = self.redactor.findings(&resource_type, &event.body);
        let random = self.random.in_object(&self.redactor, &event.body);
        let in_hex = hex_texts(&event.body);
        let met = self.options.canaries.find(&event.body);
        self.report.decompressed_bytes = self
            .report
            .decompressed_bytes
            .saturating_add(len_u64(event.body.len()));
        if findings.is_empty() && met.is_empty() && random.is_empty() && in_hex.is_empty() {
            return;
        }
        let place = FindingPlace::Object {
            seq: head.seq,
            at: head.stamp.wall,
            object: self.called(head.object),
        };
        self.push(findings, met, &place);
        self.hex(in_hex, &place);
        self.random(random, &place);
    }

    fn note(&mut self, entry: &NoteEntry) {
        let (seq, at) = (entry.seq, entry.stamp.wall);
        // The texts of a note; the names of its fields are not secrets. One text is read as it was redacted: in
        // quotes, a value would last to their end.
        let words = match &entry.note {
            Note::Mark { text } | Note::Provenance { text } => text.clone(),
            other => format!("{other:?}"),
        };
        self.text(words.as_bytes(), &FindingPlace::Note { seq, at });
        let blobs: &[BlobId] = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs,
            _ => &[],
        };
        let mut whole = Vec::new();
        for blob in blobs {
            match self.reel.blob(*blob) {
                Ok(bytes) => whole.extend_from_slice(&bytes),
                Err(error) => self.unread(&error.to_string(), 1),
            }
        }
        if !whole.is_empty() {
            let place = FindingPlace::Kept { seq, at };
            let findings = self.redactor.findings(&ResourceType::default(), &whole);
            let met = self.options.canaries.find(&whole);
            self.report.decompressed_bytes = self
                .report
                .decompressed_bytes
                .saturating_add(len_u64(whole.len()));
            let random = self.random.in_object(&self.redactor, &whole);
            self.push(findings, met, &place);
            self.hex(hex_texts(&whole), &place);
            self.random(random, &place);
        }
    }

    fn text(&mut self, text: &[u8], place: &FindingPlace) {
        let findings = self.redactor.text_findings(text);
        let met = self.options.canaries.find(text);
        self.report.decompressed_bytes = self
            .report
            .decompressed_bytes
            .saturating_add(len_u64(text.len()));
        self.push(findings, met, place);
        let random = self.random.in_text(&String::from_utf8_lossy(text));
        self.random(random, place);
    }

    /// Searches texts in hexadecimal, which the policy does not decode.
    fn hex(&mut self, texts: Vec<(usize, Vec<u8>)>, place: &FindingPlace) {
        for (at, text) in texts {
            let start = len_u64(at);
            for finding in self.redactor.text_findings(&text) {
                let found = self.by_policy(finding, place);
                self.report.push(ScanFinding {
                    form: "hex",
                    offset: start,
                    ..found
                });
            }
        }
    }

    fn random(&mut self, findings: Vec<RedactionFinding>, place: &FindingPlace) {
        for finding in findings {
            let found = self.by_policy(finding, place);
            self.report.push_random(found);
        }
    }

    fn push(
        &mut self,
        findings: Vec<RedactionFinding>,
        met: Vec<CanaryMatch>,
        place: &FindingPlace,
    ) {
        for finding in findings {
            let found = self.by_policy(finding, place);
            self.report.push(found);
        }
        for canary in met {
            self.report.push(by_canary(canary, place.clone(), 0));
        }
    }

    fn by_policy(&self, finding: RedactionFinding, place: &FindingPlace) -> ScanFinding {
        let path = self.shown(&finding.path);
        by_policy(RedactionFinding { path, ..finding }, place.clone(), 0)
    }

    fn object_key(&self, object: ObjectId) -> Option<ObjectKeyRef<'_>> {
        self.reel.key(object)
    }

    fn resource_type(&self, resource: ResourceId) -> ResourceType<'_> {
        self.resources
            .get(&resource)
            .map_or_else(ResourceType::default, |info| {
                ResourceType::new(&info.group, &info.plural).with_kind(&info.kind)
            })
    }

    /// Returns the object as a command line names it, without secrets and canaries.
    fn called(&self, object: ObjectId) -> String {
        let Some(key) = self.object_key(object) else {
            return "an object".to_owned();
        };
        let resource_type = self.resource_type(key.resource);
        let resource = self
            .resources
            .get(&key.resource)
            .map_or_else(|| "?".to_owned(), ResourceInfo::qualified);
        let name = self
            .redactor
            .name(&resource_type, key.name, &key.uid.text());
        if key.namespace.is_empty() {
            self.shown(&format!("{resource}/{name}"))
        } else {
            let namespace = self.redactor.words(key.namespace);
            self.shown(&format!("{resource}/{name} -n {namespace}"))
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "no supported platform has longer addresses"
)]
fn len_u64(len: usize) -> u64 {
    u64::try_from(len).expect("a length fits into 64 bits")
}

/// The bytes that are searched at once.
const WINDOW_BYTES: usize = 1024 * 1024;

/// The overlap of two windows: longer than any pattern needs.
const OVERLAP_BYTES: usize = 8 * 1024;

/// The shortest finding of the policy in the raw file: shorter ones occur in compressed bytes by
/// chance.
const FOUND_LEAST: usize = 12;

/// Searches the file.
fn search_file(
    report: &mut ScanReport,
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
        let most = len_u64(WINDOW_BYTES);
        let read = file
            .by_ref()
            .take(most)
            .read_to_end(&mut window)
            .map_err(failed)?;
        if read == 0 {
            return Ok(());
        }
        report.file_bytes = report.file_bytes.saturating_add(len_u64(read));
        // A finding that lies wholly in the earlier window was reported with it.
        let is_new = |end: usize| end > before;
        for met in canaries.find(&window) {
            if is_new(met.place.end) {
                report.push(by_canary(met, FindingPlace::File, start));
            }
        }
        for finding in redactor.text_findings(&window) {
            let end = finding.at + finding.len;
            let secret = window.get(finding.at..end).unwrap_or_default();
            let is_text = secret
                .iter()
                .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'));
            if is_new(end) && is_text && secret.len() >= FOUND_LEAST {
                report.push(by_policy(finding, FindingPlace::File, start));
            }
        }
        let cut = window.len().saturating_sub(overlap);
        window.drain(..cut);
        start = start.saturating_add(len_u64(cut));
    }
}

/// Adds the findings of the policy.
fn by_policy(finding: RedactionFinding, place: FindingPlace, start: u64) -> ScanFinding {
    ScanFinding {
        rule: finding.rule,
        form: "",
        place,
        path: finding.path,
        offset: start.saturating_add(len_u64(finding.at)),
        len: finding.len,
        begin: finding.begin,
    }
}

/// Adds the canaries that were found.
fn by_canary(met: CanaryMatch, place: FindingPlace, start: u64) -> ScanFinding {
    ScanFinding {
        rule: format!("canary {}", met.number),
        form: met.form,
        place,
        path: String::new(),
        offset: start.saturating_add(len_u64(met.place.start)),
        len: met.len,
        begin: met.begin,
    }
}

/// The shortest text: a shorter one has no known form.
const DIGITS_LEAST: usize = 32;

/// Returns the texts that runs of hexadecimal digits encode, with the places of the runs. Digests
/// and uids do not decode to text.
fn hex_texts(bytes: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut at = 0;
    let runs = bytes.split(|byte| !byte.is_ascii_hexdigit());
    runs.filter_map(|run| {
        let start = at;
        at += run.len() + 1;
        if run.len() < DIGITS_LEAST {
            return None;
        }
        let is_text = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'\t' | b' '..=b'~');
        // Ends with the first byte that is not text: soon, for a digest.
        let bytes = run.chunks_exact(2);
        let text: Option<Vec<u8>> = bytes
            .map(|digits| hex_byte(digits).filter(is_text))
            .collect();
        Some((start, text?))
    })
    .collect()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_and_digests_are_not() {
        let spelt = b"{\"a\":\"70617373776f72643a2068756e746572320a\"}";
        assert_eq!(hex_texts(spelt), [(6, b"password: hunter2\n".to_vec())]);
        let digest = b"3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6";
        assert!(hex_texts(digest).is_empty());
    }
}
