//! The files that users name: reels that are opened, wherever they lie inside of them, small files that are read whole, files that are written.
//! A command never writes over its own input, and over another file only with `--force`.

pub(crate) mod encrypted;
mod output;

use crate::command_error::{CommandError, Exit};
use crate::progress::ProgressReporter;
use crate::{arguments, default_reel, shell_words, words};
use encrypted::DecryptedFile;
use kubereel_fetch::{
    FetchClient, FetchError, FetchOptions, FetchProgress, FetchedFile, ReelAddress, WantedFile,
};
use kubereel_format::{OpenError, Reel, copy_in_use, harmless, is_in_use};
use kubereel_history::{FollowError, ReelFollower, Timeline, nearest};
use kubereel_unpack::{CompressionForm, LocateError, LocatedReel, ReelCache, UnpackError};
pub(crate) use output::OutputFile;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write as _};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempPath;

/// The variable that limits the bytes of a download, and the limit without it.
pub(crate) const DOWNLOAD_LIMIT: &str = "KUBEREEL_MAX_DOWNLOAD";
const DOWNLOADED_BYTES: u64 = 4_000_000_000;

/// How long a download waits after a try without progress.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// The most bytes of a reel that is decompressed.
const DECOMPRESSED_BYTES: u64 = 16 << 30;

/// The most bytes of decompressed reels that are kept.
const CACHE_BYTES: u64 = 4 << 30;

/// How many reels of a folder or an archive an error names.
const NAMED: usize = 10;

/// A reel that can be opened, and what has to stay meanwhile.
pub(crate) struct LocalReel {
    located: LocatedReel,
    /// A file that is only there as long as this value.
    _download: Option<FetchedFile>,
    /// The same for its decrypted content.
    decrypted: Option<TempPath>,
    copy: Option<TempPath>,
    /// What is wrong with the encrypted or compressed file that it was taken from.
    damage: Option<String>,
}

impl LocalReel {
    /// Gives the file of the reel.
    pub(crate) fn path(&self) -> &Path {
        self.copy.as_deref().unwrap_or(self.located.path())
    }

    /// Gives what is wrong with the file that it was taken from.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Tells whether it is a copy of a reel that is being recorded.
    pub(crate) const fn is_growing(&self) -> bool {
        self.copy.is_some()
    }

    /// Gives the permissions of a file that is made of the reel: nobody can read it who could not read the reel.
    #[cfg(unix)]
    fn mode(&self, named: &Path) -> u32 {
        if self.decrypted.is_some() {
            return 0o600;
        }
        let source = fs::metadata(named_path(named, self.path()));
        let source = source.ok().filter(Metadata::is_file);
        source.map_or(0o666, |source| source.mode() & 0o666 | 0o600)
    }

    /// Gives the file beside the reel that holds its signature; `None` where there is nothing beside it. Compression
    /// changes nothing of a recording, so that its ending falls off.
    pub(crate) fn signature_path(&self, named: &Path) -> Option<PathBuf> {
        if address_of(named).is_some() {
            return None;
        }
        let named = named_path(named, self.path());
        let mut bare = named.clone();
        while bare.extension().is_some_and(is_wrapping) {
            bare.set_extension("");
        }
        let is_reel = bare.extension().is_some_and(|ending| ending == "reel");
        let mut path = if is_reel { bare } else { named }.into_os_string();
        path.push(".sig");
        Some(path.into())
    }
}

/// Tells whether an ending is that of a compressed or an encrypted file.
fn is_wrapping(ending: &OsStr) -> bool {
    ["gz", "zst", "xz", "age"].iter().any(|one| ending == *one)
}

/// Opens a reel for questions: a file, the one inside of a compressed file, an archive or a folder, or the one at an
/// address.
pub(crate) fn open_reel(path: &Path) -> Result<Timeline, CommandError> {
    open_located(path, &locate_reel(path)?)
}

/// Opens the reel that a path was found to mean.
pub(crate) fn open_located(path: &Path, local: &LocalReel) -> Result<Timeline, CommandError> {
    arguments::name_reel(named_path(path, local.path()));
    // An open file stays readable where its temporary name is taken away.
    let reel = Reel::open(local.path()).map_err(|error| explain_opening(&error, path, local))?;
    Ok(Timeline::new(match &local.damage {
        Some(damage) => reel.taken_from_damaged(damage.clone()),
        None => reel,
    }))
}

