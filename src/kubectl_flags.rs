//! Flags as kubectl takes them: what they mean here is written as the parser of this program reads it, those without an
//! effect are taken away, and those that ask for something else than a recording say so.

use crate::command_error::CommandError;
use crate::default_reel;
use clap::{ArgAction, Command};
use kubereel_format::quoted;
use std::ffi::{OsStr, OsString};

/// A flag of kubectl without a counterpart.
struct UnavailableFlag {
    /// The flag, and its short form.
    names: &'static [&'static str],
    /// Why there is none.
    why: &'static str,
    /// What to do instead.
    instead: &'static str,
}

const LEAVE_OUT: &str = "omit it";

/// Flags of kubectl about how it asks a server, which change no answer. Each takes a value.
const NO_EFFECT: [&str; 10] = [
    "--cache-dir",
    "--chunk-size",
    "--kuberc",
    "--log-flush-frequency",
    "--profile",
    "--profile-output",
    "--request-timeout",
    "--v",
    "--vmodule",
    "-v",
];
/// Flags that kubectl takes with every command, and that change no answer of these.
const NAMESPACE: [&str; 2] = ["-n", "--namespace"];
const WITHOUT_NAMESPACE: [&str; 5] = [
    "api-resources",
    "api-versions",
    "completion",
    "explain",
    "version",
];
/// Flags without an effect, without a value but `=true` or `=false`.
const NO_EFFECT_SWITCHES: [&str; 8] = [
    "--allow-missing-template-keys",
    "--cached",
    "--disable-compression",
    "--local",
    "--match-server-version",
    "--server-print",
    "--show-managed-fields",
    "--warnings-as-errors",
];
/// Flags of kubectl that choose a cluster, without a value.
const UNAVAILABLE_SWITCHES: [&str; 1] = ["--insecure-skip-tls-verify"];

/// All of them.
const UNAVAILABLE: [UnavailableFlag; 8] = [
    UnavailableFlag {
        names: &[
            "--context",
            "--cluster",
            "--user",
            "--kubeconfig",
            "--server",
            "-s",
            "--token",
            "--username",
            "--password",
            "--certificate-authority",
            "--client-certificate",
            "--client-key",
            "--insecure-skip-tls-verify",
            "--tls-server-name",
            "--as",
            "--as-group",
            "--as-uid",
        ],
        why: "a recording is read from its file, not from a cluster",
        instead: LEAVE_OUT,
    },
    UnavailableFlag {
        names: &["--filename", "-f"],
        why: "no manifest is read by this command",
        instead: "name the object: RESOURCE/NAME",
    },
    UnavailableFlag {
        names: &["--server-print=false"],
        why: "tables have the columns of the API server",
        instead: "to choose columns: -o custom-columns=NAME:.metadata.name",
    },
    UnavailableFlag {
        names: &["--allow-missing-template-keys=false"],
        why: "an absent field is written as nothing",
        instead: "to check for a field: -o json and jq",
    },
    UnavailableFlag {
        names: &["--raw"],
        why: "a recording has objects, not answers of a server",
        instead: "to read an object: kubereel get REEL RESOURCE/NAME -o json",
    },
    UnavailableFlag {
        names: &["--kustomize", "-k"],
        why: "no kustomization is built",
        instead: "kubectl kustomize DIR | kubereel get REEL -f -",
    },
    UnavailableFlag {
        names: &["--subresource"],
        why: "subresources are parts of the objects",
        instead: "to print the object with its status: -o yaml",
    },
    UnavailableFlag {
        names: &["--template"],
        why: "Go templates are not supported",
        instead: "use -o jsonpath=TEMPLATE, or -o json and jq",
    },
];

/// Commands whose answer is not an object, and what prints the object in a form of kubectl.
const OWN_ANSWERS: [(&str, &str); 5] = [
    ("describe", "kubereel get REEL RESOURCE/NAME -o"),
    ("status", "kubereel get REEL RESOURCE/NAME -o"),
    ("events", "kubereel get REEL events -o"),
    ("wait", "kubereel get REEL RESOURCE/NAME -o"),
    ("history", "kubereel get REEL RESOURCE/NAME -o"),
];
/// The forms in which kubectl prints objects.
const OBJECT_FORMS: [&str; 8] = [
    "yaml",
    "name",
    "go-template",
    "template",
    "jsonpath",
    "jsonpath-as-json",
    "jsonpath-file",
    "custom-columns",
];

