//! The process that runs the monitortests: started at low priority, read line by line, ended with the
//! screen.

use super::cache::{CachePath, read_findings};
use super::event::{RuntimeEvent, TuiError};
use super::program::caught;
use crate::findings::{Findings, JudgingState};
use crate::msg::Msg;
use kubereel_history::harmless;
use serde::Deserialize;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tempfile::NamedTempFile;

/// The longest line that is read of the child, in bytes; the rest is cut.
const LONGEST_LINE: u64 = 4_096;
/// How many lines of an error message are kept.
const MOST_WORDS: usize = 2;

/// The run that is under way, and what is needed for the next one.
pub(super) struct JudgeProcess {
    executable: Executable,
    told: SyncSender<RuntimeEvent>,
    last: Option<(Arc<JudgeAttempt>, JoinHandle<()>)>,
}

/// A run, for those who may want to stop it.
#[derive(Default)]
struct JudgeAttempt {
    is_stopped: AtomicBool,
    child: Mutex<Option<Child>>,
}

impl JudgeProcess {
    /// Begins with no run.
    pub(super) const fn new(executable: Executable, told: SyncSender<RuntimeEvent>) -> Self {
        Self {
            executable,
            told,
            last: None,
        }
    }

    /// Runs the rules on a reel and reports the result.
    pub(super) fn begin(&mut self, reel: PathBuf) -> Result<(), TuiError> {
        self.end();
        let attempt = Arc::new(JudgeAttempt::default());
        let (own, told, executable) = (
            Arc::clone(&attempt),
            self.told.clone(),
            self.executable.clone(),
        );
        let name = "kubereel-judge";
        let thread = thread::Builder::new().name(name.to_owned());
        let run = thread.spawn(move || {
            let judged = caught(|| judged(&own, &executable, &reel, &told));
            let judged = judged.unwrap_or_else(JudgingState::Failed);
            // A program that ended needs no answer.
            drop(told.send(judging(judged)));
        });
        let run = run.map_err(|source| TuiError::Thread { name, source })?;
        self.last = Some((attempt, run));
        Ok(())
    }

    /// Stops the run that is under way.
    pub(super) fn stop(&self) {
        if let Some((attempt, _)) = &self.last {
            attempt.stop();
        }
    }

    /// Stops the run, and waits until its process is gone.
    fn end(&mut self) {
        if let Some((attempt, _)) = self.last.take() {
            attempt.stop();
            attempt.wait();
        }
    }
}

impl Drop for JudgeProcess {
    fn drop(&mut self) {
        self.end();
    }
}

impl JudgeAttempt {
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.kill();
    }

    fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = child.as_mut() {
            // It may have ended by itself.
            drop(child.kill());
        }
    }

    /// Waits for the child; without one, there is nothing to say of its end.
    fn wait(&self) -> Option<std::process::ExitStatus> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.as_mut()?.wait().ok()
    }

    /// Starts the child, unless it was stopped before.
    fn start(&self, program: &Path, reel: &Path) -> io::Result<Option<Pipes>> {
        let mut slot = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let mut command = Command::new(program);
        command.args(["test", "-o", "json", "--progress", "json", "--"]);
        // The child must not hear or write to the terminal.
        command
            .arg(reel)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // Who may not be nicer runs as others do.
        let _is_nicer = lower_priority(&child);
        let pipes = child.stdout.take().zip(child.stderr.take());
        *slot = Some(child);
        Ok(pipes.map(|(out, err)| Pipes {
            out: Box::new(out),
            err,
        }))
    }
}

/// What the child says.
struct Pipes {
    out: Box<dyn Read + Send>,
    err: ChildStderr,
}

/// Judges a reel, or takes what was found before.
fn judged(
    attempt: &JudgeAttempt,
    executable: &Executable,
    reel: &Path,
    told: &SyncSender<RuntimeEvent>,
) -> JudgingState {
    let place = CachePath::of(executable.cache.as_deref(), &executable.path, reel);
    if let Some(findings) = place.as_ref().and_then(CachePath::read) {
        return JudgingState::Done(Arc::new(findings));
    }
    let copy = place.as_ref().and_then(CachePath::begin);
    let output = match run_judge(attempt, executable, reel, told, copy) {
        Ok(Some(output)) => output,
        Ok(None) => return JudgingState::Stopped,
        Err(error) => {
            let program = executable.path.display();
            return JudgingState::Failed(format!("cannot run {program}: {error}"));
        }
    };
    let ended = attempt.wait();
    if attempt.is_stopped.load(Ordering::SeqCst) {
        return JudgingState::Stopped;
    }
    match output.findings {
        Ok(findings) => {
            if let Some((place, copy)) = place.zip(output.copy) {
                place.keep(copy);
            }
            JudgingState::Done(Arc::new(findings))
        }
        Err(why) => {
            let ended = ended.map(|status| status.to_string()).unwrap_or_default();
            let words = output.words;
            let why = if words.is_empty() { why } else { words };
            JudgingState::Failed(format!("{why} ({ended})"))
        }
    }
}

