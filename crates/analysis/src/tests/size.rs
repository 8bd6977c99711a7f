//! Sizes of linked programs.

use crate::check;
use crate::tests::made_up_runs::*;
use gritstone_model::*;

fn sized(round: u32, text: &str) -> Launch {
    let reported = [
        ("size.text", text),
        ("size.data", "600"),
        ("size.bss", "8"),
        ("symbol", "_start"),
        ("symbol", "main"),
    ];
    Launch {
        events: reported.into_iter().map(|(key, value)| param(key, value)).collect(),
        ..launch("a/size", round, 1.0)
    }
}

fn benchmark() -> Benchmark {
    Benchmark {
        work: Work::Command(CommandWork { figure: Figure::LinkedSize, ..CommandWork::default() }),
        unit: unit("bytes"),
        ..plain("a/size")
    }
}

#[test]
fn a_size_is_exact() {
    let result = only(&run(vec![benchmark()], vec![sized(0, "1392")]));
    assert_eq!(result.outcome(), Status::Measured);
    assert_eq!((result.value(), result.interval()), (Some(2000.0), None));
    assert_eq!(result.confidence(), None);
    let parts: Vec<_> = result.parts().iter().map(|p| (p.part.clone(), p.value)).collect();
    assert_eq!(parts, [(Part::Text, 1392.0), (Part::Data, 600.0), (Part::Bss, 8.0)]);
    assert_eq!(result.names(), ["_start", "main"]);
    assert_eq!((result.values(), result.launches()), (&[2000.0][..], 1));
    assert_eq!(result.notes, []);
}

#[test]
fn smallest_sizes_are_a_base() {
    let of_text = |(day, text): (usize, &str)| {
        let mut data = run(vec![benchmark()], vec![sized(0, text)]);
        data.info.id = format!("run-{day}");
        data.info.started = format!("2026-01-0{day}T00:00:00Z");
        view(&data)
    };
    let outcome = |texts: &[&str], accepted: &check::Accepted| {
        let runs: Vec<RunView> = (1..).zip(texts.iter().copied()).map(of_text).collect();
        let (newest, earlier) = runs.split_last().unwrap();
        let mut found = check::against_history(newest, &summaries(earlier), 0.02, accepted);
        check::require_detectable(&mut found, 0.05);
        let row = found.rows.remove(0);
        (found.outcome, row.row.base, row.since_run)
    };
    let none = check::Accepted::default();
    assert_eq!(outcome(&["1392"], &none), (CheckOutcome::Inconclusive, None, None));
    assert_eq!(outcome(&["1392", "1400"], &none), (CheckOutcome::Passed, Some(2000.0), None));
    let failed = |run: &str| (CheckOutcome::Regressed, Some(2000.0), Some(run.to_owned()));
    assert_eq!(outcome(&["1392", "1492"], &none), failed("run-2"));
    // until it is accepted, and however slowly it grew
    assert_eq!(outcome(&["1392", "1492", "1492"], &none), failed("run-2"));
    assert_eq!(outcome(&["1392", "1422", "1452"], &none), failed("run-3"));
    let third = accepted([("run-3".to_owned(), Id::parse("a/size").unwrap())]);
    let passed = (CheckOutcome::Passed, Some(2100.0), None);
    assert_eq!(outcome(&["1392", "1492", "1492", "1500"], &third), passed);
}

#[test]
fn changing_sizes_are_noted() {
    let result = only(&run(vec![benchmark()], vec![sized(0, "1392"), sized(1, "1400")]));
    assert_eq!(result.value(), Some(2000.0));
    let why = "size-varies least=2000 most=2008";
    assert_eq!(shorts(&result.notes), [why]);

    let result = only(&run(vec![benchmark()], vec![sized(0, "big"), sized(1, "1392")]));
    assert_eq!(result.value(), Some(2000.0));
    let why = "unsized count=1/2";
    assert_eq!(shorts(&result.notes), [why]);
}

#[test]
fn size_needs_a_compiler() {
    let mut failed = sized(0, "1392");
    failed.outcome = Outcome::Failed("cc: exit 1".to_owned());
    let result = only(&run(vec![benchmark()], vec![failed]));
    assert_eq!((result.outcome(), result.estimate()), (Status::Failed, None));
    let why = "failed outcome=failed reason=cc: exit 1 count=1/1 refuted=false";
    assert_eq!(shorts(&result.notes), [why]);
}
