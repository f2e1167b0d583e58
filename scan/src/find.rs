//! Owns the way through a reel: objects, names, notes, documents, then the file as it stands. Refuses to
//! stop at what cannot be read: it is told, and the rest is searched.

use crate::canary::Canaries;
use crate::found::{Found, Place, Report, ScanError};
use crate::{hex, raw};
use kubereel_format::{BlobId, Note, NoteEntry, Reel, ResourceId, ResourceInfo, Seq};
use kubereel_redact::{Extra, Finding, RandomStrings, Redactor, ResourceType};
use std::collections::BTreeMap;

/// How many places that cannot be read are told one by one.
const UNREAD_MOST: usize = 100;

/// What is sought.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Words that must not be there.
    pub canaries: Canaries,
    /// Rules beside those of the policy.
    pub extra: Extra,
}

impl Options {
    /// Seeks what the policy names.
    pub fn new(canaries: Canaries, extra: Extra) -> Self {
        Self { canaries, extra }
    }
}

/// Searches a reel. `progress` is told how many records are done.
///
/// # Errors
///
/// If the file cannot be read as it stands. Damage is no error: see [`Report::unread`].
pub fn scan(
    reel: &Reel,
    options: &Options,
    mut progress: impl FnMut(u64),
) -> Result<Report, ScanError> {
    let mut search = Search {
        reel,
        options,
        redactor: Redactor::new(options.extra.clone())?,
        random: RandomStrings::default(),
        resources: BTreeMap::new(),
        report: Report {
            canaries: u64::try_from(options.canaries.count()).unwrap_or(u64::MAX),
            ..Report::default()
        },
    };
    for damage in reel.damage() {
        search.unread(format!("{}: {}", damage.place, damage.cause));
    }
    for entry in reel.notes() {
        if let Note::Resource(info) = &entry.note {
            search.resources.insert(info.id, info.clone());
        }
    }
    search.names();
    for event in reel.scan(Seq(0)) {
        match event {
            Ok(event) => {
                search.event(&event);
                progress(event.head.seq.0);
            }
            Err(error) => search.unread(error.to_string()),
        }
    }
    for entry in reel.notes() {
        search.note(entry);
    }
    raw::search(
        &mut search.report,
        reel.path(),
        &options.canaries,
        &search.redactor,
    )?;
    Ok(search.report)
}

struct Search<'a> {
    reel: &'a Reel,
    options: &'a Options,
    redactor: Redactor,
    random: RandomStrings,
    resources: BTreeMap<ResourceId, ResourceInfo>,
    report: Report,
}

