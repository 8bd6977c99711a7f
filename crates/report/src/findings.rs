//! The words of findings, flags and outcomes: the one place where they are sentences.
//!
//! Must not know: how anything is found, documents.

use crate::number;
use crate::words::{join, plural};
use gritstone_model::{
    Author, Count, Finding, Flag, Id, Interference, NegativeBecause, Note, Part, Repeat, Status,
    Subject, Unfitted, VarianceSource, Withheld,
};

/// A note in a sentence, with the side of a comparison that it is of.
#[must_use]
pub fn message(note: &Note) -> String {
    match &note.side {
        Some(side) => format!("{side}: {}", sentence(&note.finding)),
        None => sentence(&note.finding),
    }
}

/// The mark of a flag, and of notes without one.
#[must_use]
pub fn mark(flag: Option<Flag>) -> &'static str {
    match flag {
        Some(Flag::Invalid) => "*",
        Some(Flag::Noisy | Flag::Modes) => "†",
        Some(Flag::Interference) => "‡",
        Some(Flag::Skipped) => "§",
        Some(Flag::NotComparable) => "‖",
        Some(Flag::Doubtful) => "?",
        Some(Flag::Custom) => "◊",
        None => "¶",
    }
}

/// What a flag means.
#[must_use]
pub fn meaning(flag: Option<Flag>) -> &'static str {
    match flag {
        Some(Flag::Invalid) => "work check failed: result invalid, in no score",
        Some(Flag::Noisy | Flag::Modes) => {
            "noisy: the interval is wider than asked for, or the launches fall into several modes"
        }
        Some(Flag::Interference) => "interference: other work, steal, throttling or SMT contention",
        Some(Flag::Skipped) => "no result, for the reason given",
        Some(Flag::NotComparable) => {
            "not comparable: other work, another version, another unit or a stand-in"
        }
        Some(Flag::Doubtful) => "the document, or its scan, leaves the value in doubt",
        Some(Flag::Custom) => "custom benchmark",
        None => "a remark without a flag",
    }
}

/// The word for how a result came about.
#[must_use]
pub fn outcome(status: Status) -> &'static str {
    match status {
        Status::Measured => "measured",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
        Status::TimedOut => "timed out",
        Status::Published => "published",
    }
}

/// The word for what was compared. The times are those of the reference workload.
pub(crate) fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Result => "result",
        Subject::Estimate => "estimate",
        Subject::Cycles => "core cycles",
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
        Part::Without(id) => format!("without {id}"),
        Part::RatioOf(id) => format!("ratio of {id}"),
        Part::Benchmark(id) => id.to_string(),
        Part::Copies(id, copies) => format!("{id} as {copies} copies"),
    }
}

/// Why no law of scaling was fitted.
pub(crate) fn unfitted(why: Unfitted) -> String {
    match why {
        Unfitted::Sizes { sizes, needed } => {
            format!("The scaling law needs {needed} numbers of copies; {sizes} were measured.")
        }
        Unfitted::Launches {
            copies,
            launches,
            needed,
        } => format!(
            "The scaling law needs {needed} launches of each number of copies; {} has {launches}.",
            plural(copies as usize, "copy")
        ),
        Unfitted::NoRate => "A rate is missing or zero; scaling law not fitted.".to_owned(),
    }
}

/// Why a score is withheld.
pub(crate) fn withheld(why: &Withheld) -> String {
    let named = |parts: &[Part]| join(&parts.iter().map(part).collect::<Vec<_>>());
    match why {
        Withheld::Empty => "there are no benchmarks to score by".to_owned(),
        Withheld::NoBaseline => "the baseline is not among the known reference systems".to_owned(),
        Withheld::NotComparable => "the baseline has no comparable result".to_owned(),
        Withheld::Missing(parts) => format!("not measured: {}", named(parts)),
        Withheld::TooMany(parts) => format!("more than 1,000 launches: {}", named(parts)),
        Withheld::Invalid(parts) => format!("invalid: {}", named(parts)),
        Withheld::NotPositive(parts) => {
            format!(
                "a value, reference or weight is not above 0: {}",
                named(parts)
            )
        }
    }
}

