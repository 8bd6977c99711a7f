//! Group-sequential tests of interleaved pairs at fixed numbers of pairs.
//!
//! The order within each pair is random. Between equal sides d = ln(other / base) is then as likely as -d, so that a signed-rank test is
//! exact under any disturbance that is independent of the order: drift, spikes, a periodic neighbor. ABBA and BAAB are not used: a neighbor
//! with the period of four launches gives their pairs one sign.
//!
//! If the sides have several builds each, a pair of builds is the unit: its value is the median of d over its rounds, and the test is
//! Student's t over pairs of builds, since rounds of one pair of builds share the layout of their code.
//!
//! Each interim analysis has an equal share of the level, so that by Boole's inequality all together stay below it, with any correlation
//! and any end of the trial.

use crate::paired_times::{Pairs, Times, sign_test};
use crate::two_sample::{self, Ratio};
use crate::verdict::{Verdict, verdict};
use crate::{descriptive, multiple, quantile};
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

/// Fewest pairs whose ranks can reach the level of an analysis.
pub const MIN_PAIRS: usize = 12;
/// As many values as a test takes.
pub const MAX_PAIRS: usize = descriptive::MAX_VALUES;
/// Pairs before each interim analysis, each time 1.5 times as many.
pub const INTERIM_ANALYSES: [usize; 12] =
    [MIN_PAIRS, 18, 27, 40, 60, 90, 135, 200, 300, 450, 675, MAX_PAIRS];
/// Share of equal sides that may be called different.
pub const LEVEL: f64 = 0.01;
/// Level of one interim analysis.
pub const LEVEL_OF_LOOK: f64 = LEVEL / INTERIM_ANALYSES.len() as f64;
/// Power at the minimum detectable effect.
const POWER: f64 = 0.95;

/// Comparison of two sides of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the side that is 1.
    pub base: usize,
    /// Index of the other.
    pub other: usize,
    /// Pairs that it uses.
    pub pairs: usize,
    /// Launches of the base, and of the other, with a busy SMT sibling.
    pub contended: [usize; 2],
    /// Whether these differ by more than chance, so that no pair is dropped and means are compared.
    pub contention_differs: bool,
    /// Dropped pairs.
    pub left_out: usize,
    /// Contribution of pairs with one contended launch to the mean of ln(ratio of times) over all pairs.
    pub one_sided: f64,
    /// Pairs in which the base, or the other, is slower than the estimate says by more than the margin. `None` unless the counts differ by
    /// more than chance.
    pub unequal_tails: Option<[usize; 2]>,
    /// Above 1: the other is faster. Its p is that of the last interim analysis alone.
    pub ratio: Option<Ratio>,
    /// p adjusted for the interim analyses; none before the first.
    pub p: Option<f64>,
    /// The same, adjusted for the number of comparisons.
    pub p_adjusted: Option<f64>,
    /// Standard error of ln(ratio of times), as implied by the interval of the test; none before the first interim analysis.
    pub standard_error: Option<f64>,
    /// Minimum detectable effect of this number of pairs among that number of comparisons, as a share, with 95% power. None if the pairs
    /// are too few.
    pub smallest: Option<f64>,
    /// By `p_adjusted`.
    pub verdict: Verdict,
}

/// Compares all pairs of sides of all benchmarks, the n-th with `margin(n)`; the false-discovery rate is over all of them. `over`: no more
/// data will come, so that an undecided comparison is tested once more, instead of at the next number of pairs.
pub fn decide_all(
    rows: &[Times],
    margin: impl Fn(usize) -> f64,
    over: bool,
) -> Vec<Vec<Comparison>> {
    let pairs = |row: &Times| row.0.len() * row.0.len().saturating_sub(1) / 2;
    let tests: usize = rows.iter().map(pairs).sum();
    let compared = rows.iter().enumerate().map(|(row, times)| compare(times, margin(row), tests));
    let mut judged: Vec<Vec<Comparison>> = compared.collect();
    decide(&mut judged, &margin);
    if over {
        for (row, judged) in judged.iter_mut().enumerate() {
            let open = |c: &&mut Comparison| c.verdict == Verdict::Inconclusive;
            for c in judged.iter_mut().filter(open) {
                let pairs = rows[row].pairs(c.base, c.other);
                *c = analyze([c.base, c.other], &pairs, margin(row), tests, true);
            }
        }
        decide(&mut judged, &margin);
    }
    judged
}