impl Search<'_> {
    fn unread(&mut self, what: String) {
        if self.report.unread.len() < UNREAD_MOST {
            self.report.unread.push(what);
        }
    }

    fn names(&mut self) {
        for object in self.reel.objects() {
            let key = &object.key;
            let place = Place::Name {
                object: self.called(object.id),
            };
            let subject = self.subject(key.resource);
            // A name that the policy hides is another than that by which it would be known.
            let is_bare = self.redactor.hides_names(&subject)
                && self.redactor.name(&subject, &key.name, &key.uid) != key.name;
            if is_bare {
                let found = Found {
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
            for text in [&key.namespace, &key.name, &key.uid] {
                self.text(text.as_bytes(), &place);
            }
        }
    }

    fn event(&mut self, event: &kubereel_format::Event) {
        self.report.objects = self.report.objects.saturating_add(1);
        let head = &event.head;
        let resource = self
            .reel
            .objects()
            .get(usize::try_from(head.object.0).unwrap_or(usize::MAX))
            .map(|object| object.key.resource);
        let subject = resource
            .map(|resource| self.subject(resource))
            .unwrap_or_default();
        let findings = self.redactor.findings(&subject, &event.body);
        let random = self.random.in_object(&event.body);
        let in_hex = hex::texts(&event.body);
        let met = self.options.canaries.find(&event.body);
        self.report.decompressed_bytes = self
            .report
            .decompressed_bytes
            .saturating_add(len(&event.body));
        if findings.is_empty() && met.is_empty() && random.is_empty() && in_hex.is_empty() {
            return;
        }
        let place = Place::Object {
            seq: head.seq,
            at: head.stamp.wall,
            object: self.called(head.object),
        };
        self.told(findings, met, &place);
        self.hex(in_hex, &place);
        self.random(random, &place);
    }

    fn note(&mut self, entry: &NoteEntry) {
        let (seq, at) = (entry.seq, entry.stamp.wall);
        // The words of a note as they are; the names of its parts are no secrets.
        let words = format!("{:?}", entry.note);
        self.text(words.as_bytes(), &Place::Note { seq, at });
        let blobs: &[BlobId] = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs,
            _ => &[],
        };
        let mut whole = Vec::new();
        for blob in blobs {
            match self.reel.blob(*blob) {
                Ok(bytes) => whole.extend_from_slice(&bytes),
                Err(error) => self.unread(error.to_string()),
            }
        }
        if !whole.is_empty() {
            let place = Place::Kept { seq, at };
            let findings = self.redactor.findings(&ResourceType::default(), &whole);
            let met = self.options.canaries.find(&whole);
            self.report.decompressed_bytes =
                self.report.decompressed_bytes.saturating_add(len(&whole));
            let random = self.random.in_object(&whole);
            self.told(findings, met, &place);
            self.hex(hex::texts(&whole), &place);
            self.random(random, &place);
        }
    }

    fn text(&mut self, text: &[u8], place: &Place) {
        let findings = self.redactor.text_findings(text);
        let met = self.options.canaries.find(text);
        self.report.decompressed_bytes = self.report.decompressed_bytes.saturating_add(len(text));
        self.told(findings, met, place);
        let random = self.random.in_text(&String::from_utf8_lossy(text));
        self.random(random, place);
    }

    /// Searches texts that were spelt in hexadecimal, which the policy does not decode.
    fn hex(&mut self, texts: Vec<(usize, Vec<u8>)>, place: &Place) {
        for (at, text) in texts {
            let start = u64::try_from(at).unwrap_or(u64::MAX);
            for finding in self.redactor.text_findings(&text) {
                let found = raw::by_policy(finding, place.clone(), 0);
                self.report.push(Found {
                    form: "hex",
                    offset: start,
                    ..found
                });
            }
        }
    }

    fn random(&mut self, findings: Vec<Finding>, place: &Place) {
        for finding in findings {
            let found = raw::by_policy(finding, place.clone(), 0);
            self.report.push_random(found);
        }
    }

    fn told(&mut self, findings: Vec<Finding>, met: Vec<crate::canary::Met>, place: &Place) {
        let by_policy = findings
            .into_iter()
            .map(|one| raw::by_policy(one, place.clone(), 0));
        for found in by_policy.chain(
            met.into_iter()
                .map(|one| raw::by_canary(one, place.clone(), 0)),
        ) {
            self.report.push(found);
        }
    }

    fn subject(&self, resource: ResourceId) -> ResourceType<'_> {
        self.resources
            .get(&resource)
            .map_or_else(ResourceType::default, |info| {
                ResourceType::new(&info.group, &info.plural).with_kind(&info.kind)
            })
    }

    /// Says which object it is, as a command takes it; a name that is a secret is not said.
    fn called(&self, object: kubereel_format::ObjectId) -> String {
        let place = usize::try_from(object.0).unwrap_or(usize::MAX);
        let Some(object) = self.reel.objects().get(place) else {
            return "an object".to_owned();
        };
        let key = &object.key;
        let subject = self.subject(key.resource);
        let resource = self
            .resources
            .get(&key.resource)
            .map_or_else(|| "?".to_owned(), ResourceInfo::qualified);
        let name = self.redactor.name(&subject, &key.name, &key.uid);
        if key.namespace.is_empty() {
            format!("{resource}/{name}")
        } else {
            let namespace = self.redactor.words(&key.namespace);
            format!("{resource}/{name} -n {namespace}")
        }
    }
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
