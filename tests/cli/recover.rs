//! Damaged reels on the command line: every command opens one by itself, says what is lost, and answers the rest;
//! `kubereel recover` writes the rest as a new reel.

use super::run::{DEMO, assert_has, kubereel};
use serde_json::Value;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use tempfile::TempDir;

/// The demo as this version of the format writes it, and damaged copies of it.
struct Copies {
    folder: TempDir,
    bytes: Vec<u8>,
}

impl Copies {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = folder.path().join("whole.reel");
        let page = kubereel(&["recover", DEMO, whole.to_str().expect("text")]).ok();
        assert_has(&page, "nothing is lost");
        let bytes = fs::read(&whole).expect("the copy");
        Self { folder, bytes }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a damaged copy");
        path.to_str().expect("text").to_owned()
    }

    fn cut(&self) -> String {
        let (begin, _) = self.bytes.split_at(self.bytes.len() * 6 / 10);
        self.write("cut.reel", begin)
    }

    /// Writes a copy whose last quarter is cut off: of the last versions only the heads are left.
    fn without_last_bodies(&self) -> String {
        let (begin, _) = self.bytes.split_at(self.bytes.len() * 76 / 100);
        self.write("heads.reel", begin)
    }

    /// Writes a copy of which only the objects of the last events are unreadable.
    fn without_late_bodies(&self) -> String {
        self.zeroed("bodies.reel", 344_064..409_600)
    }

    /// Writes a copy whose first records cannot be read, and of the others no object.
    fn without_begin(&self) -> String {
        self.zeroed("begin.reel", 120_000..280_000)
    }

    fn zeroed(&self, name: &str, part: Range<usize>) -> String {
        let mut bytes = self.bytes.clone();
        bytes.get_mut(part).expect("a part").fill(0);
        self.write(name, &bytes)
    }

    /// Recovers a damaged copy, of which something is lost.
    fn recovered(&self, damaged: &str) -> String {
        let name = damaged.rsplit('/').next().expect("a name");
        let new = self.path(&format!("new-{name}"));
        let new = new.to_str().expect("text").to_owned();
        let _stats = kubereel!("recover {damaged} {new}").code(1);
        new
    }

    /// Writes a copy with three bad pages, which hide the objects of the upgrade in the middle and at the end.
    fn with_bad_pages(&self) -> String {
        let mut bytes = self.bytes.clone();
        for page in [61, 101, 120] {
            let page = bytes.get_mut(page * 4096..(page + 1) * 4096);
            page.expect("a page").fill(0);
        }
        self.write("pages.reel", &bytes)
    }
}

#[test]
fn a_reel_whose_container_alone_is_damaged_answers_everything() {
    let copies = Copies::new();
    let whole = kubereel!("get {DEMO} clusteroperators");
    let mut zeroed = copies.bytes.clone();
    zeroed[..512].fill(0);
    let mut page = copies.bytes.clone();
    let middle = page.len() / 2 / 4096 * 4096;
    page[middle..middle + 4096].fill(0);
    for (name, bytes) in [
        ("head.reel", zeroed),
        ("page.reel", page),
        (
            "prefix.reel",
            [b"HTTP/1.1 200 OK\n", &copies.bytes[..]].concat(),
        ),
        ("longer.reel", [&copies.bytes[..], b"<!-- end -->"].concat()),
    ] {
        let path = copies.write(name, &bytes);
        let ran = kubereel!("get {path} clusteroperators");
        assert_eq!(
            (ran.code, &ran.out),
            (whole.code, &whole.out),
            "{name}: {ran:#?}"
        );
        let info = kubereel!("info {path}").code(3).out;
        assert!(info.contains("nothing is lost by this"), "{name}: {info}");
        kubereel!("scan {path}")
            .code(0)
            .says("no known form of a secret was found\n");
    }
}

