//! What a load did that a row was measured beside, as its launches said it.
//!
//! Must not know: what the programs of a load are.

use super::reading::Reading;
use super::words::number;
use gritstone_model::{Benchmark, Footnote, FootnoteKind};

/// Pieces of work an hour of each program of the load, on average over launches: a load that stood still was none.
pub(super) fn beside(benchmark: &Benchmark, launches: &[&Reading]) -> Vec<Footnote> {
    let said = |program: &str| -> Vec<(f64, &str)> {
        let all = launches.iter().flat_map(|launch| launch.params(program));
        let split = all.filter_map(|value| value.split_once(' '));
        split
            .filter_map(|(rate, of)| Some((rate.parse().ok()?, of)))
            .collect()
    };
    let mut rates = vec![];
    let mut idle = vec![];
    for program in benchmark.load() {
        let said = said(program);
        let Some((_, of)) = said.first() else {
            continue;
        };
        let mean = said.iter().map(|(rate, _)| rate).sum::<f64>() / said.len() as f64;
        rates.push(format!("{} {of}", number(mean)));
        if mean <= 0.0 {
            idle.push(program);
        }
    }
    let note = (!rates.is_empty()).then(|| {
        let why = format!("The load beside it did in an hour: {}.", rates.join("; "));
        Footnote::new(FootnoteKind::Note, why)
    });
    let stood = (!idle.is_empty()).then(|| {
        let why = format!(
            "Of the load beside it {} did nothing while this was measured.",
            idle.join(" and ")
        );
        Footnote::new(FootnoteKind::NotComparable, why)
    });
    note.into_iter().chain(stood).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Event, Id, KernelWork, Launch, Outcome, Unit, Work};

    fn launch(rates: [&str; 2]) -> Launch {
        let programs = ["load/users", "load/writer"];
        let params = programs.iter().zip(rates).map(|(key, value)| Event::Param {
            key: (*key).to_owned(),
            value: value.to_owned(),
        });
        Launch {
            id: Id::parse("rt/x@level-2").unwrap(),
            copies: 1,
            round: 0,
            start: 0,
            cpus: vec![1],
            outcome: Outcome::Measured,
            events: params.collect(),
            conditions: Default::default(),
        }
    }

    fn notes(launches: &[Launch]) -> Vec<(FootnoteKind, String)> {
        let row = Benchmark {
            id: Id::parse("rt/x@level-2").unwrap(),
            title: String::new(),
            version: 1,
            work: Work::Kernel(KernelWork {
                program: "rt/x".into(),
                params: Default::default(),
                uses: vec!["load/users".into(), "load/writer".into()],
            }),
            operation: String::new(),
            why: String::new(),
            sources: vec![],
            unit: Unit::parse("us").unwrap(),
            better: gritstone_model::Better::Lower,
            amount_per_op: 1.0,
            published: None,
            placement: Default::default(),
            processor_bound: false,
            files: false,
            claims: Default::default(),
            needs: vec![],
            curve: None,
            remark: None,
            not_comparable: None,
        };
        let readings: Vec<Reading> = launches.iter().map(Reading::of).collect();
        let notes = beside(&row, &readings.iter().collect::<Vec<_>>());
        notes
            .into_iter()
            .map(|note| (note.kind, note.why))
            .collect()
    }

    #[test]
    fn the_mean_of_each_part_is_told() {
        let launches = [
            launch(["1000 transactions of 16 users", "4 writes"]),
            launch(["2000 transactions of 16 users", "8 writes"]),
        ];
        let said = "The load beside it did in an hour: 1500 transactions of 16 users; 6 writes.";
        assert_eq!(notes(&launches), [(FootnoteKind::Note, said.to_owned())]);
        assert!(notes(&[]).is_empty());
    }

    #[test]
    fn a_load_that_stood_still_was_none() {
        let told = notes(&[launch(["0 transactions of 16 users", "4 writes"])]);
        let said = "Of the load beside it load/users did nothing while this was measured.";
        assert_eq!(told[1], (FootnoteKind::NotComparable, said.to_owned()));
    }
}