/// A comparison counts as undecided before its first interim analysis.
fn decide(judged: &mut [Vec<Comparison>], margin: impl Fn(usize) -> f64) {
    let all = judged.iter().flatten();
    let p: Vec<Option<f64>> = all.map(|c| Some(c.p.unwrap_or(1.0))).collect();
    let adjusted = multiple::benjamini_hochberg(&p);
    let rows = judged.iter_mut().enumerate();
    let comparisons = rows.flat_map(|(row, judged)| judged.iter_mut().map(move |c| (row, c)));
    for ((row, comparison), adjusted) in comparisons.zip(adjusted) {
        let margin = margin(row);
        comparison.p_adjusted = adjusted.filter(|_| comparison.p.is_some());
        let interval = comparison.ratio.and_then(|ratio| ratio.interval);
        let outcome = verdict(interval, comparison.p_adjusted, margin, LEVEL);
        // dropped pairs may hide the cost of one side, before its launches show that; an estimate does not see a minority of launches
        let dropped = comparison.left_out > 0 && comparison.one_sided.abs() > margin.ln_1p();
        comparison.verdict = match outcome {
            Verdict::Same if dropped || comparison.unequal_tails.is_some() => Verdict::Inconclusive,
            outcome => outcome,
        };
        if comparison.verdict != Verdict::Inconclusive && comparison.smallest.is_none() {
            // significant by its interval, with too few pairs for the level of the family
            let found = comparison.ratio.and_then(distance);
            comparison.smallest = detectable(found, LEVEL_OF_LOOK);
        }
    }
}

/// Shown comparisons: the one of two sides; of more, those with the best side, or with the first if it is the reference. Choosing the best
/// keeps the error rate: it is controlled over all pairs of sides.
pub fn shown_comparisons(row: &Times, judged: &[Comparison], reference: bool) -> Vec<Comparison> {
    let best = || row.best().filter(|_| row.0.len() > 2);
    let Some(base) = (if reference { Some(0) } else { best() }) else {
        return judged.to_vec();
    };
    let with_base = judged.iter().filter(|c| c.base == base || c.other == base);
    with_base.map(|c| c.seen_from(base)).collect()
}

/// Sides of a ranking that need no more launches: each is slower than every side that may be the best. None in
/// comparisons with a reference.
pub fn dropped_sides(row: &Times, judged: &[Comparison], reference: bool) -> Vec<usize> {
    let Some(best) = row.best().filter(|_| row.0.len() > 2 && !reference) else {
        return vec![];
    };
    let slower = |side: usize, than: usize| {
        let is_pair = |c: &&Comparison| (c.base, c.other) == (side.min(than), side.max(than));
        let found = judged.iter().find(is_pair);
        found.is_some_and(|c| c.seen_from(than).verdict == Verdict::Slower)
    };
    let (out, may_be_best): (Vec<usize>, Vec<usize>) =
        (0..row.0.len()).partition(|&side| slower(side, best));
    let beaten = |side: &usize| may_be_best.iter().all(|&than| slower(*side, than));
    out.into_iter().filter(beaten).collect()
}

/// Whether more pairs are useless: all shown comparisons have a verdict.
pub fn is_decided(row: &Times, judged: &[Comparison], reference: bool) -> bool {
    let shown = shown_comparisons(row, judged, reference);
    shown.iter().all(|c| c.verdict != Verdict::Inconclusive)
}

impl Comparison {
    /// Smallest slowdown that is detected as beyond the margin, with 95% power.
    pub fn smallest_beyond(&self, margin: f64) -> Option<f64> {
        let beyond = margin.ln_1p() + quantile::normal(2.0 * POWER - 1.0) * self.standard_error?;
        Some(self.smallest?.max(beyond.exp_m1()))
    }

    /// The same with this side as the base.
    fn seen_from(&self, base: usize) -> Self {
        if self.base == base {
            return self.clone();
        }
        Self {
            base,
            other: self.base,
            contended: [self.contended[1], self.contended[0]],
            unequal_tails: self.unequal_tails.map(|[base, other]| [other, base]),
            ratio: self.ratio.map(Ratio::inverse),
            verdict: match self.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                same => same,
            },
            ..self.clone()
        }
    }
}

fn compare(row: &Times, margin: f64, tests: usize) -> Vec<Comparison> {
    let sides = row.0.len();
    let both = (0..sides).flat_map(|base| (base + 1..sides).map(move |other| [base, other]));
    both.map(|sides| analyze(sides, &row.pairs(sides[0], sides[1]), margin, tests, false)).collect()
}

