//! Imports results of another program as a run, which can be shown and compared with other runs of that program. Each result names the
//! program, so that it is never mixed with ours.

use crate::ImportError;
use crate::bundle::{check_head, hash};
use crate::foreign_run::{ForeignRun, Repetition, Series};
use crate::harness::HarnessError;
use crate::limits::{BENCHMARKS, LAUNCHES};
use crate::stored_unit::StoredUnit;
use gritstone_model::{
    Benchmark, Better, CommandWork, Event, Id, Launch, Machine, Outcome, Param, Placement, RunData,
    RunInfo, Sample, Settings, Skip, Source, Unit, Work,
};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Name of a machine that the file does not name.
const UNKNOWN: &str = "unknown";

/// System of a machine on which another program measured, before the name of that.
const MEASURED_BY: &str = "as measured by ";

/// Digits of the hash that replaces the name of a machine.
const MACHINE_DIGITS: usize = 12;

/// Launches per benchmark; with more repetitions, consecutive ones become samples of one launch.
const MAX_LAUNCHES: usize = 1000;

/// Builds a run from `text`; `otherwise` is its start unless the text has one.
///
/// # Errors
/// When it exceeds the limits of a run.
pub(crate) fn import(
    program: &'static str,
    foreign: ForeignRun,
    text: &str,
    otherwise: Timestamp,
) -> Result<RunData, ImportError> {
    let family = slug(program);
    let started = foreign.started.unwrap_or(otherwise);
    let mut run = RunData {
        info: RunInfo {
            id: identifier(started, &hash(text)[..8]),
            label: None,
            started: started.to_string(),
            elapsed_s: Some(0.0),
            gritstone: format!("{program} {}", foreign.version).trim().to_owned(),
            machine: machine(&family, foreign.machine.as_deref().unwrap_or(UNKNOWN)),
            settings: Settings { precision: 0.05, ..Settings::default() },
        },
        benchmarks: vec![],
        programs: BTreeMap::new(),
        skips: vec![],
        launches: vec![],
    };
    run.info.machine.system = format!("{MEASURED_BY}{program}");
    let max = (LAUNCHES / foreign.series.len().max(1)).clamp(1, MAX_LAUNCHES);
    for series in foreign.series {
        add(&mut run, program, series, max)?;
    }
    if run.launches.is_empty() {
        let why = series_without_value(&run);
        return Err(HarnessError::NoValue { program, why }.into());
    }
    check_size(run)
}

/// The run, if it is within the limits of a bundle.
pub(crate) fn check_size(mut run: RunData) -> Result<RunData, ImportError> {
    if run.benchmarks.len() > BENCHMARKS || run.launches.len() > LAUNCHES {
        return Err(ImportError::whole(format!(
            "more than {BENCHMARKS} benchmarks or {LAUNCHES} measurements"
        )));
    }
    check_head(&mut run).map_err(ImportError::Whole)?;
    Ok(run)
}

fn series_without_value(run: &RunData) -> Vec<(String, String)> {
    let title = |id: &Id| run.benchmarks.iter().find(|benchmark| benchmark.id == *id);
    let pair = |skip: &Skip| Some((title(&skip.id)?.title.clone(), skip.reason.clone()));
    run.skips.iter().filter_map(pair).collect()
}

fn machine(family: &str, name: &str) -> Machine {
    Machine {
        id: format!("{family}-{}", name_part(name)),
        name: name.to_owned(),
        ..Machine::default()
    }
}

/// The name that another program gave to the machine on which it measured.
pub(crate) fn foreign_name(machine: &Machine) -> Option<&str> {
    let is_foreign = machine.system.starts_with(MEASURED_BY);
    (is_foreign && machine.name != UNKNOWN).then_some(machine.name.as_str())
}

/// Removes the name of a machine on which another program measured, also from its identifier.
pub(crate) fn unname(machine: &mut Machine) {
    if foreign_name(machine).is_none() {
        return;
    }
    let program = machine.system.trim_start_matches(MEASURED_BY);
    let hash = hash(&machine.id);
    machine.id = format!("{}-{}", slug(program), &hash[..MACHINE_DIGITS]);
    UNKNOWN.clone_into(&mut machine.name);
}

/// Identifier of a program's benchmark.
///
/// # Errors
/// When the name cannot be converted.
pub(crate) fn identifier_of(program: &str, name: &str) -> Result<Id, ImportError> {
    let id = format!("{}/{}", slug(program), name_part(name));
    Id::parse(&id).map_err(|why| ImportError::whole(why.to_string()))
}

