//! Reliability of a run: by the share of its results that are in doubt.

use gritstone_model::{Assessment, Flag, Measurement, Reliability, RunView, Status};

/// Flags that put a result in doubt.
const DOUBTS: [Flag; 4] = [Flag::Invalid, Flag::Noisy, Flag::Modes, Flag::Interference];
/// From these shares of doubtful results, reliability is low, or medium.
const LOW: f64 = 1.0 / 3.0;
const MEDIUM: f64 = 0.1;

/// Rates the reliability of a run.
pub fn assess(run: &RunView) -> Assessment {
    let measured = run.results.iter();
    let measured: Vec<&Measurement> =
        measured.filter(|result| result.outcome() == Status::Measured).collect();
    let carry =
        |flag: Flag| measured.iter().filter(|r| r.flags_of_estimate().contains(&flag)).count();
    let mut causes = DOUBTS.map(|flag| (flag, carry(flag))).to_vec();
    causes.retain(|(_, count)| *count > 0);
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let doubtful =
        |r: &&&Measurement| r.flags_of_estimate().iter().any(|flag| DOUBTS.contains(flag));
    let share = measured.iter().filter(doubtful).count() as f64 / measured.len() as f64;
    let interrupted = run.elapsed_s.is_none();
    let reliability = match share {
        _ if measured.is_empty() => Reliability::Low,
        LOW.. => Reliability::Low,
        MEDIUM.. => Reliability::Medium,
        _ if interrupted || carry(Flag::Invalid) > 0 => Reliability::Medium,
        _ => Reliability::High,
    };
    Assessment { reliability, measured: measured.len(), causes, interrupted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Author, Data, Finding, Id, Kind, Unit};

    /// A run of 30 results, `doubtful` of which carry a flag.
    fn run(doubtful: usize, flag: Flag, elapsed_s: Option<f64>) -> RunView {
        let unit = Unit::parse("ns").unwrap();
        let plain = Measurement::new(
            Id::parse("a/b").unwrap(),
            Kind::Kernel,
            unit,
            gritstone_model::Better::Lower,
            Data::Measured(Box::default()),
        );
        let mut results = vec![plain; 30];
        for result in &mut results[..doubtful] {
            let finding =
                Finding::Stated { by: Author::Workload, flag: Some(flag), text: String::new() };
            result.notes = vec![finding.into()];
        }
        RunView { elapsed_s, results, ..RunView::default() }
    }

    #[test]
    fn doubt_lowers_reliability() {
        let whole = Some(1.0);
        for (doubtful, flag, elapsed, wanted) in [
            (0, Flag::Noisy, whole, Reliability::High),
            (2, Flag::Interference, whole, Reliability::High),
            (1, Flag::Invalid, whole, Reliability::Medium),
            (0, Flag::Noisy, None, Reliability::Medium),
            (3, Flag::Modes, whole, Reliability::Medium),
            (10, Flag::Noisy, whole, Reliability::Low),
            (30, Flag::Custom, whole, Reliability::High),
        ] {
            let assessed = assess(&run(doubtful, flag, elapsed));
            assert_eq!(assessed.reliability, wanted, "{doubtful} {flag:?}");
            let expected = doubtful > 0 && flag != Flag::Custom;
            assert_eq!(assessed.causes, vec![(flag, doubtful); usize::from(expected)]);
        }
        let mut nothing = run(0, Flag::Noisy, whole);
        nothing.results.clear();
        assert_eq!(assess(&nothing).reliability, Reliability::Low);
    }
}
