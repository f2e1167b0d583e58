//! Reads the objects of many files that were gathered at one moment: a must-gather, a dump, a
//! folder of lists.
//!
//! Objects wait in an unnamed temporary file until all files are read: only then the time of the
//! gathering, the definitions, and the newest of several copies of an object are known.

use crate::document::{self, DocumentShape, ImportedHead, JsonPart, Leaf, ListType, json_parts};
use crate::error::{BrokenPart, BrokenParts, BrokenReason, GatheredFiles, ImportError};
use crate::input::{MAX_JSON, MAX_YAML, len_u64, unread, whole};
use crate::moment::newest_time;
use crate::repository::RepositoryFiles;
use crate::yaml_prefix::YamlDocuments;
use kubereel_format::{REEL_START_BYTES, RecordedAt, is_reel_start};
use kubereel_unpack::{ArchiveFile, PlainInput, SkippedEntries, UnpackError};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The bytes of objects that may wait.
const MAX_WAITING: u64 = 64 << 30;

/// The number of objects that may wait.
const MAX_OBJECTS: usize = 8_000_000;

/// Objects that were gathered at one moment.
pub(crate) struct GatheredObjects {
    file: File,
    objects: Vec<WaitingObject>,
    /// The resources with an empty list of a namespace.
    pub(crate) newest: Option<RecordedAt>,
    pub(crate) files: GatheredFiles,
    pub(crate) broken: BrokenParts,
    /// Whether objects were YAML.
    pub(crate) is_converted: bool,
    /// Whether the rest of the archive could not be read, or a list is one page of another.
    pub(crate) is_partial: bool,
    /// Reels among the files.
    pub(crate) reels: Vec<String>,
}

/// An object that waits in the temporary file.
struct WaitingObject {
    at: u64,
    len: usize,
    /// What its list declares; `None` if it is only in files of its own.
    list: Option<WaitingList>,
    version: u128,
    uid: String,
    is_definition: bool,
}

/// The kind that a list declares.
struct WaitingList {
    api_version: String,
    kind: String,
}

/// The key without the version: `apiVersion`, kind, namespace and name.
type ObjectName = (String, String, String, String);

/// Collects objects.
pub(crate) struct Gatherer {
    writer: BufWriter<File>,
    end: u64,
    gathered: GatheredObjects,
    places: HashMap<ObjectName, usize>,
    beside: PathBuf,
    /// The uid of the Namespace kube-system, which identifies the cluster, and the file with it.
    cluster: Option<(String, String)>,
    repository: Option<RepositoryFiles>,
    has_several: bool,
    /// The folders that all files with objects are in.
    objects_in: Option<String>,
}