#[test]
fn where_no_record_can_be_read_no_time_is_told() {
    let copies = Copies::new();
    let mut bytes = copies.bytes.clone();
    let half = bytes.len() / 2;
    bytes[..half].fill(0);
    let path = copies.write("half.reel", &bytes);
    let info = kubereel!("info {path}").code(3).out;
    assert_has(&info, "at an unknown time, records ");
    assert!(
        !info.contains("1970") && !info.contains("00:00:00"),
        "{info}"
    );
    for (command, words) in [
        ("info", "not readable"),
        ("verify", "no resource can be read"),
        ("story", "not known: no resource can be read"),
        ("api-resources", "resources may be missing"),
    ] {
        let all = outputs(&path, command, 3);
        assert!(all.contains(words), "{command}: {all}");
        assert!(!all.contains("was recorded"), "{command}: {all}");
    }
    let folder = copies.path("files");
    let files = folder.to_str().expect("text");
    for form in ["", " -o wide", " -o json"] {
        let command =
            format!("test{form} --force --junit {files} --rows {files}/rows --intervals {files}");
        let all = outputs(&path, &command, 3);
        assert!(all.contains("no resource can be read"), "{form}: {all}");
        assert!(
            !all.contains("1970") && !all.contains("00:00:00"),
            "{form}: {all}"
        );
    }
    for file in fs::read_dir(&folder).expect("the files") {
        let path = file.expect("a file").path();
        let text = path.display().to_string() + &fs::read_to_string(&path).expect("text");
        assert!(
            !text.contains("1970") && !text.contains("00:00:00"),
            "{text}"
        );
    }
}

#[test]
fn where_the_first_records_are_lost_the_recording_begins_with_the_first_readable_one() {
    let copies = Copies::new();
    let path = copies.without_begin();
    for command in ["info", "story"] {
        let out = kubereel!("{command} {path}").code(3).out;
        assert!(out.contains("2026-11-22") && !out.contains("1970"), "{out}");
        assert!(!out.contains("nothing is lost by this"), "{out}");
    }
    let _counts = outputs(&path, "top-writers --from 23:21:12 --to 23:21:13", 3);
    let export = kubereel!("export {path} -o jsonl").code(3).err;
    assert_has(&export, "records up to 6143 lie where the reel is damaged");
}

#[test]
fn info_lists_unreadable_texts_as_verify_does() {
    let copies = Copies::new();
    let path = copies.zeroed("texts.reel", 204_800..270_336);
    let listed = |command: &str, place: &str| {
        let out = kubereel!("{command} {path} -o json").code(3).out;
        let said: Value = serde_json::from_str(&out).expect("JSON");
        said.pointer(place).cloned().expect("a list")
    };
    let damage = listed("info", "/damage");
    assert!(damage.to_string().contains("a text of note "), "{damage}");
    assert_eq!(damage, listed("verify", "/integrity/damage"));
}

#[test]
fn a_time_whose_records_are_lost_is_not_complete() {
    let copies = Copies::new();
    let (end, begin) = (copies.cut(), copies.without_begin());
    for (damaged, from, to) in [
        (end, "23:21:50", "23:22:00"),
        (begin, "23:21:12", "23:21:13"),
    ] {
        let path = copies.recovered(&damaged);
        for command in ["events -A", "intervals", "top-writers", "grep etcd"] {
            let all = outputs(&path, &format!("{command} --from {from} --to {to}"), 4);
            assert!(!all.contains("complete"), "{command}: {all}");
        }
    }
}

#[test]
fn of_a_recovered_reel_without_a_resource_nothing_is_judged() {
    let copies = Copies::new();
    let path = copies.recovered(&copies.without_begin());
    for (command, words) in [
        ("test", "no resource can be read"),
        ("events -A", "recovered from a damaged one"),
        ("upgrade", "recovered from a damaged one"),
        ("intervals", "records of this time are lost"),
        ("top-writers", "records of this time are lost"),
    ] {
        let all = outputs(&path, command, 4);
        assert!(all.contains(words), "{command}: {all}");
        for wrong in ["was recorded", "not recorded", "not OpenShift"] {
            assert!(!all.contains(wrong), "{command}: {all}");
        }
    }
}

