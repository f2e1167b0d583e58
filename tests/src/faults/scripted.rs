//! The first part of the list: what servers and networks do, on the scripted server.
//!
//! See [`super`] for how to add a row.

use super::row::Expected::{Gap, Kept, NoClaim, ReadBack, Said, ToldApart, Whole};
use super::row::{Row, real, row, scripted, unit};

const ACCOUNTING: &str = "tests/tests/it/recorder_faults/accounting.rs";
const ANSWERS: &str = "tests/tests/it/recorder_faults/answers.rs";
const CLUSTERS: &str = "tests/tests/it/recorder_faults/clusters.rs";
const DISCOVERING: &str = "tests/tests/it/recorder_faults/discovering.rs";
const FAILING: &str = "tests/tests/it/recorder_faults/failing_lists.rs";
const INTAKE: &str = "recorder/src/watch/intake_tests.rs";
const LINES: &str = "tests/tests/it/recorder_faults/lines.rs";
const LISTS: &str = "tests/tests/it/recorder_faults/lists.rs";
const OVERLAP: &str = "tests/tests/it/recorder_faults/overlap.rs";
const READ_BACK: &str = "tests/tests/it/recorder_faults/read_back.rs";
const SLOW: &str = "tests/tests/it/recorder_faults/slow.rs";
const STATE: &str = "recorder/src/watch/state/tests.rs";
const STREAMS: &str = "tests/tests/it/recorder_faults/streams.rs";
const SURROUNDINGS: &str = "tests/tests/it/recorder_faults/surroundings.rs";

const REFUSED: &str = "a_watch_refused_in_any_way_goes_on_without_loss";
const RULES: &str = "revisions_against_the_rules_are_kept_and_marked";
const GROUPS: &str = "groups_missing_from_an_answer_are_not_gone";

