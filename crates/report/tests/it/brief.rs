//! The brief as a terminal prints it, and what it says at its front.

use crate::sample;
use crate::sample::machines::{references, view};
use gritstone_model::{
    CompareView, Estimate, Flag, RatedMachine, Rating, Ratings, RatingsView, RunView,
    SCHEMA_RATINGS,
};
use gritstone_report::{Brief, Document, brief, html, terminal};

fn made(
    runs: &[RunView],
    references: &[RunView],
    against: &[CompareView],
    ratings: Option<&RatingsView>,
) -> Document {
    brief(&Brief {
        ratings,
        runs,
        references,
        against,
        families: &sample::entries::families(),
        benchmarks: &sample::entries::benchmarks(&runs[0]),
    })
}

fn text(run: &RunView, references: &[RunView], against: bool) -> String {
    let comparison = [sample::against_reference()];
    let against = if against { &comparison[..] } else { &[] };
    let document = made(std::slice::from_ref(run), references, against, None);
    terminal::render(&document, 110, false)
}

#[test]
fn a_brief_beside_four_machines() {
    let machines: Vec<RunView> = references()
        .into_iter()
        .filter(|r| {
            ["VAX-11/780", "Omnibyte", "DEC Pro/350", "Apple Lisa"]
                .contains(&r.machine.name.as_str())
        })
        .collect();
    insta::assert_snapshot!(text(&sample::run_with_variants(), &machines, true));
}

#[test]
fn a_brief_of_nothing_is_still_a_brief() {
    let mut run = view("r1", "box", "Linux");
    run.started = "2026-01-02T03:04:05Z".to_owned();
    insta::assert_snapshot!(text(&run, &references(), false));
}

#[test]
fn a_clean_run_says_so_and_a_star_keeps_a_row_out_of_what_stands_out() {
    let mut run = sample::run();
    run.results
        .retain(|r| r.outcome == gritstone_model::Status::Measured);
    for result in &mut run.results {
        result.notes.clear();
    }
    assert!(text(&run, &[], false).contains("No figure is in doubt, and everything ran."));
    let mut comparison = sample::against_reference();
    let front = |comparison: &CompareView| {
        let run = std::slice::from_ref(&run);
        let document = made(run, &[], std::slice::from_ref(comparison), None);
        let text = terminal::render(&document, 1000, false);
        let start = text.find("Furthest ahead").unwrap();
        text[start..text[start..].find("- Least").unwrap() + start].to_owned()
    };
    assert!(front(&comparison).contains("Disk read, random"));
    for row in comparison
        .rows
        .iter_mut()
        .filter(|r| r.title == "Disk read, random")
    {
        row.notes
            .push(sample::stated(Some(Flag::Invalid), "it did nothing"));
    }
    assert!(!front(&comparison).contains("Disk read, random"));
}

/// Two machines: the second lacks a row, and is twice as slow in all others.
fn two() -> [RunView; 2] {
    let mut runs = [sample::run(), sample::run()];
    runs[0].label = Some("before".to_owned());
    runs[1].label = Some("after".to_owned());
    runs[1].results.retain(|r| r.id.as_str() != "byte/sieve");
    for result in &mut runs[1].results {
        result.estimate = result.estimate.map(|e| e.times(2.0));
    }
    runs
}

fn of(runs: &[RunView], references: &[RunView]) -> Document {
    let against: Vec<CompareView> = runs.iter().map(|_| sample::against_reference()).collect();
    made(runs, references, &against, None)
}

#[test]
fn several_machines_stand_side_by_side() {
    let document = of(&two(), &references()[..2]);
    let text = terminal::render(&document, 160, false);
    assert!(text.starts_with("Performance brief: before and after\n"));
    assert!(!text.contains("This machine"));
    let row = |name: &str| {
        let table = &text[text.find("\nFor one operation").unwrap()..];
        let line = table.lines().find(|l| l.starts_with(name)).unwrap();
        line.to_owned()
    };
    // 117.63 +- 0.21 % and twice as much
    assert!(
        row("byte/syscall ").contains("117.63 ns/call")
            && row("byte/syscall ").contains("235.26 ns/call")
    );
    assert!(row("byte/sieve ").contains("24.871 µs/pass") && row("byte/sieve ").contains('–'));
    let page = html::render(&document);
    for (head, most) in [
        ("Appendix A", 1),
        ("Appendix B", 1),
        (">before</h3>", 2),
        (">after</h3>", 2),
    ] {
        assert!(page.matches(head).count() >= most, "{head}");
    }
}

