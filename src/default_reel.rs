//! The reel that a command line means without naming it: `$KUBEREEL`, or the only one in this folder. The only place
//! that decides it; what follows sees a command line that names its reel.

use crate::command_error::CommandError;
use crate::shell_words::{shell_line, shell_word};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use kubereel_fetch::{ReelAddress, is_reel_name};
use kubereel_import::builtin_resource;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The variable that names the reel.
const VARIABLE: &str = "KUBEREEL";

/// How many reels of a folder an error names.
const NAMED: usize = 10;

/// Where a reel is looked for that a command line does not name.
pub(crate) struct ReelLookup {
    /// What `$KUBEREEL` says.
    pub(crate) named: Option<OsString>,
    /// The current folder.
    pub(crate) folder: PathBuf,
    /// Whether a person sits at a terminal.
    pub(crate) is_terminal: bool,
}

/// Gives the reel that `$KUBEREEL` names.
pub(crate) fn named_by_variable() -> Option<OsString> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty())
}

impl ReelLookup {
    /// Looks at the process.
    pub(crate) fn of_process() -> Self {
        use io::IsTerminal as _;
        Self {
            named: named_by_variable(),
            folder: PathBuf::from("."),
            is_terminal: io::stdin().is_terminal() && io::stdout().is_terminal(),
        }
    }

    /// Names the reel into a command line that needs one and has none.
    pub(crate) fn name_reel(
        &self,
        words: Vec<OsString>,
        cli: &Command,
    ) -> Result<Vec<OsString>, CommandError> {
        if words.len() < 2 {
            return self.screen(words);
        }
        let is_help = |word: &OsString| word == "--help" || word == "-h";
        let (command, start) = subcommand(&words, cli);
        let places: Vec<_> = command.get_positionals().collect();
        let reel = places
            .first()
            .filter(|first| takes_reel(first))
            .filter(|first| first.is_required_set() || command.get_name() == "test");
        if reel.is_none() || words.iter().any(is_help) {
            return Ok(words);
        }
        let first = first_positional([cli, command], &words, start);
        let is_missing = || {
            let parsed = cli.clone().try_get_matches_from(&words);
            parsed.is_err_and(|error| error.kind() == ErrorKind::MissingRequiredArgument)
        };
        let needs = match first.and_then(|place| words.get(place)) {
            None => is_missing(),
            Some(_) if places.len() == 1 => false,
            Some(word) => !is_reel(word) || (is_plain(word) && is_missing()),
        };
        if !needs {
            return Ok(words);
        }
        if let Some(place) = first.and_then(|first| self.reel_behind(&words, first)) {
            let mut words = words;
            let reel = words.remove(place);
            // The flag that other tools would have for it.
            if let Some(before) = place.checked_sub(1)
                && words.get(before).is_some_and(|word| word == "--reel")
            {
                words.remove(before);
            }
            let words = with_reel(&words, start, &reel);
            let error = CommandError::usage("the reel comes first");
            return Err(error.hint(format!("try: {}", shell_line(&words))));
        }
        match self.find(&words, start)? {
            Some(reel) => Ok(with_reel(&words, start, &reel)),
            // A second word says that the first was meant as a reel, and opening it says why it is none.
            None if first.is_some_and(|place| {
                let second = first_positional([cli, command], &words, place + 1);
                second.is_some() && words.get(place).is_some_and(|word| !is_resource(word))
            }) =>
            {
                Ok(words)
            }
            None => {
                let named = with_reel(&words, start, OsStr::new(PLACEHOLDER));
                Err(
                    CommandError::usage("no reel is named, and none is in this folder")
                        .hint(format!("name it: {}", shell_line(&named)))
                        .hint(format!(
                            "or set ${VARIABLE} to a file, a folder, an archive or a URL"
                        )),
                )
            }
        }
    }

