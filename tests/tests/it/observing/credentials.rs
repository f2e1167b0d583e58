//! A job's own credentials: kubeconfigs that are cut or damaged, and everything that the observer then
//! says, in every file and on its page.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kubereel_tests::recording::{Observing, program};
use kubereel_tests::scripted::ScriptedCluster;

use crate::observing::SURE;

#[path = "../../../../recorder/src/lifecycle/planted.rs"]
#[expect(clippy::indexing_slicing, reason = "what helps a test may fail it")]
mod planted;

use planted::{Planted, damages, leaked, planted};

/// How many observers run at once.
const AT_ONCE: usize = 6;

/// How many cuts of each kubeconfig are tried; the recorder's own tests try all.
const CUTS: usize = 2;

/// By which words it is known that the kubeconfig was looked at, and what it names was asked.
const LOOKED: [&str; 3] = ["cannot be used", "does not answer", "the cluster answers"];

/// One file to try.
struct Try {
    kubeconfig: usize,
    damage: String,
    text: Vec<u8>,
}

fn tries(all: &[Planted]) -> Vec<Try> {
    let mut tries = Vec::new();
    for (kubeconfig, planted) in all.iter().enumerate() {
        let users = planted.text.find("  user:\n").unwrap_or(0);
        let rest = planted.text.len() - users;
        for cut in 1..=CUTS {
            let end = users + rest * cut / (CUTS + 1);
            tries.push(Try {
                kubeconfig,
                damage: format!("cut at {end}"),
                text: planted.text.as_bytes().iter().take(end).copied().collect(),
            });
        }
    }
    // Each damage once, and every kubeconfig with some.
    let kinds = all.first().map_or(0, |planted| damages(planted).len());
    for kind in 0..kinds {
        let kubeconfig = kind % all.len();
        let found = all
            .get(kubeconfig)
            .and_then(|planted| damages(planted).into_iter().nth(kind));
        if let Some((damage, text)) = found {
            tries.push(Try {
                kubeconfig,
                damage: damage.to_owned(),
                text,
            });
        }
    }
    tries
}

fn page(observing: &Observing) -> Result<Vec<u8>> {
    let address = observing.page(SURE)?;
    let mut said = Vec::new();
    for path in ["/readyz", "/healthz", "/metrics", "/"] {
        let mut stream = TcpStream::connect(&address)?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )?;
        stream.read_to_end(&mut said)?;
    }
    Ok(said)
}

fn until_looked(observing: &Observing) -> Result<()> {
    let deadline = std::time::Instant::now() + SURE;
    while !LOOKED.iter().any(|words| observing.log().contains(words)) {
        ensure!(std::time::Instant::now() < deadline, "{}", observing.log());
        // A log is no event; this is as near as it comes.
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    Ok(())
}

fn said_by(args: &[&str], reel: &Path) -> Result<Vec<u8>> {
    let (command, rest) = args.split_first().context("a command")?;
    let output = Command::new(program()?)
        .arg(command)
        .arg(reel)
        .args(rest)
        .output()?;
    Ok([output.stdout, output.stderr].concat())
}

fn check(planted: &Planted, damage: &str, observing: Observing) -> Result<()> {
    until_looked(&observing)?;
    let page = page(&observing)?;
    let observed = observing.end(SURE)?;
    ensure!(observed.status.code() == Some(0), "{}", observed.log);
    let reel = observed.file("artifacts", ".reel")?;
    let mut said = vec![
        ("the page".to_owned(), page),
        ("the log".to_owned(), observed.log.clone().into_bytes()),
        (
            "the notes".to_owned(),
            format!("{:?}", observed.notes()?).into_bytes(),
        ),
        ("info".to_owned(), said_by(&["info", "-o", "json"], &reel)?),
        ("export".to_owned(), said_by(&["export"], &reel)?),
    ];
    for path in observed.files()? {
        said.push((path.display().to_string(), std::fs::read(&path)?));
    }
    // The page has its words in base64.
    let html = observed.text("artifacts", ".html")?;
    let data = html.split_once("id=\"kubereel-data\">");
    let data = data.and_then(|(_, data)| data.split_once('<'));
    let (data, _) = data.context("data in the page")?;
    said.push((
        "the words of the page".to_owned(),
        BASE64_STANDARD.decode(data)?,
    ));
    for (place, bytes) in said {
        let part = leaked(planted, &bytes).map(String::from_utf8_lossy);
        ensure!(
            part.is_none(),
            "{place}: {part:?} of {}, {damage}",
            planted.name
        );
    }
    let canaries = reel.with_extension("canaries");
    std::fs::write(&canaries, planted.secrets.join("\n"))?;
    let scan = Command::new(program()?)
        .arg("scan")
        .arg(&reel)
        .arg("--canaries")
        .arg(&canaries)
        .output()?;
    ensure!(scan.status.code() == Some(0), "{damage}: {scan:?}");
    Ok(())
}

#[test]
fn no_part_of_the_jobs_credentials_reaches_a_public_file() -> Result<()> {
    let cluster = ScriptedCluster::start()?;
    let folder = tempfile::tempdir()?;
    let all = planted(&cluster.url(), folder.path())?;
    let tries = tries(&all);
    ensure!(tries.len() >= 40, "only {} files", tries.len());
    for (round, together) in tries.chunks(AT_ONCE).enumerate() {
        let mut running = Vec::new();
        for (number, one) in together.iter().enumerate() {
            let own = folder.path().join(format!("{round}-{number}"));
            std::fs::create_dir_all(&own)?;
            let kubeconfig = own.join("kubeconfig");
            std::fs::write(&kubeconfig, &one.text)?;
            let variables = [
                (
                    "KUBECONFIG",
                    kubeconfig.to_str().context("a path in letters")?,
                ),
                // Whatever a library says of what it does passes the same door.
                ("RUST_LOG", if number % 2 == 0 { "trace" } else { "info" }),
            ];
            let observing = Observing::start(&own.join("out"), &variables, &["--listen", "0"])?;
            running.push((one, observing));
        }
        for (one, observing) in running {
            let planted = all.get(one.kubeconfig).context("a kubeconfig")?;
            check(planted, &one.damage, observing)?;
        }
    }
    Ok(())
}
