//! A run made of what another program measured: it can be looked at and compared with others of that program, and says of every
//! figure whose it is, so that it is mixed with ours nowhere.

use crate::ImportError;
use crate::bundle::{check_head, hash};
use crate::limits::{BENCHMARKS, LAUNCHES};
use gritstone_model::{
    Benchmark, Better, CommandWork, Event, Id, Launch, Machine, Outcome, Placement, RunData,
    RunInfo, Sample, Settings, Source, Unit, Work,
};
use std::collections::{BTreeMap, BTreeSet};

/// One benchmark of another program.
pub(crate) struct Series {
    /// What it is called there.
    pub name: String,
    /// Its unit and direction: nanoseconds, where nothing else is said.
    pub unit: (String, Better),
    /// How many of what the unit counts one operation does.
    pub amount: f64,
    /// What must be known of its figure beside whose it is.
    pub remark: Option<&'static str>,
    /// Each repetition, or why it failed.
    pub launches: Vec<Result<Sample, String>>,
}

impl Series {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: ("ns".to_owned(), Better::Lower),
            amount: 1.0,
            remark: None,
            launches: vec![],
        }
    }
}

/// What another program measured.
pub(crate) struct Made {
    pub tool: &'static str,
    pub version: String,
    /// Where the file says it.
    pub started: Option<String>,
    pub machine: Option<String>,
    pub series: Vec<Series>,
}

impl Made {
    /// The run, begun at `otherwise` where the file does not say when.
    ///
    /// # Errors
    /// When it measured nothing.
    pub fn run(self, otherwise: &str) -> Result<RunData, ImportError> {
        if self.series.iter().all(|series| series.launches.is_empty()) {
            return Err(ImportError::whole(format!(
                "no measurement of {} in it",
                self.tool
            )));
        }
        let launches: usize = self.series.iter().map(|one| one.launches.len()).sum();
        if self.series.len() > BENCHMARKS || launches > LAUNCHES {
            return Err(ImportError::whole(format!(
                "more than {BENCHMARKS} benchmarks or {LAUNCHES} measurements"
            )));
        }
        // RFC 3339 in UTC, from what the file says
        let started = self.started.as_deref().and_then(|text| text.parse().ok());
        let started = started.map_or(otherwise.to_owned(), |at: jiff::Timestamp| at.to_string());
        let family = slug(self.tool);
        let (mut benchmarks, mut launches) = (vec![], vec![]);
        let mut names = Names::default();
        for series in &self.series {
            let id = names.unique(&format!("{family}/{}", slug(&series.name)))?;
            for (round, outcome) in (0..).zip(&series.launches) {
                launches.push(launch(&id, round, outcome));
            }
            benchmarks.push(self.benchmark(id, series)?);
        }
        let name = self.machine.clone().unwrap_or(UNKNOWN.to_owned());
        let mut run = RunData {
            info: RunInfo {
                id: identifier(&started, &family, &launches),
                label: None,
                started,
                elapsed_s: Some(launches.iter().map(seconds).sum()),
                gritstone: format!("{} {}", self.tool, self.version).trim().to_owned(),
                machine: Machine {
                    id: format!("{family}-{}", slug(&name)),
                    name,
                    system: format!("as measured by {}", self.tool),
                    ..Machine::default()
                },
                settings: Settings {
                    precision: 0.05,
                    ..Settings::default()
                },
            },
            benchmarks,
            programs: BTreeMap::new(),
            skips: vec![],
            launches,
        };
        check_head(&mut run).map_err(ImportError::Whole)?;
        Ok(run)
    }

    fn benchmark(&self, id: Id, series: &Series) -> Result<Benchmark, ImportError> {
        let (unit, better) = &series.unit;
        let unit = Unit::parse(unit).map_err(|error| ImportError::whole(error.to_string()))?;
        let remark = format!(
            "Measured by {}: no work was proved and no condition watched. {}",
            self.tool,
            series.remark.unwrap_or_default()
        );
        Ok(Benchmark {
            title: series.name.clone(),
            operation: "one operation, as that program counts".to_owned(),
            why: format!("It was measured by {}.", self.tool),
            sources: vec![Source {
                document: self.tool.to_owned(),
                place: "imported".to_owned(),
            }],
            better: *better,
            amount_per_op: series.amount,
            placement: Placement::All,
            remark: Some(remark.trim_end().to_owned()),
            ..Benchmark::new(id, unit, Work::Command(CommandWork::default()))
        })
    }
}

