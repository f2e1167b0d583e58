//! Clusters that were gathered in the middle of an upgrade are judged as `oc adm upgrade status` judges
//! them. What differs is listed, with its reason; a new difference fails, and so does one that is gone.

use super::{expected, facts};
use crate::recordings::recording::Recording;
use kubereel_cluster::ClusterHistory;
use kubereel_format::RecordedAt;
use kubereel_history::{Moment, ObjectForm, Timeline};
use kubereel_import::ImportOptions;
use kubereel_tests::shared_data::shared_data;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: &str = "oc-upgrade-examples/status";

/// Gives the folder of the scenarios; `None`, said aloud, if it is not there.
pub(crate) fn folder() -> Option<PathBuf> {
    shared_data(FOLDER)
}

/// What `oc` adds to its moment, in microseconds.
const AFTER_MICROS: i64 = 368;

/// A difference that is accepted.
struct Accepted {
    scenario: &'static str,
    /// What only one of them says begins so.
    fact: &'static str,
    /// Who says it.
    by: By,
    /// How many such facts there are.
    count: usize,
    #[expect(dead_code, reason = "for those who read the list")]
    reason: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Oc,
    Kubereel,
}

const ACCEPTED: [Accepted; 1] = [Accepted {
    scenario: "4.15.0-ec2-unavailable-mco-20m",
    fact: "insight: Warning · Unknown · Alert is firing: ",
    by: By::Oc,
    count: 4,
    reason: "alerts come from Prometheus: no watch of the API shows them, and no reel holds them",
}];

#[test]
fn moments_of_upgrades_are_judged_as_oc_judges_them() {
    let Some(folder) = folder() else {
        return;
    };
    let mut differing: BTreeSet<(String, By, String)> = BTreeSet::new();
    let mut agreed = 0;
    let scenarios = scenarios(&folder);
    assert_eq!(scenarios.len(), 13, "{scenarios:?}");
    for scenario in &scenarios {
        let timeline = gathered(&folder, scenario);
        let cut = timeline.timeline.resolve(Moment::End).unwrap();
        let now = newest_transition(&timeline.timeline);
        let status = ClusterHistory::of(&timeline.timeline)
            .update_status(cut, Some(now))
            .unwrap()
            .unwrap();
        let ours = facts::of(&status).all;
        let output = read(&folder, &format!("{scenario}.detailed-output"));
        let theirs = expected::facts(&output).all;
        agreed += ours.intersection(&theirs).count();
        let say = |by: By, fact: &String| (scenario.clone(), by, fact.clone());
        differing.extend(theirs.difference(&ours).map(|fact| say(By::Oc, fact)));
        differing.extend(ours.difference(&theirs).map(|fact| say(By::Kubereel, fact)));
    }
    let mut unused: Vec<&Accepted> = Vec::new();
    for accepted in &ACCEPTED {
        let before = differing.len();
        differing.retain(|(scenario, by, fact)| {
            scenario != accepted.scenario || *by != accepted.by || !fact.starts_with(accepted.fact)
        });
        if before - differing.len() != accepted.count {
            unused.push(accepted);
        }
    }
    let gone: Vec<_> = unused
        .iter()
        .map(|one| (one.scenario, one.by, one.fact))
        .collect();
    assert!(
        gone.is_empty(),
        "there are not as many of these any more: {gone:#?}"
    );
    assert!(differing.is_empty(), "new differences: {differing:#?}");
    assert!(agreed > 200, "{agreed}");
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// Gives the names of the scenarios, from A to Z.
pub(crate) fn scenarios(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut scenarios: Vec<String> = names
        .filter_map(|name| name.strip_suffix("-cv.yaml").map(str::to_owned))
        .collect();
    scenarios.sort_unstable();
    scenarios
}

/// Makes a reel of all lists of a scenario: one moment.
pub(crate) fn gathered(folder: &Path, scenario: &str) -> crate::recordings::recording::Reel {
    let mut text = String::new();
    for kind in ["cv", "co", "mcp", "node", "mco-deployment"] {
        let file = format!("{scenario}-{kind}.yaml");
        if folder.join(&file).exists() {
            // Two of the files are JSON; indented, they are YAML as well, and part of the others' stream.
            let list = read(folder, &file);
            let list = if list.starts_with('{') {
                list.replace('\n', "\n ").replacen('{', " {", 1)
            } else {
                list
            };
            text = format!("{text}---\n{list}\n");
        }
    }
    // Of the configurations only the release is known: their files hold pull secrets.
    for line in read(folder, "machineconfig-versions.tsv").lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        if let [of, name, version, ..] = cells.as_slice()
            && *of == scenario
            && !version.is_empty()
        {
            text = format!(
                "{text}---\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: {name}\n  annotations:\n    machineconfiguration.openshift.io/release-image-version: \"{version}\"\n"
            );
        }
    }
    let mut options = ImportOptions::new("test", "gathered lists");
    options.at = Some(RecordedAt::from_micros(1_900_000_000_000_000));
    let reel = Recording {
        bytes: text.into_bytes(),
    }
    .import(&options);
    assert_eq!(reel.imported.broken.count, 0, "{scenario}");
    reel
}

/// Gives the moment at which `oc` takes such lists to have been gathered.
fn newest_transition(timeline: &Timeline) -> RecordedAt {
    let mut newest = RecordedAt::default();
    for name in ["clusterversions", "clusteroperators"] {
        let resource = timeline.resources().find(name).unwrap();
        for &object in timeline.objects_of(resource.id) {
            let seq = timeline.reel().versions(object)[0];
            let body = timeline
                .object(seq, resource, ObjectForm::default())
                .unwrap();
            let conditions = body["status"]["conditions"].as_array();
            for condition in conditions.into_iter().flatten() {
                let at: Option<jiff::Timestamp> = condition["lastTransitionTime"]
                    .as_str()
                    .and_then(|at| at.parse().ok());
                let at = at.map(|at| RecordedAt::from_micros(at.as_microsecond()));
                newest = newest.max(at.unwrap_or_default());
            }
        }
    }
    RecordedAt::from_micros(newest.micros + AFTER_MICROS)
}
