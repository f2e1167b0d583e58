//! What this program prints about itself, without secrets: log lines, errors and panics pass the redactor, which
//! knows the credentials that the process has read, and the addresses of its command line. Also reads a user's own
//! rules.

use crate::command_error::CommandError;
use crate::files;
use crate::shell_words;
use kubereel_redact::{Extra, NoRandomness, Redactor};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::{OnceLock, PoisonError, RwLock};

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

/// The addresses of this process's command line that have parts not to be printed.
static ADDRESSES: OnceLock<Vec<PrivateAddress>> = OnceLock::new();

/// An address with credentials or a query, as it was given and as it may be shown.
#[derive(Debug)]
struct PrivateAddress {
    given: String,
    shown: String,
}

impl PrivateAddress {
    /// Finds the address in a word, which may begin with the name of a flag.
    fn of(word: &str) -> Option<Self> {
        let start = word.match_indices("://").find_map(|(end, _)| {
            let is_letter = |letter: char| letter.is_ascii_alphabetic();
            let scheme = word.get(..end)?.trim_end_matches(is_letter).len();
            files::is_address(word.get(scheme..)?).then_some(scheme)
        })?;
        let given = word.get(start..)?;
        let shown = shell_words::public_word(given);
        (shown != given).then(|| Self {
            given: given.to_owned(),
            shown: shown.into_owned(),
        })
    }
}

/// Remembers the addresses of a command line and of the variable, so that no message quotes them whole.
pub(crate) fn take_addresses(words: &[OsString], variable: Option<&OsStr>) {
    let words = words.iter().map(OsString::as_os_str).chain(variable);
    let found = words.filter_map(|word| PrivateAddress::of(&word.to_string_lossy()));
    ADDRESSES.get_or_init(|| found.collect());
}

/// Shortens the addresses in words.
fn with_short_addresses<'w>(words: &'w str, addresses: &[PrivateAddress]) -> Cow<'w, str> {
    let mut shortened = Cow::Borrowed(words);
    for address in addresses {
        if shortened.contains(&address.given) {
            shortened = Cow::Owned(shortened.replace(&address.given, &address.shown));
        }
    }
    shortened
}

/// Gives words without secrets.
pub(crate) fn public(words: &str) -> String {
    let addresses = ADDRESSES.get().map_or(&[][..], Vec::as_slice);
    let words = &*with_short_addresses(words, addresses);
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
    fn an_address_of_the_command_line_is_shortened_in_every_message() {
        let address = "https://usr:pw-one@h.example/x.reel?sig=two";
        for word in [address.to_owned(), format!("--at={address}")] {
            let found: Vec<PrivateAddress> = PrivateAddress::of(&word).into_iter().collect();
            let said = format!("error: unrecognized subcommand '{word}'; try: kubereel {address}");
            let said = with_short_addresses(&said, &found);
            assert!(!said.contains("pw-one") && !said.contains("two"), "{said}");
            assert!(
                said.ends_with("kubereel https://h.example/x.reel?…"),
                "{said}"
            );
        }
        for word in [
            "https://h/x.reel",
            "gs://b/x.reel",
            "a://b?c",
            "x.reel",
            "=://",
        ] {
            assert!(PrivateAddress::of(word).is_none(), "{word}");
        }
    }

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
