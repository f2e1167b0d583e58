//! `kubereel tui` and plain `kubereel REEL`, as far as they go without a terminal.

use super::run::{DEMO, kubereel};

#[test]
fn the_screen_needs_a_terminal_and_says_so() {
    for args in [
        &["tui", DEMO][..],
        &[DEMO],
        &[DEMO, "--at", "+10s", "--select", "co/etcd"],
    ] {
        let ran = kubereel(args).code(5).says("needs a terminal");
        assert_eq!(ran.out, "");
    }
}

#[test]
fn what_is_no_reel_is_said_before_the_screen() {
    let _ran = kubereel!("no-such.reel").code(3).says("no-such.reel");
    let _ran = kubereel!("nonsense").code(2);
}

#[test]
fn help_names_every_key() {
    let out = kubereel!("tui --help").ok();
    for words in [
        "ctrl-o alt-o",
        "previous, next event",
        "the story, and the list of problems",
        "--select",
    ] {
        assert!(out.contains(words), "{words:?} not in {out}");
    }
}

#[test]
fn what_is_no_filter_is_refused_before_the_screen() {
    for (filter, words) in [
        ("phase=Running", "status.phase=Running"),
        ("/(/", "unclosed group"),
        ("label:a=b=c", "not a label selector"),
    ] {
        let _ran = kubereel!("tui {DEMO} --filter {filter}")
            .code(2)
            .says(words);
    }
    let _ran = kubereel!("{DEMO} --filter '!ns:a status.phase!=Running'").code(5);
}
