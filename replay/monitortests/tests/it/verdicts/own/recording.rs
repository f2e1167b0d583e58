//! Whether the recording is whole.

use crate::verdicts::judged::judged;
use crate::verdicts::reel::Reel;

const CASE: &str = "the recording should show every resource all the time";

#[test]
fn a_whole_recording_passes_and_one_with_a_gap_says_where() {
    let whole = || Reel::cluster().at("10:05:00").until("11:00:00");
    judged(whole(), "recording-complete").passes(CASE);
    let torn = whole().gap("Pod", "10:10:00", "10:20:00");
    let verdicts = judged(torn, "recording-complete");
    verdicts.is(CASE, "flake");
    verdicts.says(CASE, "10:10:00", "pods");
}
