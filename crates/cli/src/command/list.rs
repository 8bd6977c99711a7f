//! The commands that list what there is: benchmarks, systems, stored runs; and `info`, which describes one benchmark.

use crate::command::prune::prune;
use crate::ui::args::{InfoArgs, ListArgs, RunsArgs, RunsCommand, SystemsArgs};
use crate::ui::display::Format;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result, bail, ensure};
use gritstone_document::{Column, Style};
use gritstone_document::{Document, unit_text};
use gritstone_exec::privileged::Permits;
use gritstone_model::{
    Benchmark, Id, Machine, RunList, SCHEMA_LIST, SCHEMA_RUNS, SCHEMA_SYSTEMS, Selector,
};
use gritstone_plan::{Selectors, select_refs, why_not};
use gritstone_report::{Detail, lists};
use gritstone_runs::context::World;
use gritstone_runs::listing::listed;
use gritstone_session::host_context::Site;
use gritstone_session::undo;
use schemars::JsonSchema;
use serde::Serialize;

/// Runs that are listed unless all are asked for.
const NEWEST: usize = 30;
/// The letter of a benchmark that is skipped here, as in tables of results.
const SKIPPED: &str = "-";
/// Columns of long words are given up where they have less room.
const WORDS: usize = 40;

/// Output of `list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct List<'a> {
    schema: &'static str,
    benchmarks: Vec<Listed<'a>>,
}

/// One line of `list`.
#[derive(Serialize, JsonSchema)]
struct Listed<'a> {
    id: &'a Id,
    title: &'a str,
    unit: &'a str,
    source: String,
    /// The custom catalog that it is of; absent for benchmarks of Gritstone.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalogue: Option<String>,
    needs: Vec<&'a String>,
    runnable: bool,
    why_not: Option<String>,
}

/// `gritstone list`.
pub fn list(world: World, args: &ListArgs) -> Result<Exit> {
    let world = world.with_catalogue(args.catalogue.as_deref())?;
    let words = world.selectors(&args.selectors);
    if words.is_empty() && args.format.format == Format::Text {
        output::text(&families(&world))?;
        return Ok(Exit::Done);
    }
    // what a score is made of is not listed with it
    select_refs(&world.catalogue.benchmarks, &words)?;
    let selectors = Selectors::new(&words);
    let variants = output::detail() > Detail::Results;
    let listed = |row: &&Benchmark| {
        let of_stem =
            |of: &Selector| of.matches_text(row.id.stem()) || of.as_str() == row.id.family();
        let plain = || variants && selectors.iter().any(of_stem);
        selectors.select(&row.id) || plain()
    };
    let wanted: Vec<&Benchmark> = world.catalogue.benchmarks.iter().filter(listed).collect();
    let own = world.own.as_ref();
    let rows = wanted.iter().copied();
    let offer = Site::look(None)?.offer(rows.clone(), Permits::default(), own, false);
    let listed = rows.map(|row| {
        let own = own.filter(|own| own.kept.has(&row.id));
        let why_not = why_not(row, &offer);
        Listed {
            id: &row.id,
            title: &row.title,
            unit: row.unit.as_str(),
            source: source(row),
            catalogue: own.map(|own| own.kept.named()),
            needs: row.needs.iter().map(|need| &need.name).collect(),
            runnable: why_not.is_none(),
            why_not,
        }
    });
    let list = List {
        schema: SCHEMA_LIST,
        benchmarks: listed.collect(),
    };
    output::write(args.format.format, &list, || benchmarks(&list, &words))?;
    Ok(Exit::Done)
}

/// A line for each family.
fn families(world: &World) -> Document {
    let benchmarks = &world.catalogue.benchmarks;
    let rows = world.catalogue.families.iter().map(|family| {
        let of = benchmarks.iter().filter(|b| b.id.family() == family.name);
        let variants = of.clone().filter(|b| b.id.variant().is_some()).count();
        let count = of.count() - variants;
        [
            family.name.clone(),
            count.to_string(),
            variants.to_string(),
            family.title.clone(),
        ]
    });
    let columns = [
        ("family", Style::Code),
        ("benchmarks", Style::Number),
        ("variants", Style::Number),
        ("what", Style::Text),
    ];
    let mut document = lists::table("", columns, rows.collect());
    document.paragraph(
        "gritstone list FAMILY lists its benchmarks; gritstone info BENCHMARK describes one.",
    );
    document
}

