//! The screen on a real terminal, driven by keys: what it shows, and what it leaves behind.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::recorder_faults::{ENDPOINTS, OUTAGE, Scene};
use anyhow::{Context as _, Result, bail, ensure};
use kubereel_tests::recording::program;
use kubereel_tests::tmux::Terminal;
use rustix::process::{Pid, Signal, kill_process};

/// What tmux knows of the modes that a program may leave on.
const MODES: &str = "cursor #{cursor_flag} mouse #{mouse_any_flag} alternate #{alternate_on}";
/// What they are at a prompt.
const AT_A_PROMPT: &str = "cursor 1 mouse 0 alternate 0";

/// A shell in a terminal.
struct Shell {
    terminal: Terminal,
    settings: String,
    folder: tempfile::TempDir,
}

impl Shell {
    /// Starts one; `None`, reported, without tmux.
    fn start(size: (u16, u16)) -> Result<Option<Self>> {
        let Some(terminal) = Terminal::start(size, "env PS1='ready> ' ENV= HISTFILE= sh")? else {
            return Ok(None);
        };
        let mut shell = Self {
            terminal,
            settings: String::new(),
            folder: tempfile::tempdir()?,
        };
        shell.terminal.until("ready>")?;
        shell.settings = shell.stty()?;
        Ok(Some(shell))
    }

    /// Starts the program on a reel.
    fn open(&self, reel: &str) -> Result<()> {
        let program = program()?;
        let program = program.display();
        let home = self.folder.path().display();
        // Nothing of the user's own is read or written.
        self.terminal.enter(&format!(
            "clear; HOME={home} XDG_CACHE_HOME={home}/cache XDG_STATE_HOME={home}/state XDG_CONFIG_HOME={home}/config XDG_DATA_HOME={home}/data TZ='KAT-5:45' RUST_BACKTRACE=0 {program} tui {reel}; echo ended with $?"
        ))
    }

    /// Returns the number of the running program's process.
    fn child(&self) -> Result<u32> {
        let shell = self.terminal.process()?;
        let path = format!("/proc/{shell}/task/{shell}/children");
        let children = std::fs::read_to_string(path)?;
        let child = children.split_whitespace().next().context("no child")?;
        Ok(child.parse()?)
    }

    /// Waits until the program ended so, and checks that nothing of it is left on the terminal.
    fn ended(&self, code: u8) -> Result<String> {
        let screen = self
            .terminal
            .until_so(&format!("ended with {code}"), |screen| {
                screen.contains("ended with ") && screen.trim_end().ends_with("ready>")
            })?;
        ensure!(screen.contains(&format!("ended with {code}\n")), "{screen}");
        self.terminal.until_told(MODES, AT_A_PROMPT)?;
        let settings = self.stty()?;
        ensure!(
            settings == self.settings,
            "{} became {settings}",
            self.settings
        );
        Ok(screen)
    }

    /// Returns the modes of the line. Its size is not among them: tmux tells a program later than it
    /// draws.
    fn stty(&self) -> Result<String> {
        let path: PathBuf = self.folder.path().join("stty");
        let shown = path.display();
        self.terminal
            .enter(&format!("stty -g > {shown}; echo written here"))?;
        self.terminal.until("\nwritten here")?;
        let settings = std::fs::read_to_string(&path)?;
        self.terminal.enter("clear")?;
        self.terminal
            .until_so("a prompt", |screen| screen.trim_end() == "ready>")?;
        Ok(settings)
    }
}

/// The demo's path.
fn demo() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/demo.reel")
}

fn kill(process: u32, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(process)?).context("no such process")?;
    Ok(kill_process(pid, signal)?)
}

#[test]
fn a_signal_gives_the_terminal_back() -> Result<()> {
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::HUP, 143),
        (Signal::INT, 130),
        (Signal::QUIT, 143),
    ] {
        let Some(shell) = Shell::start((80, 24))? else {
            return Ok(());
        };
        shell.open(demo())?;
        shell.terminal.until("STORY")?;
        kill(shell.child()?, signal)?;
        shell.ended(code)?;
    }
    Ok(())
}

