//! Owns the estimate of what is left, as `oc adm upgrade status` makes it: from the share of operators
//! that are done, by a curve fitted to a typical cluster. It is a guess and is called one.

use super::answer::Estimate;
use crate::read::HistoryEntry;
use jiff::SignedDuration;

const MINUTE_SECS: i64 = 60;

/// What is taken for the length of an update while nothing is known of it: 1 h.
const USUAL_SECS: i64 = 60 * MINUTE_SECS;

/// How long the progress must go before it is projected: 5 min.
const EARLY_MICROS: i64 = 5 * MINUTE_SECS * 1_000_000;

/// How much is added to what is left.
const MARGIN: f64 = 1.2;

/// Gives how long an update of this cluster takes: the last one before that was completed, the
/// installation left out.
pub(super) fn baseline_secs(history: &[HistoryEntry]) -> i64 {
    let [_, earlier @ .., _] = history else {
        return USUAL_SECS;
    };
    let completed = earlier.iter().find(|entry| entry.is_completed());
    let secs = completed.and_then(|entry| {
        let micros = entry.completed()?.micros_since(entry.started()?);
        Some(micros / 1_000_000)
    });
    secs.unwrap_or(USUAL_SECS)
}

/// Estimates what is left.
pub(super) fn estimate(
    baseline_secs: i64,
    to_last_progress_micros: i64,
    elapsed_micros: i64,
    completion: f64,
) -> Option<Estimate> {
    if completion >= 1.0 {
        return None;
    }
    let done = share_of_time(completion);
    let is_projected = completion > 0.0 && done > 0.0 && to_last_progress_micros > EARLY_MICROS;
    let total = if is_projected {
        secs(to_last_progress_micros) / done
    } else {
        secs(baseline_secs.saturating_mul(1_000_000))
    };
    let left = total - secs(elapsed_micros);
    let left = if left < 0.0 {
        left / MARGIN
    } else {
        left * MARGIN
    };
    let left = SignedDuration::try_from_secs_f64(left).ok()?.as_secs();
    let remaining_secs = if left > 10 * MINUTE_SECS {
        (left + MINUTE_SECS / 2).div_euclid(MINUTE_SECS) * MINUTE_SECS
    } else {
        left
    };
    let all = elapsed_micros / 1_000_000 + remaining_secs;
    Some(Estimate {
        remaining_secs,
        total_secs: all - all % MINUTE_SECS,
    })
}

fn secs(micros: i64) -> f64 {
    SignedDuration::from_micros(micros).as_secs_f64()
}

/// Gives the share of the time that a share of the operators takes: they finish 97 % of their number in
/// two thirds of the time. The numbers are those of `oc`.
fn share_of_time(completion: f64) -> f64 {
    let curve: &[f64] = if completion < 0.25 {
        &[-0.030_787_88, 2.628_86, -3.823_954]
    } else if completion < 0.9 {
        &[0.185_121_5, 1.649_94, -4.676_898, 5.451_824, -2.125_286]
    } else {
        &[25_053.32, -107_394.3, 172_527.2, -123_107.0, 32_921.81]
    };
    // Summed up as written: the last curve is the small difference of large numbers.
    let mut power = 1.0;
    let mut sum = 0.0;
    for factor in curve {
        sum += factor * power;
        power *= completion;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MICROS: i64 = MINUTE_SECS * 1_000_000;

    #[test]
    fn early_the_baseline_counts_then_the_progress() {
        let secs = |baseline, progress, elapsed, completion| {
            let all = estimate(
                baseline * MINUTE_SECS,
                progress * MINUTE_MICROS,
                elapsed * MINUTE_MICROS,
                completion,
            );
            all.expect("an estimate").remaining_secs
        };
        assert_eq!(secs(70, 0, 10, 0.0), 72 * MINUTE_SECS);
        assert_eq!(secs(63, 2, 3, 0.03), 72 * MINUTE_SECS);
        assert_eq!(secs(60, 40, 50, 0.97), 8 * MINUTE_SECS + 45);
        // What should be over is over by less than it seems.
        assert_eq!(secs(60, 0, 72, 0.0), -10 * MINUTE_SECS);
        assert_eq!(estimate(60, 0, 0, 1.0), None);
    }

    #[test]
    fn the_baseline_is_the_last_completed_update() {
        let entry = |state: &str, minutes: u8| -> HistoryEntry {
            serde_json::from_value(serde_json::json!({
                "state": state,
                "startedTime": "2026-11-21T10:00:00Z",
                "completionTime": format!("2026-11-21T10:{minutes:02}:00Z"),
            }))
            .expect("an entry")
        };
        let history = |states: &[(&str, u8)]| -> Vec<HistoryEntry> {
            states
                .iter()
                .map(|(state, minutes)| entry(state, *minutes))
                .collect()
        };
        let install = ("Completed", 30);
        let baseline = |states: &[(&str, u8)]| baseline_secs(&history(states));
        assert_eq!(baseline(&[]), USUAL_SECS);
        assert_eq!(baseline(&[("Partial", 1), install]), USUAL_SECS);
        let later = [("Partial", 1), ("Partial", 2), ("Completed", 44), install];
        assert_eq!(baseline(&later), 44 * MINUTE_SECS);
        assert_eq!(
            baseline(&[("Partial", 1), ("Partial", 2), install]),
            USUAL_SECS
        );
    }
}