/// What a run of the child gave.
struct JudgeOutput {
    findings: Result<Findings, String>,
    /// What it wrote, if that could be copied.
    copy: Option<NamedTempFile>,
    /// What it complained of.
    words: String,
}

/// Reads from the child and copies what it reads: the whole of it is never in memory.
struct CopyingReader {
    from: Box<dyn Read + Send>,
    copy: Option<NamedTempFile>,
    is_empty: bool,
    is_at_end: bool,
}

impl Read for CopyingReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(to)?;
        let read = to.get(..count).unwrap_or_default();
        self.is_empty &= read.is_empty();
        self.is_at_end = read.is_empty() && !to.is_empty();
        // A copy that has no room is none.
        drop(self.copy.take_if(|copy| copy.write_all(read).is_err()));
        Ok(count)
    }
}

/// Runs the child to its end. `None` if it was stopped first.
fn run_judge(
    attempt: &JudgeAttempt,
    executable: &Executable,
    reel: &Path,
    told: &SyncSender<RuntimeEvent>,
    copy: Option<NamedTempFile>,
) -> io::Result<Option<JudgeOutput>> {
    let Some(pipes) = attempt.start(&executable.path, reel)? else {
        return Ok(None);
    };
    thread::scope(|scope| {
        let (err, out) = (pipes.err, pipes.out);
        let name = "kubereel-judged".to_owned();
        let listens = thread::Builder::new()
            .name(name)
            .spawn_scoped(scope, || listen(err, told));
        let mut out = CopyingReader {
            from: out,
            copy,
            is_empty: true,
            is_at_end: false,
        };
        let mut findings = read_findings(&mut out);
        if out.is_empty {
            findings = Err("no rules were run".to_owned());
        }
        if listens.is_err() || !out.is_at_end {
            // It would wait for a reader for ever.
            attempt.kill();
        }
        let CopyingReader { from, copy, .. } = out;
        drop(from);
        Ok(Some(JudgeOutput {
            findings,
            copy,
            words: listens?.join().unwrap_or_default(),
        }))
    })
}

fn judging(judging: JudgingState) -> RuntimeEvent {
    RuntimeEvent::Reader(Msg::Judging(judging))
}

/// How far the child is.
#[derive(Deserialize)]
struct JudgeProgress {
    done: u64,
    total: u64,
}

/// Tells how far the child is, a message for each percent; gives the first words of its
/// complaint.
fn listen(err: ChildStderr, told: &SyncSender<RuntimeEvent>) -> String {
    let mut err = BufReader::new(err);
    let (mut words, mut shown) = (Vec::new(), None);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut err).take(LONGEST_LINE).read_until(b'\n', &mut line);
        if !read.is_ok_and(|count| count > 0) {
            return harmless(&words.join(" ")).into_owned();
        }
        if let Ok(progress) = serde_json::from_slice::<JudgeProgress>(&line) {
            let percent = progress.done.saturating_mul(100) / progress.total.max(1);
            let percent = u8::try_from(percent.min(100)).unwrap_or(100);
            if shown != Some(percent) {
                shown = Some(percent);
                // A screen that is busy learns it next time.
                drop(told.try_send(judging(JudgingState::Under(percent))));
            }
        } else {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            // The last lines are advice, or where a fault was.
            if !text.is_empty() && words.len() < MOST_WORDS {
                words.push(text);
            }
        }
    }
}

/// The executable that the UI is part of, and where it may keep what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its file: `PATH test -o json --progress json -- REEL` judges a reel.
    pub path: PathBuf,
    /// The folder for what can be found again; without one, nothing is kept.
    pub cache: Option<PathBuf>,
}

/// How nice the child is: others come first.
#[cfg(unix)]
const NICENESS: i32 = 15;

/// Gives a child the lowest priority; tells whether the system agreed.
#[cfg(unix)]
fn lower_priority(child: &Child) -> bool {
    let id = i32::try_from(child.id()).ok();
    let id = id.and_then(rustix::process::Pid::from_raw);
    id.is_some_and(|id| rustix::process::setpriority_process(Some(id), NICENESS).is_ok())
}

