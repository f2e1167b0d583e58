//! Passphrases of keys: of a file, of the program that `$SSH_ASKPASS` names, or typed at the terminal, as the tools of
//! OpenSSH take them.

use crate::command_error::{CommandError, Exit};
use crate::files;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// The most bytes of a file with a passphrase.
const FILE_BYTES: u64 = 16 * 1024;

/// Gives the passphrase of a key.
pub(crate) fn ask(prompt: &str, file: Option<&Path>) -> Result<String, CommandError> {
    if let Some(path) = file {
        return Ok(first_line(&files::read_text(path, FILE_BYTES)?));
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_terminal = io::stdin().is_terminal();
    let program = variable("SSH_ASKPASS").filter(|_| {
        let required = variable("SSH_ASKPASS_REQUIRE");
        match required.as_deref().and_then(|word| word.to_str()) {
            Some("never") => false,
            Some("force" | "prefer") => true,
            _ => !is_terminal,
        }
    });
    if let Some(program) = program {
        return ask_program(&program, prompt);
    }
    if !is_terminal {
        return Err(
            CommandError::usage(format!("no terminal to enter it: {prompt}")).hint(
                "give --passphrase-file FILE, or set SSH_ASKPASS to a program that prints it",
            ),
        );
    }
    rpassword::prompt_password(format!("{prompt}: ")).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => CommandError::new(Exit::Interrupted, "interrupted"),
        _ => CommandError::io(format!("cannot read the passphrase: {error}")),
    })
}

fn ask_program(program: &OsString, prompt: &str) -> Result<String, CommandError> {
    let name = Path::new(program).display();
    let output = Command::new(program)
        .arg(prompt)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| CommandError::io(format!("cannot run $SSH_ASKPASS: {error}: {name}")))?;
    if !output.status.success() {
        return Err(CommandError::io(format!(
            "no passphrase from $SSH_ASKPASS: {}: {name}",
            output.status
        )));
    }
    let text = String::from_utf8(output.stdout)
        .map_err(|_bytes| CommandError::io(format!("$SSH_ASKPASS printed no text: {name}")))?;
    Ok(first_line(&text))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