#[test]
fn leaving_while_the_reel_is_opened_gives_the_terminal_back() -> Result<()> {
    let Some(shell) = Shell::start((80, 24))? else {
        return Ok(());
    };
    shell.open(demo())?;
    shell.terminal.until_told("#{alternate_on}", "1")?;
    shell.terminal.press(&["q"])?;
    shell.ended(0)?;
    Ok(())
}

#[test]
fn a_storm_of_sizes_ends_in_the_last_one() -> Result<()> {
    let Some(shell) = Shell::start((80, 24))? else {
        return Ok(());
    };
    shell.open(demo())?;
    for step in 0..20_u16 {
        shell.terminal.resize(1 + step * 9, 1 + step * 3)?;
        shell.terminal.resize(1, 1)?;
        shell.terminal.resize(200 - step * 6, 60 - step * 2)?;
    }
    shell.terminal.resize(30, 5)?;
    shell.terminal.until("terminal is 30x5")?;
    shell.terminal.resize(100, 30)?;
    shell.terminal.until("STORY")?;
    shell.terminal.resize(80, 24)?;
    shell
        .terminal
        .until_so("the first size", |text| text.lines().count() == 24)?;
    shell.terminal.press(&["q"])?;
    shell.ended(0)?;
    Ok(())
}

#[test]
fn a_terminal_that_goes_away_takes_the_program_with_it() -> Result<()> {
    let Some(shell) = Shell::start((80, 24))? else {
        return Ok(());
    };
    shell.open(demo())?;
    shell.terminal.until("STORY")?;
    let process = shell.child()?;
    drop(shell);
    let path = format!("/proc/{process}/stat");
    let started = std::time::Instant::now();
    while Path::new(&path).exists() && !is_dead(&path) {
        ensure!(
            started.elapsed().as_secs() < 30,
            "it runs on without a terminal"
        );
        // The end of another's child cannot be awaited.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Ok(())
}

/// Returns whether nothing but the entry of a process is left.
fn is_dead(stat: &str) -> bool {
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_none_or(|rest| rest.starts_with('Z') || rest.is_empty())
}

#[test]
fn a_closed_stdin_ends_it_in_words() -> Result<()> {
    let output = Command::new(program()?)
        .args(["tui", demo()])
        .stdin(std::process::Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(5), "{said}");
    ensure!(said.contains("needs a terminal"), "{said}");
    ensure!(output.stdout.is_empty(), "something was drawn");
    Ok(())
}

#[test]
fn somebody_finds_what_broke_in_the_demo() -> Result<()> {
    let Some(shell) = Shell::start((80, 24))? else {
        return Ok(());
    };
    shell.open(demo())?;
    let screen = &shell.terminal;
    screen.until_so("the title", |text| text.starts_with("demo.reel  "))?;

    // The story and what looks wrong, and in it the operator that went Degraded.
    screen.until_so("problems", |text| {
        text.contains("PROBLEMS") && text.contains("ImageRegistryController")
    })?;
    choose(screen, "ImageRegistryController")?;
    screen.press(&["Enter"])?;
    screen.until("clusteroperator image-registry · problem ")?;
    screen.press(&["y"])?;
    let degraded = screen.until_so("the operator when it went Degraded", |text| {
        text.contains("clusteroperator image-registry · yaml")
            && text.contains("▓ bad")
            && text.contains("type: Degraded")
    })?;

    // Its conditions, and the transitions of one.
    screen.press(&["i"])?;
    screen.until("└ Degraded")?;
    choose(screen, "└ Degraded")?;
    screen.press(&["t"])?;
    let text = screen.until_so("the way back", |text| moment(text) > moment(&degraded))?;
    assert!(text.contains("good"), "{text}");
    screen.press(&["T"])?;
    screen.until_so("the moment", |text| moment(text) == moment(&degraded))?;
    screen.until("▓ bad")?;

    // The version Pod that failed.
    screen.press(&["p"])?;
    screen.until("PROBLEMS")?;
    // A rule reports it, when the rules are done.
    screen.until("attempt 1 of 2")?;
    choose(screen, "attempt 1 of 2")?;
    screen.press(&["Enter"])?;
    screen.until("pod openshift-cluster-version/version-4.21.9-")?;
    screen.press(&["y"])?;
    // The attempt began with the Pod; its first transition to a bad state is the failure.
    screen.until("changing Pending")?;
    screen.press(&["t"])?;
    screen.until("bad ErrImagePull")?;
    screen.press(&["E"])?;
    screen.until("Pulling image")?;
    // With its next change came the Event that reports the failure.
    screen.press(&["c"])?;
    screen.until("Failed to pull image")?;
    screen.press(&["q"])?;
    let text = shell.ended(0)?;
    assert!(text.contains("--at"), "leaving prints the address: {text}");
    Ok(())
}

/// Presses the letters of a text, one by one.
fn type_in(screen: &Terminal, text: &str) -> Result<()> {
    let keys: Vec<String> = text
        .chars()
        .map(|letter| match letter {
            ' ' => "Space".to_owned(),
            letter => letter.to_string(),
        })
        .collect();
    screen.press(&keys.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Opens a copy of the demo at its end, so that bookmarks can lie beside it; `None`, reported,
/// without tmux.
fn opened_copy(folder: &Path) -> Result<Option<Shell>> {
    let Some(shell) = Shell::start((120, 40))? else {
        return Ok(None);
    };
    let reel = folder.join("own.reel");
    std::fs::copy(demo(), &reel)?;
    shell.open(&format!("{} --at end", reel.display()))?;
    shell.terminal.until("OPERATORS")?;
    Ok(Some(shell))
}

#[test]
fn keys_of_lanes_and_of_the_log_do_what_the_help_says() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let Some(shell) = opened_copy(folder.path())? else {
        return Ok(());
    };
    let screen = &shell.terminal;

    // X unfolds a workload: its conditions and its Pods stand below it, and go again.
    type_in(screen, ":deploy web")?;
    screen.until_so("the Deployment first", |text| {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("GO TO "));
        let first = lines.nth(1);
        first.is_some_and(|line| line.starts_with('>') && line.contains("deployment shop/web"))
    })?;
    screen.press(&["Enter"])?;
    screen.until_so("the lane", |text| {
        chosen(text).is_some_and(|line| line.contains("shop/web"))
    })?;
    screen.press(&["X"])?;
    let text = screen.until("└ Available")?;
    ensure!(text.contains("└ web-"), "its Pods: {text}");
    screen.press(&["X"])?;
    screen.until_so("folded", |text| !text.contains("└ Available"))?;

    // A: the log, at the object's nearest transition, with who wrote it; / searches, n and N go on.
    screen.press(&["A"])?;
    screen.until_so("the log at the object", |text| {
        chosen(text).is_some_and(|line| line.contains("shop/web"))
    })?;
    screen.until("◂ kube-contr")?;
    type_in(screen, "/crashloop")?;
    screen.press(&["Enter"])?;
    let is_match = |text: &str| chosen(text).is_some_and(|line| line.contains("CrashLoopBackOff"));
    let first = screen.until_so("a match", is_match)?;
    screen.press(&["n"])?;
    let next = screen.until_so("the next match", |text| {
        is_match(text) && moment(text) != moment(&first)
    })?;
    screen.press(&["N"])?;
    screen.until_so("the match before", |text| {
        is_match(text) && moment(text) == moment(&first)
    })?;
    ensure!(moment(&next) != moment(&first), "{next}");

    // & filters where / searches. Escape and a letter at once would be one key.
    screen.press(&["Escape"])?;
    screen.until_so("no search", |text| !text.contains("n N match"))?;
    screen.press(&["&"])?;
    type_in(screen, "image-registry")?;
    screen.press(&["Enter"])?;
    screen.until_so("only those rows", |text| {
        let mut rows = text
            .lines()
            .skip_while(|line| !line.starts_with("TRANSITIONS"));
        let head = rows
            .next()
            .is_some_and(|head| head.contains(" matching image-registry"));
        head && chosen(text).is_some() && !text.contains("CrashLoopBackOff")
    })?;
    screen.press(&["Escape"])?;
    screen.until_so("all rows", |text| {
        text.contains("TRANSITIONS") && !text.contains(" matching ")
    })?;
    screen.press(&["Escape"])?;
    screen.until_so("the lanes", |text| !text.contains("TRANSITIONS"))?;

    screen.press(&["q"])?;
    shell.ended(0)?;
    Ok(())
}

#[test]
fn bookmarks_problems_and_local_times_are_times() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let Some(shell) = opened_copy(folder.path())? else {
        return Ok(());
    };
    let screen = &shell.terminal;

    // A bookmark is a time that can be written.
    let end = screen.screen()?;
    type_in(screen, "g")?;
    let start = screen.until_so("the start", |text| moment(text) != moment(&end))?;
    type_in(screen, "mbegin")?;
    screen.press(&["Enter"])?;
    screen.until("bookmark")?;
    type_in(screen, "G")?;
    screen.until_so("the end", |text| moment(text) == moment(&end))?;
    type_in(screen, ":bookmark:begin")?;
    screen.press(&["Enter"])?;
    screen.until_so("the bookmark", |text| moment(text) == moment(&start))?;
    type_in(screen, ":problem:1")?;
    screen.press(&["Enter"])?;
    screen.until_so("the first problem", |text| moment(text) != moment(&start))?;

    // Local time and back.
    let utc = screen.screen()?;
    ensure!(moment(&utc).ends_with('Z'), "{utc}");
    screen.press(&["U"])?;
    screen.until_so("local time", |text| moment(text).ends_with("+05:45"))?;
    screen.press(&["U"])?;
    screen.until_so("UTC", |text| moment(text) == moment(&utc))?;
    screen.press(&["q"])?;
    shell.ended(0)?;
    Ok(())
}

