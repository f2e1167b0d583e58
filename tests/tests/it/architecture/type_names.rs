//! A type name stands for one type in all product code, so that a search for it finds one answer.

use std::collections::{BTreeMap, BTreeSet};

use super::{crates, source::SourceFile};

/// Names that every module or command may have once for itself.
const SHARED: [&str; 2] = ["Args", "Error"];

#[test]
fn no_type_name_is_used_twice() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (package, src) in crates() {
        for file in SourceFile::all(&src) {
            for name in file.types() {
                let place = format!("{package}: {}", file.path);
                places.entry(name.to_owned()).or_default().insert(place);
            }
        }
    }
    assert!(places.len() > 400, "the types moved: mend this test");
    places.retain(|name, places| places.len() > 1 && !SHARED.contains(&name.as_str()));
    assert!(
        places.is_empty(),
        "names of more than one type: {places:#?}"
    );
}
