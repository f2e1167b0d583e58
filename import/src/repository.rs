//! Git repositories as OpenShift's resource-watch writes them: one file an object, one commit an
//! event.
//!
//! The first parents of the commits are followed from the newest to the oldest. Files that a commit
//! adds, changes or removes are events at its time; the object of a removed file is that of the
//! commit before. Neither git nor a program that a repository names is run.

use crate::error::{BrokenReason, ImportError};
use crate::input::unread;
use crate::meter::CountedRead;
use gix_hash::{Kind, ObjectId};
use gix_object::{CommitRef, FindExt as _, TreeRefIter};
use kubereel_format::{EventType, RecordedAt};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// The largest object of a repository.
const MAX_OBJECT: usize = 256 << 20;

/// The largest number of commits.
const MAX_COMMITS: usize = 10_000_000;

/// The deepest nesting of folders.
const MAX_DEPTH: usize = 32;

/// The longest line of a bundle's or a repository's own text.
const MAX_LINE: u64 = 4096;

/// The longest list of references.
const MAX_REFERENCES: u64 = 64 << 20;

/// A repository.
pub(crate) struct Repository {
    objects: gix_odb::Handle,
    head: ObjectId,
    /// The folder of a bundle's unpacked objects.
    _folder: Option<TempDir>,
}

/// The name of a repository's folder beside its files.
const GIT_FOLDER: &str = ".git";

/// The files of a repository that is inside of an archive, in a folder of their own while they are needed.
pub(crate) struct RepositoryFiles {
    folder: TempDir,
    /// The folder of the archive that the repository is in, with a slash; empty for the archive itself.
    root: String,
}

impl RepositoryFiles {
    /// Takes the name of a file apart, if it is one of a repository: the folder that the repository is in, and the name
    /// within `.git`.
    pub(crate) fn part_of(name: &str) -> Option<(&str, &str)> {
        let mut from = 0;
        for step in name.split_inclusive('/') {
            let end = from + step.len();
            if step.strip_suffix('/') == Some(GIT_FOLDER) {
                return Some((name.get(..from)?, name.get(end..)?));
            }
            from = end;
        }
        None
    }

    /// Begins with the repository in a folder of the archive.
    pub(crate) fn begin(root: &str, beside: &Path) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Place {
            path: beside.to_owned(),
            source,
        };
        Ok(Self {
            folder: TempDir::with_prefix_in(".import", beside).map_err(failed)?,
            root: root.to_owned(),
        })
    }

    /// Returns the folder that the repository is in.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Keeps a file, if it is one that is read: its name is one that git gives, and leads nowhere else.
    pub(crate) fn keep(&self, part: &str, content: &mut dyn Read) -> Result<(), ImportError> {
        if !is_read(part) {
            return Ok(());
        }
        let path = self.folder.path().join(part);
        let failed = |source| ImportError::Place {
            path: "a temporary folder".into(),
            source,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file = std::fs::File::create(&path).map_err(failed)?;
        io::copy(content, &mut file).map_err(unread)?;
        Ok(())
    }

    /// Opens the repository.
    pub(crate) fn open(self) -> Result<Repository, ImportError> {
        let repository = Repository::open(self.folder.path())?;
        Ok(Repository {
            _folder: Some(self.folder),
            ..repository
        })
    }
}

/// Returns whether a file of `.git` holds objects or names commits. Other files, such as hooks and the places of other
/// repositories' objects, are never read.
fn is_read(part: &str) -> bool {
    let is_plain = |step: &str| {
        let mut letters = step.bytes();
        !step.is_empty()
            && !step.starts_with('.')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter))
    };
    let steps: Vec<&str> = part.split('/').collect();
    steps.iter().all(|step| is_plain(step))
        && match steps.as_slice() {
            ["HEAD" | "packed-refs"] => true,
            ["objects", "pack", pack] => {
                let form = pack.rsplit_once('.').map(|(_, form)| form);
                matches!(form, Some("pack" | "idx"))
            }
            ["objects", short, rest] => (short.len(), rest.len()) == (2, 38),
            ["refs", "heads", ..] => steps.len() > 2,
            _ => false,
        }
}

/// The change of a file in a commit.
pub(crate) struct FileChange {
    pub(crate) at: RecordedAt,
    /// The file.
    pub(crate) path: String,
    /// The commit and the file, for broken parts.
    pub(crate) place: String,
    pub(crate) kind: EventType,
    pub(crate) content: Vec<u8>,
}

/// An item of `Repository::each`.
pub(crate) enum RepositoryStep {
    Change(FileChange),
    /// A part that cannot be read: its place and the cause.
    Broken(String, BrokenReason),
}

