//! A reference machine in the shape of a run.

use crate::{Cell, Distribution, LookupError, References};
use gritstone_model::{
    Benchmark, Better, Estimate, Finding, Kind, Measurement, PublishedView, RunView, SCHEMA_RUN,
    Statistics, Status, Subject, Unit,
};
use std::collections::BTreeMap;

impl References {
    /// The machine of that name (see [`References::machine`]) with all its figures, in the order of `benchmarks`,
    /// which also give titles, kinds and the words for the published work. Times are in `published`, a printed rate
    /// or time of one operation in `estimate`, in the document's unit and without an interval; document and table are
    /// in `measured`. Of printed statistics the median is the estimate. A figure that no entry of `benchmarks` is about comes last, with a note that says so.
    ///
    /// # Errors
    /// When the name fits no machine, or several.
    pub fn view(&self, asked: &str, benchmarks: &[Benchmark]) -> Result<RunView, LookupError> {
        let machine = self.machine(asked)?;
        let place: BTreeMap<_, _> = benchmarks
            .iter()
            .enumerate()
            .map(|(place, benchmark)| (&benchmark.id, place))
            .collect();
        let mut cells: Vec<&Cell> = self
            .cells
            .iter()
            .filter(|cell| cell.machine == machine.id)
            .collect();
        cells.sort_by_key(|cell| {
            let known = place.get(&cell.benchmark).copied();
            (
                known.unwrap_or(usize::MAX),
                natural(cell.benchmark.as_str()),
            )
        });
        let results = cells
            .into_iter()
            .map(|cell| {
                let known = place.get(&cell.benchmark);
                result(cell, known.map(|&place| &benchmarks[place]))
            })
            .collect();
        Ok(RunView {
            schema: SCHEMA_RUN.to_owned(),
            id: format!("ref:{}", machine.id),
            label: None,
            started: self.date_of(machine.document.as_deref()),
            elapsed_s: None,
            gritstone: None,
            machine: machine.clone(),
            settings: None,
            results,
        })
    }

    fn date_of(&self, document: Option<&str>) -> String {
        self.documents
            .iter()
            .find(|known| Some(known.name.as_str()) == document)
            .map(|known| known.date.clone())
            .unwrap_or_default()
    }
}

/// Numbers in a name by their size: transaction 2 before transaction 10.
fn natural(name: &str) -> Vec<(&str, Option<u64>)> {
    let digit = |c: char| c.is_ascii_digit();
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (word, tail) = rest.split_at(rest.find(digit).unwrap_or(rest.len()));
        let end = tail.find(|c| !digit(c)).unwrap_or(tail.len());
        parts.push((word, tail[..end].parse().ok()));
        rest = &tail[end..];
    }
    parts
}

fn result(cell: &Cell, benchmark: Option<&Benchmark>) -> Measurement {
    let mut notes = cell.notes.clone();
    if benchmark.is_none() {
        notes.push(Finding::NotInCatalog {}.into());
    }
    let (unit, better) = unit(cell, benchmark);
    let kind = benchmark.map_or(Kind::Kernel, |known| known.work.kind());
    Measurement {
        title: benchmark.map_or_else(|| own_title(cell), |known| known.title.clone()),
        outcome: Status::Published,
        estimate: estimate(cell).map(Estimate::exact),
        notes,
        statistics: cell.distribution.as_ref().map(statistics),
        faults_per_page: cell.faults_per_page,
        published: published(cell, benchmark),
        measured: Some(format!("{}, {}", cell.document, cell.place)),
        processor_bound: benchmark.is_some_and(|known| known.processor_bound),
        ..Measurement::new(cell.benchmark.clone(), kind, unit, better)
    }
}

/// The document's name for it.
fn own_title(cell: &Cell) -> String {
    let id = || cell.benchmark.to_string();
    cell.title.clone().unwrap_or_else(id)
}

fn estimate(cell: &Cell) -> Option<f64> {
    let median = || cell.distribution.as_ref().map(|printed| printed.median);
    cell.value.as_ref().map(|value| value.value).or_else(median)
}

fn statistics(printed: &Distribution) -> Statistics {
    Statistics {
        min: printed.min,
        median: printed.median,
        mean: printed.mean,
        max: printed.max,
        ..Statistics::default()
    }
}

/// The unit of `estimate`: as printed, else the benchmark's own, else that of the printed times.
fn unit(cell: &Cell, benchmark: Option<&Benchmark>) -> (Unit, Better) {
    if let Some(value) = &cell.value {
        return (value.unit.clone(), value.better);
    }
    if let Some(printed) = &cell.distribution {
        return (printed.unit.clone(), Better::Lower);
    }
    benchmark.map_or_else(
        || {
            let seconds = Unit::parse("s").expect("the second is a unit");
            (seconds, Better::Lower)
        },
        |known| (known.unit.clone(), known.better),
    )
}

/// The time to look at where nobody says which: that of the clock on the wall, if it was printed.
fn printed_first(cell: &Cell) -> Subject {
    let times = &cell.seconds;
    match (times.real, times.user, times.cpu) {
        (Some(_), _, _) => Subject::Real,
        (None, Some(_), _) => Subject::User,
        (None, None, Some(_)) => Subject::Cpu,
        (None, None, None) => Subject::System,
    }
}

fn published(cell: &Cell, benchmark: Option<&Benchmark>) -> Option<PublishedView> {
    if cell.seconds.is_empty() {
        return None;
    }
    let work = benchmark.and_then(|known| known.published.as_ref());
    Some(PublishedView {
        work: work.map_or_else(String::new, |work| work.work.clone()),
        operations: work.map(|work| work.operations),
        figure: work.map_or_else(|| printed_first(cell), |work| work.figure),
        real: cell.seconds.real.map(Estimate::exact),
        user: cell.seconds.user.map(Estimate::exact),
        system: cell.seconds.system.map(Estimate::exact),
        cpu_s: cell.seconds.cpu,
        // a document prints neither intervals nor the share of the start
        ..PublishedView::default()
    })
}
