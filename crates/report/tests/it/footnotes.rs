//! Nothing is lost: whatever a view holds, each note and each cell stands in both renderings, and a mark leads to each note.

use crate::sample;
use crate::sample::machines::{empty, references, view};
use gritstone_model::{Estimate, Flag, Measurement, PublishedView, RunView, Status, Subject};
use gritstone_report::document::Block;
use gritstone_report::findings::message;
use gritstone_report::{Brief, Document, brief, html, show, terminal};

const FLAGS: [Option<Flag>; 9] = [
    Some(Flag::Invalid),
    Some(Flag::Noisy),
    Some(Flag::Modes),
    Some(Flag::Interference),
    Some(Flag::Skipped),
    Some(Flag::NotComparable),
    Some(Flag::Doubtful),
    Some(Flag::Custom),
    None,
];
const SUBJECTS: [Subject; 8] = [
    Subject::Result,
    Subject::Estimate,
    Subject::Real,
    Subject::User,
    Subject::System,
    Subject::Process,
    Subject::Cycles,
    Subject::Max,
];
const OUTCOMES: [Status; 5] = [
    Status::Measured,
    Status::Skipped,
    Status::Failed,
    Status::TimedOut,
    Status::Published,
];
const ROWS: [&str; 5] = [
    "byte/pipe",
    "byte/syscall",
    "byte/multi/1",
    "byte/multi/6",
    "byte/multi/6@one-cpu",
];

/// A run in which the `at`th flag, subject and outcome and those that follow are said of rows with and without values.
fn run(at: usize) -> RunView {
    let result = |(row, name): (usize, &&str)| {
        let note = |nth: usize| {
            let flag = FLAGS[(at + row + nth) % FLAGS.len()];
            let words = format!("'{row}'<{nth}> & \"ä 東京\" of {at}");
            sample::stated(flag, words).about(SUBJECTS[(at / 2 + row + nth) % SUBJECTS.len()])
        };
        let value = |nth: usize, value: f64| {
            (!(at + row + nth).is_multiple_of(3)).then_some(Estimate::exact(value))
        };
        let published = PublishedView {
            work: "25,000 calls".to_owned(),
            figure: [Subject::User, Subject::Result][at % 2],
            real: value(0, 1e-6),
            user: value(1, 0.25),
            system: value(2, 1e6),
            process: value(4, 3.5),
            ..PublishedView::default()
        };
        let estimate = value(3, 10_f64.powi(row as i32 * 3 - 6));
        Measurement {
            notes: (0..row % 4 + 1).map(note).collect(),
            estimate: estimate.map(|e| Estimate {
                interval: at
                    .is_multiple_of(2)
                    .then_some([e.value * 0.9, e.value * 1.1]),
                ..e
            }),
            confidence: Some(0.95),
            outcome: OUTCOMES[(at + row) % OUTCOMES.len()],
            published: Some(published).filter(|_| !(at + row).is_multiple_of(4)),
            ..empty(name, "ns/call")
        }
    };
    RunView {
        results: ROWS.iter().enumerate().map(result).collect(),
        ..view("r1", "box", "Linux")
    }
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Both renderings have every word of every table and every note of the view, and no note stands in the list without a mark above it.
fn holds_all(document: &Document, view: &RunView) {
    // what stands between backticks is set as code instead
    let page = html::render(document)
        .replace("<code>", "")
        .replace("</code>", "");
    let escaped = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;")
            .replace('`', "")
    };
    let narrow = solid(&terminal::render(document, 30, false));
    let wide = solid(&terminal::render(document, 1000, false));
    for note in view.results.iter().flat_map(|row| &row.notes) {
        let words = message(note);
        let listed = format!("<dd>{}</dd>", escaped(&words));
        assert!(page.contains(&listed), "not on the page: {note:?}");
        for text in [&narrow, &wide] {
            assert!(
                text.contains(&solid(&words)),
                "not in the terminal: {note:?}"
            );
        }
    }
    let page_text = solid(&page.replace("<wbr/>", ""));
    let tables = document.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let rows = tables.flat_map(|table| &table.rows);
    for cell in rows.flat_map(|row| &row.cells).map(|cell| &cell.text) {
        assert!(page_text.contains(&solid(&escaped(cell))), "{cell}");
        assert!(wide.contains(&solid(cell)), "{cell}");
    }
    for (id, note) in document.notes() {
        let mark = format!("href=\"#note-{}\"", id.index() + 1);
        assert!(page.contains(&mark), "nothing refers to {note:?}");
    }
}

#[test]
fn runs_and_briefs_keep_their_notes() {
    for at in 0..30 {
        let run_of = run(at);
        holds_all(&show(&run_of), &run_of);
        let mut machines = references();
        machines[0].results = run(at + 7).results;
        for result in &mut machines[0].results {
            result.outcome = Status::Published;
        }
        // documents have no variants: what they printed of them has no place in the brief
        machines[0]
            .results
            .retain(|result| result.id.variant().is_none());
        let document = brief(&Brief {
            ratings: None,
            runs: std::slice::from_ref(&run_of),
            references: &machines,
            against: &[],
            families: &sample::entries::families(),
            benchmarks: &sample::entries::benchmarks(&run_of),
        });
        holds_all(&document, &run_of);
        holds_all(&document, &machines[0]);
    }
}