#[test]
fn an_outage_is_a_line_above_the_status_line_and_the_end_names_the_next_command() -> Result<()> {
    let Some(shell) = Shell::start((120, 20))? else {
        return Ok(());
    };
    let mut scene = Scene::new()?;
    let (program, reel, kubeconfig) = (program()?, scene.reel(), scene.kubeconfig());
    let (program, reel) = (program.display(), reel.display());
    let kubeconfig = kubeconfig.display();
    shell.terminal.enter(&format!(
        "clear; {program} record -o {reel} --kubeconfig {kubeconfig}; echo ended with $?"
    ))?;
    scene.await_live(ENDPOINTS)?;
    scene.cluster.go_down()?;
    shell.terminal.until("(Connect)")?;
    // Longer than from one probe to the next: what no probe met is no outage.
    std::thread::sleep(OUTAGE);
    scene.cluster.accept()?;
    let screen = shell
        .terminal
        .until_so("the outage above the status line", |screen| {
            let mut lines = screen
                .lines()
                .skip_while(|line| !line.contains("API not reachable for "));
            lines
                .next()
                .is_some_and(|line| line.contains("WARN API not"))
                && lines.next().is_some_and(|line| line.contains(" events · "))
        })?;
    ensure!(screen.matches(" events · ").count() == 1, "{screen}");
    ensure!(screen.matches("WARN").count() == 1, "{screen}");
    shell.terminal.press(&["C-c"])?;
    let screen = shell.ended(0)?;
    ensure!(
        screen.contains(&format!("open it: kubereel {reel}")),
        "{screen}"
    );
    Ok(())
}

