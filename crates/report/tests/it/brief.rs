//! The brief as a terminal prints it, and what it says at its front.

use crate::sample::briefs::{made, of};
use crate::sample::machines::{references, view};
use crate::sample::{self, stated};
use gritstone_model::{
    CompareView, Estimate, Flag, Id, RatedMachine, Rating, Ratings, RatingsView, RunView,
    SCHEMA_RATINGS, Status,
};
use gritstone_report::{html, terminal};
use std::slice::from_ref;

fn text(run: &RunView, references: &[RunView], against: &[CompareView]) -> String {
    let document = made(from_ref(run), references, against, None);
    terminal::render(&document, terminal::Look::plain(110))
}

#[test]
fn a_brief_beside_four_machines() {
    let known = ["VAX-11/780", "Omnibyte", "DEC Pro/350", "Apple Lisa"];
    let mut machines = references();
    machines.retain(|r| known.contains(&r.machine.name.as_str()));
    let against = [sample::against_reference()];
    insta::assert_snapshot!(text(&sample::run_with_variants(), &machines, &against));
}

#[test]
fn a_brief_of_nothing_is_still_a_brief() {
    let mut run = view("r1", "box", "Linux");
    run.started = "2026-01-02T03:04:05Z".to_owned();
    insta::assert_snapshot!(text(&run, &references(), &[]));
}

#[test]
fn a_clean_run_says_so_and_invalid_work_keeps_a_row_out_of_what_stands_out() {
    let mut run = sample::run();
    run.results.retain(|r| r.outcome == Status::Measured);
    run.results.iter_mut().for_each(|r| r.notes.clear());
    assert!(text(&run, &[], &[]).contains("No figure is in doubt, and everything ran."));
    let mut comparison = sample::against_reference();
    let ahead = |comparison: &CompareView| {
        let text = text(&run, &[], from_ref(comparison));
        let (_, front) = text.split_once("Furthest ahead").unwrap();
        let (ahead, _) = front.split_once("- Least").unwrap();
        ahead.contains("Disk read, random")
    };
    assert!(ahead(&comparison));
    let mut rows = comparison.rows.iter_mut();
    let row = rows.find(|r| r.title == "Disk read, random").unwrap();
    row.notes
        .push(stated(Some(Flag::Invalid), "it did nothing"));
    assert!(!ahead(&comparison));
}

#[test]
fn several_machines_stand_side_by_side() {
    // the second lacks a row, and is twice as slow in all others
    let mut runs = ["before", "after"].map(|label| RunView {
        label: Some(label.to_owned()),
        ..sample::run()
    });
    runs[1].results.retain(|r| r.id.as_str() != "byte/sieve");
    for result in &mut runs[1].results {
        result.estimate = result.estimate.map(|e| e.times(2.0));
    }
    let document = of(&runs, &references()[..2]);
    let text = terminal::render(&document, terminal::Look::plain(160));
    assert!(text.starts_with("Performance brief: before and after\n"));
    assert!(!text.contains("This machine"));
    let (_, table) = text.split_once("\nFor one operation").unwrap();
    for (row, cells) in [
        ("byte/syscall ", ["117.63 ns/call", "235.26 ns/call"]),
        ("byte/sieve ", ["24.871 µs/pass", "–"]),
    ] {
        let row = table.lines().find(|l| l.starts_with(row)).unwrap();
        assert!(cells.iter().all(|cell| row.contains(cell)), "{row}");
    }
    let page = html::render(&document);
    for head in [">before</h3>", ">after</h3>"] {
        assert!(page.matches(head).count() >= 2, "{head}");
    }
    runs[1].label = Some("before".to_owned());
    let text = terminal::render(&of(&runs, &[]), terminal::Look::plain(160));
    assert!(text.contains("before (1)") && text.contains("before (2)"));
}

#[test]
fn areas_come_in_their_order_and_a_family_of_none_comes_last() {
    let mut run = sample::run();
    run.results.truncate(4);
    for (result, id) in run.results.iter_mut().zip(["mine/x", "fs/x", "cpu/x"]) {
        result.id = Id::parse(id).unwrap();
    }
    let text = text(&run, &[], &[]);
    let heads = [
        "Processor",
        "UNIX system",
        "File system",
        "Other benchmarks",
    ];
    let places = heads.map(|head| text.find(&format!("\n{head}")).unwrap());
    assert!(places.is_sorted() && !text.contains("\nNetwork"), "{text}");
}

