//! State of a trial in one line of 80 columns.

use gritstone_document::{clean, number, shortened};
use gritstone_stats::interim::{self, Comparison, MIN_PAIRS};
use gritstone_stats::paired_times::Times;
use gritstone_stats::verdict::Verdict;

/// Columns of a name.
const NAME: usize = 20;

/// `pair 13: ./new 1.018× slower (detectable: 0.9%)`; of more than two sides, which is fastest. `rounds` is their number, if it
/// is fixed; `side` is launched now.
pub fn words(
    times: &Times,
    margin: f64,
    rounds: Option<usize>,
    side: usize,
    name: &dyn Fn(usize) -> String,
) -> String {
    let done = times.rounds();
    let name = |side: usize| shortened(&clean(&name(side)), NAME);
    if done == 0 {
        return format!("first round: {}", name(side));
    }
    let judged = interim::decide_all(std::slice::from_ref(times), |_| margin, false);
    let total = |least: bool| match rounds {
        Some(all) => format!(" of {all}"),
        None if least => format!(" of at least {}", MIN_PAIRS),
        None => String::new(),
    };
    match judged[0].as_slice() {
        [one] => {
            let pairs = format!("pair {}{}", one.pairs, total(one.pairs < MIN_PAIRS));
            format!("{pairs}: {}{}", difference(one, margin, &name), visible(one))
        }
        _ => {
            let Some(best) = times.best() else {
                return format!("round {done}{}", total(false));
            };
            let shown = interim::shown_comparisons(times, &judged[0], false);
            let slower = shown.iter().filter(|c| c.verdict == Verdict::Slower);
            format!(
                "round {done}{}: {} is fastest so far, {} of {} slower",
                total(false),
                name(best),
                slower.count(),
                shown.len()
            )
        }
    }
}

/// "is" once it is decided.
fn difference(c: &Comparison, margin: f64, name: &dyn Fn(usize) -> String) -> String {
    let Some(ratio) = c.ratio else {
        return "no pair of both".to_owned();
    };
    let other = name(c.other);
    let change = match ratio.ratio {
        faster if faster > 1.0 => format!("{} faster", factor(faster)),
        slower => format!("{} slower", factor(1.0 / slower)),
    };
    match c.verdict {
        Verdict::Faster | Verdict::Slower => format!("{other} is {change}"),
        Verdict::Same => format!("no difference beyond {}", number::percent_option(margin)),
        Verdict::Inconclusive => format!("{other} {change}"),
    }
}

fn factor(ratio: f64) -> String {
    let places = if ratio < 1.1 { 3 } else { 2 };
    format!("{ratio:.places$}×")
}

/// The minimum detectable effect, until all is decided.
fn visible(c: &Comparison) -> String {
    let undecided = c.verdict == Verdict::Inconclusive;
    let smallest = c.smallest.filter(|_| undecided);
    smallest.map_or_else(String::new, |s| format!(" (detectable: {})", number::percent(s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Side `i` takes `factors[i]` times as long as the fastest, after `rounds` rounds.
    fn words_for(factors: &[f64], rounds: usize, fixed: Option<usize>) -> String {
        let side = |(index, factor): (usize, &f64)| {
            let ns = |i: usize| 100.0 + (i * (5 + 2 * index) % 11) as f64 * 0.1;
            (0..rounds).map(|i| Some((factor * ns(i)).into())).collect()
        };
        let times = Times(factors.iter().enumerate().map(side).collect());
        let name =
            |side: usize| ["./old input", "./a-new-program --with options", "c"][side].to_owned();
        words(&times, 0.01, fixed, 1, &name)
    }

    #[test]
    fn lines_fit_beside_the_bar() {
        let new = "./a-new-program --w…";
        let all = [
            (words_for(&[1.0, 1.0], 0, None), format!("first round: {new}")),
            (
                words_for(&[1.0, 1.004], 5, None),
                format!("pair 5 of at least 12: {new} 1.004× slower"),
            ),
            (words_for(&[1.0, 0.2], 5, Some(8)), format!("pair 5 of 8: {new} 5.00× faster")),
            (words_for(&[1.0, 1.5], 12, None), format!("pair 12: {new} is 1.50× slower")),
            (words_for(&[1.0, 1.0], 12, None), "pair 12: no difference beyond 1%".to_owned()),
            (
                words_for(&[1.0, 1.006], 15, None),
                format!("pair 15: {new} 1.006× slower (detectable: 1.2%)"),
            ),
            (
                words_for(&[1.0, 1.5, 1.0], 18, Some(20)),
                "round 18 of 20: c is fastest so far, 1 of 2 slower".to_owned(),
            ),
        ];
        for (line, wanted) in all {
            assert_eq!(line, wanted);
            assert!(line.chars().count() <= 62, "{line}");
        }
    }
}