/// Makes the error of the reel that a path means.
fn explain_opening(error: &OpenError, path: &Path, local: &LocalReel) -> CommandError {
    let mut failed = explain_open(error);
    if local.decrypted.is_some() {
        failed = failed.hint(format!("it was decrypted from {}", shown(path)));
    }
    match address_of(path) {
        Some(_) => failed.hint(format!("it was downloaded from {}", shown(path))),
        None => failed,
    }
}

/// Begins to follow the reel that a path means.
pub(crate) fn follow_reel(path: &Path) -> Result<FollowableReel, CommandError> {
    let local = find_reel(path)?;
    arguments::name_reel(named_path(path, local.path()));
    let copies = copy_folder();
    let follower = ReelFollower::new(local.path(), &copies).of_damaged(local.damage.clone());
    Ok(FollowableReel {
        follower,
        named: path.to_owned(),
        copies,
        local,
    })
}

/// A reel that is followed, and what has to stay meanwhile.
pub(crate) struct FollowableReel {
    pub(crate) follower: ReelFollower,
    named: PathBuf,
    copies: PathBuf,
    local: LocalReel,
}

impl FollowableReel {
    /// Makes the error of a reel that cannot be followed any longer.
    pub(crate) fn explain(&self, error: &FollowError) -> CommandError {
        match error {
            FollowError::Open(OpenError::Io { path, source }) if *path == self.copies => {
                let path = path.display();
                let message =
                    format!("{path}: cannot copy the reel that is being recorded: {source}");
                CommandError::io(message).hint(
                    "a copy is as large as the reel; to choose its folder: XDG_CACHE_HOME=FOLDER",
                )
            }
            FollowError::Open(error) => explain_opening(error, &self.named, &self.local),
            _ => CommandError::reel(error),
        }
    }
}

/// Gives the path beside which the bookmarks of a reel lie: a reel in a folder is a file of its own, any other is what
/// the user names.
pub(crate) fn named_path(named: &Path, file: &Path) -> PathBuf {
    if file.starts_with(named) {
        file.to_owned()
    } else {
        public_path(named)
    }
}

/// Finds the reel that a path means. One at an address is downloaded, one that is compressed is decompressed, one that
/// is being recorded is copied.
pub(crate) fn locate_reel(path: &Path) -> Result<LocalReel, CommandError> {
    let mut local = find_reel(path)?;
    local.copy = is_in_use(local.located.path())
        .then(|| copy_of(local.located.path()))
        .transpose()?;
    Ok(local)
}

/// Finds the reel that a path means, as it lies there.
pub(crate) fn find_reel(path: &Path) -> Result<LocalReel, CommandError> {
    let download = address_of(path)
        .map(|word| download(word, WantedFile::Reel))
        .transpose()?;
    let file = download.as_ref().map_or(path, FetchedFile::path);
    let decrypted = encrypted::decrypted(file)?;
    let located = match &decrypted {
        // No cache keeps what was encrypted.
        Some(decrypted) => unpack(&decrypted.file, None),
        None => unpack(file, reel_folder()),
    };
    // The user knows neither the file of the download nor that of the decryption.
    let is_other_file = download.is_some() || decrypted.is_some();
    let named = |error: LocateError| {
        if is_other_file {
            error.named(&public_path(path))
        } else {
            error
        }
    };
    let located = located.map_err(|error| explain_locate(&named(error)))?;
    let (decrypted, cut) = match decrypted {
        Some(DecryptedFile { file, damage }) => (Some(file), damage),
        None => (None, None),
    };
    let damage = cut.or_else(|| located.damage().map(ToString::to_string));
    if let Some(damage) = &damage {
        note_damage(damage, path);
    }
    Ok(LocalReel {
        located,
        _download: download,
        decrypted,
        copy: None,
        damage,
    })
}

/// Says that a file is damaged of which all is used that can be read.
pub(crate) fn note_damage(damage: &str, path: &Path) {
    let note = format!("note: {}: {damage}", shown(path));
    // A closed stderr leaves no place for a note.
    drop(writeln!(io::stderr().lock(), "{}", harmless(&note)));
}

