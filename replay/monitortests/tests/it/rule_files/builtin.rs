//! Every rule file that lies there is carried along.

use kubereel_monitortests::builtin_rule_files;
use std::collections::BTreeSet;

#[test]
fn every_rule_file_of_the_folder_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/builtin/rules");
    let there: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    let built_in: BTreeSet<String> = builtin_rule_files()
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(there, built_in);
}