/// Where the variance between runs was taken from.
pub(crate) fn variance(source: &VarianceSource) -> String {
    let Some([fewest, most]) = source.runs else {
        return format!(
            "default ({} in core cycles, {} otherwise)",
            number::percent_asked(source.default_cycles),
            number::percent_asked(source.default_times)
        );
    };
    let learned = match fewest == most {
        true => format!("learned from {most} runs"),
        false => format!("learned from {fewest} to {most} runs"),
    };
    match source.default {
        0 => learned,
        n => format!(
            "{learned}; default for {n} of {}",
            plural(source.rows, "row")
        ),
    }
}

/// Three significant digits, without an exponent where a person would write none.
fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !size.is_finite() || !(1e-4..1e7).contains(&size) {
        format!("{x:.2e}")
    } else if size >= 100.0 {
        format!("{x:.0}")
    } else {
        // digits after the point so that three remain: 2 for 1.23, 5 for 0.00123
        let places = (2 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.places$}");
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    }
}

fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

fn repeats(n: usize, what: Repeat) -> String {
    match what {
        Repeat::Launch => plural(n, "launch"),
        Repeat::Round => plural(n, "round"),
    }
}

fn of(count: Count) -> String {
    format!("{} of {}", count.part, repeats(count.of, count.what))
}

fn ids(ids: &[Id]) -> String {
    join(&ids.iter().map(Id::as_str).collect::<Vec<_>>())
}

/// As it is, with a capital letter and a full stop.
fn stated(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?']) {
        true => crate::words::capital(text),
        false => format!("{}.", crate::words::capital(text)),
    }
}

fn cause(cause: Interference) -> String {
    match cause {
        Interference::Others(share) => {
            format!("other processes used up to {} of a CPU", percent(share))
        }
        Interference::Elsewhere(share) => {
            format!(
                "the other CPUs were busy up to {} of the time",
                percent(share)
            )
        }
        Interference::Steal(share) => format!("up to {} steal time", percent(share)),
        Interference::Stalled(share) => format!("stalled up to {} of the time", percent(share)),
        Interference::Throttled(share) => format!(
            "throttled by the cgroup CPU quota up to {} of the time",
            percent(share)
        ),
        Interference::Overheated(times) => {
            format!(
                "thermal throttling up to {}",
                plural(times as usize, "time")
            )
        }
        Interference::MemoryLimit(times) => {
            format!(
                "memory limit reached up to {}",
                plural(times as usize, "time")
            )
        }
        Interference::Smt => "the SMT sibling was busy".to_owned(),
    }
}

