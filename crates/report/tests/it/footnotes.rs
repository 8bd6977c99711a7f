//! Nothing is lost: each note and each cell of a view is in the output of `show`, and each note in the report.

use crate::sample;
use crate::sample::briefs;
use crate::sample::machines::{empty, references, view};
use gritstone_document::Block;
use gritstone_document::{html, terminal};
use gritstone_model::{
    Absence, Data, Estimate, Flag, Measurement, Printed, PublishedView, RunView, Sampled, Subject,
};
use gritstone_report::findings::message;
use gritstone_report::{Detail, show};

const FLAGS: [Option<Flag>; 9] = {
    use Flag::*;
    let [a, b, c, d] = [Invalid, Noisy, Modes, Interference];
    let [e, f, g, h] = [Skipped, NotComparable, Doubtful, Custom];
    [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h), None]
};
const SUBJECTS: [Subject; 8] = {
    use Subject::*;
    [Result, Estimate, Real, User, System, Process, Cpu, Max]
};
const ROWS: [&str; 5] =
    ["byte/pipe", "byte/syscall", "byte/multi/1", "byte/multi/6", "byte/multi/6@one-cpu"];

fn data(index: usize, estimate: Option<Estimate>) -> Data {
    match index % 5 {
        0 => sample::sampled(Sampled { estimate, confidence: Some(0.95), ..Sampled::default() }),
        1 => Data::absent(Absence::Skipped),
        2 => Data::absent(Absence::Failed),
        3 => Data::absent(Absence::TimedOut),
        _ => Data::Printed(Printed { estimate, ..Printed::default() }),
    }
}

/// A run in which the `offset`th flag, subject and outcome and those that follow are said of rows with and without values.
fn run(offset: usize) -> RunView {
    let result = |(row, name): (usize, &&str)| {
        let note = |nth: usize| {
            let flag = FLAGS[(offset + row + nth) % FLAGS.len()];
            let words = format!("'{row}'<{nth}> & \"ä 東京\" of {offset}");
            sample::stated(flag, words).about(SUBJECTS[(offset / 2 + row + nth) % SUBJECTS.len()])
        };
        let value = |nth: usize, value: f64| {
            (!(offset + row + nth).is_multiple_of(3)).then_some(Estimate::exact(value))
        };
        let published = PublishedView {
            work: "25,000 calls".to_owned(),
            figure: [Subject::User, Subject::Result][offset % 2],
            real: value(0, 1e-6),
            user: value(1, 0.25),
            system: value(2, 1e6),
            process: value(4, 3.5),
            ..PublishedView::default()
        };
        let estimate = value(3, 10_f64.powi(row as i32 * 3 - 6));
        let interval =
            |e: Estimate| offset.is_multiple_of(2).then_some([e.value * 0.9, e.value * 1.1]);
        let estimate = estimate.map(|e| Estimate { interval: interval(e), ..e });
        Measurement {
            notes: (0..row % 4 + 1).map(note).collect(),
            data: data(offset + row, estimate),
            published: Some(published).filter(|_| !(offset + row).is_multiple_of(4)),
            ..empty(name, "ns/call")
        }
    };
    RunView { results: ROWS.iter().enumerate().map(result).collect(), ..view("r1", "box", "Linux") }
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Every note of the view stands in a text.
fn holds_notes(text: &str, view: &RunView) {
    let text = solid(text);
    for note in view.results.iter().flat_map(|row| &row.notes) {
        assert!(text.contains(&solid(&message(note))), "{note:?}");
    }
}

#[test]
fn terminals_show_every_note() {
    for offset in 0..30 {
        let run = run(offset);
        let document = show(&run, Detail::Everything);
        let look = terminal::Look { notes: true, ..terminal::Look::plain(1000) };
        let wide = terminal::render(&document, look);
        holds_notes(&wide, &run);
        let wide = solid(&wide);
        for block in &document.blocks {
            let Block::Table(table) = block else {
                continue;
            };
            for cell in table.rows.iter().flat_map(|row| &row.cells) {
                assert!(wide.contains(&solid(&cell.text)), "{cell:?}");
            }
        }
    }
}

#[test]
fn reports_show_every_note() {
    let letters = [
        ("<code>", "`"),
        ("</code>", "`"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    for offset in 0..30 {
        let run = run(offset);
        let page = html::render(&briefs::document(&run, &references()));
        let replace = |text: String, (a, b): (&str, &str)| text.replace(a, b);
        holds_notes(&letters.into_iter().fold(page, replace), &run);
    }
}
