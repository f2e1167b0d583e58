//! `kubereel sign`: an SSH signature over the digest of a recording, in a file beside it.

use crate::arguments::{self, JsonOutput};
use crate::command::info;
use crate::command_error::{CommandError, Exit};
use crate::outputs::outputs;
use crate::screen::Console;
use crate::{files, passphrase};
use kubereel_history::harmless;
use kubereel_share::{NAMESPACE, SigningError, SigningKey, statement};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The most bytes of a key file.
const KEY_BYTES: u64 = 64 * 1024;

/// Sign a recording with an SSH key
///
/// It reads all records, and signs a line of text with their digest. The signature is written beside
/// the reel, as REEL.sig, in the format of ssh-keygen -Y sign. It stays good for each file with the
/// same recording: compressed, copied or packed anew. `kubereel verify --signer` checks it.
///
/// Keys are Ed25519 and ECDSA, in the format of OpenSSH. For an encrypted key, the passphrase is read
/// from --passphrase-file, from the program that `$SSH_ASKPASS` names, or at the terminal. With any
/// other key, or one of an agent or a security key, let ssh-keygen sign the line: see the examples
/// and docs/sharing.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel sign run.reel -k ~/.ssh/id_ed25519        write run.reel.sig
  kubereel sign run.reel -k key --passphrase-file pw  for a script
  kubereel sign run.reel -k key -o json | jq -r .fingerprint
  kubereel verify run.reel --signer allowed_signers  check it

  Check it with OpenSSH alone, or sign with a key that only ssh-keygen can use:
  kubereel sign run.reel --statement | ssh-keygen -Y verify -f allowed_signers \\
      -I ann@example.com -n recording@kubereel -s run.reel.sig
  kubereel sign run.reel --statement | ssh-keygen -Y sign -f ~/.ssh/id_rsa \\
      -n recording@kubereel > run.reel.sig")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// The private SSH key
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "statement"
    )]
    key: Option<PathBuf>,
    /// Read the key's passphrase from the first line of a file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Print the line that is signed, and do not sign it
    #[arg(long, conflicts_with_all = ["key", "passphrase_file", "signature", "force", "output"])]
    statement: bool,
    /// Where to write the signature; default: REEL.sig
    #[arg(long, value_name = "FILE", value_parser = arguments::output_file())]
    signature: Option<PathBuf>,
    /// Overwrite the signature file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: JsonOutput,
}

outputs! {
/// A signature that was made.
struct SignOutput<'a>(file: &'a str, digest: &'a str, statement: &'a str, key: &SigningKey) {
    /// The file with the signature.
    file: &'a str = file,
    /// The digest of the recording.
    digest: &'a str = digest,
    /// The text that is signed.
    statement: &'a str = statement,
    /// The namespace of the signature.
    namespace: &'static str = NAMESPACE,
    /// The algorithm of the key.
    algorithm: String = key.algorithm(),
    /// The fingerprint of the key, as ssh-keygen -l prints it.
    fingerprint: String = key.fingerprint(),
}
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    // An unusable key is reported before a long recording is read.
    let key = match &args.key {
        Some(path) => Some(read_key(path, args.passphrase_file.as_deref())?),
        None => None,
    };
    let local = files::locate_reel(&args.reel)?;
    if local.is_growing() {
        let name = files::shown(&args.reel);
        return Err(CommandError::usage(format!(
            "it is being recorded, and its digest changes: {name}"
        ))
        .hint("sign it when its recorder has ended"));
    }
    let place = args
        .signature
        .clone()
        .or_else(|| local.signature_path(&args.reel));
    let timeline = files::open_located(&args.reel, &local)?;
    let Some(key) = key else {
        let digest = info::read_digest(&timeline, screen)?;
        screen.line(statement(digest).trim_end())?;
        return Ok(Exit::Yes);
    };
    let place = place.ok_or_else(|| {
        CommandError::usage("no folder for the signature of a reel at an address")
            .hint("give the file to write: --signature FILE")
    })?;
    // Not with --force either: both are lost with it.
    for kept in args
        .key
        .iter()
        .chain([&args.reel])
        .chain(&args.passphrase_file)
    {
        files::refuse_input(kept, &place)?;
    }
    if place.exists() && !args.force {
        return Err(files::exists(&place));
    }
    let digest = info::read_digest(&timeline, screen)?;
    let text = statement(&digest);
    let signature = key.sign(&text).map_err(CommandError::usage)?;
    let mut file = files::create(&place, args.force)?;
    file.write_all(signature.as_bytes())
        .map_err(|error| files::cannot_write(&error, &place))?;
    file.persist()?;
    let name = place.display().to_string();
    if args.output.is_json() {
        screen.json(&SignOutput::of(&name, &digest, &text, &key))?;
    } else {
        screen.line(format!(
            "{}: signed {digest} with {} {}",
            harmless(&name),
            key.algorithm(),
            key.fingerprint()
        ))?;
    }
    Ok(Exit::Yes)
}

fn read_key(path: &Path, passphrase_file: Option<&Path>) -> Result<SigningKey, CommandError> {
    let name = path.display();
    let failed = |error: SigningError| {
        let failed = CommandError::usage(format!("{name}: {error}"));
        match error {
            SigningError::NotAKey => failed.hint(format!(
                "to convert a key of another format: ssh-keygen -p -f {name}"
            )),
            SigningError::Algorithm { .. } => failed
                .hint("use an Ed25519 key: ssh-keygen -t ed25519")
                .hint(format!(
                    "or let OpenSSH sign: kubereel sign REEL --statement | ssh-keygen -Y sign -f {name} -n {NAMESPACE} > REEL.sig"
                )),
            _ => failed,
        }
    };
    let key = SigningKey::parse(&files::read_text(path, KEY_BYTES)?).map_err(failed)?;
    if !key.is_encrypted() {
        return Ok(key);
    }
    let prompt = format!("passphrase of {name}");
    key.unlock(&passphrase::ask(&prompt, passphrase_file)?)
        .map_err(failed)
}