/// Lets a child run as others do.
#[cfg(not(unix))]
const fn lower_priority(_child: &Child) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::JudgingState;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::MutexGuard;
    use std::sync::mpsc::{Receiver, sync_channel};
    use tempfile::TempDir;

    /// A script that is being written must not be open in the child of another test.
    static ALONE: Mutex<()> = Mutex::new(());

    const SOUND: &str = r#"{"runs": [{"trust": "recorded", "counts": {"fail": 1}, "cases": []}]}"#;

    /// A folder with a reel, and with a script in place of the program.
    struct World {
        folder: TempDir,
        judge: JudgeProcess,
        heard: Receiver<RuntimeEvent>,
        _alone: MutexGuard<'static, ()>,
    }

    impl World {
        fn with(script: &str) -> Self {
            let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("kubereel");
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("room");
            let may_run = fs::Permissions::from_mode(0o700);
            fs::set_permissions(&path, may_run).expect("ours");
            fs::write(folder.path().join("a.reel"), "a reel").expect("room");
            let (told, heard) = sync_channel(100);
            let executable = Executable {
                path,
                cache: Some(folder.path().join("cache")),
            };
            Self {
                folder,
                judge: JudgeProcess::new(executable, told),
                heard,
                _alone: alone,
            }
        }

        fn begin(&mut self) {
            let reel = self.folder.path().join("a.reel");
            self.judge.begin(reel).expect("a thread");
        }

        fn told(&self) -> JudgingState {
            match self.heard.recv().expect("it tells") {
                RuntimeEvent::Reader(Msg::Judging(judging)) => judging,
                _ => panic!("another message was sent"),
            }
        }
    }

    /// Says who it is as the share that is done, and never ends.
    const ENDLESS: &str =
        r#"echo $$ > "$0.pid"; echo '{"done": 1, "total": 2}' >&2; exec tail -f /dev/null"#;

    fn is_alive(world: &World) -> bool {
        let id = fs::read_to_string(world.folder.path().join("kubereel.pid")).expect("it ran");
        let id = rustix::process::Pid::from_raw(id.trim().parse().expect("a number"));
        rustix::process::test_kill_process(id.expect("not 0")).is_ok()
    }

    #[test]
    fn leaving_ends_the_child() {
        let mut world = World::with(ENDLESS);
        world.begin();
        assert_eq!(world.told(), JudgingState::Under(50));
        assert!(is_alive(&world));
        world.judge.end();
        assert!(!is_alive(&world), "neither running nor a zombie");
    }

    #[test]
    fn it_can_be_stopped_and_begun_again() {
        let mut world = World::with(ENDLESS);
        for _ in 0..2 {
            world.begin();
            assert_eq!(world.told(), JudgingState::Under(50));
            world.judge.stop();
            assert_eq!(world.told(), JudgingState::Stopped);
            assert!(!is_alive(&world));
        }
    }

    #[test]
    fn what_failed_rules_say_is_kept_and_not_asked_for_twice() {
        let once = r#"test -e "$0.ran" && exit 9; : > "$0.ran""#;
        let mut world = World::with(&format!("{once}\necho '{SOUND}'\nexit 1"));
        for _ in 0..2 {
            world.begin();
            let JudgingState::Done(found) = world.told() else {
                panic!("it is judged");
            };
            assert_eq!(found.failed, 1);
        }
    }

    #[test]
    fn a_child_that_dies_is_told_of() {
        for (script, words) in [
            (
                "echo 'error: \u{1b}[2Jno such reel' >&2; exit 3",
                "no such reel",
            ),
            ("kill -9 $$", "signal: 9"),
            ("echo '{\"runs\"'", "invalid findings"),
            ("exec cat /dev/zero", "invalid findings"),
            ("exec yes ''", "bytes of findings"),
        ] {
            let mut world = World::with(script);
            world.begin();
            let JudgingState::Failed(why) = world.told() else {
                panic!("{script} fails");
            };
            assert!(why.contains(words) && !why.contains('\u{1b}'), "{why}");
            let kept = world.folder.path().join("cache/findings");
            let kept = fs::read_dir(kept).expect("a folder").count();
            assert_eq!(kept, 0, "what failed is not kept");
        }
        let mut world = World::with("");
        fs::remove_file(world.folder.path().join("kubereel")).expect("ours");
        world.begin();
        let judging = world.told();
        assert!(
            matches!(&judging, JudgingState::Failed(why) if why.contains("cannot run")),
            "{judging:?}"
        );
    }
}
