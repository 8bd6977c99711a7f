//! Documents that are written from the program.

mod reference;
#[cfg(feature = "server")]
mod schemas;

use std::{env, fs};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Checks a file below `docs/`, and writes it first if the variable is set.
fn check(file: &str, text: &str, variable: &str) {
    let path = format!("{DOCS}/{file}");
    if env::var_os(variable).is_some() {
        fs::write(&path, text).unwrap();
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    assert!(current == text, "{file} is out of date: {variable}=1 writes it");
}
