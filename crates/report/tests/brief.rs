//! The brief as a terminal prints it, and what it says at its front.
//!
//! Must not know: how documents are made.

mod sample;

use gritstone_model::{CompareView, FootnoteKind, RunView};
use gritstone_report::{Brief, brief, html, terminal};
use sample::machines::{references, view};

fn text(run: &RunView, references: &[RunView], against: bool) -> String {
    let comparison = sample::against_reference();
    let document = brief(&Brief {
        run,
        references,
        against: against.then_some(&comparison),
        families: &sample::entries::families(),
        benchmarks: &sample::entries::benchmarks(run),
    });
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
    run.results.retain(|r| r.outcome == "measured");
    for result in &mut run.results {
        result.footnotes.clear();
    }
    assert!(text(&run, &[], false).contains("No figure is in doubt, and everything ran."));
    let mut comparison = sample::against_reference();
    let front = |comparison: &CompareView| {
        let document = brief(&Brief {
            run: &run,
            references: &[],
            against: Some(comparison),
            families: &[],
            benchmarks: &[],
        });
        let text = terminal::render(&document, 1000, false);
        let start = text.find("Furthest ahead").unwrap();
        text[start..text[start..].find("- Least").unwrap() + start].to_owned()
    };
    assert!(front(&comparison).contains("Disc read, random"));
    for row in comparison
        .rows
        .iter_mut()
        .filter(|r| r.title == "Disc read, random")
    {
        row.footnotes.push(gritstone_model::Footnote::new(
            FootnoteKind::Trivialised,
            "it did nothing",
        ));
    }
    assert!(!front(&comparison).contains("Disc read, random"));
}

#[test]
fn a_narrow_range_is_drawn_on_a_plain_axis() {
    let run = sample::run();
    let document = brief(&Brief {
        run: &run,
        references: &[],
        against: None,
        families: &[],
        benchmarks: &sample::entries::benchmarks(&run),
    });
    let page = html::render(&document);
    assert_eq!(page.matches("<g class=\"line ").count(), 1);
    assert!(!page.contains("logarithmic"));
    // figures of the rows themselves, since no document's times stand beside them
    assert!(page.contains("Figures of byte/multi against number of background processes"));
}
