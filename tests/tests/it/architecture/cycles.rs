//! Top modules of a crate do not import each other in a circle: what is below can be read, tested and moved
//! without what is above.

use std::collections::{BTreeMap, BTreeSet};

use super::{crates, source::SourceFile};

/// Imports that are part of a cycle and still wait to be broken. The list only shrinks: a line whose import
/// is gone fails the test, as a new import does.
const KNOWN_CYCLES: &[&str] = &[
    "kubereel: cli -> command",
    "kubereel: command -> cli",
    "kubereel-import: import -> outcome",
    "kubereel-import: import -> secrets",
    "kubereel-import: import -> take",
    "kubereel-import: outcome -> secrets",
    "kubereel-import: secrets -> import",
    "kubereel-import: take -> outcome",
    "kubereel-import: take -> secrets",
    "kubereel-recorder: backfill -> watch",
    "kubereel-recorder: budget -> health",
    "kubereel-recorder: discover -> watch",
    "kubereel-recorder: health -> budget",
    "kubereel-recorder: health -> marks",
    "kubereel-recorder: health -> observer",
    "kubereel-recorder: health -> watch",
    "kubereel-recorder: lifecycle -> budget",
    "kubereel-recorder: lifecycle -> discover",
    "kubereel-recorder: lifecycle -> health",
    "kubereel-recorder: lifecycle -> marks",
    "kubereel-recorder: lifecycle -> observer",
    "kubereel-recorder: lifecycle -> options",
    "kubereel-recorder: lifecycle -> probe",
    "kubereel-recorder: lifecycle -> watch",
    "kubereel-recorder: lifecycle -> writer",
    "kubereel-recorder: marks -> health",
    "kubereel-recorder: observer -> health",
    "kubereel-recorder: observer -> lifecycle",
    "kubereel-recorder: observer -> options",
    "kubereel-recorder: options -> health",
    "kubereel-recorder: probe -> watch",
    "kubereel-recorder: watch -> backfill",
    "kubereel-recorder: watch -> discover",
    "kubereel-recorder: watch -> health",
    "kubereel-recorder: writer -> budget",
    "kubereel-recorder: writer -> health",
    "kubereel-redact: text -> walk",
    "kubereel-redact: walk -> text",
    "kubereel-history: account -> timeline",
    "kubereel-history: as_of -> coverage",
    "kubereel-history: as_of -> resolve",
    "kubereel-history: as_of -> timeline",
    "kubereel-history: coverage -> as_of",
    "kubereel-history: coverage -> select",
    "kubereel-history: coverage -> timeline",
    "kubereel-history: object -> as_of",
    "kubereel-history: object -> resolve",
    "kubereel-history: object -> select",
    "kubereel-history: object -> timeline",
    "kubereel-history: proof -> summary",
    "kubereel-history: resolve -> timeline",
    "kubereel-history: select -> object",
    "kubereel-history: summary -> proof",
    "kubereel-history: timeline -> account",
    "kubereel-history: timeline -> coverage",
    "kubereel-history: timeline -> select",
    "kubereel-monitortests: builtin -> rule",
    "kubereel-monitortests: compute -> gather",
    "kubereel-monitortests: exception -> outcome",
    "kubereel-monitortests: facts -> gather",
    "kubereel-monitortests: facts -> verdict",
    "kubereel-monitortests: gather -> compute",
    "kubereel-monitortests: gather -> facts",
    "kubereel-monitortests: gather -> verdict",
    "kubereel-monitortests: judge -> builtin",
    "kubereel-monitortests: judge -> rule",
    "kubereel-monitortests: outcome -> exception",
    "kubereel-monitortests: rule -> judge",
    "kubereel-monitortests: verdict -> facts",
    "kubereel-tui: answer -> filter",
    "kubereel-tui: answer -> model",
    "kubereel-tui: answer -> msg",
    "kubereel-tui: filter -> lane",
    "kubereel-tui: keep -> model",
    "kubereel-tui: lane -> model",
    "kubereel-tui: model -> answer",
    "kubereel-tui: model -> filter",
    "kubereel-tui: model -> keep",
    "kubereel-tui: model -> lane",
    "kubereel-tui: model -> msg",
    "kubereel-tui: model -> problem",
    "kubereel-tui: model -> theme",
    "kubereel-tui: msg -> answer",
    "kubereel-tui: msg -> keep",
    "kubereel-tui: msg -> lane",
    "kubereel-tui: msg -> model",
    "kubereel-tui: msg -> problem",
    "kubereel-tui: problem -> lane",
    "kubereel-tui: problem -> model",
    "kubereel-tui: theme -> answer",
    "kubereel-tui: theme -> lane",
];

/// Which module imports which.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn imports(files: &[SourceFile]) -> Imports {
    let tops: BTreeSet<&str> = files.iter().filter_map(SourceFile::top_module).collect();
    let mut imports = Imports::new();
    for file in files {
        let Some(from) = file.top_module() else {
            continue;
        };
        let names = file.names_below_root();
        let others = names
            .intersection(&tops)
            .filter(|to| **to != from)
            .map(|to| (*to).to_owned());
        imports.entry(from.to_owned()).or_default().extend(others);
    }
    imports
}

/// Everything that a module imports, directly or through others.
fn reached<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(module) = next.pop() {
        for to in imports.get(module).into_iter().flatten() {
            if reached.insert(to.as_str()) {
                next.push(to);
            }
        }
    }
    reached
}

fn in_cycles(imports: &Imports) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (from, tos) in imports {
        for to in tos {
            if reached(imports, to).contains(from.as_str()) {
                found.push((from.as_str(), to.as_str()));
            }
        }
    }
    found
}

#[test]
fn no_import_cycle_joins_top_modules_of_a_crate() {
    let mut found = Vec::new();
    for (package, src) in crates() {
        let imports = imports(&SourceFile::all(&src));
        let cycles = in_cycles(&imports);
        found.extend(
            cycles
                .iter()
                .map(|(from, to)| format!("{package}: {from} -> {to}")),
        );
    }
    let lines = found
        .iter()
        .fold(String::new(), |text, line| text + "    \"" + line + "\",\n");
    let new: Vec<&String> = found
        .iter()
        .filter(|line| !KNOWN_CYCLES.contains(&line.as_str()))
        .collect();
    let gone: Vec<&&str> = KNOWN_CYCLES
        .iter()
        .filter(|line| !found.iter().any(|found| found == **line))
        .collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new imports in a cycle: {new:#?}\nno longer in a cycle: {gone:#?}\n\
         as it is now:\nconst KNOWN_CYCLES: &[&str] = &[\n{lines}];"
    );
}

#[test]
fn an_import_is_in_a_cycle_if_it_leads_back() {
    let import = |from: &str, tos: &[&str]| {
        let tos = tos.iter().map(|to| (*to).to_owned()).collect();
        (from.to_owned(), tos)
    };
    let imports = Imports::from([
        import("a", &["b", "d"]),
        import("b", &["c"]),
        import("c", &["a"]),
        import("d", &["e"]),
    ]);
    assert_eq!(in_cycles(&imports), [("a", "b"), ("b", "c"), ("c", "a")]);
}
