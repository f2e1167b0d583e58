//! The objects that manifests name, given with `-f` as to kubectl: files, folders of files, or stdin.

use crate::command_error::CommandError;
use crate::files;
use crate::words::Amount as _;
use kubereel_history::{MAX_MANIFEST, ManifestObject, manifest_objects};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The endings of files in a folder that are read, as kubectl does.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The manifests that a command line names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ManifestFiles<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// Whether directories are read with those below them.
    pub(crate) is_recursive: bool,
}

/// The deepest directory that is read.
const MOST_DEPTH: usize = 32;

/// Reads the objects that manifests name, each with the namespace in which it is looked for.
pub(crate) fn named_objects(
    given: ManifestFiles<'_>,
    namespace: Option<&str>,
) -> Result<Vec<ManifestObject>, CommandError> {
    let depth = if given.is_recursive { MOST_DEPTH } else { 0 };
    let mut objects = Vec::new();
    for given in given.paths {
        for path in files(given, depth)? {
            let bytes = bytes(&path)?;
            let read = manifest_objects(&bytes)
                .map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))?;
            for mut object in read {
                object.namespace = placed(namespace, &object)?;
                objects.push(object);
            }
        }
    }
    Ok(objects)
}

/// Gives the namespace of an object: that of its manifest, and -n must not say another.
fn placed(namespace: Option<&str>, object: &ManifestObject) -> Result<String, CommandError> {
    match namespace {
        Some(given) if !object.namespace.is_empty() && given != object.namespace => {
            let (own, name) = (&object.namespace, &object.name);
            let message =
                format!("the namespace of {name} is {own}, which does not match -n {given}");
            Err(CommandError::usage(message).hint(format!("use -n {own}, or omit -n")))
        }
        _ if object.namespace.is_empty() => Ok(namespace.unwrap_or("default").to_owned()),
        _ => Ok(object.namespace.clone()),
    }
}

/// Gives the files of a folder in their order, and of those below it to a depth, or the file itself.
fn files(given: &Path, depth: usize) -> Result<Vec<PathBuf>, CommandError> {
    if given.to_str().is_some_and(|text| text.contains("://")) {
        let message = format!("{}: URLs are not supported", given.display());
        return Err(CommandError::usage(message).hint("download it first"));
    }
    if !given.is_dir() {
        return Ok(vec![given.to_owned()]);
    }
    let mut files = Vec::new();
    add_files(given, depth, &mut files)?;
    files.sort();
    if files.is_empty() {
        let message = format!("{}: no manifest in this directory", given.display());
        return Err(CommandError::usage(message)
            .hint(format!("files ending in .{} are read", ENDINGS.join(", ."))));
    }
    Ok(files)
}

fn add_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let failed = |error: io::Error| files::cannot_read(&error, folder);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        // A link to a directory may lead back to one above it.
        if entry.file_type().map_err(failed)?.is_dir() {
            if let Some(depth) = depth.checked_sub(1) {
                add_files(&path, depth, files)?;
            }
        } else if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            files.push(path);
        }
    }
    Ok(())
}

fn bytes(path: &Path) -> Result<Vec<u8>, CommandError> {
    let most = MAX_MANIFEST.get().saturating_add(1);
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|error| files::cannot_read(&error, path))?;
    Ok(bytes)
}