#[test]
fn an_object_whose_versions_can_be_read_is_known() {
    let copies = Copies::new();
    let path = copies.without_late_bodies();
    let object = "co/kube-apiserver";
    let history = outputs(&path, &format!("history {object}"), 0);
    assert_eq!(history, outputs(DEMO, &format!("history {object}"), 0));
    let question = format!("wait {object} --for condition=Degraded");
    let waited = outputs(&path, &question, 1);
    assert_eq!(waited, outputs(DEMO, &question, 1));
    let question = format!("get {object} --at 23:22:13");
    assert_eq!(outputs(&path, &question, 0), outputs(DEMO, &question, 0));
    // Its sections name what they lack.
    let page = outputs(&path, &format!("describe {object} --at 23:22:13"), 3);
    for words in [
        "Conditions:",
        "what it owns among ",
        "of this time cannot be read",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("error:"), "{page}");
    let absent = outputs(&path, "history co/nothing", 1);
    assert_has(&absent, "was never observed");
}

#[test]
fn a_cut_reel_names_times_and_records_and_answers_the_rest() {
    let copies = Copies::new();
    let path = copies.cut();
    let info = kubereel!("info {path}").code(3).out;
    assert_has(&info, "cut off: ");
    assert_has(&info, "of any resource are unreadable");
    let out = kubereel!("info {path} -o json").code(3).out;
    let info: Value = serde_json::from_str(&out).expect("JSON");
    let damage = info["damage"].as_array().expect("a list");
    let sessions = info["sessions"].as_array().expect("a list");
    let end = sessions.last().map(|session| &session["end"]);
    assert_eq!(end, Some(&"end not readable".into()), "{info}");
    let lost = damage
        .iter()
        .find(|one| one["last"].is_u64())
        .expect("lost records");
    assert!(lost["first"].as_u64() < lost["last"].as_u64() && lost["from"].is_string());
    let early = kubereel!("get {path} nodes --at +10s").ok();
    assert_has(&early, "Ready");
    let verdict = kubereel!("verify {path}").code(3).out;
    assert_has(&verdict, "damaged");
    // What was asked ends before the damage.
    for (command, object) in [
        ("history", "co/etcd"),
        ("wait", "co/etcd"),
        ("events", ""),
        ("grep", "etcd"),
        ("top-writers", ""),
        ("intervals", ""),
    ] {
        let mut words = vec![command, &path];
        words.extend(Some(object).filter(|object| !object.is_empty()));
        if command == "wait" {
            words.push("--for=condition=Available");
        }
        for (to, code) in [("23:21:30", 0), ("end", 3)] {
            // The condition was met long before the damage.
            let code = if command == "wait" { 0 } else { code };
            let _ran = kubereel(&[&words[..], &["--to", to]].concat()).code(code);
        }
    }
    let late = ["--for=condition=Degraded", "--never", "--to", "23:21:50"];
    let _never = kubereel(&[&["wait", &path, "co/image-registry"], &late[..]].concat()).code(3);
    let story = kubereel!("story {path}").code(3).out;
    assert_has(&story, "to 4.21.9: end not observed");
    assert_has(&story, "At the end: not known");
    assert!(!story.contains("[to the end"), "{story}");
    let out = kubereel!("story {path} -o json").code(3).out;
    let story: Value = serde_json::from_str(&out).expect("JSON");
    for (pointer, value) in [
        ("/is_end_known", false),
        ("/checked/has_lost_records", true),
        ("/cluster/has_unreadable_nodes", true),
    ] {
        assert_eq!(story.pointer(pointer), Some(&value.into()), "{pointer}");
    }
}

