//! The second part of the list: what happens to the recorder's process and its surroundings.
//!
//! See [`super`] for how to add a row.

use super::row::Expected::{NoClaim, Said, Whole};
use super::row::{Row, open, real, row, scripted, unit};

const CRASH: &str = "tests/tests/crash.rs";
const DISK_FULL: &str = "tests/tests/size_budget/disk_full.rs";
const ENDS: &str = "tests/tests/observing/ends.rs";
const LIMITS: &str = "tests/tests/recorder_faults/limits.rs";
const RESTART: &str = "tests/tests/restart.rs";
const STREAMS: &str = "tests/tests/recorder_faults/streams.rs";
const SURROUNDINGS: &str = "tests/tests/recorder_faults/surroundings.rs";
const WRITER: &str = "recorder/src/writer/tests.rs";

/// The rows.
pub(super) const ROWS: &[Row] = &[
    row(
        "kill -9 at random times",
        Whole,
        &[
            scripted(CRASH, "kills_at_random_moments_cost_half_a_second_at_most"),
            real(
                RESTART,
                "kills_cost_half_a_second_at_most_and_the_next_start_goes_on",
            ),
        ],
    )
    .but("but for the last half second, which the next run fetches"),
    row(
        "paused until the server closes its streams",
        Whole,
        &[scripted(STREAMS, "a_recorder_that_was_paused_catches_up")],
    ),
    open("SIGSTOP for 10 s", "not written yet"),
    open("SIGSTOP for 100 s", "not written yet"),
    open("SIGSTOP until the history is compacted", "not written yet"),
    row(
        "a full disk, then space again",
        Whole,
        &[
            scripted(
                DISK_FULL,
                "a_full_disk_loses_nothing_that_the_server_still_has_and_is_told",
            ),
            unit(WRITER, "a_failed_append_loses_and_doubles_nothing"),
        ],
    ),
    row(
        "a disk that stays full",
        Said,
        &[unit(WRITER, "a_disk_that_stays_full_ends_as_an_error")],
    ),
    open("a slow disk", "not written yet"),
    open("the clock steps forward and back", "not written yet"),
    open("a memory limit", "not written yet"),
    open("a limit of file descriptors", "not written yet"),
    row(
        "the kubeconfig missing, empty, half written, broken before it is good",
        Whole,
        &[scripted(
            SURROUNDINGS,
            "a_kubeconfig_may_be_missing_and_broken_before_it_is_good",
        )],
    ),
    row(
        "the kubeconfig replaced, emptied, half written and removed while recording",
        Whole,
        &[scripted(
            SURROUNDINGS,
            "a_kubeconfig_spoilt_while_recording_costs_nothing",
        )],
    ),
    row(
        "an end during an outage",
        NoClaim,
        &[scripted(
            ENDS,
            "an_end_during_an_outage_is_in_time_and_claims_nothing",
        )],
    ),
    row(
        "an output that cannot be written",
        Said,
        &[scripted(
            LIMITS,
            "an_output_that_cannot_be_written_is_said_at_once",
        )],
    ),
];
