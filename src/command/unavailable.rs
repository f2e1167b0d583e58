//! Commands of kubectl that a recording cannot answer: why, and what to do instead. One table, which the
//! documentation is compared with.

use crate::command_error::{CommandError, Exit};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

/// Why a recording has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    /// The command changes a cluster.
    Changes,
    /// The answer is not among the objects of the API, of which a recording is made.
    NotRecorded(&'static str),
    /// The command is about kubectl and its configuration.
    OfKubectl,
}

/// A command, and what to do instead; REEL stands for the reel that is given.
struct UnavailableCommand {
    name: &'static str,
    obstacle: Obstacle,
    instead: &'static [&'static str],
}

const fn changes(name: &'static str, instead: &'static [&'static str]) -> UnavailableCommand {
    UnavailableCommand {
        name,
        obstacle: Obstacle::Changes,
        instead,
    }
}

const fn missing(
    name: &'static str,
    why: &'static str,
    instead: &'static [&'static str],
) -> UnavailableCommand {
    UnavailableCommand {
        name,
        obstacle: Obstacle::NotRecorded(why),
        instead,
    }
}

const fn of_kubectl(name: &'static str, instead: &'static [&'static str]) -> UnavailableCommand {
    UnavailableCommand {
        name,
        obstacle: Obstacle::OfKubectl,
        instead,
    }
}

const WHO_CHANGED: &[&str] = &["to see who changed an object: kubereel blame REEL RESOURCE/NAME"];
const WHAT_CHANGED: &[&str] =
    &["to see what changed between two moments: kubereel diff REEL --from TIME --to TIME"];
const TAKE_OBJECT: &[&str] = &[
    "to apply what it was to a cluster: kubereel get REEL RESOURCE/NAME --at TIME -o yaml | kubectl apply -f -",
];
const POD_STATE: &[&str] = &[
    "to see how its containers were and ended: kubereel describe REEL pod/NAME",
    "to see what was reported of it: kubereel events REEL --for pod/NAME",
];
const PODS_OF_NODE: &[&str] = &[
    "to see when a Node was cordoned, and by whom: kubereel history REEL node/NAME --field .spec",
];
const NODE_DEMANDS: &[&str] =
    &["to see what Pods request on each Node: kubereel describe REEL nodes"];
const RULES: &[&str] =
    &["to see the roles and bindings: kubereel get REEL clusterroles,clusterrolebindings -o wide"];

/// All of them, in the order of kubectl's help.
const ALL: [UnavailableCommand; 37] = [
    changes("create", TAKE_OBJECT),
    changes("expose", TAKE_OBJECT),
    changes("run", TAKE_OBJECT),
    changes("set", WHO_CHANGED),
    changes("edit", WHO_CHANGED),
    changes("delete", WHAT_CHANGED),
    changes("scale", WHO_CHANGED),
    changes("autoscale", WHO_CHANGED),
    changes("certificate", WHAT_CHANGED),
    missing(
        "cluster-info",
        "the addresses of its services",
        &["to see which cluster was recorded: kubereel info REEL"],
    ),
    missing("top", "measured usage of CPU and memory", NODE_DEMANDS),
    changes("cordon", PODS_OF_NODE),
    changes("uncordon", PODS_OF_NODE),
    changes("drain", PODS_OF_NODE),
    changes("taint", PODS_OF_NODE),
    missing("logs", "logs of containers", POD_STATE),
    missing("attach", "running containers", POD_STATE),
    missing("exec", "running containers", POD_STATE),
    missing("port-forward", "running containers", POD_STATE),
    missing(
        "proxy",
        "a server that answers",
        &["to read an object: kubereel get REEL RESOURCE/NAME -o json"],
    ),
    missing("cp", "files of containers", POD_STATE),
    missing("auth", "decisions about access", RULES),
    missing("debug", "running containers", POD_STATE),
    changes("apply", TAKE_OBJECT),
    changes("patch", WHO_CHANGED),
    changes("replace", TAKE_OBJECT),
    of_kubectl("kustomize", WHAT_CHANGED),
    changes("label", WHO_CHANGED),
    changes("annotate", WHO_CHANGED),
    of_kubectl("alpha", &["to list all commands: kubereel --help"]),
    of_kubectl("plugin", &["to list all commands: kubereel --help"]),
    of_kubectl("options", &["to list all commands: kubereel --help"]),
    of_kubectl(
        "config",
        &["a reel needs no kubeconfig; to see which cluster was recorded: kubereel info REEL"],
    ),
    of_kubectl("kuberc", &["to list all commands: kubereel --help"]),
    missing(
        "convert",
        "other versions of objects",
        &["to see the recorded versions: kubereel api-versions REEL"],
    ),
    changes(
        "rollback",
        &["to list the revisions: kubereel rollout history REEL deployment/NAME"],
    ),
    changes(
        "rolling-update",
        &["to list the revisions: kubereel rollout history REEL deployment/NAME"],
    ),
];

/// The parts of `kubectl rollout` that change a cluster.
const ROLLOUT_CHANGES: [&str; 4] = ["undo", "pause", "resume", "restart"];

/// Answers a command of kubectl that a recording cannot answer; `None` for all others.
pub(crate) fn answer(words: &[OsString]) -> Option<CommandError> {
    let mut given = words.iter().skip(1).map(|word| word.to_string_lossy());
    let name = given.next()?;
    let rest: Vec<_> = given.collect();
    if name == "rollout" {
        let action = rest
            .first()
            .filter(|word| ROLLOUT_CHANGES.contains(&word.as_ref()))?;
        let instead = "to list the revisions: kubereel rollout history REEL RESOURCE/NAME";
        return Some(refusal(
            &format!("rollout {action}"),
            Obstacle::Changes,
            &[instead],
            &rest,
        ));
    }
    let command = ALL.iter().find(|command| command.name == name)?;
    Some(refusal(&name, command.obstacle, command.instead, &rest))
}

fn refusal(
    name: &str,
    obstacle: Obstacle,
    instead: &[&str],
    rest: &[Cow<'_, str>],
) -> CommandError {
    let (exit, why) = match obstacle {
        Obstacle::Changes => (Exit::No, "a recording cannot be changed".to_owned()),
        Obstacle::NotRecorded(what) => (
            Exit::Unknown,
            format!("a recording does not contain {what}"),
        ),
        Obstacle::OfKubectl => (Exit::No, "it is about kubectl itself".to_owned()),
    };
    let is_reel = |word: &&Cow<'_, str>| {
        let ending = Path::new(word.as_ref()).extension();
        ending.is_some_and(|ending| ending == "reel")
    };
    let reel = rest
        .iter()
        .find(is_reel)
        .map_or("REEL", |word| word.as_ref());
    let error = CommandError::new(
        exit,
        format!("kubectl {name} has no counterpart here: {why}"),
    );
    instead
        .iter()
        .fold(error, |error, hint| error.hint(hint.replace("REEL", reel)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory as _;

    fn error(words: &[&str]) -> Option<CommandError> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        answer(&words)
    }

    #[test]
    fn what_cannot_be_answered_says_why_and_what_to_do() {
        let logs = error(&["kubereel", "logs", "run.reel", "pod/web-0"]).expect("an answer");
        assert_eq!(logs.exit(), Exit::Unknown);
        assert!(
            logs.message()
                .contains("does not contain logs of containers")
        );
        let hints: Vec<&str> = logs.lines().into_iter().map(|(_, line)| line).collect();
        assert!(
            hints
                .iter()
                .any(|hint| hint.contains("describe run.reel pod/NAME")),
            "{hints:?}"
        );
        let undo = error(&["kubereel", "rollout", "undo", "deploy/web"]).expect("an answer");
        assert_eq!(undo.exit(), Exit::No);
        assert!(error(&["kubereel", "rollout", "history"]).is_none());
        assert!(error(&["kubereel", "get", "logs"]).is_none());
        assert!(error(&["kubereel"]).is_none());
    }

    #[test]
    fn no_command_is_both_here_and_unavailable() {
        let commands = Cli::command();
        for command in &ALL {
            assert!(
                commands.find_subcommand(command.name).is_none(),
                "{}",
                command.name
            );
            assert!(!command.instead.is_empty(), "{}", command.name);
        }
    }
}
