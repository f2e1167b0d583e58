//! What users of kubectl type, each with the answer of a real kubectl beside that of the reel: the same text, the
//! lines of kubectl among more, an answer of its own form, or why a recording has none. `docs/kubectl.md` is made of
//! this list.

use crate::kubectl_tables::{Stage, moments};
use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use kubereel_tests::control_plane::{self, ControlPlane};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::{Recording, arrived, program};
use kubereel_tests::rest;
use kubereel_tests::skipped::say_skipped;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// How the answer of the reel is to be like that of kubectl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// The same text.
    Same,
    /// The same lines: where kubectl leaves the order of rows with the same value to its sort.
    SameRows,
    /// Every line of kubectl, in its order, and more; Events are in a form of their own.
    More,
    /// An answer in a form of its own, for this reason.
    Own(&'static str),
    /// No answer, but why, and what to do instead, with this exit code.
    Unavailable(i32),
}

use Likeness::{More, Own, Same, SameRows, Unavailable};

const WITH_TIMES: Likeness =
    Own("every occurrence is a line, also of Events that have expired, with its time");
const OBSERVED: Likeness =
    Own("a recording has no OpenAPI document: names and types of the fields, without descriptions");

/// How many lines there are.
const TYPED_LINES: usize = 131;

/// What is typed; single quotes keep blanks, as in a shell.
const TYPED: [(&str, Likeness); TYPED_LINES] = [
    ("get pods -n shop", Same),
    ("get pods -A", Same),
    ("get po -A -o wide", Same),
    ("get pod running -n shop", Same),
    ("get pod/running pod/image -n shop", Same),
    ("get svc cluster-ip -n shop -o json", Same),
    ("get pods -n shop -o name", Same),
    ("get nodes", Same),
    ("get no -o wide", Same),
    ("get ns", Same),
    ("get deploy -n shop", Same),
    ("get deployments,rs -n shop", Same),
    ("get all -n shop", Same),
    ("get svc -A", Same),
    ("get sts,ds -n shop", Same),
    ("get jobs -n shop", Same),
    ("get cronjobs -n shop", Same),
    ("get cm -n shop", Same),
    ("get pvc -n shop", Same),
    ("get pv", Same),
    ("get pods -n shop -l app=web", Same),
    ("get pods -A --field-selector=status.phase=Running", Same),
    ("get pods -A --sort-by=.metadata.name", Same),
    ("get pods -n shop --show-labels", Same),
    ("get pods -n shop -L app", Same),
    ("get pods -n shop --no-headers", Same),
    ("get pods -n shop --no-headers=true -A=false", Same),
    ("get deploy -n shop --show-kind", Same),
    (
        "get pods -n shop -o jsonpath-as-json={.items[*].metadata.name}",
        Same,
    ),
    (
        "get pods -n shop -o jsonpath={.items[*].metadata.name}",
        Same,
    ),
    (
        "get pods -A -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName",
        Same,
    ),
    ("get pod absent -n shop --ignore-not-found", Same),
    ("get gadgets -A", Same),
    ("get events -n shop", Same),
    ("get pods --all-namespaces", Same),
    ("get po,svc -n shop", Same),
    ("get pods -n shop -A", Same),
    ("get pods -n shop -ojson", Same),
    ("get deploy web -n shop -o yaml", Same),
    ("get pods -n shop -o yaml", Same),
    ("get pods -n shop -owide --no-headers", Same),
    ("get deployment.apps/web -n shop", Same),
    ("get deployments.v1.apps -n shop", Same),
    ("get pods -n shop --selector=app!=web", Same),
    ("get pods -n shop -l 'app in (web,api)'", Same),
    (
        "get pods -A --field-selector status.phase!=Running,spec.nodeName=node-1",
        Same,
    ),
    (
        "get pods -n shop --sort-by=.metadata.creationTimestamp",
        SameRows,
    ),
    (
        "get pods -n shop --sort-by=.metadata.creationTimestamp -o custom-columns=AT:.metadata.creationTimestamp",
        Same,
    ),
    (
        "get pods -n shop --sort-by=.status.containerStatuses[0].restartCount",
        SameRows,
    ),
    (
        "get pods -n shop --sort-by=.status.containerStatuses[0].restartCount -o custom-columns=N:.status.containerStatuses[0].restartCount",
        Same,
    ),
    ("get events -n shop --sort-by=.lastTimestamp", SameRows),
    (
        "get events -n shop --sort-by=.lastTimestamp -o custom-columns=LAST:.lastTimestamp",
        Same,
    ),
    (
        r#"get pods -n shop -o jsonpath='{range .items[*]}{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}'"#,
        Same,
    ),
    (
        r#"get nodes -o jsonpath='{.items[*].status.addresses[?(@.type=="InternalIP")].address}'"#,
        Same,
    ),
    (
        "get pods -n shop -o custom-columns=POD:.metadata.name,IMAGE:.spec.containers[*].image --no-headers",
        Same,
    ),
    ("get events -A --field-selector type=Warning", Same),
    (
        "get events -n shop --field-selector involvedObject.name=running -o wide",
        Same,
    ),
    ("get sa,roles,rolebindings -n shop", Same),
    ("get crd", Same),
    ("get endpointslices,endpoints -n shop", Same),
    ("get ing,netpol,hpa,pdb,quota -A", Same),
    ("get sc,pv", Same),
    ("get secrets -n shop", Same),
    ("get leases -n shop", Same),
    (
        "get pods -n shop --chunk-size=10 --request-timeout=10s",
        Same,
    ),
    ("get pods -n shop -v 0", Same),
    ("get -n shop pods", Same),
    ("get flowschemas", Same),
    ("get flowschemas -o wide", Same),
    ("get prioritylevelconfigurations", Same),
    ("get pods -n nowhere", Same),
    ("describe nodes", More),
    ("describe po -n shop", More),
    ("describe svc -n shop", More),
    ("describe pods running image -n shop", More),
    ("describe deployments.apps web -n shop", More),
    ("describe ns", More),
    ("describe pod whole -n shop", More),
    ("describe pod/running -n shop", More),
    ("describe node node-1", More),
    ("describe deploy web -n shop", More),
    ("describe rs -n shop", More),
    ("describe sts db -n shop", More),
    ("describe ds/agent -n shop", More),
    ("describe rc old -n shop", More),
    ("describe job complete -n shop", More),
    ("describe cronjob nightly -n shop", More),
    ("describe svc node-port -n shop", More),
    ("describe pvc data-db-0 -n shop", More),
    ("describe ns shop", More),
    ("describe gadget full -n shop", More),
    ("describe pods -n shop -l app=web", More),
    ("events -n shop", WITH_TIMES),
    ("events -A --types=Warning", WITH_TIMES),
    ("events --for pod/running -n shop", WITH_TIMES),
    ("explain pods.spec", OBSERVED),
    ("explain pods.status -o plaintext", OBSERVED),
    (
        "explain gadgets",
        Own("the definition of a custom resource is recorded"),
    ),
    (
        "api-resources",
        Own("what cannot be listed and watched is not recorded"),
    ),
    ("api-resources --namespaced=false -o name", Own("likewise")),
    ("api-versions", Own("likewise")),
    ("api-versions -n shop", Own("likewise")),
    (
        "version --client -o yaml",
        Own("the version of kubereel, and of the format of reels"),
    ),
    ("rollout status deploy/web -n shop --watch=false", Same),
    ("rollout status ds/agent -n shop --watch=false", Same),
    ("rollout status sts -n shop --watch=false", Same),
    ("rollout status deploy -n shop -l app=web -w=false", Same),
    (
        "rollout history deployments -n shop -l app=web",
        Own("each revision has its images, and when it was first seen"),
    ),
    (
        "rollout history sts/db -n shop",
        Own("each revision has its images, and when it was first seen"),
    ),
    (
        "version --client",
        Own("the version of kubereel, and of the format of reels"),
    ),
    (
        "wait pod/running -n shop --for=condition=Ready --timeout=1s",
        Own("from when to when the condition was met"),
    ),
    (
        "get pods -n shop --watch",
        Own("each change of the recording, with its time, until its end"),
    ),
    ("explain pods.spec.containers --recursive", OBSERVED),
    (
        "rollout history sts/db -n shop --revision=1",
        Own("the Pod template of the revision"),
    ),
    (
        "logs -f deploy/web -n shop -c app --tail=20",
        Unavailable(4),
    ),
    ("top pods -A --containers", Unavailable(4)),
    ("auth can-i --list", Unavailable(4)),
    ("label pod running a=b -n shop", Unavailable(1)),
    ("patch deploy web -n shop -p {}", Unavailable(1)),
    ("logs running -n shop", Unavailable(4)),
    ("exec -it running -n shop -- sh", Unavailable(4)),
    ("top nodes", Unavailable(4)),
    ("port-forward svc/web 8080:80", Unavailable(4)),
    ("cp shop/running:/tmp/a b", Unavailable(4)),
    ("auth can-i get pods", Unavailable(4)),
    ("apply -f deploy.yaml", Unavailable(1)),
    ("delete pod running -n shop", Unavailable(1)),
    ("edit deploy web -n shop", Unavailable(1)),
    ("scale deploy/web --replicas=3", Unavailable(1)),
    ("rollout restart deploy/web", Unavailable(1)),
    ("config get-contexts", Unavailable(1)),
];