/// All interim analyses of two sides so far, as one of `tests` comparisons: the smallest p, and the interval of the last.
fn analyze(
    [base, other]: [usize; 2],
    pairs: &Pairs,
    margin: f64,
    tests: usize,
    over: bool,
) -> Comparison {
    let (b, o) = (&pairs.base[..], &pairs.other[..]);
    let n = b.len();
    let mut looks: Vec<usize> = INTERIM_ANALYSES.into_iter().filter(|&look| look <= n).collect();
    let several = pairs.layouts.iter().any(|&layout| layout != pairs.layouts[0]);
    let by_ranks = !several && !pairs.differ;
    // ranks of fewer pairs cannot be significant; means of two builds that agree could be
    if over && (MIN_PAIRS..MAX_PAIRS).contains(&n) && looks.last() != Some(&n) {
        looks.push(n);
    }
    let last = looks.last().copied();
    let estimate = |n: usize, level: f64| {
        let (b, o, confidence) = (&b[..n], &o[..n], 1.0 - level);
        let found = match (several, pairs.differ) {
            (true, _) => by_layout(b, o, &pairs.layouts, confidence),
            (false, true) => two_sample::paired_means(b, o, confidence),
            (false, false) => two_sample::paired(b, o, confidence),
        };
        found.map(Ratio::inverse)
    };
    let paired = |n: usize| estimate(n, LEVEL_OF_LOOK);
    let p = looks.iter().filter_map(|&n| paired(n)?.p);
    let p = p.min_by(f64::total_cmp);
    let mut ratio = paired(last.unwrap_or(n));
    if last.is_none() {
        // between interim analyses there is an estimate, but no inference
        ratio = ratio.map(|ratio| Ratio { interval: None, p: None, ..ratio });
    }
    let tails = last.zip(ratio).filter(|_| by_ranks);
    let unequal_tails =
        tails.and_then(|(n, ratio)| unequal_tails(&b[..n], &o[..n], ratio.ratio, margin));
    let standard_error = ratio.filter(|_| n >= MIN_PAIRS).and_then(standard_error);
    // none if the pairs are too few for the level of the family
    let level = LEVEL_OF_LOOK / tests as f64;
    let found = last.and_then(|n| distance(estimate(n, level)?));
    Comparison {
        base,
        other,
        pairs: n,
        contended: pairs.contended,
        contention_differs: pairs.differ,
        left_out: pairs.left_out,
        one_sided: pairs.one_sided,
        unequal_tails,
        ratio,
        p: p.map(|p| (p * INTERIM_ANALYSES.len() as f64).min(1.0)),
        p_adjusted: None,
        standard_error,
        smallest: detectable(found, level),
        verdict: Verdict::Inconclusive,
    }
}

/// By the sign test of the pairs whose ratio of times differs from the estimate by more than the margin.
fn unequal_tails(base: &[f64], other: &[f64], estimate: f64, margin: f64) -> Option<[usize; 2]> {
    let ratios = base.iter().zip(other).map(|(base, other)| (other / base * estimate).ln());
    let beyond: Vec<f64> = ratios.filter(|ratio| ratio.abs() > margin.ln_1p()).collect();
    let of_other = beyond.iter().filter(|ratio| **ratio > 0.0).count();
    let of_base = beyond.len() - of_other;
    (sign_test(of_base, of_other) < LEVEL).then_some([of_base, of_other])
}

/// One value per pair of builds.
fn by_layout(base: &[f64], other: &[f64], layouts: &[u32], confidence: f64) -> Option<Ratio> {
    let mut ratios: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for ((base, other), layout) in base.iter().zip(other).zip(layouts) {
        ratios.entry(*layout).or_default().push((other / base).ln());
    }
    let medians = ratios.into_values().map(|all| descriptive::median_of(all).exp());
    let medians: Vec<f64> = medians.collect();
    two_sample::paired_means(&vec![1.0; medians.len()], &medians, confidence)
}

/// Distance of the estimate from the farther end of its interval, ln: disturbed pairs make intervals asymmetric.
fn distance(ratio: Ratio) -> Option<f64> {
    let [low, high] = ratio.interval?.map(|end| (end / ratio.ratio).ln().abs());
    Some(low.max(high))
}

/// Distance that is significant at a level, plus the error that one trial in twenty exceeds: the end of an interval varies about as much as
/// its estimate.
fn detectable(distance: Option<f64>, level: f64) -> Option<f64> {
    let power = SQRT_2 * quantile::normal(2.0 * POWER - 1.0);
    Some((distance? * (1.0 + power / quantile::normal(1.0 - level))).exp_m1())
}