#[test]
fn recover_writes_a_whole_reel_that_says_what_is_lost() {
    let copies = Copies::new();
    let path = copies.cut();
    let to = copies.path("new.reel").to_str().expect("text").to_owned();
    let out = kubereel!("recover {path} {to} -o json").code(1).out;
    let stats: Value = serde_json::from_str(&out).expect("JSON");
    assert!(stats["events"].as_u64() > Some(2_000), "{stats}");
    assert!(stats["lost_records"].as_u64() > Some(1_000), "{stats}");
    assert_eq!(stats["losses"].as_array().map(Vec::is_empty), Some(false));
    let verdict = kubereel!("verify {to}").code(1).out;
    assert_has(&verdict, "all checksums match");
    assert_has(&verdict, "lost before the reel was recovered: ");
    let info = kubereel!("info {to}").ok();
    assert_has(&info, "are lost (the file that this one was recovered from");
    let _refused = kubereel!("recover {path} {to}").code(2).says("file exists");
    let none = copies.write("none.reel", b"nothing of a reel");
    let _refused = kubereel(&[
        "recover",
        &none,
        &copies.path("x.reel").display().to_string(),
    ])
    .code(3)
    .says("not a reel");
    assert!(!copies.path("x.reel").exists());
}

/// Runs a command on a reel, its words separated by spaces, and returns both outputs.
fn outputs(path: &str, words: &str, code: i32) -> String {
    let mut words: Vec<&str> = words.split(' ').collect();
    words.insert(1, path);
    let ran = kubereel(&words).code(code);
    ran.out + &ran.err
}

#[test]
fn behind_a_lost_end_nothing_is_known_and_nothing_lasts_to_the_end() {
    const BUDGET: &str = "pdb/apiserver -n openshift-apiserver";
    let copies = Copies::new();
    let cut = copies.cut();
    let new = copies.path("new.reel").to_str().expect("text").to_owned();
    let _stats = kubereel!("recover {cut} {new}").code(1);
    // The recovered reel is whole: what it lacks was not observed.
    for (path, code) in [(&cut, 3), (&new, 4)] {
        // The recording went on until 23:22:14.
        for at in ["end", "23:21:50"] {
            let _list = outputs(path, &format!("get deploy -n shop --at {at}"), code);
        }
        let history = outputs(path, &format!("history {BUDGET}"), code);
        assert_has(&history, "── not observed 23:21:4");
        assert_has(&history, " – an unknown time: versions");
        // From an end that is not known, no time can be counted.
        for command in ["get nodes --at -5s", "events -A --from -5s"] {
            let refused = outputs(path, command, code);
            assert_has(
                &refused,
                ": the end of the recording is lost: 2026-11-22T23:21:4",
            );
            assert_has(&refused, "hint: give a time: --");
        }
        for moment in ["problem:99", "upgrade:end"] {
            let _absent = outputs(path, &format!("get nodes --at {moment}"), code);
        }
        for command in ["api-resources", "get nothing"] {
            let _may_be_lost = outputs(path, command, code);
        }
        assert!(!history.contains("to the end"), "{history}");
    }
    let page = outputs(&cut, &format!("describe {BUDGET} --at 23:21:30"), 0);
    assert_has(&page, " of at least ");
    let waited = outputs(&cut, "wait co/network --for=create --to 23:21:50", 0);
    assert_has(&waited, "met for at least ");
    assert_has(&waited, "exact: no gaps before it");
    // Of a Pod that came later, each command knows that it was not there yet.
    let later = kubereel!("get {DEMO} pods -A -o json --at 23:22:00").json();
    let created = |pod: &&Value| {
        let created = pod["metadata"]["creationTimestamp"].as_str();
        created.is_some_and(|created| created >= "2026-11-22T23:21:52Z")
    };
    let pods = later["items"].as_array().expect("items");
    let pod = &pods.iter().find(created).expect("a later Pod")["metadata"];
    let (name, namespace) = (pod["name"].as_str(), pod["namespace"].as_str());
    let pod = format!(
        "pod/{} -n {}",
        name.expect("a name"),
        namespace.expect("a namespace")
    );
    for (command, code) in [
        ("get --at 23:21:25", 1),
        ("history --to 23:21:25", 1),
        ("history --to end", 3),
    ] {
        let _answer = outputs(&cut, &format!("{command} {pod}"), code);
    }
}