/// Goes down to the row with a text.
fn choose(screen: &Terminal, words: &str) -> Result<()> {
    const MOST_ROWS: usize = 60;
    for _ in 0..MOST_ROWS {
        let shown = screen.screen()?;
        if chosen(&shown).is_some_and(|line| line.contains(words)) {
            return Ok(());
        }
        let before = chosen(&shown).map(str::to_owned);
        screen.press(&["Down"])?;
        screen.until_so("the next row", |text| {
            chosen(text).map(str::to_owned) != before
        })?;
    }
    bail!("no row within {MOST_ROWS} says {words:?}")
}

/// The row that is chosen.
fn chosen(screen: &str) -> Option<&str> {
    screen.lines().find(|line| line.starts_with('>'))
}

/// The time of the day that the title shows.
fn moment(screen: &str) -> &str {
    let mut words = screen.split_whitespace();
    words.nth(1).unwrap_or_default()
}

/// This many keys lead from the start to a diagnosis.
const MOST_KEYS: usize = 30;
/// The screens on which a diagnosis is made.
const SIZES: [(u16, u16); 2] = [(120, 40), (80, 24)];

/// Keys that are pressed to find out what went wrong, counted.
struct Diagnosis {
    shell: Shell,
    pressed: usize,
}

impl Diagnosis {
    /// Opens a reel; `None`, reported, without tmux.
    fn begin(reel: &str, size: (u16, u16)) -> Result<Option<Self>> {
        let Some(shell) = Shell::start(size)? else {
            return Ok(None);
        };
        shell.open(reel)?;
        Ok(Some(Self { shell, pressed: 0 }))
    }

