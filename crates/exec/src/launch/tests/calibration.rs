//! Reuse of calibrations.

use super::*;

/// Operations of every calibration region, and of the samples.
fn regions(bench: &mut Bench, known: Calibration) -> (Vec<u64>, u64) {
    let benchmark = kernel("byte/fcall", &[("how", "assign")], 50_000);
    let launched = bench.executor.launch(&bench.variant, &benchmark, &[], 1, known);
    let Launched { outcome, events, .. } = launched.unwrap();
    assert_eq!(outcome, Outcome::Measured);
    let warm = events.iter().filter_map(|event| match event {
        Event::Warm { n, .. } => Some(*n),
        _ => None,
    });
    let sample = events.iter().find_map(|event| match event {
        Event::Sample(sample) => Some(sample.n),
        _ => None,
    });
    (warm.collect(), sample.unwrap())
}

#[test]
fn fitting_calibrations_are_reused() {
    let mut bench = Bench::new();
    let (_, n) = regions(&mut bench, Calibration::default());
    let known = |n| Calibration { n: Some(n), growth_shown: true };
    // a delay may make one region look too long
    let checked = (0..20).any(|_| regions(&mut bench, known(n)) == (vec![n], n));
    assert!(checked, "{n} operations never fit");
    for wrong in [n / 64, 64 * n] {
        let again = |(warm, found): (Vec<u64>, u64)| {
            warm.starts_with(&[wrong, 1]) && (n / 8..=8 * n).contains(&found)
        };
        let again = (0..20).any(|_| again(regions(&mut bench, known(wrong))));
        assert!(again, "{wrong} operations were not found again");
    }
    // growth is checked at the same n until shown
    let shown = Calibration { n: Some(n), growth_shown: false };
    let grown = |warm: &[u64]| warm.ends_with(&[n / 2, n, n / 2, n, n / 2, n]);
    assert!((0..20).any(|_| grown(&regions(&mut bench, shown).0)));
}