/// A finding in a sentence.
fn sentence(finding: &Finding) -> String {
    use Finding as F;
    match finding {
        F::NotReached {} => {
            "The run ended before the first launch; run it again with a longer budget.".to_owned()
        }
        F::Unavailable { reason } => stated(reason),
        F::Failed {
            outcome: how,
            reason,
            count,
            ..
        } => match count.part == count.of {
            true => format!("{} {}: {}", of(*count), outcome(*how), stated(reason)),
            false => format!(
                "{} gave no result; first error ({}): {}",
                of(*count),
                outcome(*how),
                stated(reason)
            ),
        },
        F::Stated { by, text, .. } => match by {
            Author::Catalog | Author::Workload => stated(text),
            Author::Document | Author::Reader => text.clone(),
        },
        F::Custom { catalog } => format!("Custom benchmark, of the catalog {catalog}."),
        F::NotInCatalog {} => {
            "Gritstone does not measure it: it compares with printed values only.".to_owned()
        }

        F::WrongCheck {
            wrong,
            regions,
            n,
            got,
            expected,
        } => format!(
            "Wrong check value in {wrong} of {}: {got} instead of {expected} at n = {n}.",
            plural(*regions, "timed region")
        ),
        F::NoCheck { count } => format!("No check value from {}.", of(*count)),
        F::NotLinear {
            small,
            large,
            exponent,
            allowed: [least, most],
        } => format!(
            "Time does not grow in proportion to n: between n = {small} and n = {large} it grows as n^{} (allowed: {least} to {most}).",
            exponent.map_or_else(|| "infinity".to_owned(), number)
        ),
        F::GrowthUnverified { launches } => format!(
            "Scaling with n is unverified: no launch of {launches} timed two values of n twice."
        ),
        F::BelowMinimum { ns, minimum } => format!(
            "{} ns/op is below the physical minimum of {} ns.",
            number(*ns),
            number(*minimum)
        ),
        F::FewSwitches {
            per_op,
            claimed,
            share,
        } => format!(
            "{} voluntary context switches per operation, less than {} of the {} claimed.",
            number(*per_op),
            percent(*share),
            number(*claimed)
        ),
        F::ManyFaults { per_op, claimed } => format!(
            "{} page faults per operation; at most {} are claimed.",
            number(*per_op),
            number(*claimed)
        ),
        F::FewMajorFaults { per_op, claimed } => format!(
            "{} major page faults per operation; at least {} are claimed.",
            number(*per_op),
            number(*claimed)
        ),
        F::SystemCalls {
            per_op,
            expected,
            claimed,
        } => format!(
            "{} system calls per operation; {} {}.",
            number(*per_op),
            number(*expected),
            match claimed {
                true => "are claimed",
                false => "were counted of the shipped program",
            }
        ),
        F::Untimed { count } => format!("No time passed in the timed regions of {}.", of(*count)),
        F::Unsized { count } => format!(
            "{} did not report text, data and bss in whole bytes.",
            of(*count)
        ),

        F::NoInterval {
            confidence,
            needed,
            n,
            what,
        } => format!(
            "No interval: {} confidence needs {}, and there are {n}.",
            percent(*confidence),
            repeats(*needed, *what)
        ),
        F::WideInterval {
            half,
            asked,
            n,
            what,
        } => match (percent(*half), percent(*asked)) {
            (is, asked) if is == asked => format!(
                "The interval is slightly wider after {} than the ±{asked} asked for.",
                repeats(*n, *what)
            ),
            (is, asked) => format!(
                "The interval is ±{is} after {}; ±{asked} was asked for.",
                repeats(*n, *what)
            ),
        },
        F::SeveralModes { modes, n, what } => format!(
            "The {} fall into {modes} modes: one estimate does not describe them.",
            repeats(*n, *what)
        ),
        F::SizeVaries { least, most } => {
            format!(
                "The size varies between launches, {least} to {most} bytes; the first is shown."
            )
        }
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

        F::Interfered { count, causes } => {
            let causes: Vec<String> = causes.iter().map(|c| cause(*c)).collect();
            format!("Interference in {}: {}.", of(*count), causes.join(", "))
        }
        F::LeftOut { count } => format!(
            "{} are kept but not in this estimate: the SMT sibling was busy.",
            of(*count)
        ),
        F::FrequencyDrift { sd } => format!(
            "The core frequency drifted by {} between parts of this run: intervals of times include it, core cycles are free of it.",
            percent(*sd)
        ),
        F::Load { rates } => {
            let said = |rate: &gritstone_model::LoadRate| {
                format!("{} {}", number(rate.per_hour), rate.what)
            };
            let said: Vec<String> = rates.iter().map(said).collect();
            format!("Load, per hour: {}.", said.join("; "))
        }
        F::IdleLoad { programs } => {
            format!("Part of the load did nothing: {}.", join(programs))
        }
        F::Paging {
            cpu_s,
            real_s,
            major_faults,
            each,
        } => format!(
            "Per operation: {} s CPU time, {} s real time, {} major page faults{}.",
            number(*cpu_s),
            number(*real_s),
            number(*major_faults),
            each.as_ref().map_or_else(String::new, |(faults, thing)| {
                format!(" ({} per {thing})", number(*faults))
            })
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

        F::EndedEarly {} => "It ended before the first sample.".to_owned(),
        F::NeedsIeee { finding, flags } => format!(
            "{} It needs IEEE arithmetic, which {flags} gives up.",
            sentence(finding)
        ),
    }
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
