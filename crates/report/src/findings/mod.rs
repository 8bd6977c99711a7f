//! The wording of findings, flags and outcomes, all in this module.

mod flag_styles;
mod sentence;

use crate::words::{self, join, plural};
pub(crate) use flag_styles::details;
pub use flag_styles::{flag_style, footnote, letter, meaning};
use gritstone_document::number;
use gritstone_model::{
    CommonChange, Flag, LawView, Note, Part, Status, Subject, Unfitted, VarianceSource, Withheld,
};
use sentence::sentence;

/// A note in a sentence, with its side of a comparison.
pub fn message(note: &Note) -> String {
    match &note.side {
        Some(side) => format!("{side}: {}", sentence(&note.finding)),
        None => sentence(&note.finding),
    }
}

/// Supported number of users.
pub(crate) fn carried(least: u64, most: u64, too_many: Option<u64>) -> String {
    let count = |users: u64| number::count(users as usize);
    let many = match least == most {
        true => count(least),
        false => format!("{} to {}, by launch,", count(least), count(most)),
    };
    match too_many {
        Some(users) => format!(
            "This machine supports {}; with {}, more than 5% of the responses take a second or longer.",
            words::things(&many, "users"),
            count(users)
        ),
        None => format!(
            "This machine supports {} or more: no launch reached its limit.",
            words::things(&many, "users")
        ),
    }
}

/// The word for an outcome.
pub fn outcome(status: Status) -> &'static str {
    match status {
        Status::Measured => "measured",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
        Status::TimedOut => "timed out",
        Status::Published => "published",
    }
}

/// A flag as a word in a sentence.
pub(crate) fn flagged(flag: Flag) -> &'static str {
    match flag {
        Flag::Invalid => "invalid",
        Flag::Noisy => "noisy",
        Flag::Modes => "with several modes",
        Flag::Interference => "with interference",
        Flag::Skipped => "skipped",
        Flag::NotComparable => "not comparable",
        Flag::Doubtful => "doubtful in its source",
        Flag::Custom => "custom",
    }
}

/// The word for the compared quantity. Times are those of the reference workload.
pub(crate) fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Result => "result",
        Subject::Estimate => "estimate",
        Subject::Real => "real time",
        Subject::User => "user time",
        Subject::System => "system time",
        Subject::Cpu => "CPU time",
        Subject::Process => "process time",
        Subject::FaultsPerPage => "faults per page",
        Subject::Min => "minimum",
        Subject::Mean => "mean",
        Subject::Max => "maximum",
    }
}

/// The name of a part.
pub(crate) fn part(part: &Part) -> String {
    match part {
        Part::Text => "text".to_owned(),
        Part::Data => "data".to_owned(),
        Part::Bss => "bss".to_owned(),
        Part::Cpus(a, b) => format!("CPU {a} and {b}"),
        Part::ClientCpu => "CPU time of the client".to_owned(),
        Part::ServerCpu => "CPU time of the server".to_owned(),
        Part::Without(id) => format!("without {id}"),
        Part::RatioOf(id) => format!("ratio of {id}"),
        Part::Benchmark(id) => id.to_string(),
    }
}

/// Why no law of scaling was fitted.
pub(crate) fn unfitted(why: Unfitted, things: &str) -> String {
    match why {
        Unfitted::Sizes { sizes, needed } => {
            format!("The scaling law needs {needed} numbers of {things}; {sizes} were measured.")
        }
        Unfitted::Launches { copies, launches, needed } => format!(
            "The scaling law needs {needed} launches of each number of {things}; {copies} has {launches}."
        ),
        Unfitted::NoRate => "A rate is missing or zero; scaling law not fitted.".to_owned(),
    }
}

/// The law of scaling; `things` are the copies or users.
pub(crate) fn law(law: &LawView, things: &str) -> String {
    let number = |x| number::significant(x, 2);
    let many = |x| words::things(&number(x), things);
    let knee = law.knee.map(|knee| format!(", knee at {}", many(knee)));
    let peak = match (law.peak.map(many), law.peak_interval) {
        (Some(peak), Some([Some(low), Some(high)])) => {
            format!("peak at {peak} ({} to {})", number(low), number(high))
        }
        (Some(peak), _) => format!("peak at {peak}"),
        (None, _) => "no peak seen".to_owned(),
    };
    format!(
        "contention {}, coherency {}: {peak}{}",
        number::percent(law.contention),
        number::percent(law.coherence),
        knee.unwrap_or_default()
    )
}

/// Why a score is not computed.
pub(crate) fn withheld(why: &Withheld) -> String {
    let named = |why, parts: &[Part]| {
        let parts: Vec<String> = parts.iter().map(part).collect();
        format!("{why}: {}", join(&parts))
    };
    match why {
        Withheld::Empty => "no benchmarks to compute a score from".to_owned(),
        Withheld::NoBaseline => "the baseline is not among the known reference systems".to_owned(),
        Withheld::NotComparable => "the baseline has no comparable result".to_owned(),
        Withheld::Missing(parts) => named("not measured", parts),
        Withheld::Uncovered(parts) => named("the baseline has no comparable result of", parts),
        Withheld::TooMany(parts) => named("more than 1,000 launches", parts),
        Withheld::Invalid(parts) => named("invalid", parts),
        Withheld::NotPositive(parts) => named("a value, reference or weight is not above 0", parts),
    }
}

/// The change that nearly all benchmarks share.
pub fn common_change(common: &CommonChange) -> String {
    let (change, _) = words::percent_change(common.ratio, None);
    format!(
        "Nearly all of {} benchmarks moved alike, in speed by {change} at the median: the machine, or something that all of them use. Measure both sides again, in turns.",
        common.rows
    )
}

/// The source of the variance between runs.
pub(crate) fn variance(source: &VarianceSource) -> String {
    let percent = number::percent_option;
    if source.assumed && source.runs.is_none() {
        return format!(
            "{}, assumed for runs of two systems, until the store has three of each without interference",
            percent(source.default_sd)
        );
    }
    let Some([fewest, most]) = source.runs else {
        return format!(
            "{}, by how these benchmarks differ, until the store has three runs of this system without interference; `gritstone ab` decides sooner",
            percent(source.default_sd)
        );
    };
    let learned = match fewest == most {
        true => format!("learned from {most} runs"),
        false => format!("learned from {fewest} to {most} runs"),
    };
    let all = plural(source.rows, "benchmark");
    match source.default {
        0 => learned,
        n => format!("{learned}; default for {n} of {all}"),
    }
}