impl Gatherer {
    /// Creates a collector with a temporary file in a folder.
    pub(crate) fn new(folder: &Path) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Place {
            path: folder.to_owned(),
            source,
        };
        let file = tempfile::tempfile_in(folder).map_err(failed)?;
        let writer = BufWriter::new(file.try_clone().map_err(failed)?);
        Ok(Self {
            writer,
            end: 0,
            gathered: GatheredObjects {
                file,
                objects: Vec::new(),
                newest: None,
                files: GatheredFiles::default(),
                broken: BrokenParts::default(),
                is_converted: false,
                is_partial: false,
                reels: Vec::new(),
            },
            places: HashMap::new(),
            cluster: None,
            beside: folder.to_owned(),
            repository: None,
            has_several: false,
            objects_in: None,
        })
    }

    /// Takes the repository that the files with objects are in: they are only its last state. `None` where there is
    /// none, and where other files have objects, too.
    pub(crate) fn take_repository(&mut self) -> Option<RepositoryFiles> {
        let repository = self.repository.take()?;
        let root = repository.root();
        if self.has_several {
            self.name_repository(root);
            return None;
        }
        let is_inside = |folders: &String| folders.starts_with(root);
        let is_only = self.objects_in.as_ref().is_none_or(is_inside);
        is_only.then_some(repository)
    }

    fn name_repository(&mut self, root: &str) {
        let reason = BrokenReason::OneOfRepositories;
        self.gathered.broken.push_in(root, 0, reason);
    }

    /// Keeps a file of a repository; several ones are named.
    fn take_part(
        &mut self,
        (root, part): (&str, &str),
        content: &mut dyn Read,
    ) -> Result<(), ImportError> {
        self.gathered.files.others += 1;
        let repository = match &mut self.repository {
            Some(first) => first,
            none => none.insert(RepositoryFiles::begin(root, &self.beside)?),
        };
        if repository.root() == root {
            return repository.keep(part, content);
        }
        self.has_several = true;
        if part == "HEAD" {
            self.name_repository(root);
        }
        Ok(())
    }

    /// Notes that a file has objects.
    fn note_folder(&mut self, name: &str) {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = format!("{folder}/");
        let shared = match &self.objects_in {
            None => folder,
            Some(before) => {
                let steps = before.split_inclusive('/').zip(folder.split_inclusive('/'));
                let same = steps.take_while(|(one, other)| one == other);
                same.map(|(one, _)| one).collect()
            }
        };
        self.objects_in = Some(shared);
    }

    /// Takes a file.
    pub(crate) fn take(&mut self, file: &mut ArchiveFile<'_>) -> Result<(), ImportError> {
        let name = file.name;
        if let Some(parts) = RepositoryFiles::part_of(name) {
            return self.take_part(parts, &mut *file.content);
        }
        match FileKind::of(name) {
            FileKind::Log => self.gathered.files.logs += 1,
            FileKind::Other => {
                let mut start = Vec::new();
                let head = file.content.take(len_u64(REEL_START_BYTES));
                let read = { head }.read_to_end(&mut start);
                read.map_err(unread)?;
                if is_reel_start(&start) {
                    self.gathered.reels.push(name.to_owned());
                }
                self.gathered.files.others += 1;
            }
            FileKind::Objects => {
                let before = self.taken();
                if let Err(reason) = self.objects_of(name, &mut *file.content)? {
                    self.gathered.broken.push_in(name, 0, reason);
                }
                if self.taken() == before {
                    self.gathered.files.others += 1;
                } else {
                    self.gathered.files.with_objects += 1;
                    self.note_folder(name);
                }
            }
        }
        Ok(())
    }

    /// Returns how many objects were taken, and how many left out as another file has them: they only grow.
    fn taken(&self) -> (usize, u64, u64) {
        let files = &self.gathered.files;
        (self.gathered.objects.len(), files.copies, files.replaced)
    }

    /// Takes the objects of a file; returns the error of the file alone.
    fn objects_of(
        &mut self,
        name: &str,
        content: &mut dyn Read,
    ) -> Result<Result<(), BrokenReason>, ImportError> {
        let input = BufReader::new(content);
        let plain = match PlainInput::open(input, MAX_JSON) {
            Ok(plain) => plain,
            Err(error) => return file_error(unread(error)),
        };
        let is_json = plain.start().trim_ascii_start().starts_with(b"{")
            || plain.start().trim_ascii_start().starts_with(b"[");
        let most = if is_json { MAX_JSON } else { MAX_YAML };
        let bytes = match whole(plain, most) {
            Ok(bytes) => bytes,
            Err(error) => return file_error(error),
        };
        if is_json {
            self.all_json(name, &bytes)?;
            return Ok(Ok(()));
        }
        let YamlDocuments { documents, damage } = match YamlDocuments::read(&bytes) {
            Ok(read) => read,
            Err(error) => return Ok(Err(BrokenReason::Unreadable(error.to_string()))),
        };
        for (document, _) in documents {
            self.document(name, document.value.to_string().as_bytes(), true)?;
        }
        for damage in damage {
            self.gathered.broken.push_in(name, 0, damage);
        }
        Ok(Ok(()))
    }

    fn all_json(&mut self, name: &str, bytes: &[u8]) -> Result<(), ImportError> {
        for part in json_parts(bytes) {
            match part {
                JsonPart::Document(document) => self.document(name, document, false)?,
                JsonPart::Damaged(rest, reason) => {
                    document::leaves_before_damage(rest, &mut |item, leaf| {
                        self.leaf(name, (item, leaf), false).map(drop)
                    })?;
                    self.gathered.broken.push_in(name, 0, reason);
                }
            }
        }
        Ok(())
    }

    /// Takes the objects of a document. In a folder of many files, documents of other programs are expected: what is
    /// not an object is broken in a list of objects only.
    fn document(&mut self, name: &str, bytes: &[u8], converted: bool) -> Result<(), ImportError> {
        let mut others = Vec::new();
        let mut has_objects = false;
        document::leaves(bytes, &mut |item, leaf| {
            match self.leaf(name, (item, leaf), converted)? {
                Ok(is_object) => has_objects |= is_object,
                Err(problem) => others.push((item, problem)),
            }
            Ok::<_, ImportError>(())
        })?;
        for (item, problem) in others.into_iter().filter(|_| has_objects) {
            self.broken_item(name, item, problem);
        }
        Ok(())
    }

    /// Checks that the objects are of one cluster.
    fn check_cluster(&mut self, file: &str, uid: &str) -> Result<(), ImportError> {
        let (known, first) =
            (self.cluster).get_or_insert_with(|| (uid.to_owned(), file.to_owned()));
        if known == uid {
            return Ok(());
        }
        Err(ImportError::SeveralClusters {
            first: first.clone(),
            second: file.to_owned(),
        })
    }

    fn broken_item(&mut self, name: &str, item: u64, problem: BrokenReason) {
        self.gathered.broken.push(BrokenPart {
            file: name.to_owned(),
            number: 0,
            item,
            line: 0,
            problem,
        });
    }

    /// Takes a part of a document, and returns whether it is an object or one that is broken, which it reports; the
    /// error is of a part that may be of another program.
    fn leaf(
        &mut self,
        name: &str,
        (item, leaf): (u64, Leaf<'_>),
        converted: bool,
    ) -> Result<Result<bool, BrokenReason>, ImportError> {
        let (object, listed) = match leaf {
            Leaf::Object(object, listed) => (object, Some(listed)),
            Leaf::Single(object) => (object, None),
            Leaf::Broken(reason) => return Ok(Err(reason)),
            Leaf::List(_, metadata) => {
                self.gathered.is_partial |= metadata.is_page();
                return Ok(Ok(false));
            }
            Leaf::EmptyList(_) => return Ok(Ok(false)),
            Leaf::Event(_) | Leaf::Audit(_) => {
                let broken = &mut self.gathered.broken;
                if broken.first.last().is_none_or(|last| last.file != name) {
                    broken.push_in(name, 0, BrokenReason::EventInGathering);
                }
                return Ok(Ok(false));
            }
        };
        match self.object(name, object, listed)? {
            Ok(()) => self.gathered.is_converted |= converted,
            Err(reason) if !has_type(object, listed.unwrap_or_default()) => return Ok(Err(reason)),
            // Files of configuration have a type and no name.
            Err(BrokenReason::NoName) if listed.is_none() => return Ok(Ok(false)),
            Err(problem) => self.broken_item(name, item, problem),
        }
        Ok(Ok(true))
    }

    /// Takes an object, of a list or by itself; the error is that of the object.
    fn object(
        &mut self,
        file: &str,
        object: &[u8],
        list: Option<ListType<'_>>,
    ) -> Result<Result<(), BrokenReason>, ImportError> {
        let listed = list.unwrap_or_default();
        let head = match ImportedHead::parse(object) {
            Ok(head) => head,
            Err(reason) => return Ok(Err(reason)),
        };
        let or = |own: &str, other: &str| if own.is_empty() { other } else { own }.to_owned();
        let api_version = or(&head.api_version, listed.api_version);
        let kind = or(&head.kind, listed.kind);
        if api_version.is_empty() || kind.is_empty() {
            return Ok(Err(BrokenReason::NoResource));
        }
        if let Ok(value) = serde_json::from_slice::<Value>(object) {
            self.gathered.newest = self.gathered.newest.max(newest_time(&value));
        }
        if kind == "Namespace" && head.name == "kube-system" && !head.uid.is_empty() {
            self.check_cluster(file, &head.uid)?;
        }
        let version = head.resource_version.parse().unwrap_or(0);
        let uid = head.uid.into_owned();
        let is_definition = kind == "CustomResourceDefinition";
        let name = (
            api_version,
            kind,
            head.namespace.into_owned(),
            head.name.into_owned(),
        );
        let known = self.places.get(&name).copied();
        if let Some(known) = known.and_then(|place| self.gathered.objects.get(place)) {
            let is_same = known.uid == uid || known.uid.is_empty() || uid.is_empty();
            self.gathered.files.copies += u64::from(is_same);
            self.gathered.files.replaced += u64::from(!is_same);
        }
        let mut waiting_list = list.map(|list| WaitingList {
            api_version: list.api_version.to_owned(),
            kind: list.kind.to_owned(),
        });
        if let Some(known) = known.and_then(|place| self.gathered.objects.get_mut(place)) {
            // An object of a list may have a file of its own besides.
            if known.version >= version {
                known.list = known.list.take().or(waiting_list);
                return Ok(Ok(()));
            }
            waiting_list = waiting_list.or(known.list.take());
        }
        self.end = self.end.saturating_add(len_u64(object.len()));
        if self.end > MAX_WAITING || self.gathered.objects.len() >= MAX_OBJECTS {
            return Err(ImportError::TooLong { most: MAX_WAITING });
        }
        self.writer.write_all(object).map_err(waiting)?;
        let object = WaitingObject {
            at: self.end.saturating_sub(len_u64(object.len())),
            len: object.len(),
            list: waiting_list,
            version,
            uid,
            is_definition,
        };
        if let Some(known) = known.and_then(|place| self.gathered.objects.get_mut(place)) {
            *known = object;
        } else {
            self.places.insert(name, self.gathered.objects.len());
            self.gathered.objects.push(object);
        }
        Ok(Ok(()))
    }

    /// Finishes; `outcome` is the result of the walk over the files. If the archive is damaged, the
    /// files before the damage are kept.
    pub(crate) fn finish(
        mut self,
        archive: &str,
        outcome: Result<SkippedEntries, ImportError>,
    ) -> Result<GatheredObjects, ImportError> {
        match outcome {
            Ok(skipped) => {
                self.gathered.files.skipped = skipped.links.saturating_add(skipped.special);
            }
            Err(ImportError::Unpack { source }) if source.is_damage() => {
                self.gathered.is_partial = true;
                let reason = BrokenReason::damage(&source);
                self.gathered.broken.push_in(archive, 0, reason);
            }
            Err(error) => return Err(error),
        }
        self.writer.flush().map_err(waiting)?;
        // Definitions come first, so that the names of their resources are not guessed.
        self.gathered
            .objects
            .sort_by_key(|object| !object.is_definition);
        Ok(self.gathered)
    }
}

