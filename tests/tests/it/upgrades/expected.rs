//! Owns how the expected output of `oc adm upgrade status` is read: as facts, one a line of text.

use super::facts::Facts;

/// Reads the facts of an output with all details.
pub fn facts(output: &str) -> Facts {
    let mut facts = Facts::default();
    if output.trim() == "The cluster is not updating." {
        facts.say("updating", "no");
        return facts;
    }
    facts.say("updating", "yes");
    let mut part = "";
    let mut insight: Option<(String, String)> = None;
    for line in output.lines() {
        let words: Vec<&str> = line
            .split("   ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect();
        if let Some(heading) = line.strip_prefix("= ") {
            part = heading.trim_end_matches(" =");
            continue;
        }
        match (part, line.split_once(':')) {
            (
                "Control Plane",
                Some((name @ ("Assessment" | "Target Version" | "Updating"), value)),
            ) => {
                facts.say(&name.to_lowercase(), value.trim());
            }
            ("Control Plane", Some(("Completion", value))) => facts.say("completion", value.trim()),
            ("Control Plane", Some(("Duration", value))) => facts.say("duration", value.trim()),
            ("Control Plane", Some(("Operator Health", value))) => {
                facts.say("operators", value.trim());
            }
            ("Control Plane", _) if line.starts_with("Update to ") => facts.say("completed", line),
            ("Update Health", Some(("Message", message))) => {
                insight = Some((message.trim().to_owned(), String::new()));
            }
            ("Update Health", Some((name, value))) => {
                take(&mut facts, &mut insight, name.trim(), value.trim());
            }
            _ => {}
        }
        match (part, words.as_slice()) {
            ("Update Health", ["SINCE", ..]) => {}
            ("Update Health", [since, level, impact, message]) => {
                facts.say(
                    "insight",
                    &format!("{level} · {impact} · {message} · {since}"),
                );
            }
            ("Worker Upgrade", [name, "Empty", _]) => facts.say("pool", &format!("{name} Empty")),
            ("Worker Upgrade", [name, assessment, completion, status])
                if completion.contains('%') =>
            {
                facts.say(
                    "pool",
                    &format!("{name} {assessment} {completion} {status}"),
                );
            }
            (_, [name, assessment, phase, version, ..]) if is_phase(phase) => {
                facts.say("node", &format!("{name} {assessment} {phase} {version}"));
            }
            _ => {}
        }
    }
    facts
}

fn is_phase(word: &str) -> bool {
    [
        "Draining",
        "Updating",
        "Rebooting",
        "Paused",
        "Pending",
        "Updated",
    ]
    .contains(&word)
}

/// Takes a line of an insight's details; the last of them completes it.
fn take(facts: &mut Facts, insight: &mut Option<(String, String)>, name: &str, value: &str) {
    let Some((message, told)) = insight else {
        return;
    };
    match name {
        "Since" => value.clone_into(told),
        "Level" => *told = format!("{value} · %impact% · {message} · {told}"),
        "Impact" => {
            facts.say("insight", &told.replace("%impact%", value));
            *insight = None;
        }
        _ => {}
    }
}