fn standard_error(ratio: Ratio) -> Option<f64> {
    let [low, high] = ratio.interval?.map(f64::ln);
    Some((high - low) / 2.0 / quantile::normal(1.0 - LEVEL_OF_LOOK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired_times::Timed;

    /// A side that takes `factor` times as long.
    fn slower(side: &[Option<Timed>], factor: f64) -> Vec<Option<Timed>> {
        let more = |timed: Timed| Timed::from(factor * timed.ns);
        side.iter().map(|timed| timed.map(more)).collect()
    }

    fn times(n: usize, factor: f64) -> Times {
        let a: Vec<f64> = (0..n).map(|i| 100.0 + (i * 7 % 11) as f64 * 0.1).collect();
        let b: Vec<f64> = (0..n).map(|i| factor * (100.0 + (i * 5 % 13) as f64 * 0.1)).collect();
        Times([a, b].map(|side| side.into_iter().map(|ns| Some(ns.into())).collect()).into())
    }

    fn says(times: Times, over: bool) -> Verdict {
        decide_all(&[times], |_| 0.01, over)[0][0].verdict
    }

    #[test]
    fn no_verdict_before_first_look() {
        assert_eq!(says(times(11, 1.5), false), Verdict::Inconclusive);
        assert_eq!(says(times(12, 1.5), false), Verdict::Slower);
        assert_eq!(says(times(12, 0.9), false), Verdict::Faster);
        assert_eq!(says(times(12, 1.0), false), Verdict::Same);
        assert_eq!(says(times(11, 1.5), true), Verdict::Inconclusive);
    }

    #[test]
    fn ended_trials_are_tested_again() {
        // one pair against eleven is too much for twelve
        let mut late = times(15, 1.5);
        late.0[1][0] = late.0[0][0].map(|timed| Timed::from(0.999 * timed.ns));
        assert_eq!(says(late.clone(), false), Verdict::Inconclusive);
        assert_eq!(says(late, true), Verdict::Slower);
    }

    #[test]
    fn levels_of_looks_add_up() {
        let smallest = 2.0_f64.powi(1 - MIN_PAIRS as i32);
        assert!(smallest <= LEVEL_OF_LOOK && 2.0 * smallest > LEVEL_OF_LOOK);
        assert!((LEVEL_OF_LOOK * INTERIM_ANALYSES.len() as f64 - LEVEL).abs() < 1e-15);
        assert!(INTERIM_ANALYSES.windows(2).all(|pair| pair[0] < pair[1]));
        let found = &decide_all(&[times(12, 1.5)], |_| 0.01, false)[0][0];
        assert!(
            (found.p.unwrap() - INTERIM_ANALYSES.len() as f64 * smallest).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(found.p, found.p_adjusted);
    }

    #[test]
    fn decision_holds_between_looks() {
        // the result at 12 pairs holds until 18, regardless of the pairs between
        let mut wild = times(12, 1.5);
        for side in &mut wild.0 {
            side.extend([Some(Timed::from(1.0)); 3]);
        }
        let found = &decide_all(&[wild], |_| 0.01, false)[0][0];
        assert_eq!((found.verdict, found.pairs), (Verdict::Slower, 15));
    }

    #[test]
    fn early_decision_is_final() {
        // 21 pairs, the last three with the opposite sign
        let mut wild = times(18, 1.5);
        for (side, ns) in wild.0.iter_mut().zip([900.0, 1.0]) {
            side.extend([Some(Timed::from(ns)); 3]);
        }
        // and a row before its first interim analysis
        let rows = [wild, times(11, 1.0)];
        for over in [false, true] {
            let judged = decide_all(&rows, |_| 0.01, over);
            assert_eq!(judged[0][0].verdict, Verdict::Slower, "{over}");
        }
        // three sides: p suffices for one comparison, but not for three, two of which show nothing
        let p = |rows: &[Times]| decide_all(rows, |_| 0.01, false)[0][0].p_adjusted.unwrap();
        let alone = p(&rows[..1]);
        assert!((p(&rows) - 2.0 * alone).abs() < 1e-12);
    }

    #[test]
    fn failed_round_is_no_pair() {
        let mut holed = times(13, 1.5);
        holed.0[1][4] = None;
        assert_eq!(holed.rounds(), 12);
        let found = &decide_all(&[holed], |_| 0.01, false)[0][0];
        assert_eq!((found.verdict, found.pairs), (Verdict::Slower, 12));
    }

    #[test]
    fn looks_count_used_pairs() {
        let mut contended = times(17, 1.5);
        for timed in contended.0[1][6..11].iter_mut().flatten() {
            *timed = Timed { contended: true, ..90.0.into() };
        }
        let found = &decide_all(&[contended], |_| 0.01, false)[0][0];
        let counts = (found.pairs, found.contended, found.left_out);
        assert_eq!((found.verdict, counts), (Verdict::Slower, (12, [0, 5], 5)));
    }

    #[test]
    fn own_contention_is_still_found() {
        // the same, except for a share of launches that take a quarter more time and keep the SMT sibling busy
        for (every, rounds) in [(10, 200), (5, 90), (2, 18), (1, 12)] {
            let mut sides = times(rounds, 1.0);
            for timed in sides.0[1].iter_mut().step_by(every).flatten() {
                (timed.ns, timed.contended) = (1.25 * timed.ns, true);
            }
            let found = &decide_all(&[sides], |_| 0.01, false)[0][0];
            let contended = [0, rounds.div_ceil(every)];
            let counts = (found.pairs, found.contended, found.left_out);
            assert_eq!(found.verdict, Verdict::Slower, "every {every}");
            assert_eq!((found.contention_differs, counts), (true, (rounds, contended, 0)));
        }
    }

    #[test]
    fn one_sided_contention_prevents_same() {
        let mut sides = times(12, 1.0);
        sides.0[1][4] =
            sides.0[1][4].map(|timed| Timed { contended: true, ..(1.25 * timed.ns).into() });
        let outcome =
            |sides: &Times| decide_all(std::slice::from_ref(sides), |_| 0.01, true)[0][0].verdict;
        assert_eq!(outcome(&sides), Verdict::Inconclusive);
        // as much on the other side
        sides.0[0][7] =
            sides.0[0][7].map(|timed| Timed { contended: true, ..(1.25 * timed.ns).into() });
        for side in &mut sides.0 {
            side.extend([Some(Timed::from(100.0)); 2]);
        }
        assert_eq!(outcome(&sides), Verdict::Same);
    }

    #[test]
    fn slow_minorities_prevent_same() {
        let mut sides = times(60, 1.0);
        let outcome =
            |sides: &Times| decide_all(std::slice::from_ref(sides), |_| 0.02, true)[0][0].clone();
        assert_eq!(outcome(&sides).verdict, Verdict::Same);
        let slow = |timed: &mut Option<Timed>| *timed = timed.map(|timed| (1.3 * timed.ns).into());
        sides.0[1].iter_mut().step_by(6).for_each(slow);
        let judged = outcome(&sides);
        let tails = judged.unequal_tails;
        assert_eq!((judged.verdict, tails), (Verdict::Inconclusive, Some([0, 10])));
        assert_eq!(judged.seen_from(1).unequal_tails, Some([10, 0]));
        // as many of the other side
        sides.0[0].iter_mut().skip(1).step_by(6).for_each(slow);
        assert_eq!(outcome(&sides).verdict, Verdict::Same);
    }

    #[test]
    fn more_comparisons_need_more_evidence() {
        let rows: Vec<Times> =
            std::iter::once(times(12, 1.5)).chain((0..17).map(|_| times(12, 1.0))).collect();
        let judged = decide_all(&rows, |_| 0.01, false);
        assert_eq!(judged[0][0].verdict, Verdict::Inconclusive);
        assert!(judged[1..].iter().all(|row| row[0].verdict == Verdict::Same));
        let rows: Vec<Times> =
            std::iter::once(times(18, 1.5)).chain((0..17).map(|_| times(12, 1.0))).collect();
        assert_eq!(decide_all(&rows, |_| 0.01, false)[0][0].verdict, Verdict::Slower);
    }

    #[test]
    fn slower_sides_are_dropped() {
        // a is 100, b slightly more, c 10% more
        let mut three = times(18, 1.002);
        three.0.push(slower(&three.0[0], 1.1));
        let judged = decide_all(std::slice::from_ref(&three), |_| 0.0001, false);
        assert_eq!(three.best(), Some(0));
        assert_eq!(dropped_sides(&three, &judged[0], false), [2]);
        // after it is dropped, the rounds of the others count, and its result stays
        let mut longer = three.clone();
        for side in &mut longer.0[..2] {
            let more = side[..9].to_vec();
            side.extend(more);
        }
        assert_eq!((three.rounds(), longer.rounds()), (18, 27));
        let again = decide_all(std::slice::from_ref(&longer), |_| 0.0001, false);
        let outcome = |judged: &[Comparison]| {
            let pair = judged.iter().find(|c| (c.base, c.other) == (0, 2));
            pair.map(|c| (c.pairs, c.ratio, c.p, c.verdict))
        };
        assert_eq!(outcome(&judged[0]), outcome(&again[0]));
        // of two sides none is dropped: the trial ends
        assert!(
            dropped_sides(
                &times(18, 1.5),
                &decide_all(&[times(18, 1.5)], |_| 0.01, false)[0],
                false
            )
            .is_empty()
        );
        assert!(dropped_sides(&three, &judged[0], true).is_empty());
        let with_first = shown_comparisons(&three, &judged[0], true);
        assert!(with_first.iter().all(|c| c.base == 0) && with_first.len() == 2);
    }

    #[test]
    fn layouts_are_the_units() {
        // ninety rounds of eight builds; the layouts of the other side are 3% slower or faster
        let effects = [0.03, 0.01, 0.02, -0.02, 0.03, 0.01, 0.02, -0.01];
        let laid_out = |factor: f64, several: bool| {
            let mut sides = times(90, factor);
            for (round, timed) in sides.0[1].iter_mut().enumerate() {
                let timed = timed.as_mut().unwrap();
                timed.ns *= 1.0 + effects[round % effects.len()];
            }
            for (round, timed) in sides.0.iter_mut().flat_map(|side| side.iter_mut().enumerate()) {
                timed.as_mut().unwrap().layout =
                    if several { (round % effects.len()) as u32 } else { 0 };
            }
            sides
        };
        let judge = |times: Times| decide_all(&[times], |_| 0.001, true)[0][0].clone();
        // by rounds the 1.1% between these layouts is significant
        let (by_round, by_layout) = (judge(laid_out(1.0, false)), judge(laid_out(1.0, true)));
        assert!(by_round.p.unwrap() < LEVEL && by_layout.p.unwrap() > 0.5);
        assert_eq!(by_layout.verdict, Verdict::Inconclusive);
        let slower = judge(laid_out(1.1, true));
        assert_eq!((slower.verdict, slower.pairs), (Verdict::Slower, 90));
        let [low, high] = slower.ratio.unwrap().interval.unwrap();
        assert!(low < 1.0 / 1.1 && high > 1.0 / 1.1, "{slower:?}");
    }

    #[test]
    fn few_layouts_decide_nothing() {
        // values as coarse as these agree by chance
        let few = |rounds: usize| {
            let side = |ns: f64| {
                let timed = |layout| Timed { layout: layout as u32, ..ns.into() };
                (0..rounds).map(|layout| Some(timed(layout))).collect()
            };
            says(Times(vec![side(10.0), side(11.0)]), true)
        };
        assert_eq!([2, 11].map(few), [Verdict::Inconclusive; 2]);
        assert_eq!(few(12), Verdict::Slower);
    }

    #[test]
    fn dropped_side_does_not_return() {
        let mut three = times(12, 1.002);
        three.0.push(slower(&three.0[0], 1.1));
        for side in &mut three.0[..2] {
            side.extend(slower(side, 2.0));
        }
        assert_eq!(three.best(), Some(0));
    }

    #[test]
    fn all_pairs_of_sides_count() {
        let mut three = times(18, 1.1);
        three.0.push(slower(&three.0[0], 0.9));
        assert_eq!(three.best(), Some(2));
        let judged = decide_all(std::slice::from_ref(&three), |_| 0.01, false);
        let outcome: Vec<_> = judged[0].iter().map(|c| (c.base, c.other, c.verdict)).collect();
        assert_eq!(
            outcome,
            [(0, 1, Verdict::Slower), (0, 2, Verdict::Faster), (1, 2, Verdict::Faster)]
        );
        let all: Vec<_> = shown_comparisons(&three, &judged[0], false)
            .iter()
            .map(|c| (c.base, c.other, c.verdict))
            .collect();
        assert_eq!(all, [(2, 0, Verdict::Slower), (2, 1, Verdict::Slower)]);
        assert!(is_decided(&three, &judged[0], false));
        assert!(decide_all(&[Times(vec![vec![Some(1.0.into())]])], |_| 0.01, true)[0].is_empty());
    }
}
