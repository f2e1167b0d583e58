//! `kubereel test`: rules over recordings, and the files that others read.

use super::run::{DEMO, assert_has, kubereel, pods_with_gap};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file below a folder, by its path there.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() {
            for (below, bytes) in files(&path) {
                found.insert(format!("{name}/{below}"), bytes);
            }
        } else {
            found.insert(name.into_owned(), fs::read(&path).expect("a file"));
        }
    }
    found
}

#[test]
fn two_runs_say_the_same_in_every_form() {
    let run = || {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (junit, rows) = (path("junit"), path("rows.jsonl"));
        let proposed = path("proposed.yaml");
        let ran = kubereel!(
            "test {DEMO} --junit {junit} --rows {rows} --propose-exceptions {proposed} --job periodic-e2e --build 17 -o json"
        );
        (ran.code, ran.out, files(folder.path()))
    };
    let first = run();
    assert_eq!(first, run());
    let (code, out, written) = first;
    // The demo is the recording of an upgrade that went wrong.
    assert_eq!(code, Some(1));
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    assert_eq!(names[1..], ["proposed.yaml", "rows.jsonl"]);
    assert!(
        names[0].starts_with("junit/e2e-monitor-tests__2026"),
        "{names:?}"
    );
    let xml = String::from_utf8(written[names[0]].clone()).expect("text");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let cases = report["runs"][0]["cases"].as_array().expect("cases");
    let flakes = cases.iter().filter(|case| {
        let verdict = case["verdict"].as_str().unwrap_or_default();
        verdict.starts_with("flake")
    });
    let in_xml = xml.matches("<testcase ").count();
    assert_eq!(in_xml, cases.len() + flakes.count());
    let rows = String::from_utf8(written["rows.jsonl"].clone()).expect("text");
    assert_eq!(rows.lines().count(), cases.len());
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        assert_eq!(
            (row["job"].as_str(), row["build"].as_str()),
            (Some("periodic-e2e"), Some("17"))
        );
    }
}

#[cfg(unix)]
#[test]
fn collectors_may_read_junit() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let junit = folder.path().display().to_string();
    kubereel!("test {DEMO} --only ha-* --junit {junit}").ok();
    let file = fs::read_dir(folder.path()).expect("a folder").next();
    let file = file.expect("a file").expect("an entry");
    let mode = file.metadata().expect("known").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn the_report_says_what_was_found_and_which_command_shows_it() {
    let ran = kubereel!("test {DEMO} --only version-pods");
    let out = ran.code(0).out;
    assert!(
        out.starts_with(&format!(
            "{DEMO} · 1 flake\n\nUPGRADE · 1 flake\n\nFLAKE    "
        )),
        "{out}"
    );
    let command = out
        .lines()
        .find(|line| line.starts_with("    kubereel describe "));
    let command = command.expect("a command").trim();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let told = kubereel(&words).ok();
    assert_has(&told, "version-");
    let wide = kubereel!("test {DEMO} --only version-pods -o wide").ok();
    assert!(wide.len() > out.len());
}

#[test]
fn the_others_are_judged_where_one_recording_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (broken, cut, junit) = (path("broken.reel"), path("cut.reel"), path("junit"));
    fs::write(&broken, "no reel at all").expect("written");
    let whole = fs::read(DEMO).expect("the demo");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("written");
    let ran = kubereel!("test {DEMO} {broken} {DEMO} {cut} --only ha-* --junit {junit}").code(3);
    ran.prints(&format!("{broken} · not read"));
    ran.prints(&format!("1 = {DEMO}"));
    let line = ran
        .out
        .lines()
        .find(|line| line.starts_with("ha-replicas "));
    let cells: Vec<&str> = line.expect("a line").split_whitespace().collect();
    assert_eq!(cells[1..5], ["flake", "not", "read", "flake"]);
    let written = files(Path::new(&junit));
    let of = |folder: &str| {
        let mut found = written.iter();
        found.find_map(|(name, file)| name.starts_with(folder).then_some(file))
    };
    assert!(of("demo/").is_some());
    assert_eq!(of("demo/"), of("demo-2/"));
}

