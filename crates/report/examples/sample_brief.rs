//! Writes a brief of made-up figures as HTML to standard output, or as text with a width as argument:
//! `cargo run -p gritstone-report --example sample_brief > brief.html`. For looking at the page while it is changed.

#[path = "../tests/sample/mod.rs"]
mod sample;

use gritstone_report::{Brief, brief, html, terminal};

fn main() {
    let run = sample::run_with_variants();
    let document = brief(&Brief {
        ratings: None,
        runs: std::slice::from_ref(&run),
        references: &sample::machines::references(),
        against: &[sample::against_reference()],
        families: &sample::entries::families(),
        benchmarks: &sample::entries::benchmarks(&run),
    });
    match std::env::args().nth(1).and_then(|width| width.parse().ok()) {
        Some(width) => print!("{}", terminal::render(&document, width, true)),
        None => print!("{}", html::render(&document)),
    }
}