/// The name of a machine that the file does not know.
const UNKNOWN: &str = "unknown";

/// Says which machine measured an imported run that does not say it.
///
/// # Errors
/// When the run says it.
pub fn name_machine(run: &mut RunData, host: &str) -> Result<(), ImportError> {
    let machine = &mut run.info.machine;
    if machine.name != UNKNOWN {
        let what = format!("run {} was measured on {}", run.info.id, machine.name);
        return Err(ImportError::whole(what));
    }
    let family = machine.id.trim_end_matches(UNKNOWN);
    machine.id = format!("{family}{}", slug(host));
    host.clone_into(&mut machine.name);
    Ok(())
}

/// Identifiers that were given, so that no two series have the same.
#[derive(Default)]
struct Names {
    taken: BTreeSet<Id>,
    /// The number that the next series of the same name gets.
    next: BTreeMap<String, u32>,
}

impl Names {
    fn unique(&mut self, name: &str) -> Result<Id, ImportError> {
        let parse = |text: &str| Id::parse(text).map_err(|e| ImportError::whole(e.to_string()));
        let mut id = parse(name)?;
        let next = self.next.entry(name.to_owned()).or_insert(2);
        while !self.taken.insert(id.clone()) {
            id = parse(&format!("{name}/{next}"))?;
            *next += 1;
        }
        Ok(id)
    }
}

/// Longest time that is believed, s: nothing ran for thirty years, and nanoseconds have an end.
const LONGEST: f64 = 1e9;

/// A time as nanoseconds.
///
/// # Errors
/// Why it is none.
pub(crate) fn nanoseconds(seconds: f64) -> Result<u64, String> {
    let ns = seconds * 1e9;
    match ns.round() >= 1.0 && seconds <= LONGEST {
        true => Ok(ns.round() as u64),
        false => Err(format!(
            "{seconds:e} s is impossible: a time is at least 1e-9 s and at most {LONGEST:e} s"
        )),
    }
}

fn launch(id: &Id, round: u32, outcome: &Result<Sample, String>) -> Launch {
    let (outcome, events) = match outcome {
        Ok(sample) => (Outcome::Measured, vec![Event::Sample(Box::new(*sample))]),
        Err(why) => (Outcome::Failed(why.clone()), vec![]),
    };
    Launch {
        id: id.clone(),
        round,
        start: 0,
        cpus: vec![],
        copies: 1,
        outcome,
        events,
        conditions: gritstone_model::Conditions::default(),
    }
}

fn seconds(launch: &Launch) -> f64 {
    match launch.events.first() {
        Some(Event::Sample(sample)) => sample.wall as f64 / 1e9,
        _ => 0.0,
    }
}

/// An identifier that is the same whenever the same is imported, so that it is not kept twice.
fn identifier(started: &str, family: &str, launches: &[Launch]) -> String {
    let digits: String = started
        .chars()
        .filter(char::is_ascii_digit)
        .take(14)
        .collect();
    let text = serde_json::to_string(launches).unwrap_or_default();
    let short = &hash(&format!("{family}{text}"))[..8];
    let (day, time) = digits.split_at(8.min(digits.len()));
    format!("{day}-{time}-{short}")
}

/// Letters that an identifier may have.
fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let foreign = |c: char| !matches!(c, 'a'..='z' | '0'..='9' | '.' | '_');
    let words: Vec<&str> = lower
        .split(foreign)
        .filter(|word| !word.is_empty())
        .collect();
    let slug = words.join("-");
    let slug = slug.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    match slug[..slug.len().min(60)].trim_end_matches('-') {
        "" => "x".to_owned(),
        slug => slug.to_owned(),
    }
}