    /// Names the reel into a command line that is being completed at a word, if it has none.
    ///
    /// A word that begins like a reel of this folder is left to be one.
    pub(crate) fn name_for_completion(
        &self,
        words: &[OsString],
        current: usize,
        cli: &Command,
    ) -> Option<Vec<OsString>> {
        let (command, start) = subcommand(words, cli);
        let taken = command
            .get_positionals()
            .next()
            .filter(|arg| takes_reel(arg));
        if taken.is_none() || current < start {
            return None;
        }
        let mut reels = reels_in(&self.folder);
        if let Some(place) = first_positional([cli, command], words, start) {
            let word = words.get(place)?;
            let begins = |reel: &OsString| {
                let reel = reel.as_encoded_bytes();
                reel.starts_with(word.as_encoded_bytes())
            };
            let is_begun = place == current && !word.is_empty() && reels.iter().any(begins);
            if is_reel(word) || is_begun {
                return None;
            }
        }
        let only = reels.pop().filter(|_| reels.is_empty());
        let reel = self.named.clone().or(only)?;
        Some(with_reel(words, start, &reel))
    }

    /// The program alone opens the screen where there is a reel, and else prints its help.
    fn screen(&self, mut words: Vec<OsString>) -> Result<Vec<OsString>, CommandError> {
        if self.is_terminal
            && let Some(reel) = self.find(&words, 1)?
        {
            words.extend(["tui".into(), reel]);
        }
        Ok(words)
    }

    /// Returns the place of a word that is the name of a reel's file, behind the first word.
    fn reel_behind(&self, words: &[OsString], first: usize) -> Option<usize> {
        let behind = words.iter().enumerate().skip(first + 1);
        let mut reels = behind.filter(|(_, word)| has_reel_name(word));
        let named = reels.find(|(_, word)| self.folder.join(word).is_file());
        named.map(|(place, _)| place)
    }

    fn find(&self, words: &[OsString], start: usize) -> Result<Option<OsString>, CommandError> {
        if let Some(named) = &self.named {
            return Ok(Some(named.clone()));
        }
        let mut reels = reels_in(&self.folder);
        if reels.len() < 2 {
            return Ok(reels.pop());
        }
        let message = format!("{} reels in this folder, and none is named", reels.len());
        let mut failed = CommandError::usage(message);
        for reel in reels.iter().take(NAMED) {
            failed = failed.hint(format!(
                "choose one: {}",
                shell_line(&with_reel(words, start, reel))
            ));
        }
        if reels.len() > NAMED {
            failed = failed.hint(format!("and {} more", reels.len() - NAMED));
        }
        Err(failed)
    }
}

/// The placeholder of the reel in help and hints.
const PLACEHOLDER: &str = "REEL";

/// The reel of this process's command line, as a shell reads it.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Keeps the reel of a command line that names one, so that hints can be pasted.
pub(crate) fn take_reel(words: &[OsString], cli: &Command) {
    if let Some(reel) = given_reel(words, cli) {
        GIVEN.get_or_init(|| shell_word(reel));
    }
}

/// Writes a text with the reel of the command line in the place of `REEL`.
pub(crate) fn with_given_reel(text: &str) -> Cow<'_, str> {
    match GIVEN.get() {
        Some(reel) => with_reel_for_placeholder(text, reel),
        None => Cow::Borrowed(text),
    }
}

/// Finds the reel of a command that takes exactly one.
fn given_reel<'w>(words: &'w [OsString], cli: &Command) -> Option<&'w OsStr> {
    let (command, start) = subcommand(words, cli);
    let first = command.get_positionals().next()?;
    let next = |start| first_positional([cli, command], words, start);
    let place = takes_reel(first).then(|| next(start))??;
    // A hint would name one of several.
    let takes_one = matches!(first.get_action(), ArgAction::Set);
    let reel = words
        .get(place)
        .filter(|_| takes_one || next(place + 1).is_none())?;
    is_reel(reel).then_some(reel)
}

fn with_reel_for_placeholder<'t>(text: &'t str, reel: &str) -> Cow<'t, str> {
    if !text.contains(PLACEHOLDER) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + reel.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(PLACEHOLDER) {
        written.push_str(before);
        let is_joined = |letter: char| letter.is_alphanumeric() || "$_-".contains(letter);
        // Not a part of `NEW.reel` or `$KUBEREEL`; `REEL.sig` is the reel's own file.
        let is_word = !before.ends_with(is_joined) && !after.starts_with(is_joined);
        written.push_str(if is_word { reel } else { PLACEHOLDER });
        rest = after;
    }
    written.push_str(rest);
    Cow::Owned(written)
}