/// A line for each benchmark: without variants, unless a selector names one or more is asked for.
fn benchmarks(list: &List, selectors: &[String]) -> Document {
    let more = output::detail() > Detail::Results;
    let variants = more || selectors.iter().any(|text| text.contains('@'));
    let shown = list
        .benchmarks
        .iter()
        .filter(|row| variants || row.id.variant().is_none());
    let rows = shown.clone().map(|row| {
        let title = match &row.catalogue {
            Some(own) => format!("{} (custom, of {own})", row.title),
            None => row.title.to_owned(),
        };
        let source = if more {
            row.source.clone()
        } else {
            String::new()
        };
        [
            row.id.to_string(),
            unit_text(row.unit),
            title,
            if row.runnable { "" } else { SKIPPED }.to_owned(),
            source,
        ]
    });
    let columns = [
        Column::new("benchmark", Style::Code),
        Column::new("unit", Style::Text),
        Column::new("what", Style::Text),
        Column::new("", Style::Code),
        Column::new("source", Style::Text).rank(1).least(WORDS),
    ];
    let mut document = lists::table("", columns, rows.collect());
    let mut skipped: Vec<(&str, Vec<&str>)> = vec![];
    for row in shown {
        let Some(why) = row.why_not.as_deref() else {
            continue;
        };
        match skipped.iter_mut().find(|(known, _)| *known == why) {
            Some((_, ids)) => ids.push(row.id.as_str()),
            None => skipped.push((why, vec![row.id.as_str()])),
        }
    }
    let count: usize = skipped.iter().map(|(_, ids)| ids.len()).sum();
    if more {
        document.list(
            skipped
                .iter()
                .map(|(why, ids)| format!("skipped here: {}: {why}", ids.join(", "))),
        );
    } else if count > 0 {
        document.paragraph(format!(
            "{SKIPPED} skipped here: {count}; -v gives the reasons."
        ));
    }
    document
}

fn source(benchmark: &Benchmark) -> String {
    let places: Vec<String> = benchmark
        .sources
        .iter()
        .map(|source| format!("{}, {}", source.document, source.place))
        .collect();
    places.join("; ")
}

/// `gritstone info`.
pub fn info(world: World, args: &InfoArgs) -> Result<Exit> {
    let world = world.with_catalogue(args.catalogue.as_deref())?;
    let id = &args.benchmark;
    let found = select_refs(&world.catalogue.benchmarks, std::slice::from_ref(id))?;
    // what a benchmark is made of comes with it
    let benchmark = found
        .into_iter()
        .find(|benchmark| benchmark.id.as_str() == id);
    let benchmark = benchmark.with_context(|| {
        format!("'{id}' selects several benchmarks: `gritstone list '{id}'` lists them")
    })?;
    let offer = Site::look(None)?.offer([benchmark], Permits::default(), world.own.as_ref(), false);
    let here = why_not(benchmark, &offer).map_or("yes".to_owned(), |why| format!("no: {why}"));
    let mut document = Document::new(format!("{}: {}", benchmark.id, benchmark.title));
    let facts = gritstone_catalogue::facts(benchmark).into_iter();
    let facts = facts.map(|(name, text)| (name, text.replace('`', "")));
    document.terms(facts.chain([("Runs here", here)]));
    output::text(&document)?;
    Ok(Exit::Done)
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
    fn of(id: String, machine: Machine) -> Self {
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
        let mut texts = texts
            .into_iter()
            .map(String::as_str)
            .chain([self.document()]);
        texts.any(|text| text.to_lowercase().contains(word))
    }
}