fn unpack(path: &Path, folder: Option<PathBuf>) -> Result<LocatedReel, LocateError> {
    let cache = ReelCache {
        folder,
        reel_bytes: DECOMPRESSED_BYTES,
        all_bytes: CACHE_BYTES,
    };
    let is_terminal = io::stderr().is_terminal();
    let mut progress = ProgressReporter::begin("decompressing, bytes", 0_u64, is_terminal);
    kubereel_unpack::locate(path, &cache, |done| progress.reached(done))
}

/// Copies a reel that is being recorded, and says so.
fn copy_of(path: &Path) -> Result<TempPath, CommandError> {
    let mut name = tempfile::Builder::new();
    name.prefix("copy-").suffix(".reel");
    let copy = name
        .tempfile_in(copy_folder())
        .map_err(|error| CommandError::io(format!("cannot make a temporary file: {error}")))?
        .into_temp_path();
    copy_in_use(path, &copy).map_err(|error| explain_open(&error))?;
    let note = format!(
        "note: {} is being recorded: this is a copy of it as it is now",
        path.display()
    );
    // A closed stderr leaves no place for a note.
    drop(writeln!(io::stderr().lock(), "{}", harmless(&note)));
    Ok(copy)
}

/// Gives the word of a path that is an address.
fn address_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|word| ReelAddress::is_address(word))
}

/// Writes how a path may be shown: an address has neither its credentials nor its query.
pub(crate) fn shown(path: &Path) -> String {
    match address_of(path).map(ReelAddress::parse) {
        Some(Ok(address)) => address.to_string(),
        Some(Err(error)) => error.to_string(),
        None => path.display().to_string(),
    }
}

/// Tells whether a word is an address.
pub(crate) fn is_address(word: &str) -> bool {
    ReelAddress::is_address(word)
}

/// Gives a path, of an address only what may be shown.
pub(crate) fn public_path(path: &Path) -> PathBuf {
    match address_of(path) {
        Some(_) => shown(path).into(),
        None => path.to_owned(),
    }
}

/// Downloads the file at an address; `None` if the word is a path.
pub(crate) fn download_file(path: &Path) -> Option<Result<FetchedFile, CommandError>> {
    Some(download(address_of(path)?, WantedFile::Any))
}

/// Downloads and opens the file at an address; `None` if the word is a path.
pub(crate) fn open_download(path: &Path) -> Option<Result<File, CommandError>> {
    let opened = download_file(path)?.and_then(|fetched| {
        // An open file stays readable where its temporary name is taken away.
        File::open(fetched.path()).map_err(|error| cannot_read_input(&error, fetched.path()))
    });
    Some(opened)
}

/// Downloads what an address means, with progress.
fn download(word: &str, wanted: WantedFile) -> Result<FetchedFile, CommandError> {
    let failed = |error: FetchError| match (&error, wanted) {
        // What a folder has to hold is said where a reel is looked for.
        (FetchError::NotFound { .. }, WantedFile::Any) => {
            CommandError::reel(error).hint("give the address of the file itself")
        }
        _ => explain_fetch(&error, word),
    };
    let address = ReelAddress::parse(word).map_err(failed)?;
    let client = FetchClient::new(|name| std::env::var(name).ok()).map_err(failed)?;
    let most_bytes = match std::env::var(DOWNLOAD_LIMIT) {
        Ok(text) if !text.is_empty() => arguments::read_bytes(&text)
            .map_err(|why| CommandError::usage(format!("${DOWNLOAD_LIMIT}: {why}")))?
            .unwrap_or(u64::MAX),
        _ => DOWNLOADED_BYTES,
    };
    let options = FetchOptions {
        folder: cache_folder().map(|folder| folder.join("downloads")),
        most_bytes,
        retry_wait: RETRY_WAIT,
        wanted,
    };
    let is_terminal = io::stderr().is_terminal();
    let mut listing = None;
    let mut bytes = None;
    let fetched = kubereel_fetch::fetch(&client, &address, &options, |progress| match progress {
        FetchProgress::Downloaded { done, total } => {
            listing = None;
            let total = total.unwrap_or(0);
            let begin = || ProgressReporter::begin("downloading, bytes", total, is_terminal);
            bytes.get_or_insert_with(begin).reached(done);
        }
        FetchProgress::Listed(files) => {
            let begin = || ProgressReporter::begin("listing, objects", 0_u64, is_terminal);
            let listing: &mut ProgressReporter = listing.get_or_insert_with(begin);
            listing.reached(files);
        }
        _ => {}
    });
    drop((listing, bytes));
    let fetched = fetched.map_err(failed)?;
    kubereel_unpack::forget_oldest(fetched.path(), CACHE_BYTES);
    Ok(fetched)
}

