//! Bounds on the number of launches.

use super::*;

/// Launches of each side; side i takes (i + 1) ms.
fn counts(sides: usize, bounds: [u32; 2], seconds: u64) -> Vec<usize> {
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
    let mut backend = FakeBackend::new(|call| Reply::measured(1.0, 1e6 * (1 + call.side) as f64));
    let inner = Box::new(Sequential::new(design));
    let mut scheduler = Bounded::new(inner, sides, bounds, 1);
    drive(&plans, &[], reader(false), &mut scheduler, &mut backend).unwrap();
    let count =
        |side| backend.stored.iter().filter(|(launch_side, _)| *launch_side == side).count();
    (0..sides).map(count).collect()
}

#[test]
fn bounds_override_decision_and_budget() {
    for (sides, bounds, seconds, wanted) in [
        // until decided
        (2, [1, u32::MAX], 1000, [12, 12]),
        (2, [5, 5], 1000, [5, 5]),
        (2, [30, 30], 1000, [30, 30]),
        // beyond the budget
        (2, [30, u32::MAX], 10, [30, 30]),
    ] {
        assert_eq!(counts(sides, bounds, seconds), wanted, "{bounds:?}");
    }
    // dropped sides get the minimum too
    assert_eq!(counts(3, [20, 20], 1000), [20, 20, 20]);
}

#[test]
fn expected_rounds_obey_bounds() {
    let limits = |seconds| Limits {
        budget: Some(Duration::from_secs(seconds)),
        precision: 0.01,
        quick: false,
        seed: 1,
    };
    for (bounds, seconds, shown) in [
        ([20, 20], 1000, "of 20 until 20 s"),
        ([20, 20], 1, "of 20 until 20 s"),
        ([3, 3], 1000, "of 3 until 3 s"),
        ([1, 4], 1000, "of 4"),
        ([15, u32::MAX], 1, "of 15 until 15 s"),
    ] {
        let plan = plan(&["a/0"]);
        let mut backend = FakeBackend::new(|_| Reply::measured(1.0, 1e6));
        let inner = AfterPilot::new(&[&plan], limits(seconds), &PriorRuns::new());
        let mut scheduler = Bounded::new(Box::new(inner), 1, bounds, 1);
        drive(&[&plan], &[], reader(false), &mut scheduler, &mut backend).unwrap();
        let last = backend.shown.last().unwrap();
        assert!(last.contains(shown), "{bounds:?}: {last}");
    }
}

/// Whichever comes first: the end of the budget, or the most executions; but not before the least.
#[test]
fn expected_end_obeys_bounds() {
    for (bounds, seconds, shown) in [
        ([5, 5], 1000, "after 4 rounds until 10 s"),
        ([5, u32::MAX], 1, "until 10 s"),
        ([1, 5], 1000, "after 4 rounds until 10 s"),
        ([1, 5], 7, "until 7 s"),
    ] {
        let design = Design {
            steps: 1,
            sides: 2,
            start_up: false,
            reference: false,
            budget: Duration::from_secs(seconds),
            margin: 0.01,
            seed: 1,
        };
        let plan = plan(&["a/0"]);
        let mut backend = FakeBackend::new(|_| Reply::measured(1.0, 1e6));
        let inner = Box::new(Sequential::new(design));
        let mut scheduler = Bounded::new(inner, 2, bounds, 1);
        drive(&[&plan, &plan], &[], reader(false), &mut scheduler, &mut backend).unwrap();
        let last = backend.shown.last().unwrap();
        assert!(last.contains(shown), "{bounds:?}: {last}");
    }
}
