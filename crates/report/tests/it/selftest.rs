//! Runs against each other as a terminal prints them.

use crate::sample;
use crate::sample::machines::id;
use gritstone_model::*;
use gritstone_report::{selftest, terminal};

fn scatter(between: f64, within: Option<f64>) -> ScatterView {
    ScatterView {
        between,
        interval: [0.599 * between, 2.87 * between],
        within,
    }
}

fn row(name: &str, raw: f64, paced: Option<f64>) -> SelftestRow {
    SelftestRow {
        id: id(name),
        title: "Title".to_owned(),
        unit: Unit::parse("ns/call").unwrap(),
        center: 100.0,
        raw: scatter(raw, Some(0.004)),
        paced: paced.map(|between| scatter(between, Some(0.0031))),
        counted: Subject::Cycles,
        smallest: paced.map(|between| 0.03 + between),
        pairs: 10,
        different: 0,
        disturbed: 0,
    }
}

fn criterion(value: f64, limit: f64) -> Option<CriterionView> {
    let interval = [0.599 * value, 2.87 * value];
    Some(CriterionView {
        value,
        interval,
        limit,
        passed: interval[0] <= limit,
    })
}

fn run(at: usize) -> SelftestRun {
    SelftestRun {
        id: format!("20261121-09301{at}-4f2a19c3"),
        label: Some(format!("selftest-x-{at}")),
        started: format!("2026-11-21T09:3{at}:00Z"),
    }
}

fn view() -> SelftestView {
    SelftestView {
        catalogue: None,
        schema: SCHEMA_SELFTEST.to_owned(),
        machine: "node-17".to_owned(),
        runs: (1..=5).map(run).collect(),
        differ_in: vec![],
        rows: vec![
            row("byte/syscall", 0.0182, Some(0.0136)),
            row("byte/sieve", 0.0149, Some(0.0057)),
            row("byte/disk-write", 0.031, None),
        ],
        left_out: vec![],
        pairs: PairsView {
            compared: 30,
            different: 0,
            below_one_percent: 1,
            rate: 0.01,
            p: 1.0,
            passed: true,
            between_run: vec![sample::learned(3, 5)],
        },
        median: criterion(0.0136, 0.01),
        p90: criterion(0.031, 0.03),
        raw_held: ShareView { part: 6, of: 15 },
        paced_held: ShareView { part: 7, of: 10 },
        passed: true,
    }
}

fn text(view: &SelftestView) -> String {
    terminal::render(&selftest(view), terminal::Look::plain(140))
}

#[test]
fn a_trial_that_passed() {
    insta::assert_snapshot!(text(&view()));
}

#[test]
fn a_trial_that_failed() {
    let mut view = view();
    view.differ_in = sample::compare().differ_in;
    view.left_out = vec![LeftOut {
        id: id("byte/cc"),
        why: sample::stated(None, "Not in run r2."),
    }];
    view.rows[0].disturbed = 2;
    view.rows[1].different = 4;
    view.pairs.different = 4;
    view.pairs.p = 0.000_22;
    (view.pairs.passed, view.passed) = (false, false);
    view.median = criterion(0.02, 0.01);
    insta::assert_snapshot!(text(&view));
}