#[test]
fn a_page_says_which_of_its_lists_cannot_be_read() {
    let copies = Copies::new();
    // Objects are lost, and their names are not.
    let mut bytes = copies.bytes.clone();
    bytes[200_704..241_664].fill(0);
    let path = copies.write("bodies.reel", &bytes);
    let whole = kubereel!("describe {DEMO} node/worker-1 --at 23:21:24.3").ok();
    assert!(!whole.contains("(at least "), "{whole}");
    let page = outputs(&path, "describe node/worker-1 --at 23:21:24.3", 3);
    assert_has(&page, "(at least ");
    assert_has(&page, "note: pods on this page: the reel is damaged at ");
}

#[test]
fn intervals_end_where_damage_hides_their_objects() {
    let copies = Copies::new();
    let path = copies.cut();
    let out = kubereel!("intervals {path} -o json").code(3).out;
    let lines = out.lines().map(serde_json::from_str);
    let all: Vec<Value> = lines.collect::<Result<_, _>>().expect("JSON lines");
    let of = |source: &str| -> Vec<&Value> {
        all.iter().filter(|one| one["source"] == source).collect()
    };
    let gaps = of("RecordingGap");
    let of_pods = gaps
        .iter()
        .find(|one| one["locator"]["keys"]["resource"] == "pods")
        .expect("the loss is a gap of each resource");
    let words = of_pods["message"]["human_message"].as_str().expect("words");
    assert!(words.starts_with("the reel is damaged: "), "{words}");
    let states = of("PodState");
    assert!(states.iter().all(|one| one["is_open"] == false));
    let unobserved = |one: &&Value| one["message"]["annotations"]["end"] == "not observed";
    let cut: Vec<&Value> = states.into_iter().filter(unobserved).collect();
    assert!(!cut.is_empty());
    assert!(
        cut.iter().all(|one| one["to"] == of_pods["from"]),
        "{cut:#?}"
    );
    assert!(!out.contains("never completed"), "{out}");
    let phases = kubereel!("intervals {path} --source ClusterPhase")
        .code(3)
        .out;
    assert_has(&phases, ", end not observed");
    // The recovered copy says the same of what is lost.
    let recovered = copies.path("recovered.reel");
    let recovered = recovered.to_str().expect("text");
    let _page = kubereel!("recover {path} {recovered}");
    let out = kubereel!("intervals {recovered} --source RecordingGap")
        .code(4)
        .out;
    assert_has(&out, "resource/pods");
    let out = kubereel!("intervals {recovered} --source ClusterPhase")
        .code(4)
        .out;
    assert_has(&out, ", end not observed");
}

#[test]
fn intervals_end_where_the_next_versions_of_their_objects_are_unreadable() {
    let copies = Copies::new();
    let mut bytes = copies.bytes.clone();
    bytes[49 * 4096..59 * 4096].fill(0);
    let path = copies.write("middle.reel", &bytes);
    let phases = kubereel!("intervals {path} --source ClusterPhase")
        .code(3)
        .out;
    assert_has(&phases, "installation of 4.21.7, end not observed");
    let pod = "pod=^config-operator-fd6f88766-gpc2g$";
    let of_pod = format!("--locator {pod} --source PodState --reason Ready");
    let out = kubereel!("intervals {path} {of_pod} -o json").code(3).out;
    let ready: Value = serde_json::from_str(out.lines().next().expect("a state")).expect("JSON");
    assert_eq!(
        ready["message"]["annotations"]["end"], "not observed",
        "{ready}"
    );
    assert!(ready["lasts_secs"].as_f64() < Some(20.0), "{ready}");
}

