//! What leaves the screen: files in the working folder and texts for the clipboard. No file is overwritten.

use crate::answer::ScreenDocument;
use std::borrow::Cow;
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How many files of one name are kept apart by a number.
const MOST_NAMESAKES: u32 = 1_000;

/// Saves a document at a path within a folder, or in the folder that the path names; gives the path of the
/// file, or why it is not saved.
pub(crate) fn save(
    folder: &Path,
    wanted: &Path,
    document: &ScreenDocument,
) -> Result<String, String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let wanted = folder.join(expanded(wanted, home.as_deref()));
    let name = wanted.file_name().filter(|_| !wanted.is_dir());
    let (folder, name) = match (wanted.parent(), name) {
        (Some(folder), Some(name)) => (folder, name.to_string_lossy().into_owned()),
        _ => (wanted.as_path(), document.name.clone()),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".kubereel-")
        .tempfile_in(folder)
        // Its own words name the temporary file.
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{}: no such directory", shown(folder)),
            kind => format!("{}: {kind}", shown(folder)),
        })?;
    let written = file.write_all(&document.bytes);
    written
        .and_then(|()| file.as_file().sync_all())
        .map_err(|error| error.to_string())?;
    for number in 1..=MOST_NAMESAKES {
        let path = folder.join(numbered(&name, number));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(shown(&path)),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                file = error.file;
            }
            Err(error) => return Err(format!("{}: {}", error.error, shown(&path))),
        }
    }
    Err(format!("too many files named {name}"))
}

/// Puts the home folder in place of `~`, as a shell does.
fn expanded<'a>(path: &'a Path, home: Option<&Path>) -> Cow<'a, Path> {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => Cow::Owned(home.join(rest)),
        _ => Cow::Borrowed(path),
    }
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

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Puts a text on the clipboard.
pub(super) fn copy(text: &str, out: &mut impl io::Write) -> io::Result<()> {
    let is_within_tmux = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
    out.write_all(sent(text, is_within_tmux).as_bytes())?;
    out.flush()
}

/// Gives what is sent to the terminal.
fn sent(text: &str, is_within_tmux: bool) -> String {
    let plain = sequence(text);
    if !is_within_tmux {
        return plain;
    }
    let doubled = plain.replace('\u{1b}', "\u{1b}\u{1b}");
    format!("{plain}\u{1b}Ptmux;{doubled}\u{1b}\\")
}

fn sequence(text: &str) -> String {
    let mut all = "\u{1b}]52;c;".to_owned();
    for bytes in text.as_bytes().chunks(3) {
        let byte = |at: usize| bytes.get(at).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let letter = (bits >> (18 - 6 * place)) & 63;
            let letter = usize::try_from(letter).ok().and_then(|at| LETTERS.get(at));
            let shown = if place <= bytes.len() {
                letter.copied().map_or('=', char::from)
            } else {
                '='
            };
            all.push(shown);
        }
    }
    all.push('\u{7}');
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(bytes: &[u8]) -> ScreenDocument {
        ScreenDocument {
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
            let path = save(folder.path(), "".as_ref(), &document(bytes)).expect("room");
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
        let error = save(&gone, "x".as_ref(), &document(b"x")).expect_err("it is not there");
        assert_eq!(error, format!("{}: no such directory", gone.display()));
    }

    #[test]
    fn a_tilde_is_the_home_folder() {
        let of = |path: &'static str| {
            let path = expanded(Path::new(path), Some(Path::new("/home/ann")));
            path.display().to_string()
        };
        assert_eq!(of("~/notes/x.txt"), "/home/ann/notes/x.txt");
        assert_eq!(of("~"), "/home/ann/");
        assert_eq!(of("~bob/x"), "~bob/x");
        assert_eq!(of("a~/x"), "a~/x");
        assert_eq!(expanded(Path::new("~/x"), None), Path::new("~/x"));
    }

    #[test]
    fn a_file_is_saved_where_the_user_says() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("notes")).expect("room");
        for (wanted, name) in [
            ("why.txt", "why.txt"),
            ("notes", "notes/etcd-2026.yaml"),
            ("notes/own.md", "notes/own.md"),
        ] {
            let path = save(folder.path(), wanted.as_ref(), &document(b"x")).expect("room");
            assert_eq!(path, folder.path().join(name).display().to_string());
        }
        assert!(save(folder.path(), "no/such/x".as_ref(), &document(b"x")).is_err());
    }

    #[test]
    fn texts_are_sent_as_base64() {
        for (text, expected) in [
            ("", ""),
            ("M", "TQ=="),
            ("Ma", "TWE="),
            ("Man", "TWFu"),
            ("é", "w6k="),
        ] {
            assert_eq!(sent(text, false), format!("\u{1b}]52;c;{expected}\u{7}"));
        }
    }

    #[test]
    fn tmux_gets_it_for_itself_and_to_pass_on() {
        let own = "\u{1b}]52;c;TQ==\u{7}";
        let passed = "\u{1b}Ptmux;\u{1b}\u{1b}]52;c;TQ==\u{7}\u{1b}\\";
        assert_eq!(sent("M", true), format!("{own}{passed}"));
    }
}
