//! `kubereel encrypt` and `kubereel decrypt`: recordings for some, in the format of age.

use crate::arguments::{JsonOutput, output_file};
use crate::command_error::{CommandError, Exit};
use crate::files::OutputFile;
use crate::files::encrypted::{self, KEY_BYTES};
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::words::{bytes, count};
use crate::{files, shell_words};
use kubereel_fetch::FetchedFile;
use kubereel_format::{harmless, is_in_use};
use kubereel_share::{AgeRecipients, EncryptionError, RecipientError};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The ending of encrypted files.
const ENDING: &str = "age";

/// Encrypt a recording for some recipients
///
/// The file is encrypted as it is, in the format of age (<https://age-encryption.org>): the programs age
/// and rage decrypt it as well. Every command and the screen open it by themselves where an identity is
/// given by --age-identity or `$KUBEREEL_AGE_IDENTITY`.
#[derive(Debug, clap::Args)]
#[command(
    group(clap::ArgGroup::new("readers").required(true).multiple(true).args(["recipients", "recipients_file"])),
    after_help = "\
Examples:
  age-keygen -o key.txt                               make an identity; it prints the recipient
  kubereel encrypt run.reel -r age1...                write run.reel.age
  kubereel encrypt run.reel shared.age -R team.txt    for all recipients of a file
  kubereel story run.reel.age --age-identity key.txt  read it"
)]
pub(crate) struct Args {
    /// The file to encrypt
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The file to write; default: SRC.age
    #[arg(value_name = "DST", value_parser = output_file())]
    destination: Option<PathBuf>,
    /// Encrypt for a recipient, as age-keygen prints it: age1...; may be repeated
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    recipients: Vec<String>,
    /// Encrypt for the recipients of a file, one a line; may be repeated
    #[arg(short = 'R', long, value_name = "FILE")]
    recipients_file: Vec<PathBuf>,
    /// Overwrite DST
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: JsonOutput,
}

/// Decrypt a recording
///
/// It is decrypted with an identity of age, and only its owner may read the new file. To read a
/// recording, it need not be decrypted: every command opens it by itself where an identity is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel decrypt run.reel.age --age-identity key.txt  write run.reel
  kubereel decrypt shared.age run.reel -i key.txt")]
pub(crate) struct DecryptArgs {
    /// The file to decrypt, or its URL
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The file to write; default: SRC without .age, of a URL in this folder
    #[arg(value_name = "DST", value_parser = output_file())]
    destination: Option<PathBuf>,
    /// The file of age identities; default: that of --age-identity
    #[arg(short, long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Overwrite DST
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: JsonOutput,
}

outputs! {
/// A file that was encrypted.
struct EncryptOutput<'a>(file: &'a str, recipients: usize, read: u64, written: u64) {
    /// The new file.
    file: &'a str = file,
    /// How many recipients can read it.
    recipients: usize = recipients,
    /// The bytes that were encrypted.
    bytes: u64 = read,
    /// The bytes of the new file.
    file_bytes: u64 = written,
}

/// A file that was decrypted.
struct DecryptOutput<'a>(file: &'a str, written: u64) {
    /// The new file.
    file: &'a str = file,
    /// Its bytes.
    file_bytes: u64 = written,
}
}

/// Runs `kubereel encrypt`.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let recipients = recipients(args)?;
    let source = &args.source;
    if is_in_use(source) {
        let name = source.display();
        return Err(CommandError::usage(format!("it is being recorded: {name}"))
            .hint("encrypt it when its recorder has ended"));
    }
    // It would have to be decrypted twice, which no command does by itself.
    if encrypted::is_encrypted_file(source) {
        let name = source.display();
        return Err(
            CommandError::usage(format!("it is encrypted already: {name}")).hint(format!(
                "for other recipients, decrypt it first: kubereel decrypt {}",
                shell_words::shell_word(source.as_os_str())
            )),
        );
    }
    let destination = args.destination.clone().unwrap_or_else(|| {
        let mut name = source.clone().into_os_string();
        name.push(".");
        name.push(ENDING);
        name.into()
    });
    for kept in [source].into_iter().chain(&args.recipients_file) {
        files::refuse_input(kept, &destination)?;
    }
    let input = open(source)?;
    let total = input.metadata().map_or(0, |about| about.len());
    let mut output = files::create(&destination, args.force)?;
    let mut progress =
        ProgressReporter::begin("encrypting, bytes", total, screen.is_err_terminal());
    let (_, read) = recipients
        .encrypt(input, &mut output, |done| {
            progress.reached(done);
        })
        .map_err(|error| match &error {
            EncryptionError::Read(failed) => files::cannot_read_input(failed, source),
            EncryptionError::Write(failed) => files::cannot_write(failed, &destination),
            _ => CommandError::usage(error),
        })?;
    drop(progress);
    let written = output.persist()?;
    let name = destination.display().to_string();
    if args.output.is_json() {
        screen.json(&EncryptOutput::of(&name, recipients.len(), read, written))?;
    } else {
        let readers = count(recipients.len(), "recipient");
        screen.line(format!(
            "{}: encrypted for {readers}, {}",
            harmless(&name),
            bytes(written)
        ))?;
    }
    Ok(Exit::Yes)
}

