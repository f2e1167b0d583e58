//! The program as a plugin of kubectl: as `kubectl-reel` it names itself `kubectl reel` in help, errors and hints, so
//! that what it prints can be pasted.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

/// The name of the program, as its texts have it.
const NAME: &str = "kubereel";

/// How kubectl calls the plugin, which may be installed under both names.
const FILES: [&str; 2] = ["kubectl-reel", "kubectl_reel"];

/// What a user types.
const TYPED: &str = "kubectl reel";

/// How the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CalledAs {
    /// By its own name, or any other.
    Program,
    /// By kubectl.
    Plugin,
}

impl CalledAs {
    /// Reads it from the first word of the command line, which becomes the program's own name for a plugin.
    pub(crate) fn of(words: &mut [OsString]) -> Self {
        let Some(first) = words.first_mut() else {
            return Self::Program;
        };
        let stem = Path::new(&*first).file_stem();
        if !stem.is_some_and(|stem| FILES.iter().any(|name| stem == *name)) {
            return Self::Program;
        }
        *first = NAME.into();
        Self::Plugin
    }

    /// Writes a text with the command lines that the user would type.
    pub(crate) fn spoken(self, text: &str) -> Cow<'_, str> {
        if self == Self::Program || !text.contains(NAME) {
            return Cow::Borrowed(text);
        }
        let mut spoken = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(NAME) {
            spoken.push_str(before);
            let joined = |letter: char| letter.is_alphanumeric() || "-_./~".contains(letter);
            // Not a part of a path or of another name; only a command is followed by its words.
            let is_command = !before.ends_with(joined) && after.starts_with([' ', '\n']);
            spoken.push_str(if is_command { TYPED } else { NAME });
            rest = after;
        }
        spoken.push_str(rest);
        Cow::Owned(spoken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubectl_calls_it_by_two_names() {
        for (path, expected) in [
            ("/usr/bin/kubectl-reel", CalledAs::Plugin),
            ("kubectl_reel", CalledAs::Plugin),
            ("kubectl-reel.exe", CalledAs::Plugin),
            ("kubereel", CalledAs::Program),
            ("kubectl-reel-x", CalledAs::Program),
        ] {
            let mut words = [path.into(), "info".into()];
            assert_eq!(CalledAs::of(&mut words), expected, "{path}");
            let is_renamed = words[0] == "kubereel";
            assert_eq!(is_renamed, path != "kubectl-reel-x", "{path}");
        }
        assert_eq!(CalledAs::of(&mut []), CalledAs::Program);
    }

    #[test]
    fn commands_are_spoken_as_they_are_typed_and_names_stay() {
        let text = "Usage: kubereel get\n  kubereel info x; see kubereel's /home/kubereel x and my-kubereel y\n$(kubereel demo)";
        let expected = "Usage: kubectl reel get\n  kubectl reel info x; see kubereel's /home/kubereel x and my-kubereel y\n$(kubectl reel demo)";
        assert_eq!(CalledAs::Plugin.spoken(text), expected);
        assert_eq!(CalledAs::Program.spoken(text), text);
    }
}
