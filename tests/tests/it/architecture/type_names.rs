//! A type name stands for one type in all product code, so that a search for it finds one answer.

use std::collections::{BTreeMap, BTreeSet};

use super::{crates, source::SourceFile};

/// Names that every module or command may have once for itself.
const SHARED: [&str; 2] = ["Args", "Error"];

/// Names that more than one type still has. The list only shrinks: a name that stands for one type fails
/// the test, as a new duplicate does.
const KNOWN_DUPLICATES: &[&str] = &[];

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
    let lines = places
        .keys()
        .fold(String::new(), |text, name| text + "    \"" + name + "\",\n");
    let new: BTreeMap<_, _> = places
        .iter()
        .filter(|(name, _)| !KNOWN_DUPLICATES.contains(&name.as_str()))
        .collect();
    let gone: Vec<_> = KNOWN_DUPLICATES
        .iter()
        .filter(|name| !places.contains_key(**name))
        .collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new duplicates: {new:#?}\nno longer duplicates: {gone:#?}\n\
         as it is now:\nconst KNOWN_DUPLICATES: &[&str] = &[];"
    );
}
