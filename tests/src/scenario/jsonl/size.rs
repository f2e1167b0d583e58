//! How large a cluster is, and how busy, for a number of lines. Pure arithmetic.

use super::super::growth::{Growth, Load};

/// The story alone has about so many lines.
const STORY: u64 = 8_000;
/// From so many lines on the cluster is as large as it gets: about 10,000 objects live.
const FULL: u64 = 200_000;
/// The load goes on for as long as there are lines to be written: a year is always enough.
const END_SECS: f64 = 365.0 * 86_400.0;

/// What the story needs to have so many lines.
pub(super) fn growth(events: u64) -> Growth {
    // A cluster between none and full, in hundredths.
    let size = if events <= STORY {
        0
    } else {
        (events * 100 / FULL).clamp(5, 100)
    };
    let share = u32::try_from(size).unwrap_or(100);
    let part = |full: u32| (full * share).div_ceil(100);
    // A small cluster has less to do.
    let slower = f64::from(100_u32) / f64::from(share.max(1));
    Growth {
        name: format!("written-{events}"),
        end_secs: END_SECS,
        workers: u8::try_from(part(36)).unwrap_or(36),
        load: Load {
            begins_secs: 600.0,
            namespaces: part(24),
            deployments: if share == 0 { 0 } else { 10 },
            replicas: 3,
            spread_secs: 1_800.0 * f64::from(share.max(1)) / 100.0,
            rollout_every_secs: 20.0 * slower,
            scale_every_secs: 45.0 * slower,
            job_every_secs: 20.0 * slower,
            settings_every_secs: 6.0 * slower,
            controllers: part(30),
            renew_every_secs: 10.0,
            degraded_every_secs: 1_800.0,
        },
    }
}
