//! The number of events over time, at any zoom: counted from what is in memory, without a body.

use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceId};
use std::ops::Range;

/// The largest number of slices of a density: more than a screen has columns.
pub const MAX_SLICES: usize = 65_536;

/// The number of events in each slice of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Density {
    /// The first moment.
    pub from: RecordedAt,
    /// The length of a slice, in microseconds; at least 1.
    pub slice_micros: u64,
    /// The number of events in each slice.
    pub counts: Vec<u64>,
}

impl Density {
    /// Counts the events of a time in equal slices; of one resource, or of all.
    ///
    /// The last slice may extend beyond the time; later events are not counted.
    pub fn of(
        timeline: &Timeline,
        span: Range<RecordedAt>,
        slices: usize,
        resource: Option<ResourceId>,
    ) -> Self {
        let slices = slices.clamp(1, MAX_SLICES);
        let micros = u64::try_from(span.end.micros_since(span.start)).unwrap_or(0);
        let parts = u64::try_from(slices).unwrap_or(1);
        let slice_micros = micros.div_ceil(parts).max(1);
        let mut counts = vec![0_u64; slices];
        let mut count = |at: RecordedAt| {
            if !span.contains(&at) {
                return;
            }
            let place = u64::try_from(at.micros_since(span.start)).unwrap_or(0) / slice_micros;
            let slice = usize::try_from(place)
                .ok()
                .and_then(|at| counts.get_mut(at));
            if let Some(slice) = slice {
                *slice = slice.saturating_add(1);
            }
        };
        let reel = timeline.reel();
        if let Some(resource) = resource {
            for &object in timeline.objects_of(resource) {
                reel.versions(object)
                    .iter()
                    .filter_map(|seq| reel.stamp(*seq))
                    .for_each(|stamp| count(stamp.wall));
            }
        } else {
            reel.count_events(span.clone(), slice_micros, &mut counts);
        }
        Self {
            from: span.start,
            slice_micros,
            counts,
        }
    }
}
