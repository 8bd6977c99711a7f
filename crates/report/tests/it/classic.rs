//! The report in the order of a brief of its time: exhibits of a document with the run in them.

use crate::sample::briefs::with_input;
use crate::sample::machines::references;
use crate::sample::{self, stated};
use gritstone_document::{Document, Table};
use gritstone_model::{Absent, Chapter, Data, Exhibit, Flag, Form, RunView};
use gritstone_report::{Brief, Classic, classic};

fn exhibit(form: Form, benchmarks: &[&str]) -> Exhibit {
    Exhibit {
        place: "table 1".to_owned(),
        title: "Times".to_owned(),
        document: "byte-1984".to_owned(),
        form,
        benchmarks: benchmarks.iter().map(|&text| text.to_owned()).collect(),
        reference: Some("ref:vax-11-780-4.1-bsd".to_owned()),
        printed: None,
        text: Some("Said of it.".to_owned()),
    }
}

fn document(run: &RunView, exhibits: Vec<Exhibit>) -> Document {
    let chapter = Chapter {
        title: "Competitive benchmarks".to_owned(),
        text: "What was compared.".to_owned(),
        exhibits,
    };
    let printed = references();
    with_input(run, &printed, &sample::against_reference(), |brief: &Brief| {
        classic(&Classic {
            brief: *brief,
            chapters: std::slice::from_ref(&chapter),
            printed: &printed,
        })
    })
}

fn table(document: &Document) -> &Table {
    let mut tables = blocks!(document.blocks, Table);
    tables.find(|table| table.caption.text.starts_with("Table 1 of byte-1984")).unwrap()
}

fn cells<'a>(table: &'a Table, head: &str) -> Vec<&'a str> {
    let index = table.columns.iter().position(|column| column.head == head);
    let index = index.unwrap_or_else(|| panic!("{head}: {:?}", table.columns));
    table.rows.iter().map(|row| row.cells[index].text.as_str()).collect()
}

fn texts(document: &Document) -> String {
    gritstone_document::html::render(document)
}

#[test]
fn tables_show_printed_columns() {
    let document =
        document(&sample::run(), vec![exhibit(Form::Table, &["byte/pipe", "byte/sieve"])]);
    let table = table(&document);
    assert_eq!(cells(table, "Unit"), ["s", "s"]);
    assert_eq!(cells(table, "VAX-11/780"), ["3.2", "1.7"]);
    assert_eq!(cells(table, "AMD EPYC 7B13"), ["0.000286", "0.000249"]);
    // 3.2 s and 1.7 s, by these
    assert_eq!(cells(table, "× VAX-11/780"), ["11,200×", "6,840×"]);
    assert!(texts(&document).contains("Said of it."));
}

#[test]
fn incomparable_rows_have_no_ratio() {
    let mut run = sample::run();
    run.results[0].notes.push(stated(Some(Flag::NotComparable), "Another pipe."));
    let document = document(&run, vec![exhibit(Form::Table, &["byte/pipe"])]);
    let table = table(&document);
    assert_eq!(cells(table, "AMD EPYC 7B13"), ["0.000286"]);
    assert!(!table.columns.iter().any(|column| column.head.starts_with('×')));
    assert!(cells(table, "Flags")[0].contains('≠'));
}

#[test]
fn gaps_have_reasons() {
    let mut run = sample::run();
    let lacking = run.results.iter_mut().find(|result| result.id.as_str() == "byte/sieve");
    let lacking = lacking.unwrap();
    lacking.data = Data::Absent(Absent::default());
    lacking.published = None;
    lacking.notes = vec![stated(Some(Flag::Skipped), "There is no cc here.")];
    let document = document(&run, vec![exhibit(Form::Table, &["byte/pipe", "byte/sieve"])]);
    assert_eq!(cells(table(&document), "AMD EPYC 7B13"), ["0.000286", "–"]);
    let page = texts(&document);
    assert!(page.contains("There is no cc here."), "{page}");
}

#[test]
fn figures_draw_printed_systems() {
    for form in [Form::Bars, Form::Relative, Form::Curve] {
        let ids = match form {
            Form::Curve => &["byte/multi/6"][..],
            _ => &["byte/pipe", "byte/shell"],
        };
        let document = document(&sample::run(), vec![exhibit(form, ids)]);
        let figure = blocks!(document.blocks, Figure).next();
        let output = &figure.unwrap_or_else(|| panic!("{form:?}")).alternative;
        assert!(
            output.contains("VAX-11/780") && output.contains("AMD EPYC 7B13"),
            "{form:?}: {output}"
        );
    }
}

#[test]
fn systems_and_tests_are_described() {
    let document = document(&sample::run(), vec![exhibit(Form::Table, &["byte/pipe"])]);
    let page = texts(&document);
    for output in [
        "1. Competitive benchmarks",
        "Configurations of the printed systems",
        "4-megabyte RAM",
        "Description of the tests",
        "one piece of the work",
    ] {
        assert!(page.contains(output), "{output}");
    }
}
