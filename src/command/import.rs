//! `kubereel import`: converts another tool's recording to a reel, and reports what was and was not imported.

use crate::command_error::{CommandError, Exit};
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::shell_words::shell_word;
use crate::words::{Amount as _, bytes, count};
use crate::{arguments, files, redaction};
use jiff::Timestamp;
use kubereel_format::{OpenError, RecordedAt};
use kubereel_history::{harmless, timetext};
use kubereel_import::{
    BrokenPart, BrokenParts, BrokenReason, BrokenUnit, ImportContent, ImportError, ImportInput,
    ImportOptions, Imported, ListCounts,
};
use kubereel_unpack::UnpackError;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Convert other tools' recordings to a reel
///
/// Takes JSON lines of watch events, the form that `kubereel export` writes: {"ts","type","group",
/// "version","resource","object"}. A ts is seconds or RFC 3339. Without group, version or resource,
/// they are derived from the object's apiVersion and kind. The bytes of the object, the type and the
/// order are not changed.
///
/// Takes objects and lists of objects as well, in JSON or YAML, as kubectl and oc write them: they
/// are recorded at one moment, given by --at. Of several lists, each is a moment: what a later list
/// changes is a change, and what it no longer has is a deletion.
///
/// Takes must-gathers and other folders and archives (tar, zip) of objects: they are recorded at the
/// newest time inside the objects. Takes git repositories and bundles of resource-watch, k8shark
/// captures, SimKube traces, and audit logs of kube-apiserver: their changes with bodies are events,
/// the others are marks that say who did what.
///
/// The format is detected from the content. All may be compressed with gzip, zstd or xz.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel import events.jsonl -o run.reel
  kubereel import events.jsonl.zst -o run.reel --redact    without secrets
  kubereel import must-gather.tar.gz -o gathered.reel
  kubereel import gs://BUCKET/LOGS/must-gather.tar -o gathered.reel
  kubereel import before.json after.json -o change.reel    two moments
  kubereel import audit.log -o run.reel --append           add to a reel
  kubectl get pods,nodes -A -o json | kubereel import - -o now.reel --at $(date -u +%FT%TZ)

Exit codes:
  0  everything was imported
  1  broken parts were omitted, the rest was imported
  2  invalid usage, such as a time that is missing; no reel was written
  3  the input is missing, or nothing in it can be imported; no reel was written

Errors: kubereel --help")]
pub(crate) struct Args {
    /// The recordings: files, folders or addresses (https://, gs://); - reads stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Output reel
    #[arg(short, long, value_name = "REEL", value_parser = arguments::output_file())]
    output: PathBuf,
    /// Add to the output reel, which exists, behind its end
    #[arg(long, conflicts_with = "force")]
    append: bool,
    /// Time of objects, and of lines without ts, as RFC 3339; once, or once for each FILE; default: of objects in a
    /// file, the modification time of the file, and in a folder or archive, the newest time inside the objects
    #[arg(long, value_name = "TIME", value_parser = arguments::read_time)]
    at: Vec<RecordedAt>,
    /// Redact secrets, as `kubereel record` does
    #[arg(long)]
    redact: bool,
    /// With --redact, also apply the redaction rules in this file; see `kubereel help scan`
    #[arg(long, value_name = "FILE", requires = "redact")]
    redact_extra: Option<PathBuf>,
    /// Overwrite an existing reel
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let identity = files::encrypted::identity_file();
    for kept in args.redact_extra.iter().chain(&identity) {
        files::refuse_input(kept, &args.output)?;
    }
    let extra = redaction::read_rules(args.redact_extra.as_deref())?;
    if args.at.len() > 1 && args.at.len() != args.files.len() {
        let (times, files) = (args.at.len(), args.files.len());
        return Err(
            CommandError::usage(format!("{times} times are given for {files} files"))
                .hint("give --at once, or once for each file"),
        );
    }
    if args.append && files::encrypted::is_encrypted_file(&args.output) {
        let name = files::shown(&args.output);
        return Err(
            CommandError::reel(format!("{name}: the reel is encrypted")).hint(format!(
                "decrypt it first: kubereel decrypt {}",
                shell_word(args.output.as_os_str())
            )),
        );
    }
    let mut inputs = Vec::new();
    let mut total = 0;
    for (number, path) in args.files.iter().enumerate() {
        if !args.append {
            files::refuse_input(path, &args.output)?;
        }
        let (mut input, bytes) = open(path)?;
        input.at = args.at.get(number).or(args.at.first()).copied();
        inputs.push(input);
        total += bytes;
    }
    let names: Vec<String> = inputs.iter().map(|one| one.name.clone()).collect();
    let program = concat!(env!("CARGO_PKG_VERSION"), " (import)");
    let mut options = ImportOptions::new(program, names.join(", "));
    options.redact = args.redact;
    options.redact_extra = extra;
    options.replace = args.force;
    options.append = args.append;
    let mut progress = ProgressReporter::begin("importing, bytes", total, screen.is_err_terminal());
    let imported = kubereel_import::import_all(inputs, &args.output, &options, |done| {
        progress.reached(done);
    });
    drop(progress);
    match imported {
        Ok(imported) => print_outcome(args, &imported, screen),
        Err(error) => {
            if let ImportError::Nothing { broken } | ImportError::NoObjects { broken, .. } = &error
            {
                print_broken(args, broken, screen)?;
            }
            let files: Vec<String> = args.files.iter().map(|one| files::shown(one)).collect();
            Err(explain(&error, &files.join(", "), &args.output))
        }
    }
}

