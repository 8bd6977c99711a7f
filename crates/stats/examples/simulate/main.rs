//! The long simulation: prints the tables of METHODOLOGY.md. `cargo run --release -p gritstone-stats --example simulate`
//!
//! Must not know: how the library computes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

mod ab;
mod compare;
mod figure;
mod past;
mod rest;
mod trial;
#[path = "../../tests/world/mod.rs"]
mod world;

/// A table, as Markdown.
type Table = fn() -> String;

fn main() {
    let tables: [Table; 19] = [
        figure::coverage,
        figure::median,
        figure::widened,
        figure::machine,
        figure::seen,
        rest::modes,
        rest::stein,
        compare::false_positives,
        compare::drift,
        compare::learned,
        compare::power,
        compare::rows,
        ab::verdicts,
        ab::orders,
        ab::neighbours,
        ab::rankings,
        trial::quantiles,
        rest::rating,
        past::changes_found,
    ];
    // two threads; each table has a seed of its own, so the order in which they are made does not matter
    let next = AtomicUsize::new(0);
    let made = Mutex::new(vec![String::new(); tables.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((at, table)) = take(&next, &tables) {
                    let text = table();
                    made.lock().expect("the other thread failed")[at] = text;
                }
            });
        }
    });
    println!("{}", made.into_inner().expect("a thread failed").join("\n"));
}

fn take<'a>(next: &AtomicUsize, tables: &'a [Table]) -> Option<(usize, &'a Table)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    tables.get(at).map(|table| (at, table))
}

/// Head of a table, with the columns behind the first.
fn head(title: &str, first: &str, columns: impl Iterator<Item = String>) -> String {
    let columns: Vec<String> = columns.collect();
    let rule = " --- |".repeat(columns.len() + 1);
    format!(
        "### {title}\n\n| {first} | {} |\n|{rule}\n",
        columns.join(" | ")
    )
}

/// A line of a table.
fn line(first: &str, cells: impl Iterator<Item = String>) -> String {
    format!("| {first} | {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// 0.9512 as 95.1.
fn percent(hits: usize, of: usize) -> String {
    format!("{:.1}", 100.0 * hits as f64 / of as f64)
}