#[test]
fn ratings_stand_in_front_and_have_no_place_where_there_are_none() {
    let run = sample::run();
    let text = |overall: Option<f64>| {
        let ratings = RatingsView {
            schema: SCHEMA_RATINGS.to_owned(),
            base: "ref:vax-11-780-4.1bsd".to_owned(),
            base_name: "VAX-11/780".to_owned(),
            by: vec![],
            confidence: 0.95,
            machines: vec![RatedMachine {
                id: run.id.clone(),
                name: run.machine.name.clone(),
                one_cpu: Ratings {
                    environments: vec![],
                    overall: Rating {
                        environment: "Everything".to_owned(),
                        rating: overall,
                        ..Rating::default()
                    },
                    for_money: None,
                },
                all_cpus: None,
                copies: None,
                price: None,
            }],
        };
        let document = made(from_ref(&run), &[], &[], Some(&ratings));
        terminal::render(&document, terminal::Look::plain(120))
    };
    let with = text(Some(1234.0));
    let (front, _) = with.split_once("What stands out").unwrap();
    assert!(front.contains("Performance overview") && front.contains("1,230"));
    assert!(!text(None).contains("Performance overview"));
}

#[test]
fn levels_of_load_stand_side_by_side_with_those_of_the_documents() {
    let at = |id: &str, outcome: Status, factor: f64| {
        let mut result = sample::run().results[1].clone();
        result.id = Id::parse(id).unwrap();
        result.title = "time to user".to_owned();
        result.outcome = outcome;
        result.notes.clear();
        let statistics = result.statistics.as_mut().unwrap();
        (statistics.min, statistics.median) = (factor, 2.0 * factor);
        statistics.max = 400.0 * factor;
        statistics.percentiles = [("p99".to_owned(), 5.0 * factor)].into();
        result
    };
    let loaded = "rt/user-latency@level-3";
    let mut run = sample::run();
    run.results = vec![
        at("rt/user-latency", Status::Measured, 10.0),
        at(loaded, Status::Measured, 20.0),
    ];
    let mut printed = view("ref:hp", "Model 840S", "HP-UX");
    printed.results = vec![at(loaded, Status::Published, 791.0)];
    let page = html::render(&of(from_ref(&run), &[printed]));
    for text in [
        "time to user, by level of load: from the least of the events to the longest (log",
        "median: 20 ns/call at level 0, 40 ns/call at level 3.",
        "99 %: 50 ns/call at level 0, 100 ns/call at level 3.",
        "791",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // without another level it is a distribution like others
    run.results.truncate(1);
    let statistics = run.results[0].statistics.as_mut().unwrap();
    statistics.percentiles.insert("p99.9".to_owned(), 9000.0);
    let page = html::render(&of(from_ref(&run), &[]));
    assert!(!page.contains("by level of load"));
    assert!(page.contains("Share of events") && page.contains("99 % within 50 ns/call"));
}

#[test]
fn copies_are_drawn_with_their_law_and_of_many_the_least_efficient() {
    let mut run = sample::run();
    let page = |run: &RunView| html::render(&made(from_ref(run), &[], &[], None));
    run.results.truncate(1);
    run.results[0].copies = Some(sample::copies(100.0, true));
    let fitted = page(&run);
    assert!(fitted.contains("with the scalability law and its interval"));
    // the points stand by themselves, the law is a line in a band
    assert_eq!(fitted.matches("<g class=\"line ").count(), 2);
    assert_eq!(fitted.matches("stroke-linejoin=\"round\"").count(), 1);
    assert_eq!(fitted.matches("class=\"fill band\"").count(), 1);
    run.results[0].copies = Some(sample::copies(100.0, false));
    let unfitted = page(&run);
    assert!(!unfitted.contains("scalability law"));
    assert_eq!(unfitted.matches("stroke-linejoin=\"round\"").count(), 1);
    // a row without several copies that did anything has no curve
    let points = &mut run.results[0].copies.as_mut().unwrap().points;
    points.truncate(1);
    assert!(!page(&run).contains("<figure"));

    let mut many = sample::run();
    many.results.truncate(8);
    for (result, n) in many.results.iter_mut().zip(1..) {
        let mut copies = sample::copies(100.0, true);
        let last = copies.points.last_mut().unwrap();
        last.efficiency = Some(Estimate::exact(0.1 * f64::from(n)));
        result.copies = Some(copies);
    }
    let text = page(&many);
    assert!(text.contains("Of 8 rows that were measured as copies, the 6 are drawn"));
    let drawn = |row: &str| text.contains(&format!("({row}): all copies together"));
    assert!(drawn("byte/pipe") && drawn("byte/sieve") && !drawn("byte/disk-read"));
}