/// Tells whether an object has a type, of its own or of its list.
fn has_type(object: &[u8], listed: ListType<'_>) -> bool {
    let own = DocumentShape::of(object).unwrap_or_default();
    let has = |own: &str, listed: &str| !own.is_empty() || !listed.is_empty();
    has(&own.api_version, listed.api_version) && has(&own.kind, listed.kind)
}

fn waiting(source: std::io::Error) -> ImportError {
    ImportError::Place {
        path: "a temporary file".into(),
        source,
    }
}

/// Returns the error of one file, unless it ends the import.
fn file_error<T>(error: ImportError) -> Result<Result<T, BrokenReason>, ImportError> {
    match error {
        // The outer archive is damaged.
        ImportError::Unpack {
            source: source @ UnpackError::DamagedArchive { .. },
        } => Err(source.into()),
        ImportError::Unpack { source } => Ok(Err(BrokenReason::Unreadable(source.to_string()))),
        ImportError::TooLong { most } => Ok(Err(BrokenReason::Unreadable(format!(
            "longer than {most} bytes"
        )))),
        error => Err(error),
    }
}

/// The content that the name of a file suggests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Objects,
    Log,
    Other,
}

impl FileKind {
    fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let plain = [".gz", ".xz", ".zst"]
            .iter()
            .find_map(|ending| path.strip_suffix(ending))
            .unwrap_or(&path);
        let is_one_of = |endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
        if is_one_of(&[".yaml", ".yml", ".json"]) {
            Self::Objects
        } else if is_one_of(&[".log", ".log.txt", "logs.txt"]) || plain.contains("/logs/") {
            Self::Log
        } else {
            Self::Other
        }
    }
}