#[test]
fn a_gap_is_told_of() {
    let reel = pods_with_gap();
    let ran = kubereel!("test {reel} --only recording-complete").code(0);
    ran.prints("14:00:07.000Z – 14:00:12.000Z");
}

/// Writes a rule: no pod may have a label.
fn rule(folder: &Path, id: &str, label: &str) {
    let text = format!(
        "monitortests:
- id: {id}
  monitor: labels
  junit: '[sig-test] no pod has the label {label}'
  description: Labels are good.
  owner: sig-test
  origin: this test
  objects:
    resource: pods
  expect:
  - never: object.metadata.labels.app == '{label}'
    reason: WrongLabel
    message: ${{object.metadata.name}} has the label {label}
"
    );
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join(format!("{id}.yaml")), text).expect("written");
}

#[test]
fn own_rules_fail_or_are_unknown_in_a_gap_and_proposals_cover_what_fails() {
    let reel = pods_with_gap();
    let folder = tempfile::tempdir().expect("a folder");
    let rules = folder.path().join("rules");
    rule(&rules, "label-q", "q");
    let path = rules.display().to_string();
    let run = |more: &str| kubereel!("test {reel} --rules {path} --only label-* {more}");
    let ran = run("").code(4);
    let unknown = "  not observed 14:00:07.000Z – 14:00:12.000Z  pods: gap: ";
    ran.prints(unknown);
    rule(&rules, "label-y", "y");
    let ran = run("").code(1);
    assert!(
        ran.out
            .starts_with(&format!("{} · 1 fail · 1 unknown\n", reel.path())),
        "{}",
        ran.out
    );
    let command = format!(
        "kubereel describe {} pods/b -n web --at 14:00:03.000Z",
        reel.path()
    );
    ran.prints(&command);
    let known = folder.path().join("known.yaml").display().to_string();
    run(&format!("--propose-exceptions {known}")).code(1);
    let ran = run(&format!("--exceptions {known}")).code(4);
    ran.prints("1 flake (jira)");
    assert!(!ran.err.contains("unused"), "{}", ran.err);
    let words = kubereel!("test --rules {path} --explain label-y").ok();
    assert_has(&words, "pods");
    // A rule of one's own stands for the built-in one of its id.
    rule(&rules, "version-pods", "y");
    kubereel!("test {reel} --rules {path} --only version-pods").code(1);
    fs::write(
        rules.join("wrong.yaml"),
        "monitortests:\n- id: a\n  colour: red\n",
    )
    .expect("written");
    run("").code(2).says("wrong.yaml:3:3").says("colour");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let empty = empty.display().to_string();
    kubereel!("test {reel} --rules {empty}")
        .code(2)
        .says("no rule files");
}

#[test]
fn rule_files_are_bounded_before_they_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let rules = folder.path().join("rules");
    fs::create_dir(&rules).expect("a folder");
    let path = rules.display().to_string();
    let file = |name: &str, bytes: u64| {
        let file = fs::File::create(rules.join(name)).expect("a file");
        // Without blocks on the disk.
        file.set_len(bytes).expect("a length");
    };
    let refused = |limit: &str| {
        kubereel!("test {DEMO} --rules {path}").code(2).says(limit);
    };
    file("a.yaml", 10_000_001);
    refused("larger than 10.0 MB");
    let known = rules.join("a.yaml").display().to_string();
    kubereel!("test {DEMO} --exceptions {known}")
        .code(2)
        .says("larger than 10.0 MB");
    for number in 0..6 {
        file(&format!("a{number}.yaml"), 9_000_000);
    }
    fs::remove_file(rules.join("a.yaml")).expect("removed");
    refused("larger than 50.0 MB in all");
    for number in 0..1_001 {
        file(&format!("b{number}.yaml"), 0);
    }
    refused("more than 1,000 files");
}

