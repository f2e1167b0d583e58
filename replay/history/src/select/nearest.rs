//! Owns which known names a wrong one may have meant. Refuses to choose: it only proposes.

/// How many names are proposed at most.
const PROPOSALS: usize = 3;

/// Gives the known names that are nearest to `wrong`, best first.
pub(crate) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wrong = wrong.to_lowercase();
    // A third of the letters may be wrong; more than that is another word.
    let bound = (wrong.chars().count() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let is_beginning = wrong.len() >= 3 && lower.starts_with(&wrong);
            let steps = distance(&wrong, &lower);
            (steps <= bound || is_beginning).then_some((steps, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name)| *name);
    near.truncate(PROPOSALS);
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Counts the letters to insert, delete, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best = at(&last, j) + usize::from(x != y);
            best = best.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let is_swap = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if is_swap {
                best = best.min(at(&before_last, j - 1) + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_the_fewest_steps() {
        for (a, b, steps) in [
            ("", "", 0),
            ("", "abc", 3),
            ("pods", "pods", 0),
            ("pds", "pods", 1),
            ("pdos", "pods", 1),
            ("nodes", "pods", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), steps, "{a} {b}");
            assert_eq!(distance(b, a), steps, "{b} {a}");
        }
    }

    #[test]
    fn near_names_come_best_first_and_far_ones_not_at_all() {
        let known = ["pods", "nodes", "podtemplates", "services", "endpoints"];
        assert_eq!(nearest("pdos", known.into_iter()), ["pods"]);
        assert_eq!(nearest("Serivces", known.into_iter()), ["services"]);
        assert_eq!(nearest("podt", known.into_iter()), ["pods", "podtemplates"]);
        assert!(nearest("zebra", known.into_iter()).is_empty());
    }
}