/// Makes the error of an address, with a hint.
fn explain_fetch(error: &FetchError, word: &str) -> CommandError {
    match error {
        FetchError::Address { .. } => CommandError::usage(error)
            .hint("expected https://HOST/PATH, gs://BUCKET/PATH or the address of a Prow job"),
        FetchError::Proxy { .. } => CommandError::usage(error),
        FetchError::Several { reels, .. } => one_of(CommandError::usage(error), reels, |reel| {
            again_with(word, reel)
        }),
        FetchError::NoReel { .. } | FetchError::NotFound { .. } => CommandError::reel(error).hint(
            "give the address of the file, or of a folder of gs:// that has one named *.reel",
        ),
        FetchError::WebPage { .. } => {
            CommandError::reel(error).hint("give the address of the file itself")
        }
        FetchError::TooLarge { .. } => CommandError::io(error).hint(format!(
            "to allow more: {DOWNLOAD_LIMIT}=16GB, or none for no limit"
        )),
        FetchError::Status {
            status: 401 | 403, ..
        } => CommandError::io(error).hint("download it with a login, and open the file"),
        // Another scheme, such as file:, is not accepted as an address.
        FetchError::OtherScheme { to, .. } if ReelAddress::is_address(to) => {
            CommandError::io(error)
                .hint(format!("if that is what you mean, give this address: {to}"))
        }
        FetchError::Cut { .. } => {
            CommandError::io(error).hint("the same command continues the download")
        }
        _ => CommandError::io(error),
    }
}

/// Adds the available choices.
fn one_of(
    mut failed: CommandError,
    reels: &[String],
    choice: impl Fn(&str) -> String,
) -> CommandError {
    for reel in reels.iter().take(NAMED) {
        failed = failed.hint(choice(reel));
    }
    if reels.len() > NAMED {
        failed = failed.hint(format!("and {} more", reels.len() - NAMED));
    }
    failed
}

/// Writes this process's command line with another reel.
fn again_with(given: &str, reel: &str) -> String {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    match words.iter_mut().skip(1).find(|word| **word == given) {
        Some(word) => {
            *word = reel.into();
            format!("choose one: {}", shell_words::shell_line(&words))
        }
        None => format!("choose one: {reel}"),
    }
}

/// Finds a folder for copies of reels that are being recorded. A temporary folder is often memory.
pub(crate) fn copy_folder() -> PathBuf {
    let in_cache = reel_folder().filter(|folder| {
        fs::create_dir_all(folder).is_ok() && tempfile::tempfile_in(folder).is_ok()
    });
    in_cache.unwrap_or_else(tempfile::env::temp_dir)
}

/// Finds the folder of reels that were decompressed or copied.
fn reel_folder() -> Option<PathBuf> {
    cache_folder().map(|folder| folder.join("reels"))
}

/// Finds the user's folder for what can be made again.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let folder = std::env::var_os(name).map(PathBuf::from);
        // A folder that depends on where one stands would be another one each time.
        folder.filter(|folder| folder.is_absolute())
    };
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("kubereel"))
}

/// Writes the command that takes a reel out of an archive.
fn extracting(archive: &Path, reel: &str) -> String {
    if let Some(address) = address_of(archive) {
        return format!("download {address} and extract one of them: {reel}");
    }
    let is_zip = archive.extension().is_some_and(|ending| ending == "zip");
    let program = if is_zip { "unzip" } else { "tar -xf" };
    let word = |word: &OsStr| shell_words::shell_word(word);
    let (archive, reel) = (word(archive.as_os_str()), word(OsStr::new(reel)));
    format!("extract one: {program} {archive} {reel}")
}

/// Names the program that decompresses data which needs more memory than this one gives.
pub(crate) const fn decompressor(form: CompressionForm) -> &'static str {
    match form {
        CompressionForm::Zstd => "zstd -dc --long=31",
        CompressionForm::Xz => "xz -dc",
        _ => "gzip -dc",
    }
}