/// `gritstone systems`.
pub fn systems(world: &World, args: &SystemsArgs) -> Result<Exit> {
    let printed = world.references.machines.iter();
    let printed =
        printed.map(|machine| ListedMachine::of(format!("ref:{}", machine.id), machine.clone()));
    let mut systems: Vec<ListedMachine> = printed.collect();
    if let Some(store) = world.reader()? {
        for (run, _) in store.systems()? {
            let info = store.info(&run.id)?;
            systems.push(ListedMachine::of(run.machine_id, info.machine));
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
    let listed = Systems {
        schema: SCHEMA_SYSTEMS,
        systems,
    };
    output::write(args.format.format, &listed, || match args.word {
        Some(_) => one_by_one(&listed.systems),
        None => documents(&listed.systems),
    })?;
    Ok(Exit::Done)
}

fn one_by_one(systems: &[ListedMachine]) -> Document {
    let columns = [
        Column::new("id", Style::Code),
        Column::new("name", Style::Text),
        Column::new("year", Style::Number),
        Column::new("system", Style::Text),
        Column::new("document", Style::Text),
        Column::new("configuration", Style::Text)
            .rank(1)
            .least(WORDS),
    ];
    let rows = systems.iter().map(|of| {
        let year = of.year();
        [
            &of.id,
            &of.name,
            &year,
            &of.system,
            of.document(),
            &of.configuration,
        ]
        .map(str::to_owned)
    });
    lists::table("", columns, rows.collect())
}

/// A line for each document, and one for what was measured.
fn documents(systems: &[ListedMachine]) -> Document {
    let mut documents: Vec<(&str, Vec<&ListedMachine>)> = vec![];
    for system in systems {
        match documents
            .iter_mut()
            .find(|(name, _)| *name == system.document())
        {
            Some((_, of)) => of.push(system),
            None => documents.push((system.document(), vec![system])),
        }
    }
    let rows = documents.iter().map(|(document, of)| {
        let mut names: Vec<&str> = vec![];
        for system in of {
            if !names.contains(&system.name.as_str()) {
                names.push(&system.name);
            }
        }
        let year = of.first().map_or_else(String::new, |system| system.year());
        [
            (*document).to_owned(),
            year,
            of.len().to_string(),
            names.join(", "),
        ]
    });
    let columns = [
        ("document", Style::Text),
        ("year", Style::Number),
        ("systems", Style::Number),
        ("which", Style::Text),
    ];
    let mut document = lists::table("", columns, rows.collect());
    document.paragraph("gritstone systems WORD lists the systems of a document or a name.");
    document
}

/// `gritstone runs verify`: what is damaged, a line each.
fn verify(world: &World) -> Result<Exit> {
    let store = world.reader()?.context("the store has no runs")?;
    let damaged = store.verify()?;
    if damaged.is_empty() {
        output::plain(&format!("{} runs, all checksums match\n", store.count()?))?;
        return Ok(Exit::Done);
    }
    output::plain(&(damaged.join("\n") + "\n"))?;
    Err(Exit::CheckFailed.because(
        "the store is damaged: export the runs that are whole, move the database away, and import them again",
    ))
}

/// `gritstone runs`.
pub fn runs(world: &World, args: &RunsArgs) -> Result<Exit> {
    match &args.command {
        Some(RunsCommand::Label { run, label }) => {
            let mut store = world.writer()?;
            let id = world.resolve(&store, run)?;
            store.label(&id, label)?;
            output::remark(&format!("run {id} is labeled '{label}'"));
            return Ok(Exit::Done);
        }
        Some(RunsCommand::Remove { run }) => {
            let mut store = world.writer()?;
            let id = world.resolve(&store, run)?;
            if let Some(process) = undo::measuring(None).get(&id) {
                bail!("run {id} is being measured by process {process}: stop that first");
            }
            store.remove(&id)?;
            output::remark(&format!(
                "run {id} is removed; the store records that it was there"
            ));
            return Ok(Exit::Done);
        }
        Some(RunsCommand::Prune(args)) => return prune(world, args),
        Some(RunsCommand::Verify) => return verify(world),
        None => {}
    }
    let most = if args.all { usize::MAX } else { NEWEST };
    let (newest, all) = match world.reader()? {
        Some(store) => (store.newest_runs(None, most)?, store.count()?),
        None => (vec![], 0),
    };
    let list = RunList {
        schema: SCHEMA_RUNS.to_owned(),
        runs: newest.into_iter().map(listed).collect(),
    };
    output::write(args.format.format, &list, || {
        let mut document = gritstone_report::runs(&list.runs);
        let shown = list.runs.len();
        if all > shown as u64 {
            document.paragraph(format!("{shown} of {all} runs; --all lists the others."));
        }
        document
    })?;
    Ok(Exit::Done)
}
