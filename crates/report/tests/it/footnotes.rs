//! Nothing is lost: whatever a view holds, each footnote and each cell stands in both renderings, and a mark leads
//! to each footnote.
//!
//! Must not know: how documents are made.

use crate::sample;
use crate::sample::machines::{empty, references, view};
use gritstone_model::{Flag, Measurement, Note, PublishedView, RunView, Status, Subject};
use gritstone_report::document::Block;
use gritstone_report::findings::message;
use gritstone_report::{Brief, Document, brief, html, show, terminal};
use proptest::prelude::*;

fn flag() -> impl Strategy<Value = Option<Flag>> {
    prop::sample::select(vec![
        Some(Flag::Invalid),
        Some(Flag::Noisy),
        Some(Flag::Modes),
        Some(Flag::Interference),
        Some(Flag::Skipped),
        Some(Flag::NotComparable),
        Some(Flag::Doubtful),
        Some(Flag::Custom),
        None,
    ])
}

fn footnote() -> impl Strategy<Value = Note> {
    let of = prop::sample::select(vec![
        None,
        Some(Subject::Estimate),
        Some(Subject::Real),
        Some(Subject::User),
        Some(Subject::System),
        Some(Subject::Process),
        Some(Subject::Cycles),
        Some(Subject::Max),
    ]);
    (flag(), "[!-~ä東]{1,30}( [!-~]{1,9}){0,6}", of).prop_map(|(flag, text, of)| {
        let footnote = sample::stated(flag, text);
        match of {
            Some(of) => footnote.about(of),
            None => footnote,
        }
    })
}

fn result(row: usize) -> impl Strategy<Value = Measurement> {
    let value = || prop::option::of(1e-6..1e6f64);
    (
        prop::collection::vec(footnote(), 0..4),
        value(),
        prop::option::of((value(), value(), value(), value(), any::<bool>())),
        prop::sample::select(vec![
            Status::Measured,
            Status::Skipped,
            Status::Failed,
            Status::TimedOut,
            Status::Published,
        ]),
        any::<bool>(),
    )
        .prop_map(
            move |(notes, estimate, published, outcome, bounds)| Measurement {
                notes,
                estimate,
                interval: estimate.filter(|_| bounds).map(|e| [e * 0.9, e * 1.1]),
                confidence: Some(0.95),
                outcome,
                published: published.map(|(real_s, user_s, system_s, process_s, figure)| {
                    PublishedView {
                        work: "25,000 calls".to_owned(),
                        figure: if figure {
                            Subject::User
                        } else {
                            Subject::Result
                        },
                        real_s,
                        user_s,
                        system_s,
                        process_s,
                        ..PublishedView::default()
                    }
                }),
                ..empty(
                    [
                        "byte/pipe",
                        "byte/syscall",
                        "byte/multi/1",
                        "byte/multi/6",
                        "byte/multi/6@one-cpu",
                    ][row],
                    "ns/call",
                )
            },
        )
}

fn run() -> impl Strategy<Value = RunView> {
    (result(0), result(1), result(2), result(3), result(4)).prop_map(|(a, b, c, d, e)| RunView {
        results: vec![a, b, c, d, e],
        ..view("r1", "box", "Linux")
    })
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Everything that stands in a table.
fn cells(document: &Document) -> impl Iterator<Item = &str> {
    let tables = document.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables
        .flat_map(|table| &table.rows)
        .flat_map(|row| &row.cells)
        .map(|cell| cell.text.as_str())
}

/// Both renderings have every word of every table and every footnote of the view, and no footnote stands in the list without a mark above it.
fn holds_all(document: &Document, view: &RunView) -> Result<(), TestCaseError> {
    // what stands between backticks is set as code instead
    let unset = |text: &str| {
        text.replace("<code>", "")
            .replace("</code>", "")
            .replace('`', "")
    };
    let page = unset(&html::render(document));
    let escaped = |why: &str| {
        why.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;")
            .replace('`', "")
    };
    let narrow = solid(&terminal::render(document, 30, false));
    let wide = solid(&terminal::render(document, 1000, false));
    for footnote in view.results.iter().flat_map(|r| &r.notes) {
        let listed = format!("<dd>{}</dd>", escaped(&message(footnote)));
        prop_assert!(page.contains(&listed), "not on the page: {footnote:?}");
        for text in [&narrow, &wide] {
            prop_assert!(
                text.contains(&solid(&message(footnote))),
                "not in the terminal: {footnote:?}"
            );
        }
    }
    let page_text = solid(&page.replace("<wbr/>", ""));
    for cell in cells(document) {
        prop_assert!(
            page_text.contains(&solid(&escaped(cell))),
            "not on the page: {cell}"
        );
        prop_assert!(wide.contains(&solid(cell)), "not in the terminal: {cell}");
    }
    for (id, note) in document.notes() {
        let mark = format!("href=\"#note-{}\"", id.index() + 1);
        prop_assert!(page.contains(&mark), "nothing refers to {note:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_run_keeps_its_footnotes(run in run()) {
        holds_all(&show(&run), &run)?;
    }

    #[test]
    fn a_brief_keeps_its_footnotes(run in run(), reference in run()) {
        let mut machines = references();
        let published = |r: Measurement| Measurement { outcome: Status::Published, ..r };
        machines[0].results = reference.results.into_iter().map(published).collect();
        // documents have no variants: what they printed of them has no place in the brief
        machines[0].results.retain(|r| r.id.variant().is_none());
        let document = brief(&Brief {
            ratings: None,
            runs: std::slice::from_ref(&run),
            references: &machines,
            against: &[],
            families: &sample::entries::families(),
            benchmarks: &sample::entries::benchmarks(&run),
        });
        holds_all(&document, &run)?;
        holds_all(&document, &machines[0])?;
    }
}