#[test]
fn all_commands_count_the_same_loss() {
    let copies = Copies::new();
    let mut bytes = copies.bytes.clone();
    for page in (20..bytes.len() / 4096 - 4).step_by(20) {
        bytes[page * 4096..(page + 1) * 4096].fill(0);
    }
    let path = copies.write("holes.reel", &bytes);
    let json =
        |words: &[&str]| -> Value { serde_json::from_str(&kubereel(words).out).expect("JSON") };
    let info = json(&["info", &path, "-o", "json"]);
    let lost = |field: &str| info[field].as_u64().expect("a number");
    let (events, records) = (lost("unreadable"), lost("lost_records"));
    let proof = json(&["verify", &path, "-o", "json"]);
    assert_eq!(proof["integrity"]["unreadable"], events);
    assert_eq!(proof["integrity"]["lost_records"], records);
    let to = copies.path("new.reel").to_str().expect("text").to_owned();
    let stats = json(&["recover", &path, &to, "-o", "json"]);
    assert_eq!(stats["lost_events"], events);
    assert_eq!(stats["lost_records"], records);
    let exported = kubereel!("export {path}").code(3);
    let lines = u64::try_from(exported.out.lines().count()).expect("a number");
    assert_eq!(info["events"]["total"], lines + events);
    let page = kubereel!("info {path}").out;
    let words = page.lines().find_map(|line| line.strip_prefix("lost "));
    let words = words.expect("a line about the loss").trim();
    assert!(exported.err.contains(words), "{words}: {}", exported.err);
    let verdict = kubereel!("verify {path}").out;
    assert!(verdict.contains(words), "{words}: {verdict}");
    // What is stored as a difference from a lost object is not observed.
    let damage = info["damage"].as_array().expect("a list");
    let is_behind = |place: &&Value| {
        let words = place["lost"].as_str().expect("text");
        words.contains(" of the events ")
    };
    let behind = damage
        .iter()
        .find(is_behind)
        .expect("a place behind a lost one");
    let resources = proof["resources"].as_array().expect("a list");
    let pods = resources.iter().find(|one| one["resource"] == "pods");
    let unseen = pods.expect("pods")["unseen"].to_string();
    assert!(
        unseen.contains(behind["place"].as_str().expect("text")),
        "{unseen}"
    );
    let scan = json(&["scan", &path, "-o", "json"]);
    let unread = scan["unread"].as_array().expect("a list");
    let kinds: std::collections::BTreeSet<&str> = unread
        .iter()
        .filter_map(|part| part["words"].as_str())
        .collect();
    assert_eq!(kinds.len(), unread.len(), "{unread:?}");
    let counts = unread.iter().filter_map(|part| part["count"].as_u64());
    assert!(counts.sum::<u64>() >= events, "{unread:?}");
}

#[test]
fn a_moment_before_a_lost_begin_is_not_outside_of_the_recording() {
    let copies = Copies::new();
    let sealed = copies.path("sealed.reel");
    let whole = copies.path("whole.reel");
    let text = |path: &PathBuf| path.to_str().expect("text").to_owned();
    let _page = kubereel(&["seal", &text(&whole), &text(&sealed)]).ok();
    let mut bytes = fs::read(&sealed).expect("the sealed reel");
    bytes[4096..17 * 4096].fill(0);
    let path = copies.write("begin.reel", &bytes);
    let page = kubereel!("info {path}").code(3).out;
    assert_has(&page, "records 0–");
    assert_has(&page, " bytes are not in whole rows");
    let recovered = copies.path("recovered.reel");
    let _page = kubereel(&["recover", &path, &text(&recovered)]).code(1);
    for (path, code) in [(path, 3), (text(&recovered), 4)] {
        let refused = outputs(&path, "get pods -A --at +5m", code);
        assert_has(&refused, "the start of the recording is lost");
        let early = kubereel!("get {path} pods -A --at 23:21:20").code(code);
        assert!(!early.err.contains("outside of the recording"), "{early:?}");
    }
}

