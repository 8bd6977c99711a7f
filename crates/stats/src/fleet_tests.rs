//! Fleets whose answer is known.

use super::*;

/// Nodes by benchmarks of `families` families in turn; what a node is off by is random within 1%, and what `plus` says.
fn sample_fleet(
    nodes: usize,
    benchmarks: usize,
    families: usize,
    plus: impl Fn(usize, usize) -> f64,
) -> Measured {
    // splitmix64 of the place, as a share
    let noise = |b: usize, i: usize| {
        let mut z = ((b * 1000 + i) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        0.02 * ((z >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
    };
    let cell = |b: usize, i: usize| {
        Some(Cell { value: b as f64 + noise(b, i) + plus(b, i), within: 1e-6, runs: 1 })
    };
    Measured {
        kinds: vec![0; nodes],
        cells: (0..benchmarks).map(|b| (0..nodes).map(|i| cell(b, i)).collect()).collect(),
        families: (0..benchmarks).map(|b| b % families).collect(),
        between_runs: vec![None; benchmarks],
        margin: 0.01,
    }
}

fn called(level: &Option<Level>) -> Vec<usize> {
    let nodes = level.iter().flat_map(|level| level.nodes.iter().enumerate());
    nodes
        .filter(|(_, deviation)| deviation.is_some_and(|deviation| deviation.differs))
        .map(|(node, _)| node)
        .collect()
}

#[test]
fn equal_nodes_have_no_outlier() {
    let fit = fit(&sample_fleet(40, 24, 4, |_, _| 0.0));
    assert_eq!(called(&fit.all), []);
    assert!(fit.families.iter().chain(&fit.benchmarks).all(|level| called(level).is_empty()));
}

#[test]
fn level_sets_reported_differences() {
    // node 3 is slow in everything, 7 in family 1, 11 in benchmark 5 of that family
    let found = fit(&sample_fleet(40, 24, 4, |b, i| match i {
        3 => -0.2,
        7 if b % 4 == 1 => -0.15,
        11 if b == 5 => -0.3,
        _ => 0.0,
    }));
    assert_eq!(called(&found.all), [3]);
    let families: Vec<Vec<usize>> = found.families.iter().map(called).collect();
    assert_eq!(families, [vec![], vec![7], vec![], vec![]]);
    let benchmarks: Vec<(usize, Vec<usize>)> = found
        .benchmarks
        .iter()
        .map(called)
        .enumerate()
        .filter(|(_, nodes)| !nodes.is_empty())
        .collect();
    assert_eq!(benchmarks, [(5, vec![11])]);
    let deviation =
        |level: &Option<Level>, node: usize| level.as_ref().unwrap().nodes[node].unwrap();
    for (is, should) in [
        (deviation(&found.all, 3), -0.2),
        (deviation(&found.families[1], 7), -0.15),
        (deviation(&found.benchmarks[5], 11), -0.3),
    ] {
        assert!((is.by - should).abs() < is.half && is.half < 0.02, "{is:?} {should}");
    }
}

#[test]
fn kinds_are_compared_separately() {
    let mut measured = sample_fleet(24, 12, 3, |_, i| if i < 12 { 0.0 } else { 0.5 });
    measured.kinds = (0..24).map(|i| usize::from(i >= 12)).collect();
    let found = fit(&measured);
    assert!(
        called(&found.all).is_empty()
            && found.benchmarks.iter().all(|level| called(level).is_empty())
    );
    measured.kinds[23] = 2;
    let lone = fit(&measured);
    assert!(lone.benchmarks.iter().all(|level| level.as_ref().unwrap().nodes[23].is_none()));
}

#[test]
fn four_nodes_show_one_outlier() {
    let found = fit(&sample_fleet(4, 3, 3, |_, i| if i == 2 { -0.7 } else { 0.0 }));
    assert_eq!(found.all, None);
    assert!(found.benchmarks.iter().all(|level| called(level) == [2]), "{found:?}");
    assert_eq!(fit(&sample_fleet(3, 3, 3, |_, _| 0.0)).benchmarks, [None, None, None]);
    assert_eq!(fit(&Measured::default()), Fit::default());
}

#[test]
fn fewer_runs_widen_the_limit() {
    let mut measured = sample_fleet(40, 9, 1, |_, _| 0.0);
    measured.between_runs = vec![Some(1e-4); 9];
    for cell in measured.cells.iter_mut().flat_map(|cells| cells.iter_mut().skip(1)).flatten() {
        cell.runs = 4;
    }
    let level = fit(&measured).benchmarks[0].clone().unwrap();
    let [one, four] = [0, 1].map(|node| level.nodes[node].unwrap().half);
    assert!(one > 1.2 * four, "{one} {four}");
}

#[test]
fn margin_hides_small_differences() {
    let mut measured = sample_fleet(40, 24, 4, |_, i| if i == 3 { -0.02 } else { 0.0 });
    assert_eq!(called(&fit(&measured).all), [3]);
    measured.margin = 0.03;
    let fit = fit(&measured);
    assert_eq!(called(&fit.all), []);
    assert!(fit.all.unwrap().smallest > 0.03);
}

#[test]
fn onset_is_where_level_begins() {
    let series = |off: &[f64]| -> Vec<(f64, f64)> { off.iter().map(|x| (*x, 0.01)).collect() };
    let start = |off: &[f64]| onset(&series(off), Some(0.0));
    assert_eq!(start(&[0.004, -0.01, 0.01, -0.18, -0.2]), 3);
    // one run between that was like the others does not move it, and one before that was not neither
    assert_eq!(start(&[0.0, -0.2, -0.2, -0.01, -0.2, -0.2, -0.2]), 1);
    assert_eq!(start(&[0.0, -0.2, 0.0, 0.0, 0.0, -0.2]), 5);
    assert_eq!(start(&[-0.2, -0.19, -0.21]), 0);
    assert_eq!(start(&[-0.2]), 0);
    // a run that scatters more counts less
    assert_eq!(onset(&[(0.0, 0.01), (-0.1, 1.0), (-0.2, 0.01)], Some(0.0)), 1);
    // about a mean of its own, what was 4% before is not what is 0 now
    assert_eq!(onset(&series(&[0.04, 0.041, 0.04, 0.001, 0.0]), None), 3);
    assert_eq!(onset(&[], None), 0);
}

#[test]
fn shifts_need_most_nodes() {
    let nodes: Vec<f64> = (0..40).map(|node| -0.04 + 0.001 * f64::from(node % 5)).collect();
    let (by, sd) = shift(&nodes).unwrap();
    assert!((by + 0.038).abs() < 0.001 && sd < 0.001, "{by} {sd}");
    let one: Vec<f64> = (0..40).map(|node| if node == 3 { -0.5 } else { 0.0 }).collect();
    assert_eq!(shift(&one).unwrap().0, 0.0);
    assert_eq!([shift(&[0.1, 0.1, 0.1]), shift(&[])], [None, None]);
}
