//! The third part of the list: what happens to a control plane.
//!
//! See [`super`] for how to add a row.

use super::row::Expected::{Noticed, ReadBack, Said, ToldApart, Whole};
use super::row::{Row, open, real, row, scripted};

const CLUSTERS: &str = "tests/tests/recorder_faults/clusters.rs";
const COMPLETENESS: &str = "tests/tests/record_completeness/main.rs";
const DISCOVERING: &str = "tests/tests/recorder_faults/discovering.rs";
const VERIFY: &str = "tests/tests/verify.rs";

/// The rows.
pub(super) const ROWS: &[Row] = &[
    row(
        "two servers killed and stopped in turn, every connection cut each 4 s",
        Whole,
        &[
            real(COMPLETENESS, "nothing_is_lost_with_streamed_lists"),
            real(COMPLETENESS, "nothing_is_lost_with_pages"),
        ],
    )
    .but("of custom resources, what only the killed server kept is a gap"),
    row(
        "a single server restarted by kill -9 under writes",
        ReadBack,
        &[real(
            COMPLETENESS,
            "what_one_restarted_server_loses_is_read_back_or_lies_in_gaps",
        )],
    ),
    row(
        "the only server out for ten seconds",
        Said,
        &[real(VERIFY, "what_verify_says_is_what_etcd_says")],
    ),
    open(
        "three servers rolled, with and without delay",
        "not written yet",
    ),
    open("compaction every 10 s", "not written yet"),
    row(
        "definitions created, changed, deleted and created again in a loop",
        Whole,
        &[
            real(COMPLETENESS, "nothing_is_lost_with_streamed_lists"),
            scripted(
                DISCOVERING,
                "a_changed_definition_under_load_loses_nothing_unsaid",
            ),
            scripted(
                DISCOVERING,
                "a_resource_that_goes_and_returns_has_both_lives_in_the_reel",
            ),
        ],
    )
    .but("of custom resources, what only the killed server kept is a gap"),
    open("the storage version switched", "not written yet"),
    open("a conversion webhook down", "not written yet"),
    open("an APIService down and up", "not written yet"),
    open("the watch cache off", "not written yet"),
    open(
        "deleted and created again under one name",
        "not written yet",
    ),
    open("1000 writes a second", "not written yet"),
    open("Events that expire in bulk", "not written yet"),
    row(
        "etcd restored from a snapshot",
        ToldApart,
        &[scripted(CLUSTERS, "a_restored_cluster_is_a_new_epoch")],
    ),
    open("a second etcd for Events", "not written yet"),
    row(
        "a recorder that drops every 500th event",
        Noticed,
        &[real(
            "tests/tests/seeded_loss.rs",
            "every_event_that_a_recorder_loses_is_named",
        )],
    )
    .but("`verify` notices lost creations and deletions by what follows, lost changes only as unexplained revisions"),
];