fn damaged(place: impl Into<String>, cause: impl std::fmt::Display) -> ImportError {
    ImportError::Damaged {
        place: place.into(),
        cause: cause.to_string(),
    }
}

/// Returns an error with its sources: the first alone says that something failed, and not what.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        // Some errors repeat their source.
        if !words.ends_with(&cause) {
            words = format!("{words}: {cause}");
        }
        source = error.source();
    }
    words
}

impl Repository {
    /// Returns whether a folder is a repository, bare or not.
    pub(crate) fn is_one(folder: &Path) -> bool {
        git_folder(folder).is_some()
    }

    /// Opens the repository of a folder.
    pub(crate) fn open(folder: &Path) -> Result<Self, ImportError> {
        let git = git_folder(folder).unwrap_or_else(|| folder.to_owned());
        let head = read_head(&git)?;
        let objects = open_objects(&git.join("objects"))?;
        Ok(Self {
            objects,
            head,
            _folder: None,
        })
    }

    /// Opens a bundle; its objects are unpacked into a folder beside the reel while they are
    /// needed.
    pub(crate) fn open_bundle(input: impl BufRead, beside: &Path) -> Result<Self, ImportError> {
        let place = Rc::new(Cell::new(0));
        let mut input = CountedRead {
            inner: input,
            read: Rc::clone(&place),
        };
        let head = read_bundle_head(&mut input)?;
        let failed = |source| ImportError::Place {
            path: beside.to_owned(),
            source,
        };
        let folder = TempDir::with_prefix_in(".import", beside).map_err(failed)?;
        let objects = folder.path().join("objects");
        let packs = objects.join("pack");
        std::fs::create_dir_all(&packs).map_err(failed)?;
        let options = gix_pack::bundle::write::Options {
            thread_limit: Some(1),
            alloc_limit_bytes: Some(MAX_OBJECT),
            ..gix_pack::bundle::write::Options::default()
        };
        gix_pack::Bundle::write_to_directory(
            &mut input,
            Some(&packs),
            &mut gix_utils::progress::Discard,
            &AtomicBool::new(false),
            None::<gix_odb::Handle>,
            Kind::Sha1,
            options,
        )
        .map_err(|error| {
            let cause = format!("before byte {}: {}", place.get(), with_sources(&error));
            damaged("the pack of the git bundle", cause)
        })?;
        Ok(Self {
            objects: open_objects(&objects)?,
            head,
            _folder: Some(folder),
        })
    }

    /// Passes on the changes of the commits, the oldest first.
    pub(crate) fn each(
        &self,
        mut take: impl FnMut(RepositoryStep) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut tree = None;
        for commit in self.commits(&mut take)?.into_iter().rev() {
            let mut changes = Vec::new();
            if let Err((place, cause)) =
                self.changes(tree, Some(commit.tree), "", MAX_DEPTH, &mut changes)
            {
                let place = format!("commit {}, {place}", commit.id.to_hex_with_len(12));
                take(RepositoryStep::Broken(
                    place,
                    BrokenReason::Unreadable(cause),
                ))?;
                // The next commit is compared with the tree of this one.
                tree = Some(commit.tree);
                continue;
            }
            tree = Some(commit.tree);
            for (path, kind, blob) in changes {
                let mut content = Vec::new();
                let place = format!("commit {}, {path}", commit.id.to_hex_with_len(12));
                let step = match self.objects.find_blob(&blob, &mut content) {
                    Ok(_) => RepositoryStep::Change(FileChange {
                        at: commit.at,
                        path,
                        place,
                        kind,
                        content,
                    }),
                    Err(error) => {
                        RepositoryStep::Broken(place, BrokenReason::Unreadable(error.to_string()))
                    }
                };
                take(step)?;
            }
        }
        Ok(())
    }

    /// Lists the commits, the newest first. A shallow history begins with its oldest commit.
    fn commits(
        &self,
        take: &mut impl FnMut(RepositoryStep) -> Result<(), ImportError>,
    ) -> Result<Vec<WatchCommit>, ImportError> {
        let mut commits: Vec<WatchCommit> = Vec::new();
        let mut next = Some(self.head);
        let mut buffer = Vec::new();
        while let Some(id) = next {
            let found = self.objects.find_commit(&id, &mut buffer);
            let read = found
                .map_err(|error| error.to_string())
                .and_then(|commit| read_commit(id, &commit));
            match read {
                Ok((commit, parent)) => {
                    commits.push(commit);
                    next = parent;
                }
                Err(cause) if commits.is_empty() => {
                    return Err(damaged(format!("commit {}", id.to_hex_with_len(12)), cause));
                }
                Err(cause) => {
                    let place = format!("commit {}", id.to_hex_with_len(12));
                    let reason =
                        BrokenReason::Cut(format!("the commits before it are missing: {cause}"));
                    take(RepositoryStep::Broken(place, reason))?;
                    next = None;
                }
            }
            if commits.len() > MAX_COMMITS {
                return Err(ImportError::TooManyCommits { most: MAX_COMMITS });
            }
        }
        Ok(commits)
    }

