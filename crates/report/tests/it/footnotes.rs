//! Nothing is lost: whatever a view holds, each note and each cell stands in both renderings, and a mark leads to each note.

use crate::sample;
use crate::sample::briefs::made;
use crate::sample::machines::{empty, references, view};
use gritstone_model::{Estimate, Flag, Measurement, PublishedView, RunView, Status, Subject};
use gritstone_report::document::Block;
use gritstone_report::findings::message;
use gritstone_report::{Detail, Document, html, show, terminal};
use std::slice::from_ref;

const FLAGS: [Option<Flag>; 9] = {
    use Flag::*;
    let [a, b, c, d] = [Invalid, Noisy, Modes, Interference];
    let [e, f, g, h] = [Skipped, NotComparable, Doubtful, Custom];
    [
        Some(a),
        Some(b),
        Some(c),
        Some(d),
        Some(e),
        Some(f),
        Some(g),
        Some(h),
        None,
    ]
};
const SUBJECTS: [Subject; 8] = {
    use Subject::*;
    [Result, Estimate, Real, User, System, Process, Cycles, Max]
};
const OUTCOMES: [Status; 5] = {
    use Status::*;
    [Measured, Skipped, Failed, TimedOut, Published]
};
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
        let interval = |e: Estimate| {
            at.is_multiple_of(2)
                .then_some([e.value * 0.9, e.value * 1.1])
        };
        Measurement {
            notes: (0..row % 4 + 1).map(note).collect(),
            estimate: estimate.map(|e| Estimate {
                interval: interval(e),
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
    let replaced = |text: &str, pairs: &[(&str, &str)]| {
        let replace = |text: String, (a, b): &(&str, &str)| text.replace(a, b);
        pairs.iter().fold(text.to_owned(), replace)
    };
    // what stands between backticks is set as code instead
    let page = html::render(document);
    let page = replaced(&page, &[("<code>", ""), ("</code>", ""), ("<wbr/>", "")]);
    let letters = [
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("\"", "&quot;"),
        ("'", "&#39;"),
        ("`", ""),
    ];
    let escaped = |text: &str| replaced(text, &letters);
    let look = terminal::Look {
        notes: true,
        ..terminal::Look::plain(1000)
    };
    let wide = solid(&terminal::render(document, look));
    for note in view.results.iter().flat_map(|row| &row.notes) {
        let words = message(note);
        assert!(
            page.contains(&format!("<dd>{}</dd>", escaped(&words))),
            "{note:?}"
        );
        let solid = solid(&words);
        assert!(wide.contains(&solid), "{note:?}");
    }
    let solid_page = solid(&page);
    for block in &document.blocks {
        let Block::Table(table) = block else {
            continue;
        };
        for cell in table.rows.iter().flat_map(|row| &row.cells) {
            assert!(
                solid_page.contains(&solid(&escaped(&cell.text))),
                "{cell:?}"
            );
            assert!(wide.contains(&solid(&cell.text)), "{cell:?}");
        }
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
        holds_all(&show(&run_of, Detail::Everything), &run_of);
        let mut machines = references();
        // documents have no variants: what they printed of them has no place in the brief
        let mut printed = run(at + 7).results;
        printed.retain(|result| result.id.variant().is_none());
        printed
            .iter_mut()
            .for_each(|r| r.outcome = Status::Published);
        machines[0].results = printed;
        let document = made(from_ref(&run_of), &machines, &[], None);
        holds_all(&document, &run_of);
        holds_all(&document, &machines[0]);
    }
}
