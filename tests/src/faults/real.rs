//! The third part of the list: what happens to a control plane.
//!
//! See [`super`] for how to add a row.

use super::row::Expected::{Gap, NoClaim, Noticed, ReadBack, Said, ToldApart, Whole};
use super::row::{Row, real, row, scripted};

const CLUSTERS: &str = "tests/tests/it/recorder_faults/clusters.rs";
const COMPLETENESS: &str = "tests/tests/it/record_completeness/mod.rs";
const DISCOVERING: &str = "tests/tests/it/recorder_faults/discovering.rs";
const STORM: &str = "tests/tests/it/storm/mod.rs";
const VERIFY: &str = "tests/tests/it/verify.rs";

const AGGREGATED: &str = "tests/tests/it/real_faults/aggregated.rs";
const CONVERSIONS: &str = "tests/tests/it/real_faults/conversions.rs";
const DEFINITIONS: &str = "tests/tests/it/real_faults/definitions.rs";
const EXPIRING: &str = "tests/tests/it/real_faults/expiring.rs";
const LOAD: &str = "tests/tests/it/real_faults/load.rs";
const RECREATED: &str = "tests/tests/it/real_faults/recreated.rs";
const RESTARTED: &str = "tests/tests/it/real_faults/restarted.rs";
const RESTORED: &str = "tests/tests/it/real_faults/restored.rs";
const ROLLING: &str = "tests/tests/it/real_faults/rolling.rs";
const SECOND_ETCD: &str = "tests/tests/it/real_faults/second_etcd.rs";

/// While the Events' time runs, the rest is done.
const WITHOUT_CACHE: &str =
    "without_a_watch_cache_nothing_is_lost_and_events_that_expire_together_are_all_told";

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
    .but("the second takes long: run with `KUBEREEL_SLOW=1`; of custom resources, what only the killed server kept is a gap"),
    row(
        "a single server restarted by kill -9 under writes",
        ReadBack,
        &[
            real(
                COMPLETENESS,
                "what_one_restarted_server_loses_is_read_back_or_lies_in_gaps",
            ),
            real(
                RESTARTED,
                "the_only_server_killed_under_writes_costs_what_the_reel_says",
            ),
        ],
    ),
    row(
        "the only server out for ten seconds",
        Said,
        &[real(VERIFY, "what_verify_says_is_what_etcd_says")],
    ),
    row(
        "three servers rolled, with and without delay",
        Whole,
        &[real(
            ROLLING,
            "three_servers_rolled_with_and_without_delay_cost_nothing",
        )],
    )
    .but("of what nobody wrote to, the reel may not prove that; takes long: run with `KUBEREEL_SLOW=1`"),
    row(
        "compaction every 10 s, two servers rolling, definitions in a loop, writes as fast as can be",
        Gap,
        &[real(STORM, "every_revision_of_a_storm_is_accounted_for")],
    )
    .but("only in `just soak`, for ten minutes"),
    row(
        "definitions created, changed, deleted and created again in a loop",
        Whole,
        &[
            real(
                DEFINITIONS,
                "a_definition_that_comes_changes_and_goes_while_its_objects_are_written",
            ),
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
    row(
        "the storage version switched",
        Whole,
        &[real(
            CONVERSIONS,
            "nothing_is_lost_when_objects_are_stored_in_another_version",
        )],
    ),
    row(
        "a conversion webhook down",
        Gap,
        &[real(
            CONVERSIONS,
            "a_conversion_webhook_that_is_down_hides_nothing_of_the_stored_version",
        )],
    )
    .but("nothing is missing while the stored version is served; takes long: run with `KUBEREEL_SLOW=1`"),
    row(
        "an APIService down and up",
        Whole,
        &[real(
            AGGREGATED,
            "an_api_service_that_goes_down_and_up_costs_nothing",
        )],
    ),
    row(
        "the watch cache off",
        Whole,
        &[real(EXPIRING, WITHOUT_CACHE)],
    ),
    row(
        "deleted and created again under one name",
        Whole,
        &[real(
            RECREATED,
            "every_life_under_one_name_is_told_apart_while_connections_are_cut",
        )],
    ),
    row(
        "1000 writes a second",
        Whole,
        &[real(
            LOAD,
            "nothing_is_lost_under_as_many_writes_as_the_machine_carries",
        )],
    )
    .but("as many as the machine carries, some 700 on two cores; takes long: run with `KUBEREEL_SLOW=1`"),
    row(
        "Events that expire in bulk",
        Whole,
        &[real(EXPIRING, WITHOUT_CACHE)],
    ),
    row(
        "etcd restored from a snapshot",
        ToldApart,
        &[
            real(
                RESTORED,
                "an_etcd_put_back_from_a_backup_is_another_history",
            ),
            scripted(CLUSTERS, "a_restored_cluster_is_a_new_epoch"),
        ],
    ),
    row(
        "a second etcd for Events",
        NoClaim,
        &[real(
            SECOND_ETCD,
            "events_in_an_etcd_of_their_own_prove_nothing_of_the_rest",
        )],
    )
    .but("takes long: run with `KUBEREEL_SLOW=1`"),
    row(
        "a recorder that drops every 500th event",
        Noticed,
        &[real(
            "tests/tests/it/seeded_loss.rs",
            "every_event_that_a_recorder_loses_is_named",
        )],
    )
    .but(
        "`verify` notices lost creations and deletions by what follows, lost changes only as unexplained revisions",
    ),
];