    fn press(&mut self, keys: &[&str]) -> Result<()> {
        self.pressed += keys.len();
        ensure!(
            self.pressed <= MOST_KEYS,
            "{} keys:\n{}",
            self.pressed,
            self.shell.terminal.screen()?
        );
        self.shell.terminal.press(keys)
    }

    /// Goes down to the row with a text.
    fn choose(&mut self, words: &str) -> Result<()> {
        loop {
            let shown = self.shell.terminal.screen()?;
            if chosen(&shown).is_some_and(|line| line.contains(words)) {
                return Ok(());
            }
            let before = chosen(&shown).map(str::to_owned);
            self.press(&["Down"])?;
            self.sees("the next row", |text| {
                chosen(text).map(str::to_owned) != before
            })?;
        }
    }

    fn sees(&self, what: &str, is_so: impl Fn(&str) -> bool) -> Result<()> {
        self.shell.terminal.until_so(what, is_so).map(drop)
    }

    fn sees_all(&self, words: &[&str]) -> Result<()> {
        self.sees(&words.join(" and "), |text| {
            words.iter().all(|word| text.contains(word))
        })
    }

    fn end(mut self) -> Result<()> {
        self.press(&["q"])?;
        self.shell.ended(0)?;
        Ok(())
    }
}

/// Imports a shared recording; `None`, reported, where it is not there.
fn imported(folder: &Path, file: &str) -> Result<Option<String>> {
    let Some(path) = kubereel_tests::shared_data::shared_data(file) else {
        return Ok(None);
    };
    let reel = folder.join("shared.reel");
    let output = Command::new(program()?)
        .arg("import")
        .arg(path)
        .arg("-o")
        .arg(&reel)
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(Some(reel.display().to_string()))
}

#[test]
fn the_demo_is_diagnosed_within_thirty_keys() -> Result<()> {
    for size in SIZES {
        let Some(mut user) = Diagnosis::begin(demo(), size)? else {
            return Ok(());
        };
        // Before any key: what was done, and what went wrong.
        user.sees_all(&[
            "upgrade from 4.21.7 to 4.21.9: completed",
            "RetrievePayload",
            "CrashLoopBackOff",
        ])?;
        user.choose("RetrievePayload")?;
        user.press(&["Enter"])?;
        user.sees_all(&[
            "clusterversion version · problem 2",
            "possible cause:",
            "desiredUpdate",
            "by oc",
        ])?;
        // The change that may have caused it.
        user.press(&["Tab", "Down", "Down", "Enter"])?;
        user.sees_all(&["clusterversion version · diff", "spec.desiredUpdate"])?;
        // What crashes: the row, the sentence, the Events.
        user.shell.terminal.press(&["p"])?;
        user.pressed += 1;
        user.sees_all(&["PROBLEMS"])?;
        user.choose("CrashLoopBackOff")?;
        user.press(&["Enter"])?;
        user.sees_all(&["deployment shop/payments", "container payments"])?;
        user.end()?;
    }
    Ok(())
}

