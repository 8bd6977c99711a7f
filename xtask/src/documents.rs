//! Generates the page on the documents of 1981 to 1987: which of their benchmarks are measured, and which results are comparable.

use gritstone_catalogue::Catalogue;
use gritstone_model::Benchmark;
use gritstone_references::References;
use std::fmt;

const HEADER: &str = "<!-- Written by `cargo xtask docgen` from catalogue/*.toml and references/. Change those, and run it again. -->\n";

/// The documents that the suite implements.
const IMPLEMENTED: [&str; 5] = ["byte-1984", "login-1982", "hp-1987", "iocall-1985", "weekly-1984"];

/// Comparability of a benchmark with the printed numbers.
#[derive(PartialEq, Eq)]
enum Comparison<'a> {
    Compared,
    Refused(&'a str),
    NothingPrinted,
}

struct Row<'a> {
    benchmark: &'a Benchmark,
    /// Printed cells for this identifier, and for its variants.
    printed: [usize; 2],
}

impl Row<'_> {
    fn comparison(&self) -> Comparison<'_> {
        match (&self.benchmark.not_comparable, self.printed[0]) {
            (Some(why), _) => Comparison::Refused(why),
            (None, 0) => Comparison::NothingPrinted,
            (None, _) => Comparison::Compared,
        }
    }
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<String> = self
            .benchmark
            .sources
            .iter()
            .filter(|source| IMPLEMENTED.contains(&source.document.as_str()))
            .map(|source| format!("{}, {}", source.document, source.place))
            .collect();
        let comparison = match self.comparison() {
            Comparison::Compared => "yes".to_owned(),
            Comparison::Refused(why) => format!("no: {why}"),
            Comparison::NothingPrinted => "nothing printed".to_owned(),
        };
        writeln!(
            f,
            "| `{}` | {} | {} | {} | {} |",
            self.benchmark.id,
            sources.join("; "),
            self.printed[0],
            self.printed[1],
            comparison.replace('|', "\\|")
        )
    }
}

fn rows<'a>(catalogue: &'a Catalogue, references: &References) -> Vec<Row<'a>> {
    let is_implemented = |document: &str| IMPLEMENTED.contains(&document);
    let row = |benchmark: &'a Benchmark| {
        let mut printed = [0; 2];
        for cell in &references.cells {
            if is_implemented(&cell.document) && cell.benchmark.stem() == benchmark.id.as_str() {
                printed[usize::from(cell.benchmark != benchmark.id)] += 1;
            }
        }
        Row { benchmark, printed }
    };
    let of_documents = |benchmark: &&Benchmark| {
        let mut sources = benchmark.sources.iter();
        benchmark.id.variant().is_none() && sources.any(|source| is_implemented(&source.document))
    };
    catalogue.benchmarks.iter().filter(of_documents).map(row).collect()
}

pub fn page(catalogue: &Catalogue, references: &References) -> String {
    let rows = rows(catalogue, references);
    let number = |kind: fn(&Comparison<'_>) -> bool| {
        rows.iter().filter(|row| kind(&row.comparison())).count()
    };
    let mut page = format!(
        "# The documents\n\n{HEADER}\nOf {} benchmarks that the five documents describe, {} are compared with their numbers, {} are not, because their work or device is \
         another, and {} have no printed number at their name. The numbers and their doubts are in `references/`.\n\n\
         | benchmark | source | printed | at variants | compared |\n| --- | --- | ---: | ---: | --- |\n",
        rows.len(),
        number(|one| matches!(one, Comparison::Compared)),
        number(|one| matches!(one, Comparison::Refused(_))),
        number(|one| matches!(one, Comparison::NothingPrinted)),
    );
    for row in &rows {
        page += &row.to_string();
    }
    page
}
