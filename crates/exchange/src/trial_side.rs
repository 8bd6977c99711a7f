//! Converts one side of a trial, measured by another program, to a stored run.

use crate::ImportError;
use crate::foreign_run::{Repetition, Series};
use crate::import::{benchmark, check_size, events_of, identifier_of};
use crate::stored_unit::StoredUnit;
use gritstone_model::{Better, Event, Launch, Outcome, Param, RunData, RunInfo, Skip};

/// A benchmark of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBenchmark {
    /// As the program names it.
    pub name: String,
    pub unit: String,
    pub better: Better,
    /// Ratio within which the sides count as the same.
    pub margin: f64,
    /// By round; none for a launch without a value.
    pub values: Vec<Option<f64>>,
}

/// The launch of a round, which measures all benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundLaunch {
    /// Start, ns since the start of the trial.
    pub start: u64,
    /// Process of another run that measured at the same time; 0 if unknown.
    pub other_run: Option<u32>,
    /// Build of the side, if it has several.
    pub layout: Option<u32>,
}

/// The run of a side of `program`, by the launches of its rounds. Benchmarks in units of neither time nor rate are skipped, with the
/// reason.
///
/// # Errors
/// When it exceeds the limits of a run.
pub fn trial_side(
    program: &'static str,
    info: RunInfo,
    benchmarks: &[SideBenchmark],
    launches: &[RoundLaunch],
) -> Result<RunData, ImportError> {
    let mut run =
        RunData { info: RunInfo { gritstone: program.to_owned(), ..info }, ..RunData::default() };
    for benchmark in benchmarks {
        if let Some(trial) = &mut run.info.settings.trial
            && trial.margin.total_cmp(&benchmark.margin).is_ne()
        {
            let id = identifier_of(program, &benchmark.name)?;
            trial.margins.insert(id, benchmark.margin);
        }
        add(&mut run, program, benchmark, launches)?;
    }
    // within a round, in the order of the benchmarks
    run.launches.sort_by_key(|launch| launch.round);
    check_size(run)
}

fn add(
    run: &mut RunData,
    program: &'static str,
    side_benchmark: &SideBenchmark,
    launches: &[RoundLaunch],
) -> Result<(), ImportError> {
    let id = identifier_of(program, &side_benchmark.name)?;
    let series = Series { name: side_benchmark.name.clone(), ..Series::default() };
    let Some(unit) = StoredUnit::parse(&side_benchmark.unit) else {
        let reason = format!("'{}' is neither a time nor a rate", side_benchmark.unit);
        let ns = StoredUnit::nanoseconds().unit;
        let unmeasured = benchmark(program, id.clone(), &series, ns, side_benchmark.better);
        run.benchmarks.push(unmeasured);
        run.skips.push(Skip { id, reason });
        return Ok(());
    };
    for (round, (value, launch)) in (0..).zip(side_benchmark.values.iter().zip(launches)) {
        let events = value.map(|value| events_of(&Repetition::new(value), &unit));
        let (outcome, mut events) = match events {
            Some(Ok(events)) => (Outcome::Measured, events),
            Some(Err(why)) => (Outcome::Failed(why), vec![]),
            None => (Outcome::Failed("the launch left no value".to_owned()), vec![]),
        };
        let of_launch = [launch.other_run.map(Param::OtherRun), launch.layout.map(Param::Layout)];
        events.splice(0..0, of_launch.into_iter().flatten().map(Event::Param));
        let start = launch.start;
        run.launches.push(Launch { round, start, ..Launch::new(id.clone(), outcome, events) });
    }
    let benchmark = benchmark(program, id, &series, unit.unit, side_benchmark.better);
    run.benchmarks.push(benchmark);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::TrialSide;

    #[test]
    fn rounds_become_launches() {
        let benchmark = |name: &str, unit: &str, values: &[Option<f64>]| SideBenchmark {
            name: name.to_owned(),
            unit: unit.to_owned(),
            better: Better::Lower,
            margin: if name == "a" { 0.1 } else { 0.02 },
            values: values.to_vec(),
        };
        let rows = [
            benchmark("a", "us", &[Some(2.0), None, Some(4.0)]),
            benchmark("b", "us", &[Some(3.0)]),
            benchmark("c", "bytes", &[Some(3.0)]),
        ];
        let rounds = [(5, None), (9, Some(7)), (14, None)];
        let rounds = rounds.map(|(start, other_run)| RoundLaunch {
            start,
            other_run,
            layout: other_run.map(|_| 2),
        });
        let mut info = RunInfo::default();
        "m".clone_into(&mut info.machine.id);
        info.settings.trial = Some(TrialSide { margin: 0.02, ..TrialSide::default() });
        let run = trial_side("x", info, &rows, &rounds).unwrap();
        let margins = run.info.settings.trial.iter();
        let margins = margins.flat_map(|trial| &trial.margins);
        let margins: Vec<_> = margins.map(|(id, margin)| (id.as_str(), *margin)).collect();
        assert_eq!(margins, [("x/a", 0.1)]);
        let launches = run.launches.iter();
        let launches: Vec<_> =
            launches.map(|launch| (launch.id.as_str(), launch.round, launch.start)).collect();
        let expected = [("x/a", 0, 5), ("x/b", 0, 5), ("x/a", 1, 9), ("x/a", 2, 14)];
        assert_eq!(launches, expected);
        assert!(matches!(run.launches[2].outcome, Outcome::Failed(_)));
        let of_round = |round| {
            let mut launches = run.launches.iter().filter(|launch| launch.round == round);
            launches.all(|launch| {
                let has = |param| launch.events.contains(&Event::Param(param));
                has(Param::OtherRun(7)) && has(Param::Layout(2))
            })
        };
        assert_eq!([0, 1, 2].map(of_round), [false, true, false]);
        assert_eq!((run.benchmarks.len(), run.skips.len()), (3, 1));
    }
}