#[test]
fn exceptions_are_read_counted_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("known.yaml");
    let known = path.display().to_string();
    let write = |text: &str| fs::write(&path, text).expect("written");
    write(
        "exceptions:\n- {rule: ha-replicas, state: permanent, why: small, expires: 2020-01-01}\n- {rule: version-pods, state: jira, link: BUG-1}\n- {rule: ha-health-checks, state: jira, link: BUG-2, namespace: nowhere}\n- {rule: no-such-rule, state: jira, link: BUG-3}\n",
    );
    let ran = kubereel!("test {DEMO} --all --exceptions {known}");
    ran.prints("excepted: BUG-1 ");
    ran.says(&format!(
        "{known}:2: expired exception: it would have covered "
    ))
    .says(&format!("{known}:4: unused exception"))
    .says(&format!("{known}:5: unused exception"));
    let ran = kubereel!("test {DEMO} --exceptions {known} --only version-pods");
    assert!(!ran.err.contains(":4: unused"), "{}", ran.err);
    let early = "--now 2019-01-01T00:00:00Z --only ha-replicas";
    let ran = kubereel!("test {DEMO} --exceptions {known} {early}");
    ran.prints("flake (permanent)");
    write("exceptions:\n- {rule: a, state: jira}\n");
    kubereel!("test {DEMO} --exceptions {known}")
        .code(2)
        .says(&format!("{known}:2:"))
        .says("link");
}

#[test]
fn wrong_calls_are_refused_before_anything_runs() {
    kubereel!("test").code(2);
    kubereel!("test {DEMO} --only no-such-rule")
        .code(2)
        .says("no rule matches --only \"no-such-rule\"");
    // Without the rule that it should choose, the run would pass.
    kubereel!("test {DEMO} --only version-pods --only operator-degradedd")
        .code(2)
        .says("did you mean operator-degraded?");
    kubereel!("test {DEMO} --only version-pods --skip version-*")
        .code(2)
        .says("leave no rule");
    kubereel!("test --explain no-such-rule")
        .code(2)
        .says("--list");
    kubereel!("test {DEMO} --exceptions no/such/file").code(2);
    kubereel!("test no/such.reel")
        .code(3)
        .says("kubereel record");
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let rows = path("rows.jsonl");
    let few = |more: &str| kubereel!("test {DEMO} --only version-pods {more}");
    few(&format!("--rows {rows}")).ok();
    few(&format!("--rows {rows}")).code(2).says("--force");
    few(&format!("--rows {rows} --force")).ok();
    let copy = path("copy.reel");
    fs::copy(DEMO, &copy).expect("copied");
    kubereel!("test {copy} --rows {copy} --force").code(2);
    let junit = path("junit");
    few(&format!("--junit {junit}")).ok();
    few(&format!("--junit {junit}")).code(2).says("--force");
}

#[test]
fn files_of_intervals_are_written_and_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().display().to_string();
    let few = "--only ha-* --only events-*";
    let of_reel = kubereel!("test {DEMO} --intervals {root} {few}");
    assert_eq!(of_reel.code, Some(0), "{of_reel:?}");
    let written = files(folder.path());
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names[0].starts_with("e2e-events_2026"), "{names:?}");
    assert!(
        names[1].starts_with("e2e-timelines_everything_2026"),
        "{names:?}"
    );
    let events = folder.path().join(names[0]).display().to_string();
    let ran = kubereel!("test {events} -o json {few}");
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let run = &report["runs"][0];
    assert_eq!(run["trust"], "intervals");
    let cases = run["cases"].as_array().expect("cases");
    for case in cases.iter().filter(|case| {
        case["rule"]
            .as_str()
            .is_some_and(|rule| rule.starts_with("ha-"))
    }) {
        assert_eq!(case["verdict"], "skipped");
        let why = case["why"].as_str().unwrap_or_default();
        assert!(
            why.starts_with("a file of intervals has no objects: "),
            "{why}"
        );
    }
    assert!(
        cases.iter().any(|case| case["verdict"] == "pass"),
        "{cases:?}"
    );
    let verdicts = |more: &str| {
        let ran = kubereel!("test {events} --only operator-available -o json {more}");
        let report: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(report["runs"][0]["facts"]["topology"], "HighlyAvailable");
        let counts = &report["runs"][0]["counts"];
        ["fail", "pass"].map(|verdict| counts[verdict].as_u64() > Some(0))
    };
    // The demo's operators were away, and its file of intervals tells that too.
    let told = "--fact topology=HighlyAvailable --fact version=4.21.9";
    assert_eq!(verdicts(told), [true, true]);
    kubereel!("test {events} --fact colour=red")
        .code(2)
        .says("colour");
    kubereel!("test {events} --fact platform=AWS")
        .code(2)
        .says("platform \"AWS\": expected one of aws, ");
    kubereel!("test {events} --fact version=newest")
        .code(2)
        .says("such as 4.21.9");
    kubereel!("test {DEMO} --fact platform=aws").says("--fact describes files of intervals");
    let other = folder.path().join("other.json");
    fs::write(&other, "{}").expect("written");
    let other = other.display().to_string();
    kubereel!("test {other}")
        .code(3)
        .says("not a file of intervals")
        .says("hint");
}

