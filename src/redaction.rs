//! What this program prints about itself, without secrets: log lines, errors and panics pass the redactor, which
//! knows the credentials that the process has read. Also reads a user's own rules.

use crate::command_error::CommandError;
use crate::files;
use kubereel_redact::{Extra, NoRandomness, Redactor};
use std::io::{self, Write as _};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// The redactor of the process. It is made anew when a user's own rules are known.
static REDACTOR: RwLock<Option<Redactor>> = RwLock::new(None);

/// The text in place of one that must not be printed.
const WITHHELD: &str = "error: cannot print the message: the system gives no random bytes\n";

/// Takes the user's own rules, and gives the redactor that has them.
pub(crate) fn begin(extra: Extra) -> Result<Redactor, NoRandomness> {
    let redactor = Redactor::new(extra)?;
    let mut current = REDACTOR.write().unwrap_or_else(PoisonError::into_inner);
    Ok(current.insert(redactor).clone())
}

/// Gives words without secrets.
pub(crate) fn public(words: &str) -> String {
    // The guard is dropped here: `begin` locks the same redactor to write.
    let current = REDACTOR
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    match current.map_or_else(|| begin(Extra::default()), Ok) {
        Ok(redactor) => redactor.words(words).into_owned(),
        Err(NoRandomness) => WITHHELD.to_owned(),
    }
}

/// Prints panics without secrets. The database panics on some damage; that becomes an error, which says
/// all there is to say.
pub(crate) fn take_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if !kubereel_format::panic_is_caught() {
            let words = public(&panic_words(panic));
            // A closed stderr leaves no place for an error.
            drop(io::stderr().lock().write_all(words.as_bytes()));
        }
    }));
}

/// Words a panic as the standard library does.
fn panic_words(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let place = panic.location();
    let place = place.map_or_else(String::new, |place| format!(" at {place}"));
    let message = panic.payload_as_str().unwrap_or("Box<dyn Any>");
    let trace = std::backtrace::Backtrace::capture();
    let trace = match trace.status() {
        std::backtrace::BacktraceStatus::Captured => format!("stack backtrace:\n{trace}"),
        _ => "note: set RUST_BACKTRACE=1 to see a backtrace\n".to_owned(),
    };
    format!("\nthread '{name}' panicked{place}:\n{message}\n{trace}")
}

/// How much of a file is `read_rules`. Rules are written by hand.
const RULES_BYTES: u64 = 1024 * 1024;

/// Reads the file, if there is one.
pub(crate) fn read_rules(path: Option<&Path>) -> Result<Extra, CommandError> {
    let Some(path) = path else {
        return Ok(Extra::default());
    };
    let name = path.display().to_string();
    let text = files::read_text(path, RULES_BYTES)?;
    Extra::read(&name, &text).map_err(|error| {
        CommandError::usage(error)
            .hint("rules: [{name: pins, kind: widgets.acme.io, path: spec.pin}, {name: licences, text: 'LIC-[0-9]{6}'}]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_redact::KnownCredentials;

    #[test]
    fn a_credential_of_the_process_is_not_said() {
        let password = format!("{}-{}", "horse-battery", std::process::id());
        KnownCredentials::of_process().remember(password.as_bytes());
        let said = public(&format!("error: it is {password}\n"));
        assert!(
            said.starts_with("error: it is redacted-by-kubereel-"),
            "{said}"
        );
    }
}
