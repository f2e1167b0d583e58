//! The files of a release: what `.ci/dist` packs and writes, compared with the rules of their
//! readers, and installed from a local server as krew does.

use anyhow::{Context as _, Result, bail, ensure};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::recording::program;
use kubereel_tests::skipped::say_skipped;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A manifest of krew, with every field that its API has for what is used here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct KrewManifest {
    api_version: String,
    kind: String,
    metadata: KrewMetadata,
    spec: KrewSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KrewMetadata {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct KrewSpec {
    version: String,
    homepage: String,
    short_description: String,
    description: String,
    platforms: Vec<KrewPlatform>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KrewPlatform {
    selector: KrewSelector,
    uri: String,
    sha256: String,
    bin: String,
    files: Vec<KrewFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct KrewSelector {
    match_labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KrewFile {
    from: String,
    to: String,
}

/// A workflow of GitHub Actions, with the fields that its schema has for what is used here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workflow {
    name: String,
    on: serde_json::Value,
    permissions: BTreeMap<String, String>,
    jobs: BTreeMap<String, WorkflowJob>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WorkflowJob {
    runs_on: String,
    timeout_minutes: u32,
    #[serde(default)]
    needs: Option<String>,
    #[serde(default)]
    strategy: serde_json::Value,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
    steps: Vec<WorkflowStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowStep {
    #[serde(default)]
    name: String,
    uses: Option<String>,
    run: Option<String>,
    #[serde(default, rename = "if")]
    condition: String,
    #[serde(default)]
    with: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Serves the files of a folder until the process ends.
fn serve(listener: TcpListener, folder: PathBuf) -> std::io::Result<()> {
    let answer = move |stream: TcpStream| -> Result<()> {
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        let name = line.split(' ').nth(1).context("a path")?;
        let bytes = fs::read(folder.join(name.trim_start_matches('/')))?;
        let length = bytes.len();
        let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n");
        (&stream).write_all(&[head.as_bytes(), &bytes].concat())?;
        Ok(())
    };
    let serving = std::thread::Builder::new()
        .name("tarballs".to_owned())
        .spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A name that is not there ends the connection without an answer.
                drop(answer(stream));
            }
        });
    serving.map(drop)
}

fn download(uri: &str) -> Result<Vec<u8>> {
    let (host, path) = uri
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .context("a uri")?;
    let mut stream = TcpStream::connect(host)?;
    stream.write_all(format!("GET /{path} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let end = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .context("an answer")?;
    Ok(bytes.split_off(end + 4))
}

fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Runs the script with the program under test, without what only a debugger needs, and returns the
/// folder of its files.
fn dist(folder: &Path, url: &str) -> Result<PathBuf> {
    let small = folder.join("kubereel");
    let stripped = Command::new("strip")
        .arg("-o")
        .arg(&small)
        .arg(program()?)
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        fs::copy(program()?, &small)?;
    }
    let output = Command::new("bash")
        .arg(".ci/dist")
        .current_dir(root())
        .env("CARGO_TARGET_DIR", folder)
        .env("KUBEREEL_DIST_PROGRAM", &small)
        .env("KUBEREEL_DIST_URL", url)
        .env("KUBEREEL_DIST_HOMEPAGE", "https://example.com/kubereel")
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(folder.join("dist"))
}

/// Does what `kubectl krew install` does with a manifest, and returns the folder of the plugins'
/// links.
fn install(manifest: &KrewManifest, folder: &Path) -> Result<PathBuf> {
    let platform = manifest.spec.platforms.first().context("a platform")?;
    let bytes = download(&platform.uri)?;
    ensure!(sha256(&bytes) == platform.sha256, "another checksum");
    let (unpacked, store, links) = (
        folder.join("unpacked"),
        folder.join("store"),
        folder.join("bin"),
    );
    for made in [&unpacked, &store, &links] {
        fs::create_dir(made)?;
    }
    let archive = folder.join("archive.tar.gz");
    fs::write(&archive, bytes)?;
    let tar = Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(&unpacked)
        .status()?;
    ensure!(tar.success(), "tar");
    for file in &platform.files {
        let from = unpacked.join(&file.from);
        let name = from.file_name().context("a name")?;
        fs::rename(&from, store.join(&file.to).join(name)).with_context(|| file.from.clone())?;
    }
    let link = links.join(format!("kubectl-{}", manifest.metadata.name));
    std::os::unix::fs::symlink(store.join(&platform.bin), link)?;
    Ok(links)
}

fn said(command: &mut Command) -> Result<(bool, String)> {
    let output = command.env_remove("KUBEREEL").output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8(text)?))
}

/// Holds what was written against the rules of krew, the checksums and what Homebrew reads.
fn check_manifests(manifest: &KrewManifest, dist: &Path) -> Result<()> {
    let expected = "krew.googlecontainertools.github.com/v1alpha2";
    assert_eq!(manifest.api_version, expected);
    assert_eq!(
        (manifest.kind.as_str(), manifest.metadata.name.as_str()),
        ("Plugin", "reel")
    );
    let spec = &manifest.spec;
    assert_eq!(spec.version, concat!("v", env!("CARGO_PKG_VERSION")));
    assert_eq!(spec.homepage, "https://example.com/kubereel");
    assert!(spec.short_description.len() < 80 && !spec.short_description.ends_with('.'));
    assert!(spec.description.contains("kubectl reel "));
    for platform in &spec.platforms {
        let labels: Vec<&str> = platform
            .selector
            .match_labels
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(labels, ["arch", "os"]);
        assert!(
            platform
                .files
                .iter()
                .any(|file| file.from.ends_with(&format!("/{}", platform.bin)))
        );
    }
    let sums = fs::read_to_string(dist.join("SHA256SUMS"))?;
    let platform = spec.platforms.first().context("this machine's platform")?;
    let name = platform.uri.rsplit('/').next().context("a name")?;
    assert!(
        sums.contains(&format!("{}  {name}\n", platform.sha256)),
        "{sums}"
    );
    let formula = fs::read_to_string(dist.join("kubereel.rb"))?;
    assert!(
        formula.contains(&format!("url \"{}\"", platform.uri)),
        "{formula}"
    );
    assert!(
        formula.contains(&format!("sha256 \"{}\"", platform.sha256)),
        "{formula}"
    );
    assert!(
        !formula.contains('@'),
        "something is not filled in: {formula}"
    );
    Ok(())
}

#[test]
fn a_release_is_packed_and_its_plugin_installs_from_a_server() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let dist = dist(folder.path(), &url)?;
    serve(listener, dist.clone())?;
    let manifest: KrewManifest =
        serde_saphyr::from_str(&fs::read_to_string(dist.join("reel.yaml"))?)?;
    check_manifests(&manifest, &dist)?;
    let links = install(&manifest, folder.path())?;
    let plugin = links.join("kubectl-reel");
    let (is_well, text) = said(Command::new(&plugin).args(["get", "--help"]))?;
    assert!(
        is_well
            && text.contains("Usage: kubectl reel get ")
            && text.contains("\n  kubectl reel get run.reel "),
        "{text}"
    );
    assert!(!text.contains("kubereel get"), "{text}");
    let (_, text) = said(
        Command::new(&plugin)
            .args(["get", "pods"])
            .current_dir(folder.path()),
    )?;
    assert!(
        text.contains("hint: name it: kubectl reel get REEL pods"),
        "{text}"
    );
    let Some(kubectl) = Kubectl::on_path() else {
        say_skipped("no kubectl to call the plugin");
        return Ok(());
    };
    let path = std::env::join_paths(std::iter::once(links).chain(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    )))?;
    let demo = root().join("testdata/demo.reel");
    let (is_well, text) = said(
        Command::new(kubectl.program())
            .args(["reel", "info"])
            .arg(demo)
            .env("PATH", path),
    )?;
    ensure!(is_well && text.contains("format "), "{text}");
    Ok(())
}

#[test]
fn the_tarball_has_what_an_installation_needs() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let dist = dist(folder.path(), "http://127.0.0.1:9")?;
    let mut files = fs::read_dir(&dist)?
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let tarball = files
        .find(|path| path.extension().is_some_and(|ending| ending == "gz"))
        .context("a tarball")?;
    let list = Command::new("tar").arg("-tzf").arg(&tarball).output()?;
    let list = String::from_utf8(list.stdout)?;
    for name in [
        "/kubereel\n",
        "/LICENSE\n",
        "/README.md\n",
        "/THIRD-PARTY-LICENSES\n",
        "/man/kubereel.1\n",
        "/man/kubereel-get.1\n",
        "/completions/kubereel.bash\n",
        "/completions/_kubereel\n",
        "/completions/kubereel.fish\n",
    ] {
        assert!(list.contains(name), "{name:?} is not in {list}");
    }
    let inner = list
        .lines()
        .find(|line| line.ends_with("/THIRD-PARTY-LICENSES"))
        .context("licences")?;
    let licences = Command::new("tar")
        .arg("-xzOf")
        .arg(&tarball)
        .arg(inner)
        .output()?;
    let licences = String::from_utf8_lossy(&licences.stdout).into_owned();
    for words in [
        "\nredb ",
        "\nring ",
        "\nureq ",
        "Permission is hereby granted",
        "Apache License",
    ] {
        assert!(licences.contains(words), "{words:?} is not in the licences");
    }
    Ok(())
}