/// Finds the subcommand of a line, which may be one of another, and the place of the first word behind it.
pub(crate) fn subcommand<'a>(words: &[OsString], cli: &'a Command) -> (&'a Command, usize) {
    let (mut command, mut start) = (cli, 1);
    while let Some(below) = words
        .get(start)
        .and_then(|word| command.find_subcommand(word))
    {
        (command, start) = (below, start + 1);
    }
    (command, start)
}

/// Returns the places of the words behind the subcommand that are neither flags nor their values.
pub(crate) fn positionals(words: &[OsString], cli: &Command) -> Vec<usize> {
    let (command, start) = subcommand(words, cli);
    let next = |start| first_positional([cli, command], words, start);
    std::iter::successors(next(start), |place| next(place + 1)).collect()
}

/// Tells whether an argument is a reel.
fn takes_reel(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.first().is_some_and(|name| name.starts_with("REEL"))
}

/// Puts the reel behind the subcommand.
fn with_reel(words: &[OsString], start: usize, reel: &OsStr) -> Vec<OsString> {
    let mut words = words.to_vec();
    words.insert(words.len().min(start), reel.to_owned());
    words
}

/// Lists what in a folder is called a reel.
pub(crate) fn reels_in(folder: &Path) -> Vec<OsString> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let files = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file());
    let mut reels: Vec<OsString> = files
        .map(|entry| entry.file_name())
        .filter(|name| has_reel_name(name) && !name.as_encoded_bytes().starts_with(b"."))
        .collect();
    reels.sort_unstable();
    reels
}

/// Tells whether a name is that of a reel, or of a compressed or an encrypted one.
pub(crate) fn has_reel_name(word: &OsStr) -> bool {
    is_reel_name(word.as_encoded_bytes())
}

/// The endings of archives, in which a reel may be.
const ARCHIVES: [&str; 8] = [
    ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.xz", ".txz", ".zip",
];

/// Tells whether a word is meant as a reel.
pub(crate) fn is_reel(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let is_path = ["/", "./", "../", "~"]
        .iter()
        .any(|start| text.starts_with(start));
    // Without it, a missing archive would be the file that a command writes from another reel.
    let is_archive = ARCHIVES.iter().any(|ending| text.ends_with(ending));
    is_path
        || is_archive
        || has_reel_name(word)
        || ReelAddress::is_address(&text)
        || Path::new(word).exists()
}

/// Tells whether a word names a resource, or an object of one, that kubectl knows.
fn is_resource(word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    let resource = word.split(['/', ',']).next();
    resource.is_some_and(|name| builtin_resource(name).is_some())
}

/// Tells whether a word may as well be a resource: something in this folder may be called so by chance.
fn is_plain(word: &OsStr) -> bool {
    !word
        .as_encoded_bytes()
        .iter()
        .any(|byte| matches!(byte, b'/' | b'.'))
}