/// Makes the error of `-o FORM` where kubectl prints an object, and this program an answer of its own.
fn other_form(
    word: &str,
    next: Option<&str>,
    command: &Command,
    object: Option<&str>,
) -> Option<CommandError> {
    let (_, instead) = OWN_ANSWERS
        .into_iter()
        .find(|(name, _)| *name == command.get_name())?;
    let form = match word {
        "-o" | "--output" => next?,
        word => word
            .strip_prefix("--output=")
            .or_else(|| word.strip_prefix("-o=").or_else(|| word.strip_prefix("-o")))?,
    };
    let name = form.split('=').next().unwrap_or_default();
    let mut arguments = command.get_arguments();
    let output = arguments.find(|one| one.get_long() == Some("output"))?;
    let mut own = output.get_possible_values().into_iter();
    let is_own = own.any(|one| one.matches(name, false));
    if is_own || !OBJECT_FORMS.contains(&name) {
        return None;
    }
    let message = format!(
        "kubectl's -o {name} has no counterpart here: {} does not print objects",
        command.get_name()
    );
    let instead = match object {
        Some(object) => instead.replace("RESOURCE/NAME", object),
        None => instead.to_owned(),
    };
    let form = quoted(form);
    let hint = format!("to print the object: {instead} {form}");
    Some(CommandError::usage(message).hint(hint))
}

/// Writes a command line as the parser reads it: `--flag=true` of a switch, and flags before the command.
///
/// # Errors
/// When it has a flag of kubectl that has no counterpart.
pub(crate) fn plain(words: Vec<OsString>, cli: &Command) -> Result<Vec<OsString>, CommandError> {
    let words = with_command_first(words, cli);
    let (mut command, mut start) = (cli, 1);
    while let Some(below) = words
        .get(start)
        .and_then(|word| command.find_subcommand(word))
    {
        (command, start) = (below, start + 1);
    }
    if start == 1 {
        return Ok(words);
    }
    let object = named_object(words.get(start..).unwrap_or_default());
    let mut plain = Vec::with_capacity(words.len());
    let mut is_over = false;
    let mut words = words.into_iter().enumerate().peekable();
    while let Some((place, word)) = words.next() {
        is_over |= word == "--";
        let text = word.to_str().filter(|_| place >= start && !is_over);
        let next = words.peek().and_then(|(_, next)| next.to_str());
        if let Some(error) =
            text.and_then(|text| other_form(text, next, command, object.as_deref()))
        {
            return Err(error);
        }
        match text.map_or(FlagReading::AsWritten, |text| read(text, command)) {
            FlagReading::AsWritten => plain.push(word),
            FlagReading::On(flag) => plain.push(flag.into()),
            FlagReading::Off => {}
            FlagReading::OffWithNext => drop(words.next()),
            FlagReading::Unavailable(flag) => {
                let name = word.to_string_lossy();
                let name = name.split('=').next().unwrap_or_default();
                let message = format!("kubectl's {name} has no counterpart here: {}", flag.why);
                return Err(CommandError::usage(message).hint(flag.instead));
            }
        }
    }
    Ok(plain)
}

/// Finds the object that is named as RESOURCE/NAME behind the reel.
fn named_object(words: &[OsString]) -> Option<String> {
    let is_object = |word: &&str| {
        let mut parts = word.split('/');
        let named = (parts.next(), parts.next(), parts.next());
        matches!(named, (Some(resource), Some(name), None) if !resource.is_empty() && !name.is_empty())
            && !word.starts_with('-')
            && !default_reel::is_reel(OsStr::new(word))
    };
    let texts = words.iter().filter_map(|word| word.to_str());
    let object = texts.clone().skip(1).find(is_object)?;
    let mut namespace = texts.skip_while(|word| !NAMESPACE.contains(word)).skip(1);
    Some(match namespace.next() {
        Some(namespace) => format!("{object} -n {namespace}"),
        None => object.to_owned(),
    })
}

