//! Rates of the load under which a benchmark was measured, as launches report them.

use super::reading::Reading;
use gritstone_model::{Benchmark, Finding, LoadRate, Param};

/// Units of work per hour of each program of the load, averaged over launches.
fn rates<'a>(
    benchmark: &'a Benchmark,
    launches: &'a [&Reading],
) -> impl Iterator<Item = (&'a str, LoadRate)> {
    let rate = |program: &'a str| {
        let params = launches.iter().flat_map(|launch| &launch.params);
        let rates: Vec<(f64, &str)> = params
            .filter_map(|param| match param {
                Param::LoadRate(rate) if rate.program == program => {
                    Some((rate.per_hour.get(), rate.work.as_str()))
                }
                _ => None,
            })
            .filter(|(rate, _)| rate.is_finite())
            .collect();
        let (_, work) = rates.first()?;
        let rate = LoadRate {
            per_hour: rates.iter().map(|(rate, _)| rate).sum::<f64>() / rates.len() as f64,
            what: (*work).to_owned(),
        };
        Some((program, rate))
    };
    let programs = benchmark.load().into_iter();
    programs.filter_map(rate)
}

pub(super) fn did(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Finding> {
    let rates: Vec<LoadRate> = rates(benchmark, launches).map(|(_, rate)| rate).collect();
    (!rates.is_empty()).then_some(Finding::Load { rates })
}

/// Programs without progress: an idle load was no load.
pub(super) fn idle(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Finding> {
    let idle = rates(benchmark, launches).filter(|(_, rate)| rate.per_hour <= 0.0);
    let programs: Vec<String> = idle.map(|(program, _)| program.to_owned()).collect();
    (!programs.is_empty()).then_some(Finding::IdleLoad { programs })
}
#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Launch, Work};
    use gritstone_testkit::{benchmark, param};

    fn launch(rates: [&str; 2]) -> Launch {
        let programs = ["load/users", "load/writer"];
        let params = programs.iter().zip(rates);
        let params = params.map(|(program, rate)| param(program, rate));
        gritstone_testkit::launch("rt/x@level-2", 0, params.collect())
    }

    fn found(launches: &[Launch]) -> [Option<Finding>; 2] {
        let mut benchmark = benchmark("rt/x@level-2", "us");
        let Work::Kernel(work) = &mut benchmark.work else { panic!("{benchmark:?}") };
        work.uses = ["load/users", "load/writer"].map(str::to_owned).into();
        let readings: Vec<Reading> = launches.iter().map(Reading::new).collect();
        let readings: Vec<&Reading> = readings.iter().collect();
        [did(&benchmark, &readings), idle(&benchmark, &readings)]
    }

    #[test]
    fn load_rates_are_means() {
        let launches = [
            launch(["1000 transactions of 16 users", "4 writes"]),
            launch(["2000 transactions of 16 users", "8 writes"]),
        ];
        let rate = |per_hour, what: &str| LoadRate { per_hour, what: what.to_owned() };
        let rates = vec![rate(1500.0, "transactions of 16 users"), rate(6.0, "writes")];
        assert_eq!(found(&launches), [Some(Finding::Load { rates }), None]);
        assert_eq!(found(&[]), [None, None]);
    }

    #[test]
    fn idle_load_is_reported() {
        let [_, idle] = found(&[launch(["0 transactions of 16 users", "4 writes"])]);
        let programs = vec!["load/users".to_owned()];
        assert_eq!(idle, Some(Finding::IdleLoad { programs }));
    }
}