fn recipients(args: &Args) -> Result<AgeRecipients, CommandError> {
    let mut recipients = AgeRecipients::default();
    for word in &args.recipients {
        recipients.add(word).map_err(|error| {
            let failed = CommandError::usage(&error);
            match error {
                RecipientError::Unknown { .. } if Path::new(word).is_file() => {
                    failed.hint(format!("for the recipients of a file: -R {word}"))
                }
                _ => failed.hint("age-keygen -y FILE prints the recipient of an identity"),
            }
        })?;
    }
    for path in &args.recipients_file {
        let text = files::read_text(path, KEY_BYTES)?;
        recipients.add_lines(&text).map_err(|(line, error)| {
            CommandError::usage(format!("{}:{line}: {error}", path.display()))
        })?;
    }
    if recipients.is_empty() {
        return Err(CommandError::usage("no recipient in the file"));
    }
    Ok(recipients)
}

/// Runs `kubereel decrypt`.
pub(crate) fn run_decrypt(args: &DecryptArgs, screen: &mut Console) -> Result<Exit, CommandError> {
    let source = &args.source;
    let given = args.destination.clone().or_else(|| decrypted_path(source));
    let destination = given.ok_or_else(|| {
        CommandError::usage("no name for the decrypted file").hint(format!(
            "give one: kubereel decrypt {} DST",
            files::shown(source)
        ))
    })?;
    for kept in [source].into_iter().chain(&args.identity) {
        files::refuse_input(kept, &destination)?;
    }
    let fetched = files::download_file(source).transpose()?;
    let file = fetched.as_ref().map_or(source.as_path(), FetchedFile::path);
    let input = open(file)?;
    let mut output = OutputFile::create(&destination, args.force, 0o600)?;
    if !encrypted::may_be_encrypted(file) {
        let message = format!("{}: not encrypted", files::shown(source));
        return Err(CommandError::usage(message).hint("every command reads it as it is"));
    }
    let identities = encrypted::identities(args.identity.as_deref(), source)?;
    let ended = encrypted::decrypt(&identities, (input, source), (&mut output, &destination))?;
    if let Some(damage) = ended.damage {
        return Err(encrypted::explain_damage(&damage, source));
    }
    let written = output.persist()?;
    let name = destination.display().to_string();
    if args.output.is_json() {
        screen.json(&DecryptOutput::of(&name, written))?;
    } else {
        screen.line(format!("{}: {}", harmless(&name), bytes(written)))?;
    }
    Ok(Exit::Yes)
}

/// Names the decrypted file: as the encrypted one without its ending, that of an address in the current folder.
fn decrypted_path(source: &Path) -> Option<PathBuf> {
    let shown = files::shown(source);
    let name = if source.to_str().is_some_and(files::is_address) {
        let path = shown.split('?').next().unwrap_or_default();
        PathBuf::from(path.rsplit('/').next()?)
    } else {
        source.to_owned()
    };
    let is_age = |ending: &OsStr| ending == ENDING;
    let is_encrypted = name.extension().is_some_and(is_age);
    is_encrypted.then(|| name.with_extension(""))
}

fn open(path: &Path) -> Result<File, CommandError> {
    let file = File::open(path).map_err(|error| files::cannot_read_input(&error, path))?;
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        return Err(CommandError::usage(format!(
            "a folder, not a file: {}",
            path.display()
        )));
    }
    Ok(file)
}