/// What becomes of a word.
enum FlagReading {
    AsWritten,
    /// The switch that it turns on.
    On(String),
    /// It turns a switch off, which is off by itself, or has no effect.
    Off,
    /// It has no effect, and neither has the word after it.
    OffWithNext,
    Unavailable(&'static UnavailableFlag),
}

fn read(word: &str, command: &Command) -> FlagReading {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    if !name.starts_with('-') || name.len() < 2 {
        return FlagReading::AsWritten;
    }
    let own = command.get_arguments().find(|arg| {
        let long = arg.get_long_and_visible_aliases().unwrap_or_default();
        let short = arg.get_short_and_visible_aliases().unwrap_or_default();
        match name.strip_prefix("--") {
            Some(name) => long.contains(&name),
            None => short
                .iter()
                .any(|short| name.strip_prefix('-') == Some(&short.to_string())),
        }
    });
    let unavailable = |name: &str| UNAVAILABLE.iter().find(|flag| flag.names.contains(&name));
    if own.is_none()
        && let Some(flag) = unavailable(word)
    {
        return FlagReading::Unavailable(flag);
    }
    let is_needless = NAMESPACE.contains(&name) && WITHOUT_NAMESPACE.contains(&command.get_name());
    let has_no_effect = is_needless || NO_EFFECT.contains(&name);
    match (own, value) {
        (Some(own), Some(value)) if matches!(own.get_action(), ArgAction::SetTrue) => match value {
            "true" | "True" | "TRUE" | "1" | "t" | "T" => FlagReading::On(name.to_owned()),
            "false" | "False" | "FALSE" | "0" | "f" | "F" => FlagReading::Off,
            _ => FlagReading::AsWritten,
        },
        (Some(_), _) => FlagReading::AsWritten,
        (None, Some(_)) if has_no_effect || NO_EFFECT_SWITCHES.contains(&name) => FlagReading::Off,
        (None, None) if NO_EFFECT_SWITCHES.contains(&name) || is_verbosity(name) => {
            FlagReading::Off
        }
        (None, None) if has_no_effect => FlagReading::OffWithNext,
        (None, _) => unavailable(name).map_or(FlagReading::AsWritten, FlagReading::Unavailable),
    }
}

/// Tells whether a word is `-v6`.
fn is_verbosity(word: &str) -> bool {
    let level = word.strip_prefix("-v").unwrap_or_default();
    !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit())
}