fn explain_locate(error: &LocateError) -> CommandError {
    match error {
        LocateError::Several {
            path,
            reels,
            are_files,
            ..
        } => {
            one_of(CommandError::usage(error), reels, |reel| {
                if *are_files {
                    again_with(&path.to_string_lossy(), reel)
                } else {
                    extracting(path, reel)
                }
            })
        }
        LocateError::None { path, .. } => CommandError::reel(error).hint(format!(
            "to convert a must-gather, lists of objects or other recordings: kubereel import {} -o NEW.reel",
            shell_words::shell_word(path.as_os_str())
        )),
        LocateError::Unpack { path, source: UnpackError::UnsupportedZip { .. } } => {
            let path = shell_words::shell_word(path.as_os_str());
            CommandError::reel(error).hint(format!("extract it with a program that supports it: unzip {path}"))
        }
        LocateError::Unpack { source, .. } if source.is_damage() => {
            CommandError::reel(error).hint("the rest of the file is missing or damaged: copy or download it again")
        }
        LocateError::Unpack { path, source: UnpackError::TooMuchMemory { form, .. } } => {
            let path = shell_words::shell_word(path.as_os_str());
            let program = decompressor(*form);
            CommandError::reel(error).hint(format!("decompress it first: {program} {path} >NEW.reel"))
        }
        LocateError::Unpack { .. } => CommandError::reel(error),
        _ => CommandError::io(error),
    }
}

/// Makes the error of a reel that does not open, with a hint.
pub(crate) fn explain_open(error: &OpenError) -> CommandError {
    let failed = CommandError::reel(error);
    match error {
        OpenError::InUse { .. } => {
            failed.hint("wait until its recorder has ended, or stop it with Ctrl-C (SIGINT)")
        }
        OpenError::NotAReel { path, found } if found.contains("JSON") => {
            let path = shell_words::shell_word(path.as_os_str());
            failed.hint(format!("to convert JSON lines of events or lists of objects: kubereel import {path} -o NEW.reel"))
        }
        OpenError::NotAReel { .. } => {
            failed.hint("expected a file written by kubereel record or kubereel import")
        }
        OpenError::UnknownFormat { writer, .. } => failed.hint(match writer {
            Some(writer) => format!("use kubereel {} or a newer version", harmless(writer)),
            None => "use the version of kubereel that recorded it".to_owned(),
        }),
        OpenError::UnknownFeature { since, .. } => failed.hint(format!(
            "use kubereel {} or a newer version",
            harmless(since)
        )),
        OpenError::Sealed { path } => failed.hint(format!(
            "choose another file, or make a copy that takes more: kubereel recover {} NEW.reel",
            shell_words::shell_word(path.as_os_str())
        )),
        OpenError::CutOff { .. } => {
            failed.hint("the end of the file is missing: copy or download it again")
        }
        OpenError::Io { source, path }
            if source.kind() == io::ErrorKind::NotFound
                && path.to_string_lossy().contains("://") =>
        {
            failed.hint("expected a path, or an address of http://, https:// or gs://")
        }
        OpenError::Io { source, path } if source.kind() == io::ErrorKind::NotFound => {
            failed.hint(missing_hint(path))
        }
        _ => failed,
    }
}

/// Says which reel may be meant by a path where nothing is.
fn missing_hint(path: &Path) -> String {
    if default_reel::named_by_variable().is_some_and(|named| named == path.as_os_str()) {
        return "the name is that of $KUBEREEL: set it to a reel, or name one in the command"
            .to_owned();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder_of = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let reels = default_reel::reels_in(folder_of);
    let names = reels.iter().filter_map(|name| name.to_str());
    let wrong = path.file_name().unwrap_or_default().to_string_lossy();
    match nearest(&wrong, names).first() {
        Some(near) => {
            let near = folder.join(near);
            format!(
                "did you mean {}?",
                shell_words::shell_word(near.as_os_str())
            )
        }
        None => "to record one: kubereel record -o FILE; to try one: kubereel demo".to_owned(),
    }
}

/// Reads a file that an option names, of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, CommandError> {
    let failed = |error: io::Error| cannot_read(&error, path);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    if u64::try_from(read.map_err(failed)?).is_ok_and(|read| read <= limit) {
        return Ok(bytes);
    }
    let (limit, path) = (words::bytes(limit), path.display());
    let message = format!("{path}: larger than {limit}");
    Err(CommandError::usage(message))
}

/// Reads a file that an option names, of at most `limit` bytes, as UTF-8.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, CommandError> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let (error, path) = (error.utf8_error(), path.display());
        CommandError::usage(format!("{path}: {error}"))
    })
}

