//! However the program ends, the terminal is as it was.

use crate::tui_in_tmux::shell::{Shell, demo};
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Command;

fn kill(process: u32, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(process)?).context("no such process")?;
    Ok(kill_process(pid, signal)?)
}

#[test]
fn a_signal_gives_the_terminal_back() -> Result<()> {
    for signal in [Signal::TERM, Signal::HUP] {
        let Some(shell) = Shell::start((80, 24))? else {
            return Ok(());
        };
        shell.open(demo())?;
        shell.terminal.until("CLUSTERVERSION")?;
        kill(shell.child()?, signal)?;
        shell.ended(143)?;
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
    shell.terminal.until("CLUSTERVERSION")?;
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
    shell.terminal.until("CLUSTERVERSION")?;
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

/// Tells whether nothing but the entry of a process is left.
fn is_dead(stat: &str) -> bool {
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_none_or(|rest| rest.starts_with('Z') || rest.is_empty())
}

#[test]
fn a_closed_stdin_ends_it_in_words() -> Result<()> {
    let output = Command::new(kubereel_tests::recording::program()?)
        .args(["tui", demo()])
        .stdin(std::process::Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(5), "{said}");
    ensure!(said.contains("needs a terminal"), "{said}");
    ensure!(output.stdout.is_empty(), "something was drawn");
    Ok(())
}