/// Opens an input, and gives its length; 0 if that is unknown.
fn open(path: &Path) -> Result<(ImportInput<'static>, u64), CommandError> {
    if path == Path::new("-") {
        let stdin = ImportInput {
            name: "stdin".to_owned(),
            content: ImportContent::Stream(Box::new(io::stdin().lock())),
            at: None,
            changed_at: None,
        };
        return Ok((stdin, 0));
    }
    if let Some(opened) = files::open_download(path) {
        let file = opened?;
        let about = file.metadata();
        let input = ImportInput {
            name: files::shown(path),
            content: ImportContent::File(file),
            at: None,
            // The file here is as old as its download.
            changed_at: None,
        };
        return Ok((input, about.map_or(0, |about| about.len())));
    }
    let failed = |error: io::Error| files::cannot_read_input(&error, path);
    // An open file stays readable where its temporary name is taken away.
    let decrypted = files::encrypted::decrypted(path)?;
    if let Some(damage) = decrypted.as_ref().and_then(|one| one.damage.as_ref()) {
        files::note_damage(damage, path);
    }
    let content = decrypted.as_ref().map_or(path, |one| &one.file);
    let file = File::open(content).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    // A pipe has no time of its own, and a system may keep none.
    let changed = about.modified().ok().filter(|_| about.is_file());
    let changed = changed.and_then(|at| Timestamp::try_from(at).ok());
    let name = path.file_name().unwrap_or(path.as_os_str());
    let content = if about.is_dir() {
        ImportContent::Folder(path.to_owned())
    } else if about.is_file() {
        ImportContent::File(file)
    } else {
        ImportContent::Stream(Box::new(BufReader::new(file)))
    };
    let bytes = if about.is_file() { about.len() } else { 0 };
    let input = ImportInput {
        name: name.to_string_lossy().into_owned(),
        content,
        at: None,
        changed_at: changed.map(|at| RecordedAt::from_micros(at.as_microsecond())),
    };
    Ok((input, bytes))
}

/// The forms of objects and events, for hints.
const FORMS: &str = "expected objects or lists of them, as kubectl get -o json writes them, or lines of events, as kubereel export writes them";