/// Makes the error of a file that an option names and that cannot be read.
pub(crate) fn cannot_read(error: &io::Error, path: &Path) -> CommandError {
    unread(error, path, Exit::Usage)
}

/// Makes the error of an input that cannot be read. A missing one ends a command as a missing reel does.
pub(crate) fn cannot_read_input(error: &io::Error, path: &Path) -> CommandError {
    unread(error, path, Exit::Reel)
}

fn unread(error: &io::Error, path: &Path, missing: Exit) -> CommandError {
    let exit = if error.kind() == io::ErrorKind::NotFound {
        missing
    } else {
        Exit::Io
    };
    CommandError::new(exit, format!("{}: {error}", path.display()))
}

/// Makes the error of a file that cannot be written.
pub(crate) fn cannot_write(error: &io::Error, path: &Path) -> CommandError {
    CommandError::io(format!("{}: cannot write: {error}", path.display()))
}

/// Refuses to write to the file that is read, under whatever name.
pub(crate) fn refuse_input(input: &Path, output: &Path) -> Result<(), CommandError> {
    if is_same_file(input, output) {
        let output = output.display();
        return Err(
            CommandError::usage(format!("{output}: the output is the input file"))
                .hint("choose another output file"),
        );
    }
    Ok(())
}

/// Tells whether two paths mean one regular file. A file that does not exist yet is not the same as any other.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(a), Ok(b)) if a.is_file() && b.is_file() => is_identical((one, &a), (other, &b)),
        _ => false,
    }
}

/// A hard link is another path of the same file.
#[cfg(unix)]
fn is_identical((_, one): (&Path, &Metadata), (_, other): (&Path, &Metadata)) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_identical((one, _): (&Path, &Metadata), (other, _): (&Path, &Metadata)) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
}

/// Refuses to overwrite a reel that is being recorded: what its recorder writes would be lost.
fn refuse_recorded(path: &Path) -> Result<(), CommandError> {
    // Opening a pipe to look at it would wait for its other end.
    if path.is_file() && is_in_use(path) {
        let path = path.to_owned();
        return Err(explain_open(&OpenError::InUse { path }));
    }
    Ok(())
}

/// Makes the error of a file that exists.
pub(crate) fn exists(path: &Path) -> CommandError {
    CommandError::usage(format!("{}: file exists", path.display()))
        .hint("choose another file, or overwrite it with --force")
}

/// Makes a file for the content of a reel, which is as private as the reel.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has modes"))]
pub(crate) fn create_of<'a>(
    (local, named): (&LocalReel, &Path),
    path: &'a Path,
    replaces: bool,
) -> Result<OutputFile<'a>, CommandError> {
    #[cfg(unix)]
    let mode = local.mode(named);
    #[cfg(not(unix))]
    let mode = output::PUBLIC;
    OutputFile::create(path, replaces, mode)
}

/// Makes a file that anyone may read, as far as the umask lets them.
pub(crate) fn create(path: &Path, replaces: bool) -> Result<OutputFile<'_>, CommandError> {
    OutputFile::create(path, replaces, output::PUBLIC)
}

/// Writes a file that its group can read, as collectors of CI do, whatever the umask, and makes its folder.
pub(crate) fn write_for_group(
    path: &Path,
    replaces: bool,
    write: impl FnOnce(&mut BufWriter<&mut OutputFile<'_>>) -> io::Result<()>,
) -> Result<(), CommandError> {
    let failed = |error: io::Error| cannot_write(&error, path);
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let mut file = create(path, replaces)?;
    file.share_with_group().map_err(failed)?;
    let mut out = BufWriter::new(&mut file);
    write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    file.persist()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "12345").expect("written");
        assert_eq!(read(&path, 5).expect("read"), b"12345");
        let refused = |result: Result<Vec<u8>, CommandError>| {
            let error = result.expect_err("refused");
            error.lines().first().map(|(_, line)| (*line).to_owned())
        };
        let said = refused(read(&path, 4)).unwrap_or_default();
        assert!(said.ends_with(": larger than 4 B"), "{said}");
        #[cfg(target_os = "linux")]
        {
            let said = refused(read(Path::new("/dev/zero"), 1_000_000)).unwrap_or_default();
            assert!(said.ends_with(": larger than 1.0 MB"), "{said}");
        }
        fs::write(&path, b"\xff").expect("written");
        assert!(read_text(&path, 4).is_err());
    }
}