impl GatheredObjects {
    /// Returns the number of objects.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Passes the objects on, with what the list of each declares: definitions first, then the others in their order.
    pub(crate) fn each(
        mut self,
        mut take: impl FnMut(&[u8], Option<ListType<'_>>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut body = Vec::new();
        for object in &self.objects {
            self.file
                .seek(SeekFrom::Start(object.at))
                .map_err(waiting)?;
            body.resize(object.len, 0);
            self.file.read_exact(&mut body).map_err(waiting)?;
            let listed = object.list.as_ref().map(|list| ListType {
                api_version: &list.api_version,
                kind: &list.kind,
            });
            take(&body, listed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(files: &[(&str, &str)]) -> GatheredObjects {
        let folder = tempfile::tempdir().expect("a folder");
        let mut gatherer = Gatherer::new(folder.path()).expect("a file");
        for (name, content) in files {
            let mut content = content.as_bytes();
            gatherer
                .take(&mut ArchiveFile {
                    name,
                    bytes: 0,
                    content: &mut content,
                })
                .expect("taken");
        }
        gatherer
            .finish("a.tar", Ok(SkippedEntries::default()))
            .expect("ended")
    }

    #[test]
    fn the_newest_copy_stays_definitions_come_first_and_logs_are_counted() {
        let gathered = gather(&[
            (
                "namespaces/a/core/pods.yaml",
                "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: p, namespace: a, resourceVersion: '7', creationTimestamp: '2021-07-31T10:00:00Z'}\n",
            ),
            (
                "namespaces/a/pods/p/p.yaml",
                "kind: Pod\napiVersion: v1\nmetadata: {name: p, namespace: a, resourceVersion: '9'}\n",
            ),
            (
                "crds/x.json",
                r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"x"}}"#,
            ),
            ("namespaces/a/pods/p/logs/current.log", "x"),
            ("namespaces/a/core/empty.yaml", "---\n"),
            ("version.json", r#"{"major":"1"}"#),
            ("broken.yaml", "a: [b\n"),
            ("inside/run", "redb\u{1a}\n and more"),
        ]);
        let files = gathered.files;
        assert_eq!(
            (files.with_objects, files.logs, files.others, files.copies),
            (3, 1, 4, 1)
        );
        assert_eq!(gathered.reels, ["inside/run"]);
        assert_eq!(gathered.broken.count, 1);
        assert!(gathered.is_converted && gathered.newest.is_some());
        let mut names = Vec::new();
        gathered
            .each(|object, _| {
                let head = ImportedHead::parse(object).expect("a head");
                names.push(format!("{} {}", head.name, head.resource_version));
                Ok(())
            })
            .expect("read");
        assert_eq!(names, ["x ", "p 9"]);
    }
}
