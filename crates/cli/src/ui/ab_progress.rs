//! State of a trial in one line of 80 columns.

use gritstone_stats::interim::{self, Comparison, LOOKS};
use gritstone_stats::paired_times::Times;
use gritstone_stats::verdict::Verdict;

/// `pair 13: b 1.8% slower (detectable: 0.9%)`; of more than two sides, which comes first.
pub fn words(times: &Times, margin: f64) -> String {
    let rounds = times.rounds();
    let judged = interim::decide_all(std::slice::from_ref(times), margin, false);
    match judged[0].as_slice() {
        _ if rounds == 0 => "first round".to_owned(),
        [one] => {
            let pairs = match one.pairs < LOOKS[0] {
                true => format!("pair {} of at least {}", one.pairs, LOOKS[0]),
                false => format!("pair {}", one.pairs),
            };
            format!("{pairs}: {}{}", difference(one, margin), visible(one))
        }
        _ => {
            let Some(best) = times.best() else {
                return format!("round {rounds}");
            };
            let shown = interim::shown(times, &judged[0], false);
            let slower = shown.iter().filter(|c| c.verdict == Verdict::Slower);
            format!(
                "round {rounds}: {} first, {} of {} slower",
                letter(best),
                slower.count(),
                shown.len()
            )
        }
    }
}

/// "is" once it is decided.
fn difference(c: &Comparison, margin: f64) -> String {
    let Some(ratio) = c.ratio else {
        return "no pair of both".to_owned();
    };
    let other = letter(c.other);
    let change = match ratio.ratio {
        faster if faster > 1.0 => format!("{} faster", percent(faster - 1.0)),
        slower => format!("{} slower", percent(1.0 / slower - 1.0)),
    };
    match c.verdict {
        Verdict::Faster | Verdict::Slower => format!("{other} is {change}"),
        Verdict::Same => format!("no difference beyond {}", percent(margin)),
        Verdict::Inconclusive => format!("{other} {change}"),
    }
}

/// The minimum detectable effect, until all is decided.
fn visible(c: &Comparison) -> String {
    let undecided = c.verdict == Verdict::Inconclusive;
    let smallest = c.smallest.filter(|_| undecided);
    smallest.map_or_else(String::new, |s| format!(" (detectable: {})", percent(s)))
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let places = usize::from(percent < 100.0);
    format!("{percent:.places$}%")
}

fn letter(side: usize) -> char {
    char::from(b'a' + side as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sides that take so many times as long, after so many rounds.
    fn said(factors: &[f64], rounds: usize) -> String {
        let side = |(at, factor): (usize, &f64)| {
            let ns = |i: usize| 100.0 + (i * (5 + 2 * at) % 11) as f64 * 0.1;
            (0..rounds).map(|i| Some((factor * ns(i)).into())).collect()
        };
        let times = Times(factors.iter().enumerate().map(side).collect());
        words(&times, 0.01)
    }

    #[test]
    fn lines_fit_beside_the_bar() {
        let all = [
            (said(&[1.0, 1.0], 0), "first round"),
            (
                said(&[1.0, 1.004], 5),
                "pair 5 of at least 12: b 0.4% slower",
            ),
            (said(&[1.0, 1.5], 12), "pair 12: b is 50.0% slower"),
            (said(&[1.0, 0.2], 12), "pair 12: b is 400% faster"),
            (said(&[1.0, 1.0], 12), "pair 12: no difference beyond 1.0%"),
            (
                said(&[1.0, 1.006], 15),
                "pair 15: b 0.6% slower (detectable: 0.6%)",
            ),
            (
                said(&[1.0, 1.5, 1.0], 18),
                "round 18: c first, 1 of 2 slower",
            ),
            (said(&[1.0, 1.0, 1.0], 2), "round 2: a first, 0 of 2 slower"),
        ];
        for (said, wanted) in all {
            assert_eq!(said, wanted);
            assert!(said.len() <= 52, "{said}");
        }
    }
}