/// Finds the first word of a subcommand that is neither a flag nor the value of one.
fn first_positional(commands: [&Command; 2], words: &[OsString], start: usize) -> Option<usize> {
    let flags = || commands.into_iter().flat_map(Command::get_arguments);
    let takes_value = |long: Option<&str>, short: Option<char>| {
        flags().any(|flag| {
            let longs = || flag.get_long_and_visible_aliases().unwrap_or_default();
            let is_it = long.is_some_and(|long| longs().contains(&long))
                || (short.is_some() && flag.get_short() == short);
            is_it
                && flag.get_action().takes_values()
                && flag
                    .get_num_args()
                    .is_none_or(|count| count.min_values() > 0)
        })
    };
    let mut place = start;
    while let Some(word) = words.get(place) {
        let text = word.to_string_lossy();
        let is_taking = match text.strip_prefix("--") {
            Some("") => return words.get(place + 1).map(|_| place + 1),
            Some(long) => !long.contains('=') && takes_value(Some(long), None),
            None => match text.strip_prefix('-').map(str::chars) {
                None => return Some(place),
                // A lone dash is a word.
                Some(letters) if letters.as_str().is_empty() => return Some(place),
                // Of letters in one word, the value of one is what follows it.
                Some(mut letters) => {
                    let taking = letters.find(|letter| takes_value(None, Some(*letter)));
                    taking.is_some() && letters.next().is_none()
                }
            },
        };
        place += if is_taking { 2 } else { 1 };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    fn named(around: &ReelLookup, line: &str) -> Result<String, String> {
        let words = std::iter::once("kubereel").chain(line.split_whitespace());
        let words = words.map(OsString::from).collect();
        let named = around.name_reel(words, &Cli::command());
        named.map(|words| shell_line(&words)).map_err(|error| {
            let lines = error.lines().into_iter().map(|(_, line)| line.to_owned());
            lines.collect::<Vec<String>>().join("\n")
        })
    }

    fn around(named: Option<&str>, folder: &Path) -> ReelLookup {
        ReelLookup {
            named: named.map(OsString::from),
            folder: folder.to_owned(),
            is_terminal: true,
        }
    }

    #[test]
    fn hints_have_the_reel_of_the_command_line() {
        let cli = Cli::command();
        let given = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            given_reel(&words, &cli).map(|reel| reel.to_string_lossy().into_owned())
        };
        let named = |line| given(line).unwrap_or_default();
        assert_eq!(named("kubereel get -n web a.reel pods"), "a.reel");
        assert_eq!(named("kubereel rollout history ./a b"), "./a");
        assert_eq!(named("kubereel test a.reel --list"), "a.reel");
        assert_eq!(given("kubereel test a.reel b.reel"), None);
        assert_eq!(given("kubereel import a.reel"), None);
        assert_eq!(given("kubereel"), None);
        let text = "kubereel info REEL > REEL.sig; $KUBEREEL, NEW-REEL";
        let written = with_reel_for_placeholder(text, "a.reel");
        let expected = "kubereel info a.reel > a.reel.sig; $KUBEREEL, NEW-REEL";
        assert_eq!(written, expected);
        assert_eq!(shell_word(OsStr::new("it's a.reel")), r"'it'\''s a.reel'");
    }

    #[test]
    fn a_reel_is_named_where_the_command_line_has_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let around = around(Some("R"), folder.path());
        for (line, expected) in [
            ("", "tui R"),
            ("info", "info R"),
            ("info -o json", "info R -o json"),
            ("get pods", "get R pods"),
            ("get pods -n web", "get R pods -n web"),
            ("get -n web pods web-0", "get R -n web pods web-0"),
            ("get -nweb pods", "get R -nweb pods"),
            ("get -A -oyaml pods", "get R -A -oyaml pods"),
            ("get --namespace=web pods", "get R --namespace=web pods"),
            ("get -o yaml -- pods", "get R -o yaml -- pods"),
            (
                "history co/etcd --field .status",
                "history R co/etcd --field .status",
            ),
            ("diff --from start pods", "diff R --from start pods"),
            ("events -A", "events R -A"),
            (
                "wait pod/web-0 --for=delete",
                "wait R pod/web-0 --for=delete",
            ),
            ("test --class policy", "test R --class policy"),
            ("intervals --lasting=30s", "intervals R --lasting=30s"),
            ("grep 10.0.0.1", "grep R 10.0.0.1"),
            ("story", "story R"),
            ("tui --at +10s", "tui R --at +10s"),
            ("get --tz UTC pods", "get R --tz UTC pods"),
        ] {
            let expected = format!("kubereel {expected}");
            assert_eq!(named(&around, line), Ok(expected));
        }
    }

    #[test]
    fn a_reel_behind_what_is_asked_of_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.reel", "b.reel"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        let around = around(None, folder.path());
        let said = named(&around, "get -n web pods b.reel -o yaml").expect_err("refused");
        let hint = "try: kubereel get b.reel -n web pods -o yaml";
        assert!(
            said.contains("the reel comes first") && said.contains(hint),
            "{said}"
        );
        let said = named(&around, "get pods --reel b.reel -n web").expect_err("refused");
        assert!(
            said.ends_with("try: kubereel get b.reel pods -n web"),
            "{said}"
        );
        let said = named(&around, "get --tz UTC b.reel pods a.reel");
        let expected = Ok("kubereel get --tz UTC b.reel pods a.reel");
        assert_eq!(said.as_deref(), expected);
        // An object may be called so.
        let said = named(&around, "get pods c.reel").expect_err("two reels");
        assert!(said.contains("2 reels in this folder"), "{said}");
    }

    #[test]
    fn a_subcommand_of_a_subcommand_has_its_reel_behind_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let reel = Arg::new("reel").value_name("REEL").required(true);
        let object = Arg::new("object").required(true);
        let inner = Command::new("history").arg(reel).arg(object);
        let cli = Command::new("kubereel").subcommand(Command::new("rollout").subcommand(inner));
        let words = ["kubereel", "rollout", "history", "deploy/web"].map(OsString::from);
        let named = around(Some("R"), folder.path()).name_reel(words.to_vec(), &cli);
        let named = named.map(|words| shell_line(&words)).map_err(drop);
        let expected = Ok("kubereel rollout history R deploy/web".to_owned());
        assert_eq!(named, expected);
    }

    #[test]
    fn what_names_its_reel_or_needs_none_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let around = around(Some("R"), folder.path());
        for line in [
            "info other.reel",
            "info no-such-file",
            "get other.reel pods",
            "get other.reel.gz pods",
            "seal no-such.tar.gz",
            "export no-such.tgz",
            "export no-such.zip pods.jsonl",
            "get -n web ./other pods",
            "get https://h/x pods",
            "get gs://b/x pods",
            "get --help",
            "test --list",
            "test a.reel b.reel",
            "record -o x.reel",
            "import x.json -o y.reel",
            "demo",
            "completion bash",
            "man",
            "no-such-command",
            "--version",
        ] {
            assert_eq!(named(&around, line), Ok(format!("kubereel {line}")));
        }
    }

    #[test]
    fn an_address_is_shown_without_its_credentials_and_its_query() {
        for (word, shown) in [
            (
                "https://usr:pw@h/x.reel?X-Amz-Signature=sig",
                "'https://h/x.reel?…'",
            ),
            ("https://usr@h/x.reel", "https://h/x.reel"),
            ("https://usr:pw@[::/x", "'https://…'"),
            ("https://h/x.reel", "https://h/x.reel"),
            ("a@b?.reel", "'a@b?.reel'"),
        ] {
            assert_eq!(shell_word(OsStr::new(word)), shown);
        }
        let words = ["kubereel", "problems", "http://usr:pw@h/x.reel?sig=one"].map(OsString::from);
        let given = given_reel(&words, &Cli::command()).map(shell_word);
        assert_eq!(given.as_deref(), Some("'http://h/x.reel?…'"));
    }

    #[test]
    fn the_only_reel_of_the_folder_is_meant_and_several_are_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let around = around(None, folder.path());
        let said = named(&around, "get pods").expect_err("none");
        assert!(said.contains("name it: kubereel get REEL pods"), "{said}");
        for line in [
            "get pods -n shop",
            "get pods web-0",
            "history co/etcd --field .status",
            "blame co/etcd --at 14:02",
            "wait pod/web --for=delete",
            "grep x --from 14:02",
            "rollout history deploy/web -n shop",
        ] {
            let said = named(&around, line).expect_err(line);
            assert!(said.starts_with("no reel is named, and none is"), "{said}");
        }
        assert_eq!(named(&around, ""), Ok("kubereel".to_owned()));
        assert_eq!(
            named(&around, "get nothing pods"),
            Ok("kubereel get nothing pods".to_owned())
        );
        for (name, expected) in [
            (".hidden.reel", None),
            ("notes.txt", None),
            ("it's a.reel", Some("kubereel get 'it'\\''s a.reel' pods")),
        ] {
            fs::write(folder.path().join(name), "x").expect("written");
            assert_eq!(named(&around, "get pods").ok().as_deref(), expected);
        }
        fs::write(folder.path().join("b.reel.gz"), "x").expect("written");
        let said = named(&around, "get pods -n web").expect_err("two");
        let lines: Vec<&str> = said.lines().collect();
        let expected = [
            "2 reels in this folder, and none is named",
            "choose one: kubereel get b.reel.gz pods -n web",
            "choose one: kubereel get 'it'\\''s a.reel' pods -n web",
        ];
        assert_eq!(lines, expected);
        let said = named(&around, "").expect_err("two");
        assert!(said.contains("choose one: kubereel b.reel.gz"), "{said}");
    }
}