    /// Compares two trees. Equal subtrees have equal ids, so only changes are read.
    fn changes(
        &self,
        before: Option<ObjectId>,
        after: Option<ObjectId>,
        path: &str,
        depth: usize,
        changes: &mut Vec<(String, EventType, ObjectId)>,
    ) -> Result<(), (String, String)> {
        if before == after {
            return Ok(());
        }
        if depth == 0 {
            return Err((
                path.to_owned(),
                format!("more than {MAX_DEPTH} folders deep"),
            ));
        }
        let before = self.entries(before, path)?;
        let after = self.entries(after, path)?;
        let names: std::collections::BTreeSet<&Vec<u8>> =
            before.keys().chain(after.keys()).collect();
        for name in names {
            let (old, new) = (before.get(name), after.get(name));
            if old == new {
                continue;
            }
            let path = format!("{path}{}", String::from_utf8_lossy(name));
            let of_kind = |entry: Option<&TreeFile>, is_tree: bool| {
                entry
                    .filter(|entry| entry.is_tree == is_tree)
                    .map(|entry| entry.id)
            };
            self.changes(
                of_kind(old, true),
                of_kind(new, true),
                &format!("{path}/"),
                depth - 1,
                changes,
            )?;
            match (of_kind(old, false), of_kind(new, false)) {
                (None, Some(blob)) => changes.push((path, EventType::Added, blob)),
                (Some(blob), None) => changes.push((path, EventType::Deleted, blob)),
                (Some(old), Some(blob)) if old != blob => {
                    changes.push((path, EventType::Modified, blob));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the folders and files of a tree; links and submodules are skipped.
    fn entries(
        &self,
        tree: Option<ObjectId>,
        path: &str,
    ) -> Result<BTreeMap<Vec<u8>, TreeFile>, (String, String)> {
        let mut entries = BTreeMap::new();
        let Some(tree) = tree else {
            return Ok(entries);
        };
        let mut buffer = Vec::new();
        let data = self
            .objects
            .find(&tree, &mut buffer)
            .map_err(|error| (path.to_owned(), error.to_string()))?;
        for entry in TreeRefIter::from_bytes(data.data, Kind::Sha1) {
            let entry = entry.map_err(|error| (path.to_owned(), error.to_string()))?;
            if entry.mode.is_tree() || entry.mode.is_blob() {
                let file = TreeFile {
                    id: entry.oid.to_owned(),
                    is_tree: entry.mode.is_tree(),
                };
                entries.insert(entry.filename.to_vec(), file);
            }
        }
        Ok(entries)
    }
}

/// A file or a folder of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TreeFile {
    id: ObjectId,
    is_tree: bool,
}

/// A commit of an event.
struct WatchCommit {
    id: ObjectId,
    at: RecordedAt,
    tree: ObjectId,
}

fn read_commit(
    id: ObjectId,
    commit: &CommitRef<'_>,
) -> Result<(WatchCommit, Option<ObjectId>), String> {
    let time = commit.time().map_err(|error| error.to_string())?;
    let micros = time.seconds.checked_mul(1_000_000);
    let micros = micros.filter(|micros| jiff::Timestamp::from_microsecond(*micros).is_ok());
    let micros = micros.ok_or_else(|| format!("the time {} is not one", time.seconds))?;
    let commit_of = WatchCommit {
        id,
        at: RecordedAt::from_micros(micros),
        tree: commit.tree(),
    };
    Ok((commit_of, commit.parents().next()))
}

fn open_objects(folder: &Path) -> Result<gix_odb::Handle, ImportError> {
    let options = gix_odb::store::init::Options {
        alloc_limit_bytes: Some(MAX_OBJECT),
        ..gix_odb::store::init::Options::default()
    };
    gix_odb::at_opts(folder.to_owned(), Kind::Sha1, None, options)
        .map_err(|error| damaged("the objects of the git repository", error))
}

fn git_folder(folder: &Path) -> Option<std::path::PathBuf> {
    [folder.join(".git"), folder.to_owned()]
        .into_iter()
        .find(|git| git.join("HEAD").is_file() && git.join("objects").is_dir())
}

fn read_bounded(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?
        .take(most)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// Finds the newest commit of a repository.
fn read_head(git: &Path) -> Result<ObjectId, ImportError> {
    let place = "HEAD of the git repository";
    let head = read_bounded(&git.join("HEAD"), MAX_LINE).map_err(|error| damaged(place, error))?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else {
        return parse_id(head).ok_or_else(|| damaged(place, "it is not a commit"));
    };
    let is_name = name.starts_with("refs/") && !name.contains("..") && !name.contains('\\');
    if !is_name {
        return Err(damaged(place, "it names no branch"));
    }
    if let Ok(text) = read_bounded(&git.join(name), MAX_LINE)
        && let Some(id) = parse_id(text.trim())
    {
        return Ok(id);
    }
    let packed = read_bounded(&git.join("packed-refs"), MAX_REFERENCES).unwrap_or_default();
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, one)| *one == name)
        .and_then(|(id, _)| parse_id(id))
        .ok_or_else(|| damaged(place, format!("the branch {name} has no commits")))
}

fn parse_id(hex: &str) -> Option<ObjectId> {
    ObjectId::from_hex(hex.as_bytes()).ok()
}

/// Reads the header of a bundle, and finds its newest commit.
fn read_bundle_head(input: &mut impl BufRead) -> Result<ObjectId, ImportError> {
    let place = "the head of the git bundle";
    let mut references: Vec<(String, ObjectId)> = Vec::new();
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        read.map_err(|error| damaged(place, error))?;
        if line.pop() != Some(b'\n') {
            return Err(damaged(place, "it is cut off"));
        }
        let line = String::from_utf8_lossy(&line);
        if std::mem::take(&mut is_first) {
            continue;
        }
        if line.is_empty() {
            break;
        }
        if line.starts_with('-') {
            return Err(ImportError::Unsupported {
                what: "a git bundle that builds on commits outside of it",
                instead: "make it whole: git bundle create FILE --all",
            });
        }
        if let Some(capability) = line.strip_prefix('@') {
            if capability != "object-format=sha1" {
                return Err(damaged(
                    place,
                    format!("the capability {capability:?} is not supported"),
                ));
            }
            continue;
        }
        let reference = line
            .split_once(' ')
            .and_then(|(id, name)| Some((name.to_owned(), parse_id(id)?)));
        references.push(reference.ok_or_else(|| damaged(place, "a line names no commit"))?);
        if references.len() > 100_000 {
            return Err(damaged(place, "it names too many branches"));
        }
    }
    let named = |name: &str| references.iter().find(|(one, _)| one == name);
    let branches = || {
        references
            .iter()
            .filter(|(name, _)| name.starts_with("refs/heads/"))
    };
    named("HEAD")
        .or_else(|| named("refs/heads/main"))
        .or_else(|| named("refs/heads/master"))
        .or_else(|| branches().next())
        .map(|(_, id)| *id)
        .ok_or_else(|| damaged(place, "it has no branch"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_git_names_are_kept_of_a_repository_in_an_archive() {
        for (name, parts) in [
            (".git/HEAD", Some(("", "HEAD"))),
            ("./.git/HEAD", Some(("./", "HEAD"))),
            ("a/b/.git/refs/heads/x/y", Some(("a/b/", "refs/heads/x/y"))),
            ("a/.gitignore", None),
            ("a.git/HEAD", None),
            ("a/.git", None),
        ] {
            assert_eq!(RepositoryFiles::part_of(name), parts, "{name}");
        }
        let object = format!("objects/ab/{}", "0".repeat(38));
        for part in [
            "HEAD",
            "packed-refs",
            "refs/heads/main",
            "objects/pack/pack-1.idx",
            &object,
        ] {
            assert!(is_read(part), "{part}");
        }
        for part in [
            "",
            "config",
            "hooks/post-commit",
            "objects/info/alternates",
            "objects/pack/../../../x.pack",
            "refs/heads/../../x",
            "refs/heads/",
            "refs/heads",
            "objects/ab/\0",
            "/HEAD",
        ] {
            assert!(!is_read(part), "{part}");
        }
    }

    #[test]
    fn a_bundle_names_its_newest_commit_and_must_be_whole() {
        let id = "5bf88ace64203adacc7fd3c73f382e4fd1d7d479";
        let head = |text: String| {
            read_bundle_head(&mut text.as_bytes()).map_err(|error| error.to_string())
        };
        let found =
            head(format!("# v2 git bundle\n{id} refs/heads/master\n\nPACK")).expect("a commit");
        assert_eq!(found.to_string(), id);
        for (text, words) in [
            (
                format!("# v2 git bundle\n-{id} old\n\n"),
                "builds on commits outside of it",
            ),
            (format!("# v2 git bundle\n{id}"), "it is cut off"),
            (
                format!("# v3 git bundle\n@filter=blob:none\n{id} HEAD\n\n"),
                "not supported",
            ),
            (
                format!("# v2 git bundle\n{id} refs/tags/a\n\n"),
                "it has no branch",
            ),
        ] {
            let error = head(text).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
    }
}