/// Adds a benchmark with its launches, or the reason for having none.
fn add(
    run: &mut RunData,
    program: &'static str,
    series: Series,
    max: usize,
) -> Result<(), ImportError> {
    let id = identifier_of(program, &series.name)?;
    let unit = match &series.unit {
        Some((unit, _)) => {
            StoredUnit::parse(unit).ok_or_else(|| format!("'{unit}' is neither a time nor a rate"))
        }
        None => Ok(StoredUnit::nanoseconds()),
    };
    let launches = match (&series.left_out, &unit) {
        (Some(why), _) | (None, Err(why)) => Err(why.clone()),
        (None, Ok(unit)) => launches(&id, &series, unit, max),
    };
    let unit = unit.unwrap_or_else(|_| StoredUnit::nanoseconds());
    let better = series.unit.as_ref().map_or(Better::Lower, |(_, better)| *better);
    run.benchmarks.push(benchmark(program, id.clone(), &series, unit.unit, better));
    match launches {
        Ok(new) => {
            let elapsed: f64 = new.iter().map(|(_, seconds)| seconds).sum();
            run.info.elapsed_s = run.info.elapsed_s.map(|before| before + elapsed);
            run.launches.extend(new.into_iter().map(|(launch, _)| launch));
        }
        Err(reason) => run.skips.push(Skip { id, reason }),
    }
    Ok(())
}

pub(crate) fn benchmark(
    program: &str,
    id: Id,
    series: &Series,
    unit: Unit,
    better: Better,
) -> Benchmark {
    let mut remark = format!("Measured by {program}, without work checks and without conditions.");
    for more in &series.remarks {
        remark += " ";
        remark += more;
    }
    Benchmark {
        title: series.name.clone(),
        operation: "one operation, as counted by that program".to_owned(),
        why: format!("It was measured by {program}."),
        sources: vec![Source { document: program.to_owned(), place: "imported".to_owned() }],
        better,
        placement: Placement::All,
        remark: Some(remark),
        ..Benchmark::new(id, unit, Work::Command(CommandWork::default()))
    }
}

/// Launches, each with its duration in seconds.
fn launches(
    id: &Id,
    series: &Series,
    unit: &StoredUnit,
    max: usize,
) -> Result<Vec<(Launch, f64)>, String> {
    let launch = |outcome, events| Launch::new(id.clone(), outcome, events);
    let mut all = vec![];
    for together in series.launches.chunks(series.launches.len().div_ceil(max).max(1)) {
        let (mut events, mut seconds) = (vec![], 0.0);
        for repetition in together.iter().flatten() {
            seconds += unit.seconds(repetition);
            events.extend(events_of(repetition, unit)?);
        }
        all.push((launch(Outcome::Measured, events), seconds));
    }
    let failed = series.failures.iter();
    all.extend(failed.map(|why| (launch(Outcome::Failed(why.clone()), vec![]), 0.0)));
    for (round, (launch, _)) in (0..).zip(&mut all) {
        launch.round = round;
    }
    Ok(all)
}

pub(crate) fn events_of(repetition: &Repetition, unit: &StoredUnit) -> Result<Vec<Event>, String> {
    let status = repetition.status.map(Param::Status);
    let kib = repetition.peak_memory.map(|bytes| Param::PeakMemory(bytes / 1024));
    let params = status.into_iter().chain(kib).map(Event::Param);
    let sample: Sample = unit.sample(repetition)?;
    Ok(params.chain([Event::Sample(Box::new(sample))]).collect())
}

/// Sets the machine of an imported run that names none.
///
/// # Errors
/// When the run names its machine.
pub fn name_machine(run: &mut RunData, host: &str) -> Result<(), ImportError> {
    let known = &mut run.info.machine;
    if known.name != UNKNOWN {
        let what = format!(
            "run {} was measured on {}: leave out --host, which names a system that the file does not",
            run.info.id, known.name
        );
        return Err(ImportError::whole(what));
    }
    let family = known.id.trim_end_matches(UNKNOWN).trim_end_matches('-');
    let named = machine(family, host);
    (known.id, known.name) = (named.id, named.name);
    Ok(())
}

/// Sets the start of an imported run.
pub fn set_start(run: &mut RunData, started: Timestamp) {
    let contents = contents(&run.info.id).to_owned();
    run.info.id = identifier(started, &contents);
    run.info.started = started.to_string();
}

/// Suffix of the identifier of an imported run: a hash of its contents, equal for all copies of a file.
pub fn contents(run_id: &str) -> &str {
    run_id.rsplit('-').next().unwrap_or(run_id)
}

/// Equal for equal contents, so that no run is imported twice.
fn identifier(started: Timestamp, contents: &str) -> String {
    format!("{}-{contents}", started.strftime("%Y%m%d-%H%M%S"))
}

/// A name as part of an identifier; a hash of the name is appended if characters are lost, so that identifiers are unique.
fn name_part(name: &str) -> String {
    match slug(name) {
        slug if slug == name => slug,
        slug => format!("{slug}-{}", &hash(name)[..8]),
    }
}

/// Replaces characters that an identifier may not have.
fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let foreign = |c: char| !matches!(c, 'a'..='z' | '0'..='9' | '.' | '_');
    let words: Vec<&str> = lower.split(foreign).filter(|word| !word.is_empty()).collect();
    let slug = words.join("-");
    let slug = slug.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    match slug[..slug.len().min(60)].trim_end_matches('-') {
        "" => "x".to_owned(),
        slug => slug.to_owned(),
    }
}