#[test]
fn an_operator_upgrade_is_diagnosed_within_thirty_keys() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let Some(reel) = imported(folder.path(), "cvo-upgrade/events.jsonl.zst")? else {
        return Ok(());
    };
    for size in SIZES {
        let Some(mut user) = Diagnosis::begin(&reel, size)? else {
            return Ok(());
        };
        user.sees_all(&[
            "upgrade from 4.22.0-a to 4.22.0-b: completed",
            "OpenshiftApiserver_NoReadyEn",
        ])?;
        // Why nothing happened for minutes: eleven attempts to retrieve the release, asked for by oc.
        user.choose("RetrievePayload")?;
        user.press(&["Enter"])?;
        user.sees_all(&["11 times", "possible cause:", "by oc"])?;
        // Two operators, one by its own error, and the drain that a budget held.
        user.press(&["n"])?;
        user.sees("a later problem", |text| !text.contains("11 times"))?;
        user.press(&["p"])?;
        user.sees_all(&["PROBLEMS"])?;
        user.choose("ImageRegistryController")?;
        user.press(&["Enter"])?;
        user.sees_all(&["ImageRegistryController_SyncError"])?;
        user.press(&["p"])?;
        user.sees_all(&["PROBLEMS"])?;
        user.choose("DisruptionBudgetHoldsDrain")?;
        user.press(&["Enter"])?;
        user.sees_all(&["poddisruptionbudget shop/", "DisruptionBudgetHoldsDrain"])?;
        user.end()?;
    }
    Ok(())
}

#[test]
fn an_installation_without_faults_is_told_within_thirty_keys() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let Some(reel) = imported(folder.path(), "okd412-sno-install-run1/events.jsonl.zst")? else {
        return Ok(());
    };
    for size in SIZES {
        let Some(mut user) = Diagnosis::begin(&reel, size)? else {
            return Ok(());
        };
        // What was done, how long it took, and that nothing went wrong in what was looked at.
        user.sees_all(&[
            "installation of 4.13.0-ec.4: completed (27m",
            "no problem found · checked 7,584 events of 26 resources",
        ])?;
        // What was normal meanwhile, and how an operator came up.
        user.press(&["Enter"])?;
        user.sees_all(&["OPERATORS", "236 signs"])?;
        user.press(&[":", "c", "o", "/", "e", "t", "c", "d"])?;
        user.sees_all(&["clusteroperator etcd"])?;
        user.press(&["Enter"])?;
        user.sees("the operator", |text| {
            chosen(text).is_some_and(|line| line.contains("etcd"))
        })?;
        user.press(&["G", "K"])?;
        user.sees_all(&["· conditions", "Degraded  False"])?;
        user.end()?;
    }
    Ok(())
}

#[test]
fn a_crash_loop_is_listed_once_where_its_replica_set_is_not_recorded() -> Result<()> {
    let Some(shell) = Shell::start((120, 40))? else {
        return Ok(());
    };
    let Some(reel) = imported(shell.folder.path(), "k8shark/crash-loop/capture.kshrk")? else {
        return Ok(());
    };
    shell.open(&reel)?;
    // The rules of the problems, and upstream's rule for its Events, are judged in the background.
    let screen = shell.terminal.until_so("the rules' say", |screen| {
        screen.contains("PROBLEMS 1")
            && !screen.contains("being judged")
            && screen.contains("skipped")
    })?;
    let rows = screen.lines().filter(|line| {
        line.starts_with(['>', ' ']) && line.get(1..).is_some_and(|row| row.starts_with('▓'))
    });
    ensure!(rows.count() == 1, "{screen}");
    ensure!(!screen.contains("other finding"), "{screen}");
    shell.terminal.press(&["q"])?;
    shell.ended(0)?;
    Ok(())
}