/// These go on until somebody ends them, or have no Pods that are ready: kubectl is not asked.
const ONLY_HERE: [&str; 2] = [
    "get pods -n shop --watch",
    "wait pod/running -n shop --for=condition=Ready --timeout=1s",
];

/// Lines whose answer is no: the Pod does not meet the condition, and the workload has no such revision.
const NEGATIVE: [&str; 2] = [
    "wait pod/running -n shop --for=condition=Ready --timeout=1s",
    "rollout history sts/db -n shop --revision=1",
];

/// Versions of kubectl differ in these lines.
const OF_A_VERSION: [&str; 2] = ["Optional:", "ConfigMapOptional:"];

/// What kubectl prints for a share of an amount that is not there: a number that is none, as an integer. The reel
/// answers 0%.
const SHARE_OF_NOTHING: &str = "(-9223372036854775808%)";

/// What kubectl said, and between which times.
struct KubectlOutput {
    text: String,
    from: Timestamp,
    to: Timestamp,
}

#[tokio::test(flavor = "multi_thread")]
async fn what_users_of_kubectl_type_is_answered() -> Result<()> {
    if control_plane::skipped() {
        return Ok(());
    }
    let Some(kubectl) = Kubectl::on_path() else {
        say_skipped("no kubectl on PATH");
        return Ok(());
    };
    let control_plane = ControlPlane::builder().start().await?;
    let kubeconfig = control_plane.kubeconfig(0);
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("run.reel");
    let recording = Recording::start(&reel, kubeconfig, &[])?;
    let stage = Stage::new(control_plane.client(0).await?, SURE);
    stage.set().await?;
    arrived(&recording, &stage.versions().await?, SURE).await?;
    let mut all = Vec::new();
    for (typed, likeness) in TYPED {
        let is_asked = !matches!(likeness, Unavailable(_)) && !ONLY_HERE.contains(&typed);
        let said = if is_asked {
            Some(ask(&kubectl, kubeconfig, typed).await?)
        } else {
            None
        };
        all.push((typed, likeness, said));
    }
    let ended = recording.finish(SURE)?;
    ensure!(ended.status.success(), "the recorder: {}", ended.log);
    let program = program()?;
    let mut wrong = Vec::new();
    for (typed, likeness, said) in &all {
        if let Some(difference) = differs(&program, &reel, typed, *likeness, said.as_ref())? {
            wrong.push(format!("kubectl {typed}: {difference}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// Parts a line at its blanks; what is quoted is one part.
fn words(typed: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in typed.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => {
                if let Some(word) = words.last_mut() {
                    word.push(letter);
                }
            }
        }
    }
    words
}

async fn ask(kubectl: &Kubectl, kubeconfig: &Path, typed: &str) -> Result<KubectlOutput> {
    let words = words(typed);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let from = rest::now();
    let text = kubectl.run(kubeconfig, &words).await?;
    Ok(KubectlOutput {
        text,
        from,
        to: rest::now(),
    })
}

/// Asks the reel what was typed.
fn answer(
    program: &Path,
    reel: &Path,
    typed: &str,
    at: Option<Timestamp>,
) -> Result<(i32, String, String)> {
    let words = words(typed);
    // The reel comes behind the command, and behind the action of a rollout.
    let place = if words.first().is_some_and(|word| word == "rollout") {
        2
    } else {
        1
    };
    let (command, rest) = words.split_at(place);
    let mut asked = Command::new(program);
    asked.args(command).arg(reel).args(rest);
    if let Some(at) = at {
        asked.args(["--at", &at.to_string()]);
    }
    let output = asked.output()?;
    let code = output.status.code().context("it ended by itself")?;
    Ok((
        code,
        String::from_utf8(output.stdout)?,
        String::from_utf8(output.stderr)?,
    ))
}

/// Says how an answer is not as it should be.
fn differs(
    program: &Path,
    reel: &Path,
    typed: &str,
    likeness: Likeness,
    said: Option<&KubectlOutput>,
) -> Result<Option<String>> {
    if let (Same | SameRows | More, Some(said)) = (likeness, said) {
        let mut last = String::new();
        let mut answers = Vec::new();
        for at in moments(said.from, said.to) {
            let (code, out, err) = answer(program, reel, typed, Some(at))?;
            ensure!(
                code == 0 || typed.starts_with("rollout"),
                "{typed}: {code} {err}"
            );
            let missing = match likeness {
                Same => (out != said.text).then(|| first_difference(&said.text, &out)),
                SameRows => {
                    let (theirs, ours) = (sorted_rows(&said.text), sorted_rows(&out));
                    (theirs != ours).then(|| first_difference(&theirs, &ours))
                }
                _ => missing_line(&said.text, &[&*out]),
            };
            match missing {
                None => return Ok(None),
                Some(missing) => last = missing,
            }
            answers.push(out);
        }
        // kubectl counts the age of a row when it prints it, and asks for the rows of a page after those of another.
        let all: Vec<&str> = answers.iter().map(String::as_str).collect();
        let is_of_moments = match likeness {
            Same => has_each_line(&said.text, &answers),
            More => missing_line(&said.text, &all).is_none(),
            _ => false,
        };
        return Ok((!is_of_moments).then_some(last));
    }
    let words = words(typed);
    let is_client = words.first().is_some_and(|word| word == "version");
    let (code, out, err) = if is_client {
        let output = Command::new(program).args(&words).output()?;
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8(output.stdout)?,
            String::new(),
        )
    } else {
        answer(program, reel, typed, None)?
    };
    let is_right = match likeness {
        Unavailable(wanted) => {
            code == wanted && err.contains("has no counterpart") && err.contains("hint: ")
        }
        _ if NEGATIVE.contains(&typed) => code == 1 && !err.is_empty(),
        _ => code == 0 && !out.is_empty(),
    };
    let beside = said.map_or("", |said| said.text.as_str());
    Ok((!is_right).then(|| format!("exit code {code}\n{out}{err}\n-- kubectl --\n{beside}")))
}

/// Returns whether each line of a text is the same line of one of the answers.
fn has_each_line(text: &str, answers: &[String]) -> bool {
    let count = text.lines().count();
    let answers: Vec<Vec<&str>> = answers.iter().map(|one| one.lines().collect()).collect();
    answers.iter().all(|lines| lines.len() == count)
        && text.lines().enumerate().all(|(place, line)| {
            let mut lines = answers.iter().filter_map(|lines| lines.get(place));
            lines.any(|other| *other == line)
        })
}

#[test]
fn a_table_whose_rows_are_of_two_moments_has_each_line_of_one() {
    let answers = ["A 1s\nB 1s\n", "A 2s\nB 2s\n"].map(str::to_owned);
    assert!(has_each_line("A 1s\nB 2s\n", &answers));
    assert!(!has_each_line("A 1s\nB 3s\n", &answers));
    assert!(!has_each_line("B 1s\nA 1s\n", &answers));
    assert!(!has_each_line("A 1s\n", &answers));
}

#[test]
fn a_description_whose_lines_are_of_two_moments_has_each_line_of_one() {
    let answers = ["Name: x\n a 1s\n b 1s\n", "Name: x\n a 2s\n b 2s\n"];
    assert_eq!(missing_line("Name: x\n a  1s\n b  2s\n", &answers), None);
    assert!(missing_line("Name: x\n a 1s\n b 2s\n", &answers[..1]).is_some());
    assert!(missing_line("Name: x\n b 1s\n a 1s\n", &answers).is_some());
}

fn first_difference(theirs: &str, ours: &str) -> String {
    let mut pairs = theirs.lines().zip(ours.lines());
    let pair = pairs.find(|(theirs, ours)| theirs != ours);
    let (first, other) = pair.unwrap_or((theirs, ours));
    format!("\nkubectl:  {first:?}\nkubereel: {other:?}\n{ours}")
}

/// Sorts the lines behind the header.
fn sorted_rows(table: &str) -> String {
    let mut lines: Vec<&str> = table.lines().collect();
    if let Some((_, rows)) = lines.split_first_mut() {
        rows.sort_unstable();
    }
    lines.join("\n")
}

/// Takes the names of ports away, `80/TCP (http)`: kubectl before 1.33 does not print them.
fn without_names(ports: &str) -> String {
    let ports = ports.split(", ");
    let ports = ports.map(|port| port.split(" (").next().unwrap_or_default());
    ports.collect::<Vec<_>>().join(", ")
}

/// Finds the first line of kubectl that is not in its place in one of our answers; blanks between cells are one.
fn missing_line(theirs: &str, answers: &[&str]) -> Option<String> {
    let plain = |line: &str| {
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.replace(SHARE_OF_NOTHING, "(0%)");
        if words.starts_with("Port") || words.starts_with("Host Port") {
            return without_names(&words);
        }
        words
    };
    let of_each = |one: &&str| one.lines().map(plain).collect::<Vec<_>>();
    let answers_lines: Vec<Vec<String>> = answers.iter().map(of_each).collect();
    let most = answers_lines.iter().map(Vec::len).max().unwrap_or_default();
    let mut places = 0..most;
    let mut is_event = false;
    for line in theirs.lines().map(plain) {
        // The Events of one object end where the next object begins.
        is_event = line.starts_with("Events:") || is_event && !line.starts_with("Name:");
        let differs = OF_A_VERSION.iter().any(|begin| line.starts_with(begin));
        if is_event || differs || line.is_empty() {
            continue;
        }
        let is_there = |place| {
            let mut lines = answers_lines.iter().filter_map(|lines| lines.get(place));
            lines.any(|own| *own == line)
        };
        if !places.any(is_there) {
            let ours = answers.join("\n-- or --\n");
            return Some(format!(
                "no line {line:?} in its place in\n{ours}\n-- kubectl --\n{theirs}"
            ));
        }
    }
    None
}

/// The page that is made of the list.
fn page() -> String {
    let mut page = String::from(
        "# For users of kubectl\n\n\
         The reel comes behind the command, and everything else as for kubectl: `kubectl get pods -n shop` is \
         `kubereel get run.reel pods -n shop`, at the end of the recording or at the moment of `--at`.\n\
         A test types each line below with a real kubectl on a real control plane while it is recorded, and then \
         with the reel; this page is made of its list (`UPDATE=1 cargo test -p kubereel-tests --test it -- \
         kubectl_words::page`).\n\n\
         A command that changes a cluster fails with exit code 1; a command whose answer is not among the objects \
         of the API, such as `logs`, fails with exit code 4. The error says why, and the hint names an \
         alternative.\n\
         `kubectl diff` compares a manifest with a cluster, which a recording cannot do; `kubereel diff` compares \
         two moments. `events`, `wait` and `rollout history` have their own output. They refuse the formats of `-o` \
         that print objects, with a hint that gives the equivalent `kubereel get` command. Go templates and KYAML \
         are refused with a hint to use `-o jsonpath`, `-o json` or `-o yaml`. Flags that choose a cluster or a user \
         (`--context`, `--as`, …), `--raw`, `--kustomize` and `--subresource` are refused. Flags that control \
         requests to the server (`--request-timeout`, `--chunk-size`, `-v`, …) have no effect.\n\n\
         | kubectl | answer of the reel |\n|---|---|\n",
    );
    for (typed, likeness) in TYPED {
        let answer = match likeness {
            Same => "the same text".to_owned(),
            SameRows => "the same rows in the order of the field; those with the same value in the order of names"
                .to_owned(),
            More => "the same lines, and version, owners, changes and Events of the recording"
                .to_owned(),
            Own(why) => format!("its own form: {why}"),
            Unavailable(code) => format!("not applicable (exit code {code}), with a hint"),
        };
        let typed = typed.replace('|', "\\|");
        page.extend(["| `", typed.as_str(), "` | ", answer.as_str(), " |\n"]);
    }
    page
}

#[test]
fn page_of_commands_is_made_of_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kubectl.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page()).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page(),
        "docs/kubectl.md differs: run this test with UPDATE=1"
    );
    assert!(TYPED.len() >= 90);
}
