//! Writes a brief of made-up figures as a PDF to standard output:
//! `cargo run -p gritstone-pdf --example sample_pages > brief.pdf`. For looking at the pages while they are changed.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;

use gritstone_report::{Brief, brief};
use std::io::Write as _;

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
    let pages = gritstone_pdf::render(&document).expect("a sound document");
    std::io::stdout()
        .write_all(&pages)
        .expect("standard output");
}
