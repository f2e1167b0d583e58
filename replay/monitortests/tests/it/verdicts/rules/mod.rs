//! The rule language, on reels: what each operator finds and does not find, and what is unknown.

mod intervals;
mod naive;
mod objects;
mod unknown;

/// The head of a rule that is tried; what follows is indented by two.
const HEAD: &str = "monitortests:
- id: tried
  monitor: tried
  junit: it
  description: d
  owner: o
  origin: p
";

/// The name of the one case.
const IT: &str = "it";

/// Makes a rule over config maps.
fn over_objects(rest: &str) -> String {
    format!("{HEAD}  objects:\n    resource: configmaps\n    namespace: shop\n{rest}")
}

/// Makes a rule over config maps with one check, of lines.
fn check(lines: &str) -> String {
    let lines = lines.replace('\n', "\n    ");
    over_objects(&format!(
        "  expect:\n  - {lines}\n    message: found in ${{object.metadata.name}}\n"
    ))
}
