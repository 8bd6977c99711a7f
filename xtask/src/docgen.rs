//! Generates the pages on benchmarks from the catalog.

use gritstone_catalogue::{Catalogue, facts};
use gritstone_model::Benchmark;

const HEADER: &str = "<!-- Written by `cargo xtask docgen` from catalogue/*.toml. Change those, and run it again. -->\n";

/// The pages by their names in `docs/benchmarks/`: a list of families, and a page for each.
pub fn pages(catalogue: &Catalogue) -> Vec<(String, String)> {
    let mut index = format!(
        "# Benchmarks\n\n{HEADER}\nA page for each family. `gritstone list FAMILY` lists its benchmarks, `gritstone info BENCHMARK` says what one does.\n\
         [What of the documents is compared](documents.md) with their numbers.\n\n\
         | family | | benchmarks | variants |\n| --- | --- | ---: | ---: |\n"
    );
    let mut pages = vec![];
    for family in &catalogue.families {
        let all = catalogue.benchmarks.iter();
        let benchmarks: Vec<&Benchmark> = all.filter(|b| b.id.family() == family.name).collect();
        let variants = benchmarks.iter().filter(|b| b.id.as_str().contains('@')).count();
        let name = format!("{}.md", family.name);
        index += &format!(
            "| [{}]({name}) | {} | {} | {variants} |\n",
            family.name,
            family.title,
            benchmarks.len() - variants
        );
        let mut page =
            format!("# `{}`: {}\n\n{HEADER}\n{}\n", family.name, family.title, family.why);
        if !family.guidelines.is_empty() {
            page += "\nRules of the source documents, and how they are followed:\n\n";
        }
        for (rule, how) in &family.guidelines {
            page += &format!("- *{rule}* {how}\n");
        }
        for benchmark in benchmarks {
            page += &section(benchmark, catalogue);
        }
        pages.push((name, page));
    }
    pages.insert(0, ("README.md".to_owned(), index));
    pages
}

/// One entry; for a variant, only differences from the entry.
fn section(benchmark: &Benchmark, catalogue: &Catalogue) -> String {
    let mut section = format!("\n## `{}`: {}\n\n", benchmark.id, benchmark.title);
    let mut facts = facts(benchmark);
    let stem = benchmark.id.stem();
    let base = catalogue.benchmarks.iter().find(|other| other.id.as_str() == stem);
    if let Some(base) = base.filter(|base| base.id != benchmark.id) {
        section += &format!("As `{stem}`, but:\n\n");
        let same = gritstone_catalogue::facts(base);
        facts.retain(|fact| !same.contains(fact));
    }
    for (name, text) in facts {
        section += &format!("- {name}: {text}\n");
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &str = include_str!("../../catalogue/tests/demo.toml");

    #[test]
    fn the_pages_say_everything() {
        let catalogue = gritstone_catalogue::load(&[("demo.toml", DEMO)]).unwrap();
        let pages = pages(&catalogue).into_iter();
        let pages: Vec<String> = pages.map(|(name, text)| format!("== {name}\n{text}")).collect();
        insta::assert_snapshot!(pages.join("\n"));
    }
}
