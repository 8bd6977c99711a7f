//! `gritstone systems`: reference systems and those in the store.

use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Result, ensure};
use clap::Args;
use gritstone_document::{Column, Document, Style};
use gritstone_model::{Machine, SCHEMA_SYSTEMS, grouped};
use gritstone_report::lists;
use gritstone_runs::context::Context;
use schemars::JsonSchema;
use serde::Serialize;

/// Width below which the column of configurations is dropped.
const CONFIGURATION_WIDTH: usize = 40;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone systems           documents with the number of their systems
  gritstone systems vax       systems with this word in name, document, ...")]
pub struct SystemsArgs {
    /// List the systems that have this word [default: their documents]
    #[arg(value_name = "WORD")]
    pub word: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Output of `systems`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Systems {
    schema: &'static str,
    systems: Vec<ListedMachine>,
}

/// One line of `systems`.
#[derive(Serialize, JsonSchema)]
struct ListedMachine {
    id: String,
    name: String,
    system: String,
    document: Option<String>,
    year: Option<i32>,
    configuration: String,
}

impl ListedMachine {
    fn new(id: String, machine: Machine) -> Self {
        Self {
            id,
            name: machine.name,
            system: machine.system,
            document: machine.document,
            year: machine.year,
            configuration: machine.configuration,
        }
    }

    fn document(&self) -> &str {
        self.document.as_deref().unwrap_or("in this store")
    }

    fn year(&self) -> String {
        self.year.map_or_else(String::new, |year| year.to_string())
    }

    fn has(&self, word: &str) -> bool {
        let texts = [&self.id, &self.name, &self.system, &self.configuration];
        let mut texts = texts.into_iter().map(String::as_str).chain([self.document()]);
        texts.any(|text| text.to_lowercase().contains(word))
    }
}

pub fn systems(context: &Context, args: &SystemsArgs) -> Result<Exit> {
    let printed = context.references.machines.iter();
    let printed =
        printed.map(|machine| ListedMachine::new(format!("ref:{}", machine.id), machine.clone()));
    let mut systems: Vec<ListedMachine> = printed.collect();
    if let Some(store) = context.reader()? {
        for (run, _) in store.systems()? {
            let info = store.info(&run.id)?;
            systems.push(ListedMachine::new(run.machine_id, info.machine));
        }
    }
    if let Some(word) = &args.word {
        let word = word.to_lowercase();
        systems.retain(|system| system.has(&word));
        ensure!(
            !systems.is_empty(),
            "no system has the word '{word}'; `gritstone systems` lists the documents"
        );
    }
    let listed = Systems { schema: SCHEMA_SYSTEMS, systems };
    output::write(args.format.format, &listed, || match args.word {
        Some(_) => system_table(&listed.systems),
        None => document_table(&listed.systems),
    })?;
    Ok(Exit::Done)
}

fn system_table(systems: &[ListedMachine]) -> Document {
    let columns = [
        Column::new("id", Style::Code),
        Column::new("name", Style::Text),
        Column::new("measured in", Style::Number),
        Column::new("system", Style::Text),
        Column::new("document", Style::Text),
        Column::new("configuration", Style::Text).rank(1).min_width(CONFIGURATION_WIDTH),
    ];
    let rows = systems.iter().map(|system| {
        let year = system.year();
        [&system.id, &system.name, &year, &system.system, system.document(), &system.configuration]
            .map(str::to_owned)
    });
    lists::table("", columns, rows.collect())
}

/// `1996 to 2008`.
fn years(systems: &[&ListedMachine]) -> String {
    let years = || systems.iter().filter_map(|system| system.year);
    match (years().min(), years().max()) {
        (Some(first), Some(last)) if first < last => format!("{first} to {last}"),
        (Some(year), _) => year.to_string(),
        _ => String::new(),
    }
}

/// A line per document, and one for measured systems.
fn document_table(systems: &[ListedMachine]) -> Document {
    let documents = grouped(systems.iter().map(|system| (system.document(), system)));
    let rows = documents.iter().map(|(document, members)| {
        let mut names: Vec<&str> = vec![];
        for system in members {
            if !names.contains(&system.name.as_str()) {
                names.push(&system.name);
            }
        }
        [(*document).to_owned(), years(members), members.len().to_string(), names.join(", ")]
    });
    let columns = [
        ("document", Style::Text),
        ("measured in", Style::Text),
        ("systems", Style::Number),
        ("which", Style::Text),
    ];
    let mut document = lists::table("", columns, rows.collect());
    document.paragraph("gritstone systems WORD lists the systems of a document or a name.");
    document
}