/// Makes the error of an import without a reel.
fn explain(error: &ImportError, file: &str, target: &Path) -> CommandError {
    let pasted = shell_word(OsStr::new(file));
    let reel = shell_word(target.as_os_str());
    match error {
        ImportError::Empty | ImportError::NotRecognised | ImportError::Binary { .. } => {
            CommandError::reel(format!("{file}: {error}")).hint(FORMS)
        }
        ImportError::Unsupported { instead, .. } => {
            CommandError::reel(format!("{file}: {error}")).hint(instead)
        }
        ImportError::NoObjects { .. } => CommandError::reel(format!("{file}: {error}")).hint(
            "objects are read from files that end in .yaml, .yml or .json; give a file of events or a capture by itself",
        ),
        ImportError::SameTime { .. } | ImportError::OutOfOrder { .. } => {
            CommandError::usage(error).hint("give each list its time: --at TIME, once for each file, in their order")
        }
        ImportError::SeveralStates { .. } => CommandError::usage(error).hint(
            "give each state in a file of its own, with its time; what --watch prints is imported as events if they \
             have types: kubectl get --watch --output-watch-events -o json",
        ),
        ImportError::SeveralClusters { .. } => CommandError::usage(format!("{file}: {error}"))
            .hint("import the files of each cluster by themselves, into a reel of its own"),
        ImportError::BeforeEnd { .. } => CommandError::usage(error)
            .hint("import all of them at once into a new reel, or give the time with --at"),
        ImportError::NoReel { .. } => {
            CommandError::usage(error).hint("to make a new reel, leave out --append")
        }
        ImportError::Damaged { .. } => CommandError::reel(format!("{file}: {error}"))
            .hint("nothing of it can be read: copy or download it again"),
        ImportError::Unpack { source: UnpackError::TooMuchMemory { form, .. } } => {
            let program = files::decompressor(*form);
            CommandError::reel(format!("{file}: {error}"))
                .hint(format!("{program} {pasted} | kubereel import - -o {reel}"))
        }
        ImportError::Unpack { .. } | ImportError::TooManyCommits { .. } => {
            CommandError::reel(format!("{file}: {error}"))
                .hint("copy or download it again, or give the part of it that is needed")
        }
        ImportError::Yaml { .. } | ImportError::TooLong { .. } => {
            CommandError::reel(format!("{file}: {error}"))
                .hint("write one object per line: kubectl get RESOURCE -A -o json | jq -c .items[]")
        }
        ImportError::NoTime => CommandError::usage(format!("{file}: {error}"))
            .hint("give it with --at, for example --at 2026-11-21T14:02:31Z"),
        ImportError::Encoding { encoding } => CommandError::reel(format!("{file}: {error}"))
            .hint(format!("iconv -f {encoding} -t UTF-8 {pasted} | kubereel import - -o {reel}")),
        ImportError::Compressed { program, .. } => CommandError::reel(format!("{file}: {error}"))
            .hint(format!("{program} {pasted} | kubereel import - -o {reel}")),
        ImportError::Reel | ImportError::ReelInside { .. } => CommandError::usage(format!("{file}: {error}"))
            .hint(format!("to see its contents: kubereel info {pasted}")),
        ImportError::Nothing { broken } => {
            let failed = |exit| CommandError::new(exit, format!("{file}: {error}"));
            let is_old = |one: &BrokenPart| one.problem == BrokenReason::BeforeEnd;
            if broken.count > 0 && broken.first.iter().all(is_old) {
                return failed(Exit::Usage).hint("import all of them at once into a new reel");
            }
            let is_cut = |one: &BrokenPart| {
                matches!(one.problem, BrokenReason::Cut(_) | BrokenReason::Corrupt(_) | BrokenReason::Unreadable(_) | BrokenReason::Rest(_))
            };
            if broken.first.iter().any(is_cut) {
                return failed(Exit::Reel).hint("copy or download it again");
            }
            let is_timeless = broken
                .first
                .iter()
                .all(|one| one.problem == BrokenReason::NoTime);
            if is_timeless && broken.count > 0 {
                failed(Exit::Usage).hint("give the time of lines without ts with --at TIME")
            } else {
                failed(Exit::Reel).hint(FORMS)
            }
        }
        ImportError::Read { .. } => CommandError::io(format!("{file}: {error}")),
        _ => explain_output(error, target),
    }
}

