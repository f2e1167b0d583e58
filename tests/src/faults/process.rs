//! The second part of the list: what happens to the recorder's process and its surroundings.
//!
//! See [`super`] for how to add a row.

use super::row::Expected::{NoClaim, ReadBack, Said, Whole};
use super::row::{Row, real, row, scripted, unit};

const ASLEEP: &str = "tests/tests/it/process_faults/asleep.rs";
const CLOCK: &str = "tests/tests/it/process_faults/clock.rs";
const CRASH: &str = "tests/tests/it/crash.rs";
const DISK_FULL: &str = "tests/tests/it/size_budget/disk_full.rs";
const ENDS: &str = "tests/tests/it/observing/ends.rs";
const LIMITS: &str = "tests/tests/it/recorder_faults/limits.rs";
const LITTLE: &str = "tests/tests/it/process_faults/limits.rs";
const MEMORY: &str = "tests/tests/it/size_budget/memory.rs";
const RESTART: &str = "tests/tests/it/restart.rs";
const SLOW_DISK: &str = "tests/tests/it/process_faults/slow_disk.rs";
const STREAMS: &str = "tests/tests/it/recorder_faults/streams.rs";
const SURROUNDINGS: &str = "tests/tests/it/recorder_faults/surroundings.rs";
const WALL_CLOCK: &str = "recorder/src/clock.rs";
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
    row(
        "SIGSTOP for 10 s",
        Whole,
        &[scripted(
            ASLEEP,
            "stopped_for_ten_seconds_it_misses_nothing",
        )],
    ),
    row(
        "SIGSTOP for 100 s",
        Whole,
        &[scripted(
            ASLEEP,
            "stopped_for_a_hundred_seconds_it_misses_nothing",
        )],
    )
    .but("takes long: run with `KUBEREEL_SLOW=1`"),
    row(
        "SIGSTOP until the history is compacted",
        ReadBack,
        &[
            scripted(
                ASLEEP,
                "stopped_past_the_watch_history_it_reads_back_what_lists_still_know",
            ),
            scripted(
                ASLEEP,
                "stopped_past_compaction_it_says_what_it_cannot_know",
            ),
        ],
    ),
    row(
        "a full disk, then space again within 7 s",
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
        &[
            scripted(DISK_FULL, "record_ends_by_itself_on_a_disk_that_stays_full"),
            scripted(
                DISK_FULL,
                "an_observer_on_a_full_disk_tells_what_is_in_the_reel_and_leaves_no_empty_file",
            ),
            unit(WRITER, "a_disk_that_stays_full_ends_as_an_error"),
        ],
    ),
    row(
        "a slow disk",
        Whole,
        &[scripted(
            SLOW_DISK,
            "a_slow_disk_holds_up_the_streams_and_not_the_memory",
        )],
    )
    .but("only where `strace` is installed"),
    row(
        "the clock steps forward and back",
        Whole,
        &[
            scripted(
                CLOCK,
                "a_clock_that_steps_forth_and_back_is_told_and_loses_nothing",
            ),
            unit(WALL_CLOCK, "reports_a_step_once_and_in_both_directions"),
        ],
    )
    .but("end to end only where `libfaketime` is installed"),
    row(
        "a memory limit",
        Whole,
        &[
            scripted(LITTLE, "a_burst_larger_than_its_memory_is_taken_in_parts"),
            scripted(
                LITTLE,
                "a_recorder_that_gets_no_memory_any_more_leaves_a_reel_that_is_gone_on_with",
            ),
        ],
    ),
    row(
        "more objects than fit into the memory limit, a list without an end",
        Said,
        &[
            scripted(
                MEMORY,
                "a_list_without_an_end_is_given_up_and_everything_else_is_recorded",
            ),
            scripted(
                MEMORY,
                "as_many_objects_as_fit_are_recorded_with_their_bodies_in_a_file",
            ),
        ],
    ),
    row(
        "a limit of file descriptors",
        Said,
        &[
            scripted(
                LITTLE,
                "with_too_few_descriptors_it_says_what_it_could_not_follow",
            ),
            scripted(LITTLE, "with_descriptors_again_it_catches_up"),
        ],
    ),
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
