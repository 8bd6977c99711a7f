//! Verdicts on counts of a deterministic program, by two executions of each side, without a test. Pure.

use gritstone_model::Verdict;
use gritstone_stats::verdict::is_within_margin;

/// Executions of each side before a verdict.
const EXECUTIONS: usize = 2;
/// Largest relative difference between executions of one side that agree: interrupts add instructions.
const AGREEMENT: f64 = 1e-4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    pub ratio: f64,
    /// Ratios of the extreme counts.
    pub interval: [f64; 2],
    pub verdict: Verdict,
    /// The whole interval is beyond the margin.
    pub regressed: bool,
}

fn extremes(counts: &[f64]) -> [f64; 2] {
    let low = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let high = counts.iter().copied().fold(0.0, f64::max);
    [low, high]
}

/// Largest relative difference between executions of one side; `None` before there are two of each.
pub fn spread(sides: [&[f64]; 2]) -> Option<f64> {
    let range = |side: &[f64]| {
        let [low, high] = extremes(side);
        (side.len() >= EXECUTIONS).then(|| high / low - 1.0)
    };
    Some(range(sides[0])?.max(range(sides[1])?))
}

/// `None` if executions of one side do not agree, or are too few.
pub fn decide(sides: [&[f64]; 2], margin: f64) -> Option<Decided> {
    spread(sides).filter(|spread| *spread <= AGREEMENT)?;
    let [[base_low, base_high], [head_low, head_high]] = sides.map(extremes);
    let interval = [base_low / head_high, base_high / head_low];
    let beyond = interval[1] < 1.0 / (1.0 + margin);
    let verdict = match is_within_margin(interval, margin) {
        true => Verdict::Same,
        false if interval[1] < 1.0 => Verdict::Slower,
        false if interval[0] > 1.0 => Verdict::Faster,
        false => Verdict::Inconclusive,
    };
    Some(Decided {
        ratio: (interval[0] * interval[1]).sqrt(),
        interval,
        verdict,
        regressed: beyond,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_agreeing_executions_decide() {
        let decision = |base: &[f64], head: &[f64]| {
            decide([base, head], 0.005).map(|decided| (decided.verdict, decided.regressed))
        };
        let base = [1e6, 1e6];
        assert_eq!(decision(&base, &[1.01e6; 2]), Some((Verdict::Slower, true)));
        assert_eq!(decision(&base, &[0.99e6; 2]), Some((Verdict::Faster, false)));
        assert_eq!(decision(&base, &[1.004e6; 2]), Some((Verdict::Same, false)));
        assert_eq!(decision(&[1e6, 1e6 + 50.0], &[1e6; 2]), Some((Verdict::Same, false)));
        assert_eq!(decision(&base[..1], &[1.01e6; 2]), None);
        assert_eq!(decision(&base, &[1.01e6, 1.02e6]), None);
        let spread = spread([&base, &[1.01e6, 1.02e6]]).unwrap();
        assert!((spread - 1.0 / 101.0).abs() < 1e-9, "{spread}");
    }
}