/// Makes the error of a reel that cannot be written.
fn explain_output(error: &ImportError, target: &Path) -> CommandError {
    match error {
        ImportError::Exists { path } if path == target => {
            CommandError::usage(error).hint("choose another file, or overwrite it with --force")
        }
        ImportError::NotRegular { .. } => {
            CommandError::usage(error).hint("choose another output file")
        }
        ImportError::Exists { .. } => CommandError::usage(error)
            .hint("the import writes to that file until it is complete: move it away"),
        ImportError::Create(error @ OpenError::InUse { path }) if path == target => {
            files::explain_open(error)
        }
        // Another import to the same reel.
        ImportError::Create(OpenError::InUse { .. }) => {
            CommandError::io(error).hint("another program is writing it: wait until it ends")
        }
        // The import names its copy.
        ImportError::Create(OpenError::Sealed { .. }) => {
            let path = target.to_owned();
            files::explain_open(&OpenError::Sealed { path })
        }
        ImportError::Create(OpenError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            CommandError::io(error).hint("create the directory first, or choose another file")
        }
        _ => CommandError::io(error),
    }
}

/// Prints the result of an import; the exit code shows whether all of the input was imported.
fn print_outcome(
    args: &Args,
    imported: &Imported,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let paint = screen.err_paint();
    print_broken(args, &imported.broken, screen)?;
    print_files(imported, screen)?;
    print_lists(&imported.lists, screen)?;
    for (counted, what) in [
        (imported.bookmarks, "BOOKMARK line left out"),
        (
            imported.errors,
            "ERROR line left out: changes may be missing there",
        ),
    ] {
        if counted > 0 {
            screen.aside(count(counted, what))?;
        }
    }
    if imported.dropped.count > 0 {
        let names = imported.dropped.names.iter();
        let names: Vec<String> = names
            .map(|(name, times)| format!("{name:?} {times}"))
            .collect();
        let dropped = count(imported.dropped.count, "field");
        screen.aside(format!(
            "{dropped} not recognized and dropped: {}",
            names.join(", ")
        ))?;
    }
    print_names(imported, screen)?;
    if imported.converted {
        let from = if imported.formats.is_empty() {
            "from YAML "
        } else {
            ""
        };
        screen.aside(format!("the objects were converted {from}to JSON"))?;
    }
    if let Some(at) = imported.assumed_at {
        let at = timetext::rfc3339(at);
        let text = format!(
            "the time of the objects is the modification time of the file, {at}; override it with --at"
        );
        screen.aside(paint.wary(&text))?;
    }
    let secrets = imported.secrets;
    if secrets.with_data > 0 {
        let counted = count(secrets.with_data, "Secret with data");
        screen.aside(if secrets.redacted {
            format!("{counted}: their values are not in the reel")
        } else {
            paint.wary(&format!(
                "{counted}: their values are in the reel; --redact removes them"
            ))
        })?;
    }
    screen.aside(format!(
        "{}: {} of {} · {} – {} · {}",
        harmless(&args.output.display().to_string()),
        count(imported.events, "event"),
        count(imported.resources, "resource"),
        timetext::rfc3339(imported.from),
        timetext::rfc3339(imported.to),
        bytes(imported.file_bytes)
    ))?;
    if imported.broken.count == 0 {
        return Ok(Exit::Yes);
    }
    // What has no number is not a line or an object: a failed checksum, a damaged part of YAML.
    let is_part = imported.broken.first.iter().all(|one| one.number == 0);
    let unit = if is_part {
        BrokenUnit::Parts
    } else {
        imported.broken.counted
    };
    let lines = count(imported.broken.count, unit.as_str());
    Err(CommandError::new(
        Exit::No,
        format!("{lines} could not be imported; the rest is in the reel"),
    ))
}

/// Names the resources of which something is not certain, and warns of times that step back.
fn print_names(imported: &Imported, screen: &mut Console) -> Result<(), CommandError> {
    if imported.steps_back > 0 {
        let times = count(imported.steps_back, "time");
        screen.aside(format!(
            "the times step back by more than 10 s {times}, so a time may be at several places of the reel: \
             give the files of several recordings one by one, and they are merged by time"
        ))?;
    }
    for (what, names) in [
        ("resource names guessed from kinds", &imported.guessed),
        (
            "recorded in several versions, get shows one at a time",
            &imported.several_versions,
        ),
    ] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|one| escaped(one)).collect();
            screen.aside(format!("{what}: {}", names.join(", ")))?;
        }
    }
    Ok(())
}