#[test]
fn a_moment_among_lost_records_of_a_sealed_reel_is_not_known() {
    let copies = Copies::new();
    let sealed = copies.path("sealed.reel");
    let whole = copies.path("whole.reel");
    let text = |path: &PathBuf| path.to_str().expect("text").to_owned();
    let _page = kubereel(&["seal", &text(&whole), &text(&sealed)]).ok();
    let bytes = fs::read(&sealed).expect("the sealed reel");
    let mut asked = 0;
    for page in (4..bytes.len() / 4096 - 2).step_by(5) {
        let mut bytes = bytes.clone();
        bytes[page * 4096..(page + 2) * 4096].fill(0);
        let path = copies.write("holes.reel", &bytes);
        let info: Value =
            serde_json::from_str(&kubereel!("info {path} -o json").out).expect("the JSON of info");
        for lost in info["damage"].as_array().expect("a list") {
            let time =
                |field: &str| -> Option<jiff::Timestamp> { lost[field].as_str()?.parse().ok() };
            // Where only objects are lost, which of them is known.
            let is_of_any = lost["last"].is_u64() && lost["resources"] == serde_json::json!([]);
            let (Some(from), Some(to), true) = (time("from"), time("to"), is_of_any) else {
                continue;
            };
            let moment = from + jiff::SignedDuration::from_micros(1);
            if moment < to {
                asked += 1;
                let out = kubereel(&["get", &path, "pods", "-A", "--at", &moment.to_string()]);
                // 4 where the first list is among what is lost.
                assert!(matches!(out.code, Some(3 | 4)), "{moment}: {out:?}");
            }
        }
    }
    assert!(asked > 0, "no page lost records in the middle");
}

#[test]
fn what_is_chosen_may_be_among_the_lost_records() {
    let copies = Copies::new();
    let path = copies.cut();
    kubereel!("wait {path} pods -n shop --all --for=create")
        .code(3)
        .says("the reel is damaged");
    let to = ["--from", "+60s"];
    kubereel(&[&["wait", &path, "co/etcd", "--for=delete"], &to[..]].concat())
        .code(3)
        .says("the reel is damaged");
    let diff = kubereel!("diff {path} --from +38s --to +45s").code(3);
    diff.says("as far as both states are known");
}

#[test]
fn a_loss_behind_the_moment_takes_nothing_from_the_answer() {
    let copies = Copies::new();
    let path = copies.cut();
    let whole = kubereel!("upgrade {DEMO} --at +15s -o json");
    let cut = kubereel!("upgrade {path} --at +15s -o json");
    assert_eq!((cut.code, cut.out), (whole.code, whole.out));
}

#[test]
fn of_a_recovered_reel_no_good_end_is_claimed() {
    let copies = Copies::new();
    let path = copies.cut();
    let recovered = copies.path("recovered.reel");
    let recovered = recovered.to_str().expect("text");
    let _page = kubereel!("recover {path} {recovered}");
    let story = kubereel!("story {recovered}").out;
    assert!(!story.contains("At the end: no open problem"), "{story}");
    assert!(
        !story.contains("At the end: all of it had recovered"),
        "{story}"
    );
    assert!(!story.contains("no problem was found\n"), "{story}");
}

#[test]
fn rules_do_not_compare_across_what_cannot_be_read() {
    let copies = Copies::new();
    let mut unread = 0;
    for page in (19..copies.bytes.len() / 4096 - 16).step_by(10) {
        let mut bytes = copies.bytes.clone();
        bytes[page * 4096..(page + 10) * 4096].fill(0);
        let path = copies.write("holes.reel", &bytes);
        let judged = kubereel!("test {path} --only leases-are-released -o json");
        let judged: Value = serde_json::from_str(&judged.out).expect("the JSON of test");
        let run = &judged["runs"][0];
        assert_eq!(run["counts"]["flake"], 0, "page {page}");
        unread += run["unread"].as_array().expect("a list").len();
    }
    assert!(unread > 0, "no page had an object");
}

