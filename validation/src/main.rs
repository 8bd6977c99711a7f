//! The long simulation: prints the tables of docs/validation.md. `cargo run --release -p gritstone-validation`; arguments such as `series`
//! or `ab::rankings` select tables. `--write` updates the document, `--check` compares with it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

mod ab;
mod bad_launches;
mod center;
mod copies;
mod estimate;
mod fleet;
mod groups;
mod machine;
mod modes;
mod pr;
mod runs;
mod score;
mod series;
mod systems;
mod tails;
#[path = "../../crates/stats/tests/rates/world/mod.rs"]
mod world;

/// The document with the tables.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/validation.md");

/// A table, as Markdown.
type Table = fn() -> String;

fn main() {
    let tables: [(&str, Table); 28] = [
        ("estimate::coverage", estimate::coverage),
        ("estimate::bias", estimate::bias),
        ("series::unchanged", series::unchanged),
        ("series::lasting", series::lasting),
        ("series::drift", series::drift),
        ("series::comparisons", series::comparisons),
        ("series::sides", series::sides),
        ("series::few", series::few),
        ("systems::comparisons", systems::comparisons),
        ("bad_launches::verdicts", bad_launches::verdicts),
        ("series::changes", series::changes),
        ("series::events", series::events),
        ("center::coverage", center::coverage),
        ("center::correlated", center::correlated),
        ("tails::coverage", tails::coverage),
        ("tails::comparisons", tails::comparisons),
        ("modes::found", modes::found),
        ("ab::verdicts", ab::verdicts),
        ("ab::orders", ab::orders),
        ("ab::neighbors", ab::neighbors),
        ("ab::busy", ab::busy),
        ("ab::rankings", ab::rankings),
        ("pr::requests", pr::requests),
        ("pr::layouts", pr::layouts),
        ("score::coverage", score::coverage),
        ("copies::together", copies::together),
        ("fleet::nodes", fleet::nodes),
        ("fleet::groups", groups::groups),
    ];
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.starts_with(word));
    let tables: Vec<(&str, Table)> =
        tables.into_iter().filter(|(name, _)| is_wanted(name)).collect();
    assert!(!tables.is_empty(), "no table is of {wanted:?}");
    // two threads; each table has its own seed, so their order does not matter
    let next = AtomicUsize::new(0);
    let texts = Mutex::new(vec![String::new(); tables.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, (name, table))) = take(&next, &tables) {
                    let begun = Instant::now();
                    let text = table();
                    eprintln!("{name}: {} s", begun.elapsed().as_secs());
                    texts.lock().expect("the other thread failed")[index] = text;
                }
            });
        }
    });
    let texts = texts.into_inner().expect("a thread failed");
    let named = || tables.iter().map(|(name, _)| *name).zip(&texts);
    let mut page = std::fs::read_to_string(PAGE).expect(PAGE);
    match options.first().map(String::as_str) {
        None => println!("{}", texts.join("\n")),
        Some("--write") => {
            for (name, table) in named() {
                let [before, _, after] = around(&page, name);
                page = format!("{before}\n{table}\n{after}");
            }
            std::fs::write(PAGE, page).expect(PAGE);
        }
        Some("--check") => {
            let changed = |(name, table): &(&str, &String)| {
                let as_documented = tables_agree(around(&page, name)[1].trim(), table.trim());
                match as_documented {
                    true => println!("{name}: as documented"),
                    false => println!("{name} is now:\n{table}"),
                }
                !as_documented
            };
            let changed = named().filter(changed).count();
            assert!(changed == 0, "{changed} tables are not as documented");
        }
        Some(other) => panic!("{other} is neither --write nor --check"),
    }
}

/// Whether two tables have the same words, and numbers that differ by no more than the rounding of another C library may cause.
fn tables_agree(stored: &str, computed: &str) -> bool {
    let numbers = |text: &str| -> Vec<f64> {
        let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        parts.filter_map(|number| number.parse().ok()).collect()
    };
    let words = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut pairs = numbers(stored).into_iter().zip(numbers(computed));
    words(stored) == words(computed) && pairs.all(|(a, b)| (a - b).abs() <= 0.3)
}

/// The document up to the line `<!-- name -->`, from there to the next `<!-- end -->`, and the rest.
fn around<'a>(page: &'a str, name: &str) -> [&'a str; 3] {
    let begin = format!("<!-- {name} -->\n");
    let place = page.find(&begin).and_then(|start| {
        let from = start + begin.len();
        Some((from, from + page[from..].find("<!-- end -->")?))
    });
    let (from, to) = place.unwrap_or_else(|| panic!("{PAGE} has no place for {name}"));
    [&page[..from], &page[from..to], &page[to..]]
}

fn take<'a>(next: &AtomicUsize, tables: &[(&'a str, Table)]) -> Option<(usize, (&'a str, Table))> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    tables.get(index).map(|table| (index, *table))
}

/// Head of a table, with the columns behind the first.
fn head(title: &str, first: &str, columns: impl Iterator<Item = String>) -> String {
    let columns: Vec<String> = columns.collect();
    let rule = " --- |".repeat(columns.len() + 1);
    format!("*{title}*\n\n| {first} | {} |\n|{rule}\n", columns.join(" | "))
}

/// A line of a table.
fn line(first: &str, cells: impl Iterator<Item = String>) -> String {
    format!("| {first} | {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// 0.9512 as 95.1.
fn percent(hits: usize, total: usize) -> String {
    format!("{:.1}", 100.0 * hits as f64 / total as f64)
}