/// Puts flags that stand before the command behind it: kubectl takes them in both places.
fn with_command_first(mut words: Vec<OsString>, cli: &Command) -> Vec<OsString> {
    let mut flags = 0;
    while let Some(word) = words.get(1 + flags).and_then(|word| word.to_str()) {
        let (name, has_value) = match word.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word, false),
        };
        match name {
            "-n" | "--namespace" | "--tz" | "--age-identity" => {
                flags += if has_value { 1 } else { 2 };
            }
            "-A" | "--all-namespaces" => flags += 1,
            name if NO_EFFECT_SWITCHES.contains(&name)
                || UNAVAILABLE_SWITCHES.contains(&name)
                || is_verbosity(name) =>
            {
                flags += 1;
            }
            name if NO_EFFECT.contains(&name)
                || UNAVAILABLE.iter().any(|flag| flag.names.contains(&name)) =>
            {
                flags += if has_value { 1 } else { 2 };
            }
            _ => break,
        }
    }
    let command = words.get(1 + flags);
    if flags > 0 && command.is_some_and(|command| cli.find_subcommand(command).is_some()) {
        let command = words.remove(1 + flags);
        words.insert(1, command);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    fn read(words: &[&str]) -> Result<Vec<String>, CommandError> {
        let words = words.iter().map(OsString::from).collect();
        let read = plain(words, &Cli::command())?;
        let read = read
            .into_iter()
            .map(|word| word.into_string().expect("text"));
        Ok(read.collect())
    }

    #[test]
    fn switches_take_a_value_as_for_kubectl() {
        let words = [
            "kubereel",
            "get",
            "a.reel",
            "pods",
            "--no-headers=true",
            "-A=true",
            "--watch=false",
        ];
        let plain = ["kubereel", "get", "a.reel", "pods", "--no-headers", "-A"];
        assert_eq!(read(&words).expect("flags"), plain);
        // What takes a value keeps it, and so does what stands behind the flags.
        let words = [
            "kubereel",
            "get",
            "a.reel",
            "pods",
            "--selector=true",
            "--",
            "--no-headers=true",
        ];
        assert_eq!(read(&words).expect("flags"), words);
        let odd = ["kubereel", "get", "a.reel", "pods", "--no-headers=maybe"];
        assert_eq!(read(&odd).expect("for the parser"), odd);
    }

    #[test]
    fn flags_may_stand_before_the_command() {
        let moved = ["kubereel", "get", "-n", "shop", "a.reel", "pods"];
        let words = ["kubereel", "-n", "shop", "get", "a.reel", "pods"];
        assert_eq!(read(&words).expect("flags"), moved);
        let words = ["kubereel", "--namespace=shop", "get", "a.reel"];
        let expected = ["kubereel", "get", "--namespace=shop", "a.reel"];
        assert_eq!(read(&words).expect("flags"), expected);
        let words = ["kubereel", "--tz", "local", "-A", "get", "pods"];
        let moved = ["kubereel", "get", "--tz", "local", "-A", "pods"];
        assert_eq!(read(&words).expect("flags"), moved);
        let words = ["kubereel", "-n", "get"];
        assert_eq!(read(&words).expect("flags"), words);
    }

    #[test]
    fn flags_about_how_a_server_is_asked_have_no_effect() {
        let plain = ["kubereel", "get", "a.reel", "pods", "-A"];
        for line in [
            "kubereel get a.reel pods --request-timeout=5s -A",
            "kubereel get a.reel pods --request-timeout 5s -A",
            "kubereel get a.reel pods -v 6 -A",
            "kubereel get a.reel pods -v=6 -A",
            "kubereel get a.reel pods -v6 -A",
            "kubereel --request-timeout 5s --warnings-as-errors get a.reel pods -A",
            "kubereel get a.reel pods --chunk-size=100 --server-print=true -A",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(read(&words).expect(line), plain, "{line}");
        }
        // A command that has the flag takes it.
        let own = ["kubereel", "get", "a.reel", "pods", "--show-managed-fields"];
        assert_eq!(read(&own).expect("flags"), own);
        let error = read(&["kubereel", "--context", "x", "get", "pods"]).expect_err("a context");
        assert!(error.message().contains("--context"), "{}", error.message());
        for flag in [
            "--server-print=false",
            "--allow-missing-template-keys=false",
        ] {
            let error = read(&["kubereel", "get", "a.reel", "pods", flag]).expect_err(flag);
            assert!(error.message().contains("no counterpart"), "{flag}");
        }
    }

    #[test]
    fn a_form_of_objects_is_refused_where_the_answer_is_none() {
        for (line, hint) in [
            (
                "kubereel events a.reel -o jsonpath={.items}",
                "events -o 'jsonpath={.items}'",
            ),
            ("kubereel wait a.reel pod/x -oyaml", "REEL pod/x -o yaml"),
            ("kubereel wait a.reel pod x -oyaml", "RESOURCE/NAME -o yaml"),
            (
                "kubereel describe a.reel pod/x -n shop -oyaml",
                "REEL pod/x -n shop -o yaml",
            ),
            (
                "kubereel rollout history a.reel deploy/x --output=name",
                "REEL deploy/x -o name",
            ),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let error = read(&words).expect_err(line);
            assert!(
                error.message().contains("has no counterpart"),
                "{}",
                error.message()
            );
            let lines = error.lines();
            assert!(
                lines.iter().any(|(_, line)| line.ends_with(hint)),
                "{lines:?}"
            );
        }
        for line in [
            "kubereel events a.reel -o yaml",
            "kubereel wait a.reel pod/x -o json",
            "kubereel get a.reel pods -o jsonpath={.items}",
            "kubereel history a.reel pod/x -o foo",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(read(&words).expect(line), words);
        }
    }

    #[test]
    fn a_namespace_is_left_out_where_kubectl_takes_it_without_effect() {
        for command in WITHOUT_NAMESPACE {
            let plain = ["kubereel", command, "x"];
            for line in [
                &["kubereel", command, "-n", "shop", "x"][..],
                &["kubereel", command, "--namespace=shop", "x"],
                &["kubereel", "--namespace", "shop", command, "x"],
            ] {
                assert_eq!(read(line).expect("flags"), plain, "{line:?}");
            }
        }
        // Elsewhere it is the parser's: an answer about one namespace was asked for.
        let words = ["kubereel", "story", "a.reel", "-n", "shop"];
        assert_eq!(read(&words).expect("flags"), words);
    }

    #[test]
    fn what_has_no_counterpart_says_why() {
        for flag in UNAVAILABLE.iter().flat_map(|flag| flag.names) {
            let error = read(&["kubereel", "blame", "a.reel", "pod/x", flag]).expect_err(flag);
            let name = flag.split('=').next().expect("a name");
            assert!(error.message().contains(name), "{}", error.message());
        }
        let error = read(&["kubereel", "get", "pods", "--context=x"]).expect_err("a context");
        assert!(
            error.message().contains("--context has no counterpart"),
            "{}",
            error.message()
        );
        // A command that has the flag takes it.
        assert!(read(&["kubereel", "record", "-o", "a.reel", "--context", "x"]).is_ok());
        assert!(read(&["kubereel", "get", "a.reel", "--", "--raw"]).is_ok());
    }
}
