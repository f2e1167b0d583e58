//! Top modules of a crate do not import each other in a circle: what is below can be read, tested and moved
//! without what is above.

use std::collections::{BTreeMap, BTreeSet};

use super::{crates, source::SourceFile};

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
    assert!(found.is_empty(), "imports in a cycle: {found:#?}");
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
