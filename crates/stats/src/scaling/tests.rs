//! The law under made-up rates whose parameters are known.

use super::*;

const SIZES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

fn law(n: u32, [g, a, b]: [f64; 3]) -> f64 {
    let n = f64::from(n);
    g * n / (1.0 + a * (n - 1.0) + b * n * (n - 1.0))
}

/// Rounds of rates by the law, each off by a share of up to `scatter`, all of one round by another of the same size.
fn rounds(count: usize, truth: [f64; 3], scatter: f64, seed: u64) -> Vec<Round> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut off = || 1.0 + scatter * (2.0 * random.random::<f64>() - 1.0);
    (0..count)
        .map(|_| {
            let common = off();
            SIZES.map(|n| (n, law(n, truth) * off() * common)).to_vec()
        })
        .collect()
}

fn near(found: f64, truth: f64) -> bool {
    (found - truth).abs() <= 1e-9 * truth.abs().max(1.0)
}

#[test]
fn parameters_are_recovered() {
    for truth in [[1000.0, 0.05, 0.001], [3.5, 0.0, 0.02], [1e6, 0.3, 0.0], [2e-3, 0.0, 0.0]] {
        let law = fit(&rounds(5, truth, 0.0, 1), 0.95, 7).unwrap();
        let found = [law.one, law.contention, law.coherence].map(|range| range.estimate);
        for (found, truth) in found.into_iter().zip(truth) {
            assert!(near(found, truth), "{law:?} for {truth:?}");
        }
        let (n, ten) = law.curve.iter().find(|(n, _)| *n > 10.0).unwrap();
        let [g, a, b] = truth;
        let right = g * n / (1.0 + a * (n - 1.0) + b * n * (n - 1.0));
        assert!(near(ten.estimate, right), "{law:?}");
    }
}

#[test]
fn peak_is_highest_rate() {
    let truth = [1000.0, 0.05, 0.002];
    let law = fit(&rounds(12, truth, 0.03, 3), 0.95, 7).unwrap();
    let Peak::At(peak) = law.peak else { panic!("{law:?}") };
    let right = (0.95_f64 / 0.002).sqrt();
    assert!(peak.low <= right && right <= peak.high, "{peak:?}, not {right}");
    assert!(peak.high / peak.low < 1.3, "{peak:?}");
    let best = [law.one, law.contention, law.coherence].map(|range| range.estimate);
    let around = [0.98, 1.0, 1.02].map(|part| rate(best, part * peak.estimate));
    assert!(around[1] > around[0] && around[1] > around[2], "{around:?}");
    assert!(near(law.knee.unwrap(), 1.0 / law.contention.estimate));
}

#[test]
fn unbent_curve_has_no_peak() {
    // superlinear speed of small parts in a cache looks like no loss: a and b stay at 0
    for truth in [[1000.0, 0.1, 0.0], [1000.0, 0.0, 0.0], [1000.0, -0.002, 0.0]] {
        let law = fit(&rounds(10, truth, 0.03, 5), 0.95, 7).unwrap();
        assert_eq!(law.peak, Peak::NotSeen, "{law:?}");
        assert!(law.contention.low >= 0.0 && law.coherence.low >= 0.0, "{law:?}");
        assert_eq!(law.knee.is_some(), truth[1] > 0.0, "{law:?}");
    }
    // a second copy adds nothing: the peak is the first
    assert!(near(peak(1.5, 0.1), 1.0));
}

#[test]
fn intervals_are_deterministic() {
    let rounds = rounds(8, [1000.0, 0.05, 0.002], 0.05, 9);
    assert_eq!(fit(&rounds, 0.95, 7), fit(&rounds, 0.95, 7));
    let (narrow, wide) = (fit(&rounds, 0.8, 7).unwrap(), fit(&rounds, 0.99, 7).unwrap());
    let width = |law: &Law| law.one.high - law.one.low;
    assert!(width(&narrow) < width(&wide));
}

#[test]
fn too_little_is_no_fit() {
    let all = rounds(5, [10.0, 0.1, 0.01], 0.0, 1);
    assert!(fit(&all, 0.95, 7).is_ok());
    let fewer: Vec<Round> = all.iter().map(|round| round[..5].to_vec()).collect();
    assert_eq!(fit(&fewer, 0.95, 7), Err(Unfitted::Sizes(5)));
    assert_eq!(fit(&[], 0.95, 7), Err(Unfitted::Sizes(0)));
    assert_eq!(fit(&all[..4], 0.95, 7), Err(Unfitted::Launches(1, 4)));
    let mut short = all.clone();
    short[2].remove(3);
    assert_eq!(fit(&short, 0.95, 7), Err(Unfitted::Launches(8, 4)));
    for wrong in [(0, 1.0), (2, 0.0), (2, -1.0), (2, f64::NAN), (2, f64::INFINITY)] {
        let mut rates = all.clone();
        rates[0][1] = wrong;
        assert_eq!(fit(&rates, 0.95, 7), Err(Unfitted::NoRate), "{wrong:?}");
    }
}
/// 52 or more of 60 do not reject 95 in 100 at 99%; 5 or fewer of 60 do not reject the one end in 40 that is outside.
#[test]
fn intervals_cover_at_their_level() {
    let truth = [1000.0, 0.05, 0.002];
    let (mut peaks, mut held, mut curve) = (0, [0; 3], [0; 3]);
    let holds = |range: &Range, right: f64| u32::from(range.low <= right && right <= range.high);
    for seed in 0..60 {
        let law = fit(&rounds(6, truth, 0.05, 900 + seed), 0.95, seed).unwrap();
        let ranges = [law.one, law.contention, law.coherence];
        for ((count, range), right) in held.iter_mut().zip(&ranges).zip(truth) {
            *count += holds(range, right);
        }
        // the first, one in the middle and the last: 1, 8 and 64 copies
        for (count, index) in curve.iter_mut().zip([0, 12, 24]) {
            let (n, range) = &law.curve[index];
            *count += holds(range, rate(truth, *n));
        }
        let straight = rounds(6, [1000.0, 0.1, 0.0], 0.05, 100 + seed);
        let law = fit(&straight, 0.95, seed).unwrap();
        peaks += u32::from(law.peak != Peak::NotSeen);
    }
    assert!(held.iter().all(|count| *count >= 52), "{held:?} of 60");
    assert!(curve.iter().all(|count| *count >= 52), "{curve:?} of 60");
    assert!(peaks <= 5, "{peaks} of 60");
}