#[test]
fn the_release_workflow_is_one_and_its_scripts_exist() -> Result<()> {
    let text = fs::read_to_string(root().join("deploy/release/release.yml"))?;
    let text = text.replace("@VERSION@", "1.2.3");
    let workflow: Workflow = serde_saphyr::from_str(&text)?;
    assert_eq!(workflow.name, "release");
    assert_eq!(
        workflow.on,
        serde_json::json!({"push": {"tags": ["v1.2.3"]}})
    );
    assert_eq!(
        workflow.permissions.get("contents").map(String::as_str),
        Some("read")
    );
    for (name, job) in &workflow.jobs {
        ensure!(!job.runs_on.is_empty() && job.timeout_minutes > 0, "{name}");
        ensure!(
            job.needs
                .as_ref()
                .is_none_or(|other| workflow.jobs.contains_key(other)),
            "{name} needs no job"
        );
        let is_matrix = job.runs_on.contains("matrix.");
        ensure!(
            is_matrix == job.strategy.pointer("/matrix/include").is_some(),
            "{name}"
        );
        let writes = job
            .permissions
            .values()
            .filter(|right| *right == "write")
            .count();
        ensure!(
            writes == usize::from(name == "release"),
            "{name}: {:?}",
            job.permissions
        );
        for step in &job.steps {
            let words = format!("{name}, {:?} {:?}", step.name, step.condition);
            match (&step.uses, &step.run) {
                (Some(action), None) => {
                    let (_, version) = action.split_once('@').context(words.clone())?;
                    ensure!(version.starts_with('v') && step.env.is_empty(), "{words}");
                }
                (None, Some(run)) => {
                    ensure!(step.with.is_empty(), "{words}");
                    let scripts = run
                        .split_whitespace()
                        .filter(|word| word.starts_with(".ci/"));
                    for script in scripts {
                        ensure!(root().join(script).is_file(), "{words}: {script}");
                    }
                }
                _ => bail!("{words}: a step uses an action or runs a command"),
            }
        }
    }
    Ok(())
}
