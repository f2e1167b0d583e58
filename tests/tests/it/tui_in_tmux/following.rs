//! From a failed job's reel to what broke: the operator that went Degraded, its conditions, and the
//! version Pod that could not pull its image.

use crate::tui_in_tmux::shell::{Shell, demo};
use anyhow::{Result, bail};
use kubereel_tests::tmux::Terminal;

#[test]
fn somebody_finds_what_broke_in_the_demo() -> Result<()> {
    let Some(shell) = Shell::start((80, 24))? else {
        return Ok(());
    };
    shell.open(demo())?;
    let screen = &shell.terminal;
    screen.until("CLUSTERVERSION")?;
    screen.until_so("the title", |text| text.starts_with("demo.reel  "))?;

    // What looks wrong, and in it the operator that went Degraded.
    screen.press(&["p"])?;
    screen.until_so("problems", |text| {
        text.contains("PROBLEMS") && text.contains("image-registry was Degraded")
    })?;
    choose(screen, "image-registry was Degraded")?;
    screen.press(&["Enter"])?;
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
    choose(screen, " payload ")?;
    screen.press(&["Enter"])?;
    screen.until("pod openshift-cluster-version/version-4.21.9-")?;
    screen.until_so("the moment", |text| moment(text) < moment(&degraded))?;
    screen.until("bad ErrImagePull")?;
    screen.press(&["E"])?;
    screen.until("Pulling image")?;
    // With its next change came the Event that tells of the failure.
    screen.press(&["c"])?;
    screen.until("Failed to pull image")?;
    screen.press(&["q"])?;
    let text = shell.ended(0)?;
    assert!(text.contains("--at"), "leaving prints the address: {text}");
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