/// The rows.
pub(super) const ROWS: &[Row] = &[
    row(
        "a stream cut at any byte of a line",
        Whole,
        &[
            scripted(STREAMS, "a_line_cut_at_every_single_byte_comes_again"),
            scripted(STREAMS, "a_stream_cut_at_any_byte_loses_nothing"),
        ],
    )
    .but("every single byte takes long: run with `KUBEREEL_SLOW=1`"),
    row(
        "a stream cut inside a chunk's header",
        Whole,
        &[scripted(STREAMS, "a_stream_cut_at_any_byte_loses_nothing")],
    ),
    row(
        "a clean end after every event",
        Whole,
        &[scripted(
            STREAMS,
            "streams_that_end_after_every_event_lose_nothing",
        )],
    ),
    row(
        "the end that was asked for, under load and in silence",
        Whole,
        &[scripted(
            OVERLAP,
            "watches_hand_over_under_load_and_lose_and_double_nothing",
        )],
    ),
    row(
        "a next watch refused with 410, 429 or 503 before the end of this one",
        Whole,
        &[scripted(
            OVERLAP,
            "a_successor_that_is_refused_leaves_the_watch_going",
        )],
    ),
    row(
        "a definition that changes under load, and its history lost at once",
        Whole,
        &[scripted(
            OVERLAP,
            "a_changed_definition_has_a_successor_before_its_watch_ends",
        )],
    ),
    row(
        "Events that expire together while two watches are open",
        Whole,
        &[scripted(
            OVERLAP,
            "events_that_expire_together_survive_two_connections",
        )],
    ),
    row(
        "quiet Events whose history is compacted away, at the end that was asked for",
        Whole,
        &[scripted(
            OVERLAP,
            "events_hand_over_though_their_history_is_lost",
        )],
    ),
    row(
        "half-open silence",
        Whole,
        &[scripted(SLOW, "patience_finds_out")],
    )
    .but("takes minutes: run with `KUBEREEL_SLOW=1`"),
    row(
        "RST in the middle of a stream, under load",
        Whole,
        &[scripted(
            STREAMS,
            "streams_cut_all_the_time_under_load_lose_nothing",
        )],
    ),
    row(
        "TLS failure, then a new CA",
        Whole,
        &[real(
            "tests/tests/it/new_authority.rs",
            "a_new_authority_costs_an_outage_and_no_change",
        )],
    ),
    row(
        "an expired client certificate, then a new one",
        Whole,
        &[real(
            "tests/tests/it/credentials.rs",
            "an_expired_client_certificate_is_replaced_without_loss",
        )],
    ),
    row(
        "an expired token, then a new one",
        Whole,
        &[scripted(
            SURROUNDINGS,
            "a_token_that_expires_is_replaced_without_loss",
        )],
    ),
    row("HTTP 401", Whole, &[scripted(ANSWERS, REFUSED)]),
    row(
        "HTTP 403",
        Said,
        &[
            scripted(
                ANSWERS,
                "what_may_not_be_read_is_named_and_the_rest_goes_on",
            ),
            unit(STATE, "what_is_forbidden_is_said_once_and_asked_for_again"),
        ],
    ),
    row("HTTP 404", Whole, &[scripted(ANSWERS, REFUSED)]),
    row("HTTP 409", Whole, &[scripted(ANSWERS, REFUSED)]),
    row(
        "HTTP 410 before a stream",
        Whole,
        &[scripted(ANSWERS, REFUSED)],
    ),
    row(
        "410 as an event, the history comes back on another connection",
        Whole,
        &[scripted(ANSWERS, "a_history_that_comes_back_is_used")],
    ),
    row(
        "410 as an event, watches have no history, lists have",
        ReadBack,
        &[
            scripted(
                READ_BACK,
                "what_lists_of_the_past_still_know_is_read_back_whole",
            ),
            scripted(READ_BACK, "a_server_that_is_busy_or_behind_is_asked_again"),
        ],
    ),
    row(
        "410 as an event, nobody has the history",
        Gap,
        &[
            scripted(
                ANSWERS,
                "a_history_that_is_lost_leaves_a_gap_and_the_truth_behind_it",
            ),
            scripted(
                READ_BACK,
                "a_server_without_lists_of_the_past_leaves_the_gap",
            ),
            scripted(
                READ_BACK,
                "a_server_that_tells_of_the_present_instead_is_not_believed",
            ),
            scripted(
                READ_BACK,
                "what_came_and_went_among_many_revisions_of_others_is_not_denied",
            ),
            scripted(READ_BACK, "events_are_not_read_back_and_the_reel_says_why"),
        ],
    ),
    row("HTTP 422", Whole, &[scripted(ANSWERS, REFUSED)]),
    row(
        "HTTP 429 with Retry-After",
        Whole,
        &[scripted(ANSWERS, REFUSED)],
    ),
    row(
        "HTTP 500, and an ERROR event of 500",
        Whole,
        &[scripted(ANSWERS, REFUSED)],
    ),
    row(
        "HTTP 503 as text and as JSON",
        Whole,
        &[scripted(ANSWERS, REFUSED)],
    ),
    row(
        "HTTP 504, also of a too large revision with Retry-After",
        Whole,
        &[scripted(ANSWERS, REFUSED)],
    ),
    row(
        "gzip although nobody asked for it",
        NoClaim,
        &[scripted(
            SURROUNDINGS,
            "bodies_compressed_against_our_wish_are_not_taken_for_complete",
        )],
    ),
    row(
        "HTML from a proxy, before a stream and before everything",
        Whole,
        &[
            scripted(ANSWERS, REFUSED),
            scripted(
                ANSWERS,
                "a_portal_in_front_of_the_server_is_told_and_outlived",
            ),
        ],
    ),
    row(
        "lists that fail: 500, 503, 429, 401, 404, 406, 204, 302, HTML, cut, another document, silence",
        NoClaim,
        &[
            scripted(
                FAILING,
                "lists_that_fail_from_the_start_are_never_called_complete",
            ),
            scripted(
                FAILING,
                "lists_that_fail_after_a_lost_history_are_never_called_complete",
            ),
            scripted(
                FAILING,
                "lists_that_fail_at_the_end_are_never_called_complete",
            ),
        ],
    ),
    row(
        "objects that are not UTF-8, one after the other",
        Kept,
        &[scripted(
            LINES,
            "objects_that_are_not_utf8_are_kept_and_the_watch_goes_on",
        )],
    )
    .but("the resource is incomplete until the next complete list"),
    row(
        "a name longer than a reel takes",
        Kept,
        &[scripted(
            LINES,
            "objects_with_endless_names_leave_their_resource_incomplete",
        )],
    )
    .but("the resource is incomplete until the next complete list"),
    row(
        "bad JSON",
        Whole,
        &[scripted(
            LINES,
            "lines_that_are_no_events_are_kept_and_cost_nothing",
        )],
    ),
    row(
        "bad UTF-8",
        Whole,
        &[scripted(
            LINES,
            "lines_that_are_no_events_are_kept_and_cost_nothing",
        )],
    ),
    row(
        "a line that stays unreadable",
        Gap,
        &[scripted(
            LINES,
            "a_line_that_stays_unreadable_is_a_gap_not_a_standstill",
        )],
    ),
    row(
        "an event of an unknown type",
        Kept,
        &[scripted(LINES, "a_type_from_the_future_is_kept")],
    ),
    row(
        "a line twice, so an equal revision",
        Kept,
        &[scripted(LINES, RULES)],
    ),
    row("a falling revision", Kept, &[scripted(LINES, RULES)]),
    row(
        "a missing revision, an empty one, one that is no number",
        Kept,
        &[scripted(LINES, RULES)],
    ),
    row(
        "revisions of 39 digits",
        Whole,
        &[scripted(LINES, "revisions_of_39_digits_are_as_good_as_any")],
    ),
    row(
        "a cut inside a run of deletions with one revision",
        Whole,
        &[
            scripted(
                STREAMS,
                "deletions_that_share_a_revision_survive_a_cut_among_them",
            ),
            unit(STATE, "a_cut_inside_a_bulk_of_deletions_loses_none_of_them"),
        ],
    ),
    row(
        "a line of 40 MiB",
        Kept,
        &[scripted(
            LINES,
            "a_line_of_forty_mebibytes_is_kept_in_bounded_memory",
        )],
    ),
    row(
        "1000 small lines in a chunk",
        Whole,
        &[scripted(STREAMS, "lines_packed_in_any_way_are_told_apart")],
    ),
    row(
        "no bookmark at the end of a streamed list",
        Whole,
        &[
            scripted(SLOW, "patience_finds_out"),
            unit(STATE, "a_silent_list_is_read_in_pages"),
        ],
    )
    .but("end to end only with `KUBEREEL_SLOW=1`"),
    row(
        "the bookmark before the list it ends",
        Whole,
        &[scripted(
            LISTS,
            "an_end_of_the_list_that_comes_first_is_not_believed_blindly",
        )],
    ),
    row(
        "a bookmark without revision",
        Kept,
        &[scripted(LINES, RULES)],
    ),
    row(
        "changes among a streamed list",
        Whole,
        &[scripted(
            LISTS,
            "changes_before_the_end_of_a_streamed_list_count",
        )],
    ),
    row(
        "a streamed list cut before its end",
        Whole,
        &[scripted(
            LISTS,
            "a_streamed_list_cut_before_its_end_is_begun_anew",
        )],
    ),
    row(
        "streamed lists refused, or unknown to an old server",
        Whole,
        &[
            scripted(LISTS, "a_server_without_streamed_lists_is_read_in_pages"),
            scripted(LISTS, "an_old_server_is_not_asked_for_streamed_lists"),
        ],
    ),
    row(
        "a continue token that expired on page 2",
        Whole,
        &[scripted(
            LISTS,
            "a_token_that_expires_on_the_second_page_starts_the_list_anew",
        )],
    ),
    row(
        "pages cut anywhere",
        Whole,
        &[scripted(LISTS, "pages_cut_anywhere_are_read_again")],
    ),
    row(
        "partial discovery",
        Whole,
        &[
            scripted(DISCOVERING, GROUPS),
            scripted(DISCOVERING, "one_failing_group_costs_only_itself"),
        ],
    ),
    row("stale discovery", Whole, &[scripted(DISCOVERING, GROUPS)]),
    row(
        "empty discovery",
        Whole,
        &[scripted(DISCOVERING, "an_empty_answer_ends_nothing")],
    ),
    row(
        "flapping discovery",
        Whole,
        &[scripted(
            DISCOVERING,
            "flapping_groups_are_followed_from_their_first_sight",
        )],
    ),
    row(
        "discovery without aggregation, or in its beta form",
        Whole,
        &[scripted(
            DISCOVERING,
            "legacy_and_beta_discovery_serve_as_well",
        )],
    ),
    row(
        "a server that goes down and comes back",
        Whole,
        &[scripted(
            STREAMS,
            "a_server_that_goes_down_and_comes_back_loses_nothing",
        )],
    ),
    row(
        "another cluster behind the same kubeconfig",
        ToldApart,
        &[scripted(
            CLUSTERS,
            "another_cluster_behind_the_same_file_is_told_apart",
        )],
    ),
    row(
        "a row of the same refusal",
        Said,
        &[unit(INTAKE, "a_row_of_the_same_refusal_is_told_once")],
    ),
    row(
        "the accounting itself: a change that nobody recorded, and bytes that nobody sent",
        Said,
        &[scripted(
            ACCOUNTING,
            "what_is_missing_and_what_was_never_sent_is_found",
        )],
    ),
];
