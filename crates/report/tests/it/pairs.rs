//! Results with a value for each pair of CPUs: the matrix of the brief, the table of `show`, and both in words.

use crate::sample::machines::{empty, view};
use crate::sample::{briefs, sampled};
use gritstone_document::{html, terminal};
use gritstone_model::{Estimate, Measurement, Part, PartValue, RunView, Sampled};
use gritstone_report::{Detail, show};

/// A machine whose CPUs are cores of two, two to a cache: 20 ns within, 100 ns across.
fn machine(cpus: u32) -> RunView {
    let pairs = (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b)));
    let part = |(a, b)| PartValue {
        part: Part::Cpus(a, b),
        value: if a / 2 == b / 2 { 20.25 } else { 100.5 },
    };
    let mut run = view("r1", "box", "Linux");
    run.results = vec![Measurement {
        title: "Cache line between two CPUs".to_owned(),
        data: sampled(Sampled {
            estimate: Some(Estimate::exact(100.0)),
            launches: 6,
            parts: pairs.map(part).collect(),
            ..Sampled::default()
        }),
        ..empty("thread/ping-pong", "ns/transfer")
    }];
    run
}

#[test]
fn pair_tables_are_symmetric() {
    let text = terminal::render(&show(&machine(4), Detail::Everything), terminal::Look::plain(100));
    let begin = text.find("thread/ping-pong: Cache line").unwrap();
    insta::assert_snapshot!(&text[begin..]);
}

#[test]
fn reports_describe_pair_matrices() {
    let page = html::render(&briefs::document(&machine(4), &[]));
    assert_eq!(page.matches("class=\"cell\"").count(), 12);
    let output =
        "6 pairs of 4 CPUs, from 20.2 ns/transfer to 100 ns/transfer. 0 and 1: 20.2; 0 and 2: 100;";
    assert!(page.contains(output), "{page}");
}

#[test]
fn narrow_tables_become_sentences() {
    let mut run = machine(20);
    // not all pairs were met
    let missing = |part: &PartValue| part.part != Part::Cpus(3, 7);
    run.results[0].measured_mut().sampled.parts.retain(missing);
    let text = terminal::render(&show(&run, Detail::Everything), terminal::Look::plain(400));
    assert!(text.contains("189 pairs of 20 CPUs"), "{text}");
    assert!(text.contains("Not measured: 1."), "{text}");
    assert!(!text.contains("each pair of CPUs"));
}
