//! The curve of latency beside what the machine says of its caches: which of them end where it rises.
//!
//! Must not know: which row this is, how it is shown.

use super::words::number;
use crate::knees::{Knee, ends, knees};
use gritstone_model::{Footnote, FootnoteKind, Machine, SeriesPoint};

/// What a fact about a cache begins with, in the machine's facts: `cache.l1d` is `32 KiB`, `cache.l3` is `32 MiB, shared by 8 CPUs`.
const FACT: &str = "cache.";

/// A sentence about a curve whose x are working sets in KB. Nothing where the machine does not say what caches it has, or the
/// curve has holes.
pub(super) fn told(points: &[SeriesPoint], machine: &Machine) -> Option<Footnote> {
    let curve: Vec<(f64, f64)> = points
        .iter()
        .map(|point| Some((point.x, point.estimate.filter(|ns| *ns > 0.0)?)))
        .collect::<Option<_>>()?;
    let caches = reported(machine);
    if caches.is_empty() {
        return None;
    }
    let sizes: Vec<f64> = caches.iter().map(|(_, size)| *size).collect();
    let found = knees(&curve);
    let ends = ends(&found, &sizes);
    let said: Vec<String> = caches
        .iter()
        .zip(&ends)
        .map(|((name, size), end)| {
            let (name, size) = (name.to_uppercase(), kilobytes(*size));
            match end {
                Some(knee) => format!("{}, where the {name} of {size} ends", place(knee)),
                None => format!("nowhere near the {size} of the {name}"),
            }
        })
        .collect();
    let others: Vec<String> = found
        .iter()
        .filter(|knee| !ends.contains(&Some(**knee)))
        .map(place)
        .collect();
    let others = match others.as_slice() {
        [] => String::new(),
        some => format!(
            " It also rises {}, where no cache ends that the machine reports: the reach of a translation buffer, or a share of a cache.",
            some.join(" and ")
        ),
    };
    let why = format!(
        "The curve rises where caches end: {}.{others}",
        said.join("; ")
    );
    Some(Footnote::new(FootnoteKind::Note, why))
}

fn place(knee: &Knee) -> String {
    format!(
        "from {} to {} ({} times)",
        kilobytes(knee.before),
        kilobytes(knee.after),
        number(knee.factor)
    )
}

fn kilobytes(size: f64) -> String {
    if size >= 1024.0 {
        format!("{} MB", number(size / 1024.0))
    } else {
        format!("{} KB", number(size))
    }
}

/// Level and KB of each cache that holds data, from the smallest.
fn reported(machine: &Machine) -> Vec<(String, f64)> {
    let mut caches: Vec<(String, f64)> = machine
        .facts
        .iter()
        .filter_map(|(name, value)| {
            let level = name.strip_prefix(FACT)?;
            if level.ends_with('i') {
                return None;
            }
            let (amount, unit) = value.split(',').next()?.trim().split_once(' ')?;
            let kilobytes = match unit {
                "KiB" => 1.0,
                "MiB" => 1024.0,
                "GiB" => 1024.0 * 1024.0,
                _ => return None,
            };
            Some((level.to_owned(), amount.parse::<f64>().ok()? * kilobytes))
        })
        .collect();
    caches.sort_by(|a, b| a.1.total_cmp(&b.1));
    caches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(caches: &[(&str, &str)]) -> Machine {
        let fact = |(name, size): &(&str, &str)| (format!("cache.{name}"), (*size).to_owned());
        Machine {
            facts: caches.iter().map(fact).collect(),
            ..Machine::default()
        }
    }

    fn points(values: &[f64]) -> Vec<SeriesPoint> {
        let point = |(i, &value): (usize, &f64)| SeriesPoint {
            x: 2_f64.powi(i32::try_from(i).unwrap() + 2),
            estimate: (value > 0.0).then_some(value),
            interval: None,
        };
        values.iter().enumerate().map(point).collect()
    }

    // 4 KB to 16 MB: a first cache of 32 KB, a buffer of 256 KB, a second cache of 1 MB, and a third that is not to be seen
    const SEEN: [f64; 13] = [
        1.0, 1.0, 1.0, 1.0, 3.0, 4.0, 4.1, 5.0, 5.2, 12.0, 22.0, 24.0, 25.0,
    ];

    #[test]
    fn each_cache_is_held_against_the_curve() {
        let machine = machine(&[
            ("l1d", "32 KiB"),
            ("l1i", "32 KiB"),
            ("l2", "1 MiB"),
            ("l3", "32 MiB, shared by 8 CPUs"),
        ]);
        let note = told(&points(&SEEN), &machine).unwrap();
        assert_eq!(
            note.why,
            "The curve rises where caches end: from 32 KB to 128 KB (4 times), where the L1D of 32 KB ends; \
             from 1 MB to 4 MB (4.23 times), where the L2 of 1 MB ends; nowhere near the 32 MB of the L3. It also rises from \
             256 KB to 512 KB (1.22 times), where no cache ends that the machine reports: the reach of a translation buffer, \
             or a share of a cache."
        );
    }

    #[test]
    fn nothing_is_said_of_a_curve_with_holes_or_a_machine_that_says_nothing() {
        let mut holed = points(&SEEN);
        holed[3].estimate = None;
        assert_eq!(told(&holed, &machine(&[("l1d", "32 KiB")])), None);
        assert_eq!(told(&points(&SEEN), &machine(&[])), None);
    }
}
