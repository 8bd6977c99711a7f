//! `gritstone import`: bundles and results of other programs into the store.

use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use crate::ui::value_parsers;
use anyhow::{Result, ensure};
use clap::Args;
use gritstone_exchange as exchange;
use gritstone_model::{Benchmark, Id, Outcome, RunData};
use gritstone_runs::context::Context;
use gritstone_runs::files::{self, FileOrigin, FileRun};
use gritstone_store::{Store, StoreError, UploadOutcome};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone import run.jsonl
  gritstone import hyperfine.json --label main
  gritstone import target/criterion --date 2026-11-20")]
pub struct ImportArgs {
    /// Files, and directories of Criterion
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the runs
    #[arg(long, value_parser = value_parsers::label, add = SetBy::AnyFile)]
    pub label: Option<String>,
    /// Name of the measured system, where the file does not say
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Start of the measurement, for output of other programs; without a time zone, UTC
    #[arg(long, value_name = "TIME", value_parser = value_parsers::time)]
    pub date: Option<Timestamp>,
}

/// Checks all files, then stores them one by one, so that memory holds one run. Runs that are stored already are skipped, so that an
/// interrupted import can be repeated.
pub fn import(context: &Context, args: &ImportArgs) -> Result<Exit> {
    for path in args.files.iter().skip(1) {
        read(path, args)?;
    }
    let mut first = args.files.first().map(|path| read(path, args)).transpose()?;
    let mut store = context.writer()?;
    let mut stored = Contents::default();
    let mut conflicts = 0;
    for path in &args.files {
        let FileRun { run, origin } = match first.take() {
            Some(first) => first,
            None => read(path, args)?,
        };
        let id = &run.info.id;
        if let Some(known) = stored.find_copy(&store, &run, origin)? {
            output::remark(&format!("run {known} is in the store already"));
            output::plain(&format!("{known}\n"))?;
            continue;
        }
        for (benchmark, why) in without_value(&run) {
            output::remark(&format!("'{benchmark}' has no value: {why}"));
        }
        match store.import_once(&run)? {
            UploadOutcome::Created => {
                drop(context.computed(&store, &run)?);
                stored.add(id);
            }
            UploadOutcome::Conflict if !has_launches(&store, id, &run)? => {
                let path = path.display();
                output::remark(&format!("{path}: the store has another run {id}"));
                conflicts += 1;
                continue;
            }
            UploadOutcome::Conflict | UploadOutcome::Unchanged => {
                output::remark(&format!("run {id} is in the store already"));
            }
        }
        output::plain(&format!("{id}\n"))?;
    }
    ensure!(
        conflicts == 0,
        "{conflicts} of {} files not imported: the store has other runs with their identifiers",
        args.files.len()
    );
    Ok(Exit::Done)
}

/// Whether a stored run has the launches of this one, which may lack private texts.
fn has_launches(store: &Store, id: &str, run: &RunData) -> Result<bool> {
    match store.load(id) {
        Ok(known) => Ok(known.launches == run.launches),
        Err(StoreError::Pruned(..)) => Ok(true),
        Err(why) => Err(why.into()),
    }
}

/// Identifiers of stored runs by their contents; listed once, for the first file that needs them.
#[derive(Default)]
struct Contents(Option<BTreeMap<String, Vec<String>>>);

impl Contents {
    /// The stored run of the same contents, whatever the path and date of the file.
    fn find_copy(
        &mut self,
        store: &Store,
        run: &RunData,
        origin: FileOrigin,
    ) -> Result<Option<String>> {
        if origin == FileOrigin::Bundle {
            return Ok(None);
        }
        if self.0.is_none() {
            self.0 = Some(BTreeMap::new());
            for head in store.runs()? {
                self.add(&head.id);
            }
        }
        let contents = exchange::contents(&run.info.id);
        let all = self.0.iter().filter_map(|all| all.get(contents));
        for id in all.flatten() {
            if has_launches(store, id, run)? {
                return Ok(Some(id.clone()));
            }
        }
        Ok(None)
    }

    fn add(&mut self, id: &str) {
        if let Some(all) = &mut self.0 {
            let contents = exchange::contents(id).to_owned();
            all.entry(contents).or_default().push(id.to_owned());
        }
    }
}

/// Benchmarks without a value, with the reason.
fn without_value(run: &RunData) -> Vec<(&str, &str)> {
    let reason = |benchmark: &Benchmark| {
        let same_id = |id: &Id| *id == benchmark.id;
        if let Some(skip) = run.skips.iter().find(|skip| same_id(&skip.id)) {
            return Some(skip.reason.as_str());
        }
        let mut launches = run.launches.iter().filter(|launch| same_id(&launch.id)).peekable();
        let first = launches.peek()?.outcome.why();
        launches.all(|launch| launch.outcome != Outcome::Measured).then_some(first)
    };
    let all = run.benchmarks.iter();
    all.filter_map(|benchmark| Some((benchmark.title.as_str(), reason(benchmark)?))).collect()
}

fn read(path: &Path, args: &ImportArgs) -> Result<FileRun> {
    let FileRun { mut run, origin } = files::read(path)?;
    if let Some(date) = args.date {
        ensure!(
            origin == FileOrigin::Foreign,
            "{}: --date is for output of other programs, and a bundle has its date",
            path.display()
        );
        exchange::set_start(&mut run, date);
    }
    if let Some(label) = &args.label {
        run.info.label = Some(label.clone());
    }
    if let Some(host) = &args.host {
        exchange::name_machine(&mut run, host)?;
    }
    Ok(FileRun { run, origin })
}
