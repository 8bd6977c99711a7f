//! A side of a trial by the benchmarks of another program, as a run that is stored.

use crate::ImportError;
use crate::bundle::check_head;
use crate::foreign_run::{Repetition, Series};
use crate::import::{benchmark, events_of, identifier_of};
use crate::limits::{BENCHMARKS, LAUNCHES};
use crate::stored_unit::StoredUnit;
use gritstone_model::{Better, Conditions, Launch, Outcome, RunData, RunInfo, Skip};

/// A benchmark of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBenchmark {
    /// As the program names it.
    pub name: String,
    pub unit: String,
    pub better: Better,
    /// By round; none where a launch left none.
    pub values: Vec<Option<f64>>,
}

/// The run of a side of `program`, of which `starts` has when each round's launch began, in ns since the start of the trial. Benchmarks
/// in units that are neither times nor rates are skipped, with the reason.
///
/// # Errors
/// When it has more than a run may have.
pub fn trial_side(
    program: &'static str,
    info: RunInfo,
    benchmarks: &[SideBenchmark],
    starts: &[u64],
) -> Result<RunData, ImportError> {
    let mut run = RunData {
        info: RunInfo {
            gritstone: program.to_owned(),
            ..info
        },
        ..RunData::default()
    };
    for of in benchmarks {
        add(&mut run, program, of, starts)?;
    }
    // of one round, in the order of the benchmarks
    run.launches.sort_by_key(|launch| launch.round);
    if run.benchmarks.len() > BENCHMARKS || run.launches.len() > LAUNCHES {
        return Err(ImportError::whole(format!(
            "more than {BENCHMARKS} benchmarks or {LAUNCHES} measurements"
        )));
    }
    check_head(&mut run).map_err(ImportError::Whole)?;
    Ok(run)
}

fn add(
    run: &mut RunData,
    program: &'static str,
    of: &SideBenchmark,
    starts: &[u64],
) -> Result<(), ImportError> {
    let id = identifier_of(program, &of.name)?;
    let series = Series {
        name: of.name.clone(),
        ..Series::default()
    };
    let Some(unit) = StoredUnit::parse(&of.unit) else {
        let reason = format!("'{}' is neither a time nor a rate", of.unit);
        let ns = StoredUnit::nanoseconds().unit;
        let unmeasured = benchmark(program, id.clone(), &series, ns, of.better);
        run.benchmarks.push(unmeasured);
        run.skips.push(Skip { id, reason });
        return Ok(());
    };
    for (round, (value, start)) in (0..).zip(of.values.iter().zip(starts)) {
        let events = value.map(|value| events_of(&Repetition::new(value), &unit));
        let (outcome, events) = match events {
            Some(Ok(events)) => (Outcome::Measured, events),
            Some(Err(why)) => (Outcome::Failed(why), vec![]),
            None => (
                Outcome::Failed("the launch left no value".to_owned()),
                vec![],
            ),
        };
        run.launches.push(Launch {
            id: id.clone(),
            round,
            start: *start,
            cpus: vec![],
            copies: 1,
            outcome,
            events,
            conditions: Conditions::default(),
        });
    }
    let benchmark = benchmark(program, id, &series, unit.unit, of.better);
    run.benchmarks.push(benchmark);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_become_launches() {
        let of = |name: &str, unit: &str, values: &[Option<f64>]| SideBenchmark {
            name: name.to_owned(),
            unit: unit.to_owned(),
            better: Better::Lower,
            values: values.to_vec(),
        };
        let rows = [
            of("a", "us", &[Some(2.0), None, Some(4.0)]),
            of("b", "us", &[Some(3.0)]),
            of("c", "bytes", &[Some(3.0)]),
        ];
        let run = trial_side("x", RunInfo::default(), &rows, &[5, 9, 14]).unwrap();
        let launches = run.launches.iter();
        let launches: Vec<_> = launches
            .map(|launch| (launch.id.as_str(), launch.round, launch.start))
            .collect();
        let expected = [("x/a", 0, 5), ("x/b", 0, 5), ("x/a", 1, 9), ("x/a", 2, 14)];
        assert_eq!(launches, expected);
        assert!(matches!(run.launches[2].outcome, Outcome::Failed(_)));
        assert_eq!((run.benchmarks.len(), run.skips.len()), (3, 1));
    }
}