#[test]
fn of_unreadable_last_versions_no_end_is_claimed() {
    let copies = Copies::new();
    let path = copies.without_last_bodies();
    let page = outputs(&path, "upgrade", 3);
    let line = |name: &str| page.lines().find(|line| line.contains(name));
    for name in [" machine-config · updating", "master-1 · draining since"] {
        let line = line(name).unwrap_or_default();
        assert!(line.ends_with(", end not observed"), "{name}: {page}");
    }
    assert!(!page.contains("not yet"), "{page}");
    let found = outputs(&path, "grep ^true$ node/master-1", 3);
    assert_has(&found, "   ≥ 23:22:0");
    let page = outputs(&copies.with_bad_pages(), "upgrade", 3);
    assert_has(&page, "  not observed  ");
    assert!(!page.contains("not yet"), "{page}");
    let story = outputs(&copies.with_bad_pages(), "story", 3);
    assert_has(&story, " rollouts in ");
    assert!(!story.contains("not complete at the end"), "{story}");
}

#[test]
fn the_moments_of_an_upgrade_are_those_that_can_be_read() {
    let copies = Copies::new();
    let path = copies.without_last_bodies();
    let new = copies.path("new.reel").to_str().expect("text").to_owned();
    let _stats = kubereel!("recover {path} {new}").code(1);
    let whole = outputs(DEMO, "get co/etcd --at upgrade:start", 0);
    for (path, code) in [(&path, 3), (&new, 4)] {
        let begin = outputs(path, "get co/etcd --at upgrade:start", 0);
        assert_eq!(begin, whole);
        let end = outputs(path, "get co/etcd --at upgrade:end", code);
        assert!(end.contains("the end of the upgrade was not observed"));
    }
    // The lost records may have had it.
    let _state = outputs(&new, "get co/etcd --at rv:7820", 4);
}

#[test]
fn an_unreadable_event_hides_none_of_the_others() {
    let copies = Copies::new();
    let path = copies.zeroed("middle.reel", 204_800..286_720);
    let all = kubereel!("events {DEMO} -A -o name").code(0).out;
    let ran = kubereel!("events {path} -A -o name").code(3);
    let unreadable = all.lines().count() - ran.out.lines().count();
    assert!(unreadable > 0);
    let counted = ran.err.replace(',', "");
    assert_has(&counted, &format!("{unreadable} Events cannot be read"));
    // Those behind the first unreadable one are there.
    assert!(!all.starts_with(&ran.out));
}

#[test]
fn what_was_never_observed_may_be_in_what_is_unreadable() {
    let copies = Copies::new();
    let path = copies.cut();
    for command in ["history", "diff --from start --to end", "wait --for=delete"] {
        let absent = outputs(&path, &format!("{command} deploy/payments -n shopping"), 3);
        assert_has(&absent, "namespace \"shopping\" was never observed");
        assert_has(&absent, "hint: it may be in what is unreadable");
    }
    let waited = outputs(&path, "wait deploy/nothing -n default --for=delete", 0);
    assert!(!waited.contains("was never observed"), "{waited}");
}

#[test]
fn a_comparison_of_an_unreadable_object_is_not_complete() {
    let copies = Copies::new();
    let path = copies.without_last_bodies();
    let words = format!("diff {path} node/master-1 --from 23:22:00 --to end -o json");
    let words: Vec<&str> = words.split(' ').collect();
    let out = kubereel(&words).code(3).out;
    let compared: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(compared["from"][0]["is_known"], true, "{compared}");
    assert_eq!(compared["to"][0]["is_known"], false, "{compared}");
}