/// Says as what the inputs were read, and what files were among them.
fn print_files(imported: &Imported, screen: &mut Console) -> Result<(), CommandError> {
    for format in &imported.formats {
        screen.aside(format!("read as {format}"))?;
    }
    if let Some(files) = imported.files {
        let others = count(files.others, "file of another kind");
        let mut text = format!(
            "{} with objects; without: {}, {others}",
            count(files.with_objects, "file"),
            count(files.logs, "log")
        );
        for (counted, what) in [
            (files.copies, "duplicate of an object left out"),
            (
                files.replaced,
                "object left out, as another file has a newer one of its name with another uid",
            ),
            (files.skipped, "link not followed"),
        ] {
            if counted > 0 {
                text.extend(["; ", &count(counted, what)]);
            }
        }
        screen.aside(text)?;
    }
    if let Some(at) = imported.gathered_at {
        let at = timetext::rfc3339(at);
        screen.aside(format!(
            "the time of the objects is the newest time inside them, {at}; override it with --at"
        ))?;
    }
    Ok(())
}

/// Says what lists and audit logs came to.
fn print_lists(lists: &ListCounts, screen: &mut Console) -> Result<(), CommandError> {
    let audit = lists.audit;
    for (counted, what) in [
        (lists.empty, "list without items"),
        (lists.unchanged, "object unchanged in a later list"),
        (
            lists.older,
            "object of a later list left out that was older than its known state",
        ),
        (lists.repeated, "event without news left out"),
        (
            lists.outdated,
            "list left out that was older than the list before it",
        ),
        (
            lists.deleted,
            "object deleted, as a later list no longer has it",
        ),
        (lists.others, "record of another kind skipped"),
        (audit.with_bodies, "change with the object's body"),
        (
            audit.marks,
            "change without the object's body, kept as a mark of who did what",
        ),
        (
            audit.routine,
            "change of a Lease or an Event without its body left out",
        ),
        (audit.failed, "request that failed left out"),
        (audit.dry_runs, "request of a dry run left out"),
        (audit.reads, "request that changed nothing left out"),
        (audit.stages, "stage of a request before its end left out"),
    ] {
        if counted > 0 {
            screen.aside(count(counted, what))?;
        }
    }
    if lists.is_kind_assumed {
        screen.aside("the empty list is taken to be of the resource of the lists before it")?;
    }
    if lists.uncertain > 0 {
        let paint = screen.err_paint();
        let objects = count(lists.uncertain, "object");
        screen.aside(paint.wary(&format!(
            "{objects} missing from a later list, which is partial or may not cover their namespaces: kept as they were"
        )))?;
    }
    Ok(())
}

/// Names the lines that could not be taken.
fn print_broken(
    args: &Args,
    broken: &BrokenParts,
    screen: &mut Console,
) -> Result<(), CommandError> {
    // A part of the only input does not name it.
    let only = match args.files.as_slice() {
        [only] if only == Path::new("-") => "stdin".to_owned(),
        [only] => files::shown(only),
        _ => "the input".to_owned(),
    };
    for one in &broken.first {
        let file = Some(one.file.as_str()).filter(|file| !file.is_empty());
        let file = file.unwrap_or(&only);
        let place = match (broken.counted, one.number) {
            (_, 0) => file.to_owned(),
            (BrokenUnit::Lines, number) => format!("{file}:{number}"),
            (what, number) => format!("{file}: {} {number}", what.as_str()),
        };
        let place = match one.line {
            0 => place,
            line => format!("{place}, in the document at line {line}"),
        };
        let item = match one.item {
            0 => String::new(),
            item => format!(", item {item}"),
        };
        screen.aside(format!(
            "{}{item}: {}",
            harmless(&place),
            harmless(&one.problem.to_string())
        ))?;
    }
    let named = broken.first.len();
    let rest = broken.count.saturating_sub(named.get());
    if rest > 0 {
        screen.aside(format!("and {} more", count(rest, broken.counted.as_str())))?;
    }
    Ok(())
}

fn escaped(word: &str) -> String {
    word.escape_debug().to_string()
}
