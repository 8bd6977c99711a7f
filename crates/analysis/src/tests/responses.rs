//! Response times by number of users and kind; carried users.

use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// A launch with responses: users, kind of transaction, time in ns, and how many of them.
fn answered(name: &str, round: u32, responses: &[(u64, &str, u32, u64)]) -> Launch {
    let mut launch = launch(name, round, 50.0);
    launch.events.extend(responses.iter().map(|(users, kind, ns, events)| {
        Event::Latency(Box::new(Histogram {
            of: Some(Box::new(ResponsesOf { users: *users, kind: (*kind).to_owned() })),
            ..histogram(&[(*ns, *events)])
        }))
    }));
    launch
}

fn value(responses: &Responses, name: &str) -> Option<f64> {
    let mut percentiles = responses.percentiles.iter();
    let found = percentiles.find(|percentile| percentile.name == name)?;
    assert!(found.values.is_empty());
    Some(found.estimate?.value * 1e6)
}

#[test]
fn responses_group_by_users() {
    let responses = [(4, "ls", 50, 600), (4, "compile", 120, 400), (8, "ls", 100, 1000)];
    let launches = (0..LAUNCHES).map(|round| answered("a/b", round, &responses));
    let result = only(&run(vec![plain("a/b")], launches.collect()));
    // a time of operations that were timed one by one would be their median
    assert!(result.latencies().is_none());
    let actual: Vec<(u64, Option<&str>, u64)> = (result.responses().iter())
        .map(|group| (group.users, group.kind.as_deref(), group.events / u64::from(LAUNCHES)))
        .collect();
    let right = [
        (4, None, 1000),
        (4, Some("compile"), 400),
        (4, Some("ls"), 600),
        (8, None, 1000),
        (8, Some("ls"), 1000),
    ];
    assert_eq!(actual, right);
    let all = &result.responses()[0];
    assert!((value(all, "p50").unwrap() - 50.0).abs() < 1.0, "{all:?}");
    assert!((value(all, "p95").unwrap() - 120.0).abs() < 1.0, "{all:?}");
    assert!((all.max * 1e6 - 120.0).abs() < 1e-9, "{all:?}");
    assert!(!result.notes.iter().any(|n| matches!(n.finding, Finding::Carried { .. })));
}

#[test]
fn curve_points_have_all_percentiles() {
    let rows = [1, 2].map(|users| plain(&format!("a/x@{users}")));
    let mut last = plain("a/x");
    last.curve = Some(curve("users", [(1.0, "a/x@1"), (2.0, "a/x@2")]));
    let launches = (0..LAUNCHES).flat_map(|round| {
        [1, 2].map(|users| {
            let responses = [(users, "ls", 50 * users as u32, 100)];
            answered(&format!("a/x@{users}"), round, &responses)
        })
    });
    let view = view(&run([rows.to_vec(), vec![last]].concat(), launches.collect()));
    let series = row(&view, "a/x").series().unwrap();
    let medians = series.iter().map(|point| {
        let p50 = point.responses.iter().find(|percentile| percentile.name == "p50").unwrap();
        (p50.estimate.unwrap().value * 1e6).round()
    });
    assert_eq!(medians.collect::<Vec<_>>(), [50.0, 100.0]);
}

#[test]
fn carried_users_are_reported() {
    let reported = |round: u32| {
        let mut launch = launch("a/b", round, 50.0);
        let users = if round == 1 { 512 } else { 256 };
        for (key, value) in [("users_carried", users), ("users_too_many", 2 * users)] {
            let param = Param::new(key, u64::to_string(&value));
            launch.events.push(Event::Param(param));
        }
        launch
    };
    let result = only(&run(vec![plain("a/b")], (0..LAUNCHES).map(reported).collect()));
    let carried = Finding::Carried { least: 256, most: 512, too_many: Some(512) };
    assert!(result.notes.contains(&Note::new(carried)), "{:?}", result.notes);
}

#[test]
fn network_ends_report_cpu_time() {
    let actual = |unit: &str, amount: f64, lost: &[&str]| {
        let reported = |round: u32| {
            let mut launch = launch("a/b", round, 50.0);
            let both = if round == 0 { "1000" } else { "3000" };
            let params = [
                ("near_cpu_ns", both),
                ("far_cpu_ns", "500"),
                ("near_cpu_share", "0.5"),
                ("far_cpu_share", "0.25"),
                ("ends_wall_ns", "1500000000"),
            ];
            let lost = lost.iter().map(|share| ("lost_share", *share));
            for (key, value) in params.into_iter().chain(lost) {
                launch.events.push(Event::Param(Param::new(key, value)));
            }
            launch
        };
        let mut row = plain("a/b");
        row.unit = Unit::parse(unit).unwrap();
        row.amount_per_op = amount;
        let result = only(&run(vec![row], vec![reported(0), reported(1)]));
        let mut notes = result.notes.into_iter().map(|note| note.finding);
        notes.find(|finding| matches!(finding, Finding::Ends { .. }))
    };
    for (unit, amount, lost, each) in [
        ("MB/s", 100.0, None, "byte"),
        ("connections/s", 1.0, None, "connection"),
        ("us/trip", 1.0, Some("0.02"), "trip"),
        ("ms", 1.0, None, "operation"),
    ] {
        let ends = Finding::Ends {
            cpu_ns: [2000.0 / amount, 500.0 / amount],
            share: [0.5, 0.25],
            each: each.to_owned(),
            seconds: 3.0,
            lost: lost.map(|share: &str| share.parse().unwrap()),
        };
        assert_eq!(actual(unit, amount, lost.as_slice()), Some(ends), "{unit}");
    }
}
