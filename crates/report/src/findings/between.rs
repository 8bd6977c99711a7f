//! Findings on several results, as sentences: parts, scores, times, sides, runs.

use super::sentence::{ids, number, of, percent, sentence};
use super::{subject, withheld};
use crate::words::plural;
use gritstone_model::{Finding as F, Finding, Flag, NegativeBecause};

/// What a difference, a sum or a mean is computed from.
pub(super) fn parts(finding: &Finding) -> Option<String> {
    Some(match finding {
        F::IncompleteRounds { count } => {
            format!("{} lack a result of a part, and do not count.", of(*count))
        }
        F::Negative {
            value,
            unit,
            because,
        } => format!(
            "Negative difference of {} {unit}: {}.",
            number(*value),
            match because {
                NegativeBecause::Interference => "its parts had interference",
                NegativeBecause::TooFew => "too few rounds for an interval",
                NegativeBecause::Work => "one of its parts does not do the claimed work",
            }
        ),
        F::ReachesZero {
            interval: [low, high],
            unit,
        } => format!(
            "The interval, {} to {} {unit}, includes 0: the difference may be nothing.",
            number(*low),
            number(*high)
        ),
        F::Inherited { from, finding } => format!("From {from}: {}", sentence(finding)),
        F::PartsMissing { absent, empty } => match (absent.is_empty(), empty.is_empty()) {
            (true, true) => "No round measured all of its parts.".to_owned(),
            (false, true) => format!("Not in this run: {}.", ids(absent)),
            (true, false) => format!("Without a result: {}.", ids(empty)),
            (false, false) => format!(
                "Not in this run: {}; without a result: {}.",
                ids(absent),
                ids(empty)
            ),
        },
        _ => return None,
    })
}

/// What a score is over.
pub(super) fn scores(finding: &Finding) -> Option<String> {
    Some(match finding {
        F::ScoreWithheld {
            baseline, of, why, ..
        } => format!(
            "The score against {baseline} over {} is withheld: {}.",
            plural(*of, "benchmark"),
            withheld(why)
        ),
        F::PartialScore { part, of } => format!(
            "The score is over the {part} of {} that the baseline has.",
            plural(*of, "benchmark")
        ),
        F::WeightLeftOut {
            share,
            baseline,
            benchmarks,
        } => format!(
            "{} of the weight counts: {baseline} has no result for {}.",
            percent(*share),
            ids(benchmarks)
        ),
        F::PartsFlagged {
            flag,
            benchmarks,
            of,
        } => format!(
            "{} of {} {}: {}.",
            benchmarks.len(),
            plural(*of, "benchmark"),
            word(*flag),
            ids(benchmarks)
        ),
        _ => return None,
    })
}

/// The reference workload.
pub(super) fn reference(finding: &Finding) -> Option<String> {
    Some(match finding {
        F::NoBatch {
            count,
            did,
            operations,
            ..
        } => format!(
            "{} did not run the reference workload as one batch{}.",
            of(*count),
            did.map_or_else(String::new, |did| format!(
                " (one did {did} of {operations} operations)"
            ))
        ),
        F::StartUp { limit } => format!(
            "Start-up is more than {} of this time: compare real_s, the work alone.",
            percent(*limit)
        ),
        F::StartUpUnseen { process_s, real_s } => format!(
            "Start-up is below noise: the whole process took {} s, the work alone {} s.",
            number(*process_s),
            number(*real_s)
        ),
        _ => return None,
    })
}

/// Why two results are not compared, or how.
pub(super) fn comparison(finding: &Finding) -> Option<String> {
    Some(match finding {
        F::NoCounterpart { lacking } => format!("{lacking} has no such benchmark."),
        F::VersionsDiffer { base, other } => {
            format!("The work changed: version {base} against version {other}.")
        }
        F::UnitsDiffer { base, other } => {
            format!("The units count different things: {base} against {other}.")
        }
        F::NoEstimate { base, other } => match (base, other) {
            (true, false) => "Only the base has a result.",
            (false, true) => "Only the other side has a result.",
            _ => "Neither side has a result.",
        }
        .to_owned(),
        F::NotPositive {} => "A value that is not above 0 has no ratio.".to_owned(),
        F::NoLaunches {} => {
            "No values of single launches to compare: the ratio has no interval.".to_owned()
        }
        F::RealTimeInstead { asked, unmeasured } => format!(
            "The document points to {}, which {}; real time is compared.",
            subject(*asked),
            match unmeasured {
                true => "could not be measured here (below 100 scheduler ticks, or nothing)",
                false => "it does not print for one of them",
            }
        ),
        F::OnlyTime { time } => format!("Only {} is available on both sides.", subject(*time)),
        F::AcrossTimes { printed } => format!(
            "The printed {} is compared with measured real time, which includes waiting: no other time was measured.",
            subject(*printed)
        ),
        F::NothingInCommon {} => "The two sides have no result of the same kind.".to_owned(),
        F::BothPrinted {} => {
            "Both values are printed ones without an interval: a difference may be chance."
                .to_owned()
        }
        _ => return None,
    })
}

/// Earlier runs.
pub(super) fn history(finding: &Finding) -> Option<String> {
    Some(match finding {
        F::NoHistory {} => "It is in no history.".to_owned(),
        F::CorrelatedHistory { correlation } => format!(
            "Its runs are correlated ({correlation:.2}): their scatter does not predict the next."
        ),
        F::ShortHistory { runs, needed } => format!(
            "{} like it since the last change; {needed} are needed.",
            plural(*runs, "earlier run")
        ),
        F::NoEstimateIn { run } => format!("No result above 0 in run {run}."),
        F::NotInRun { run } => format!("Not in run {run}."),
        F::InvalidIn { run, finding } => format!("Invalid in run {run}: {}", sentence(finding)),
        F::ProgramsDiffer { run, first } => {
            format!("Another program or version in run {run} than in run {first}.")
        }
        _ => return None,
    })
}

/// A flag as a word in a sentence.
fn word(flag: Flag) -> &'static str {
    match flag {
        Flag::Invalid => "invalid",
        Flag::Noisy => "noisy",
        Flag::Modes => "with several modes",
        Flag::Interference => "with interference",
        Flag::Skipped => "skipped",
        Flag::NotComparable => "not comparable",
        Flag::Doubtful => "doubtful as printed",
        Flag::Custom => "custom",
    }
}