#[test]
fn rules_are_listed_and_explained() {
    let list = kubereel!("test --list").ok();
    let ids: Vec<&str> = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(ids.len() > 5, "{list}");
    let json = kubereel!("test --list -o json").json();
    let rules = json["rules"].as_array().expect("a list");
    assert_eq!(rules.len(), ids.len());
    for rule in rules {
        let is_told = !rule["in_words"][0].is_null();
        assert!(is_told || rule["written_in"] == "rust", "{rule}");
    }
    // Some of them, for each is a process of its own.
    for rule in rules.iter().step_by(20) {
        let id = rule["rule"].as_str().expect("a text");
        let page = kubereel!("test --explain {id}").ok();
        assert!(page.starts_with(&format!("{id} · ")), "{page}");
        for words in rule["in_words"].as_array().expect("a list") {
            let first = words.as_str().and_then(|words| words.split(' ').next());
            assert!(page.contains(first.expect("words")), "{page}");
        }
    }
}

#[test]
fn by_default_the_rules_about_what_happened_are_run_and_all_on_request() {
    let classes = |args: &str| -> BTreeMap<String, usize> {
        let ran = kubereel!("test {DEMO} -o json {args}");
        let report: Value = serde_json::from_str(&ran.out).expect("JSON");
        let mut classes = BTreeMap::new();
        for case in report["runs"][0]["cases"].as_array().expect("cases") {
            let class = case["class"].as_str().expect("a class");
            *classes.entry(class.to_owned()).or_default() += 1;
        }
        classes
    };
    let names = |args: &str| classes(args).into_keys().collect::<Vec<_>>().join(" ");
    assert_eq!(names(""), "disruption fault upgrade");
    assert_eq!(names("--all"), "disruption fault policy upgrade");
    assert_eq!(names("--class policy,upgrade"), "policy upgrade");
    assert_eq!(names("--only ha-replicas"), "policy");
    kubereel!("test {DEMO}").says("rules of class policy not run");
    kubereel!("test {DEMO} --class polixy")
        .code(2)
        .says("policy");
    kubereel!("test {DEMO} --class policy --all").code(2);
}

#[test]
fn rules_for_openshift_do_not_run_on_another_cluster_and_are_counted() {
    let reel = pods_with_gap();
    let ran = kubereel!("test {reel} --all -o json");
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let run = &report["runs"][0];
    let omitted = run["not_applicable"].as_array().expect("a list");
    let codes = |code: &str| omitted.iter().filter(|one| one["code"] == code).count();
    assert!(codes("other-cluster") > 40, "{omitted:#?}");
    assert!(codes("no-such-resource") > 3, "{omitted:#?}");
    for case in run["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("a name");
        assert!(!name.contains("openshift"), "{name}");
    }
    let out = kubereel!("test {reel}").out;
    let line = out.lines().find(|line| line.contains("not apply to"));
    let line = line.expect("a line");
    assert!(
        line.contains("not OpenShift") && line.contains("--all"),
        "{line}"
    );
    let all = kubereel!("test {reel} --all").out;
    assert_has(&all, "  operator-available: it is a rule for OpenShift");
}

