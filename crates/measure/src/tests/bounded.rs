//! Launches that are counted, whatever the scheduler behind them decides.

use super::*;

/// Launches of each side where so many at least and at most are asked for, of sides that differ by so much.
fn counts(sides: usize, [least, most]: [u32; 2], seconds: u64) -> Vec<usize> {
    let design = Design {
        steps: 1,
        sides,
        start_up: false,
        reference: false,
        budget: Duration::from_secs(seconds),
        margin: 0.01,
        seed: 1,
    };
    let plans = vec![plan(&["a/0"]); sides];
    let plans: Vec<&Plan> = plans.iter().collect();
    let mut world = World::new(|call| Reply::of(1.0, 1e6 * (1 + call.side) as f64));
    let inner = Box::new(Sequential::new(design));
    let mut scheduler = Bounded::new(inner, sides, [least, most], 1);
    drive(&plans, &[], reader(false), &mut scheduler, &mut world).unwrap();
    let of = |side| world.kept.iter().filter(|(own, _)| *own == side).count();
    (0..sides).map(of).collect()
}

#[test]
fn no_fewer_and_no_more_than_asked_for() {
    for (sides, bounds, seconds, wanted) in [
        // as many as it takes to decide
        (2, [1, u32::MAX], 1000, [12, 12]),
        (2, [5, 5], 1000, [5, 5]),
        (2, [30, 30], 1000, [30, 30]),
        // the budget gives way
        (2, [30, u32::MAX], 10, [30, 30]),
    ] {
        assert_eq!(counts(sides, bounds, seconds), wanted, "{bounds:?}");
    }
    // sides that have lost are launched on with the others
    assert_eq!(counts(3, [20, 20], 1000), [20, 20, 20]);
}