#[test]
fn machines_of_one_name_are_told_apart() {
    let mut runs = two();
    runs[1].label = Some("before".to_owned());
    let text = terminal::render(&of(&runs, &[]), 160, false);
    assert!(text.contains("before (1)") && text.contains("before (2)"));
}

#[test]
fn ratings_stand_in_front_and_have_no_place_where_there_are_none() {
    let run = sample::run();
    let text = |overall: Option<f64>| {
        let rating = Rating {
            environment: "Everything".to_owned(),
            rating: overall,
            interval: overall.map(|x| [x * 0.9, x * 1.1]),
            ..Rating::default()
        };
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
                    overall: rating,
                    for_money: None,
                },
                all_cpus: None,
                copies: None,
                price: None,
            }],
        };
        let document = made(std::slice::from_ref(&run), &[], &[], Some(&ratings));
        terminal::render(&document, 120, false)
    };
    let with = text(Some(1234.0));
    let (front, _) = with.split_once("What stands out").unwrap();
    assert!(
        front.contains("Performance overview") && front.contains("1,230"),
        "{front}"
    );
    assert!(!text(None).contains("Performance overview"));
}

#[test]
fn levels_of_load_stand_side_by_side_with_those_of_the_documents() {
    let at = |id: &str, published: bool, factor: f64| {
        let mut result = sample::run().results[1].clone();
        result.id = gritstone_model::Id::parse(id).unwrap();
        result.title = "time to user".to_owned();
        result.notes.clear();
        let statistics = result.statistics.as_mut().unwrap();
        statistics.min = factor;
        statistics.median = 2.0 * factor;
        statistics.mean = Some(3.0 * factor);
        statistics.max = 400.0 * factor;
        statistics.percentiles.clear();
        if published {
            result.outcome = gritstone_model::Status::Published;
        } else {
            statistics
                .percentiles
                .insert("p99".to_owned(), 5.0 * factor);
        }
        result
    };
    let mut run = sample::run();
    run.results = vec![
        at("rt/user-latency", false, 10.0),
        at("rt/user-latency@level-3", false, 20.0),
    ];
    let mut printed = view("ref:hp", "Model 840S", "HP-UX");
    printed.results = vec![at("rt/user-latency@level-3", true, 791.0)];
    let page = html::render(&of(&[run.clone()], &[printed]));
    for text in [
        "time to user, by level of load: from the least of the events to the longest",
        "median: 20 ns/call at level 0, 40 ns/call at level 3.",
        "99 %: 50 ns/call at level 0, 100 ns/call at level 3.",
        "time to user, by level of load",
        "791",
    ] {
        assert!(page.contains(text), "{text}");
    }
    run.results.truncate(1);
    let page = html::render(&of(&[run], &[]));
    assert!(!page.contains("by level of load"));
}

#[test]
fn a_distribution_is_drawn_from_its_median_on() {
    let mut run = sample::run();
    let statistics = run.results[1].statistics.as_mut().unwrap();
    statistics.percentiles = [("p90", 140.0), ("p99", 200.0), ("p99.9", 9000.0)]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
    let document = of(&[run], &[]);
    let page = html::render(&document);
    for text in [
        "Share of events",
        ">99.9 %</text>",
        "99 % within 200 ns/call",
        "logarithmic scale",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn copies_are_drawn_with_their_law_and_of_many_the_least_efficient() {
    let mut run = sample::run();
    let page = |run: &RunView| html::render(&made(std::slice::from_ref(run), &[], &[], None));
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
    assert!(!unfitted.contains("scalability law") && unfitted.contains("scaling law not fitted"));
    assert_eq!(unfitted.matches("stroke-linejoin=\"round\"").count(), 1);

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
    // a row without several copies that did anything has no curve
    let points = &mut run.results[0].copies.as_mut().unwrap().points;
    points.truncate(1);
    assert!(!page(&run).contains("<figure"));
}
