//! Owns the writing of files: whole or not at all, and never over another one. Refuses folders: a file
//! goes where the program was started.

use crate::answer::Document;
use std::io::Write as _;
use std::path::Path;

/// How many files may bear a name, told apart by a number.
const MOST_NAMESAKES: u32 = 1_000;

/// Saves a document in a folder; gives the path, or why it is not saved.
pub(crate) fn save(folder: &Path, document: &Document) -> Result<String, String> {
    let mut file = tempfile::Builder::new()
        .prefix(".kubereel-")
        .tempfile_in(folder)
        .map_err(|error| error.to_string())?;
    let written = file.write_all(&document.bytes);
    written
        .and_then(|()| file.as_file().sync_all())
        .map_err(|error| error.to_string())?;
    for number in 1..=MOST_NAMESAKES {
        let path = folder.join(numbered(&document.name, number));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(shown(&path)),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                file = error.file;
            }
            Err(error) => return Err(format!("{}: {}", error.error, shown(&path))),
        }
    }
    Err(format!("{} has too many namesakes", document.name))
}

/// Writes a path without the dot that stands for the folder one is in.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    path.display().to_string()
}

/// Puts a number before the end of a name, from the second file on.
fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, form))) => format!("{stem}-{number}.{form}"),
        (_, None) => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(bytes: &[u8]) -> Document {
        Document {
            name: "etcd-2026.yaml".to_owned(),
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn no_file_is_overwritten_and_none_is_left_half() {
        let folder = tempfile::tempdir().expect("a folder");
        for (bytes, name) in [
            (&b"one"[..], "etcd-2026.yaml"),
            (b"two", "etcd-2026-2.yaml"),
            (b"\xff\0", "etcd-2026-3.yaml"),
        ] {
            let path = save(folder.path(), &document(bytes)).expect("room");
            assert!(path.ends_with(name), "{path}");
        }
        let read = |name: &str| std::fs::read(folder.path().join(name)).expect("saved");
        assert_eq!(read("etcd-2026.yaml"), b"one");
        assert_eq!(read("etcd-2026-2.yaml"), b"two");
        assert_eq!(read("etcd-2026-3.yaml"), b"\xff\0");
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            3
        );
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = folder.path().join("gone");
        assert!(save(&gone, &document(b"x")).is_err());
    }
}