#[test]
fn a_rule_is_started_from_a_template_or_from_a_built_in_rule() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let template = write("new.yaml", &kubereel!("test --new-rule").ok());
    let listed = kubereel!("test --rules {template} --list").ok();
    assert_has(&listed, "pods-do-not-fail ");
    for id in [
        "required-scc-annotation",
        "leases-are-released",
        "operator-progresses-in-upgrade",
    ] {
        let text = kubereel!("test --explain {id} -o yaml").ok();
        let own = write("own.yaml", &text.replace(&format!("id: {id}"), "id: mine"));
        let words = kubereel!("test --rules {own} --explain mine").ok();
        let builtin = kubereel!("test --explain {id}").ok();
        let tail = |text: &str| text.lines().skip(1).collect::<Vec<_>>().join("\n");
        assert_eq!(tail(&words), tail(&builtin), "{text}");
    }
    kubereel!("test --explain ha-replicas -o yaml")
        .code(2)
        .says("written in Rust");
    kubereel!("test {DEMO} -o yaml").code(2).says("--explain");
    let guide = kubereel!("help rules").ok();
    assert!(guide.starts_with("# The rule language"), "{guide}");
    let schema = kubereel!("test --schema").ok();
    assert!(serde_json::from_str::<Value>(&schema).is_ok());
}

#[test]
fn rules_come_from_files_and_folders_and_all_mistakes_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let rules = folder.path().join("rules");
    rule(&rules, "label-q", "q");
    let few = "monitortests:\n- id: short\n  objects: {resource: pods}\n  expect:\n  - never: object.metadata.labels.app == 'y'\n";
    let file = folder.path().join("short.yaml");
    fs::write(&file, few).expect("written");
    let (folder_path, file_path) = (rules.display().to_string(), file.display().to_string());
    let reel = pods_with_gap();
    let rules = format!("--rules {folder_path} --rules {file_path}");
    let ran = kubereel!("test {reel} {rules} --only short --only label-q").code(1);
    ran.prints("against `never: object.metadata.labels.app == 'y'`");
    let wrong = "monitortests:
- id: one
  colour: red
  objects: {resource: pods}
  severty: fail
  expect:
  - never: objct.x
- id: two
  class: worst
  objects: {resource: pods}
  expect:
  - never: 'true'
- objects: {resource: pods}
  expect:
  - nevr: 'true'
- expect: []
  intervals: {}
";
    fs::write(&file, wrong).expect("written");
    let ran = kubereel!("test {reel} --rules {file_path}").code(2);
    for said in [
        ":3:3: unknown field `colour`",
        ":5:3: unknown field `severty`",
        "did you mean `severity`?",
        ":7:12: unknown variable `objct`",
        "unknown value `worst`",
        "unknown field `nevr`",
        "the field `id` is missing",
    ] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
}

#[test]
fn a_resource_that_the_cluster_does_not_have_is_a_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    let path = file.display().to_string();
    let write = |resource: &str, more: &str| {
        let text = format!(
            "monitortests:\n- id: own\n{more}  objects:\n    resource: {resource}\n  expect:\n  - never: 'false'\n"
        );
        fs::write(&file, text).expect("written");
    };
    let reel = pods_with_gap();
    let run = || kubereel!("test {reel} --rules {path} --only own");
    write("podz", "");
    run()
        .code(2)
        .says(&format!(
            "{path}:4:15: the recorded cluster has no resource `podz`"
        ))
        .says("did you mean `pods`?");
    write("gadgets.example.io", "");
    run()
        .code(2)
        .says("appliesTo: {resources: [gadgets.example.io]}");
    write(
        "gadgets.example.io",
        "  appliesTo: {resources: [gadgets.example.io]}\n",
    );
    let out = run().code(0).out;
    assert_has(&out, "1 rule does not apply");
}

#[test]
fn a_field_that_a_resource_does_not_have_is_a_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    let path = file.display().to_string();
    let reel = pods_with_gap();
    let run = |field: &str| {
        let text = format!(
            "monitortests:\n- id: own\n  objects:\n    resource: pods\n  expect:\n  - never: object.?{field}.hasValue()\n"
        );
        fs::write(&file, text).expect("written");
        kubereel!("test {reel} --rules {path} --only own")
    };
    let wrong = run("status.?phasee").code(2);
    let expected = format!(
        "{path}:6:28: pods has no field `status.phasee`\n  6 |   - never: object.?status.?phasee.hasValue()\n    \
         |                            ^^^^^^\n    = did you mean `phase`?\nerror: 1 mistake in rule files for the \
         cluster of "
    );
    assert!(wrong.err.starts_with(&expected), "{}", wrong.err);
    // No mistake; the recording has a gap.
    run("status.?phase").code(4);
    run("metadata.?annotations[?\"a.example/b\"]").code(4);
}
