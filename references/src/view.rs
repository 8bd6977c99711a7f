//! A reference system as the view of a run.

use crate::{Cell, LookupError, References};
use gritstone_model::{
    Benchmark, Better, Data, Estimate, Finding, Id, Kind, Measurement, Printed, PublishedView,
    RunView, SCHEMA_RUN, Statistics, Subject, Unit,
};

impl References {
    /// The machine of that name (see [`References::machine`]) with all its numbers, in the order of `benchmarks`, which also provide
    /// titles, kinds and the description of the reference workload. Times are in `published`, a printed rate or time per operation in
    /// `estimate`, in the document's unit and without an interval; document and table are in `measured`. Of printed statistics the median
    /// is the estimate. Numbers without an entry in `benchmarks` come last, with a note.
    ///
    /// # Errors
    /// When the name matches no machine, or several.
    pub fn view(&self, asked: &str, benchmarks: &[Benchmark]) -> Result<RunView, LookupError> {
        let machine = self.machine(asked)?;
        let place = |id: &Id| benchmarks.iter().position(|benchmark| benchmark.id == *id);
        let cells = self.cells.iter().filter(|cell| cell.machine == machine.id);
        let mut cells: Vec<_> = cells.map(|cell| (place(&cell.benchmark), cell)).collect();
        cells.sort_by_key(|(place, cell)| {
            (place.unwrap_or(usize::MAX), natural(cell.benchmark.as_str()))
        });
        let results = cells.into_iter();
        let results =
            results.map(|(place, cell)| result(cell, place.map(|index| &benchmarks[index])));
        let document = machine.document.as_ref();
        let mut documents = self.documents.iter();
        let document = documents.find(|known| Some(&known.name) == document);
        // the document's date does not apply to a measurement in another year
        let date = document.filter(|document| machine.year == Some(document.year));
        let year = || machine.year.map(|year| year.to_string());
        Ok(RunView {
            schema: SCHEMA_RUN.to_owned(),
            id: format!("ref:{}", machine.id),
            started: (date.map(|document| document.date.clone())).or_else(year).unwrap_or_default(),
            machine: machine.clone(),
            results: results.collect(),
            ..RunView::default()
        })
    }
}

/// A sort key that orders numbers in names by value: transaction 2 before transaction 10.
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
    // as printed, else in the benchmark's unit, else in that of the printed times
    let (estimate, unit, better) = match (&cell.value, &cell.distribution, benchmark) {
        (Some(printed), _, _) => (Some(printed.value), printed.unit.clone(), printed.better),
        (_, Some(printed), _) => (Some(printed.median), printed.unit.clone(), Better::Lower),
        (_, _, Some(known)) => (None, known.unit.clone(), known.better),
        _ => (None, Unit::parse("s").expect("the second is a unit"), Better::Lower),
    };
    let kind = benchmark.map_or(Kind::Kernel, |known| known.work.kind());
    let title = benchmark.map(|known| &known.title).or(cell.title.as_ref());
    let data = Data::Printed(Printed {
        estimate: estimate.map(Estimate::exact),
        statistics: cell.distribution.as_ref().map(|printed| Statistics {
            min: printed.min,
            median: printed.median,
            mean: printed.mean,
            max: printed.max,
            ..Statistics::default()
        }),
        faults_per_page: cell.faults_per_page,
    });
    Measurement {
        title: title.cloned().unwrap_or_else(|| cell.benchmark.to_string()),
        notes,
        published: published(cell, benchmark),
        measured: Some(format!("{}, {}", cell.document, cell.place)),
        processor_bound: benchmark.is_some_and(|known| known.processor_bound),
        ..Measurement::new(cell.benchmark.clone(), kind, unit, better, data)
    }
}

fn published(cell: &Cell, benchmark: Option<&Benchmark>) -> Option<PublishedView> {
    let times = &cell.seconds;
    // the main time, unless the file names one: the elapsed time, if printed
    let first = match (times.real, times.user, times.cpu) {
        (Some(_), _, _) => Subject::Real,
        (None, Some(_), _) => Subject::User,
        (None, None, Some(_)) => Subject::Cpu,
        (None, None, None) => Subject::System,
    };
    let work = benchmark.and_then(|known| known.published.as_ref());
    (!times.is_empty()).then(|| PublishedView {
        work: work.map_or_else(String::new, |work| work.work.clone()),
        operations: work.map(|work| work.operations),
        figure: work.map_or(first, |work| work.figure),
        real: times.real.map(Estimate::exact),
        user: times.user.map(Estimate::exact),
        system: times.system.map(Estimate::exact),
        cpu_s: times.cpu,
        // documents print neither intervals nor start-up
        ..PublishedView::default()
    })
}
