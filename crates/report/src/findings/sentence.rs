//! A finding in a sentence.

use super::{flagged, outcome, subject, withheld};
use crate::words::{self, Sense, capital, join, plural};
use gritstone_document::number;
use gritstone_model::{
    Author, Cache, CacheKind, Count, Finding as F, Finding, Id, Interference, LoadRate,
    NegativeBecause, Repeat, Rise,
};

/// A finding in a sentence. Cases are in the order of the type.
pub(super) fn sentence(finding: &Finding) -> String {
    match finding {
        F::NotReached { budget_s: None } => {
            "The run ended before the first launch: --resume or a longer --budget reaches it."
                .into()
        }
        F::NotReached { budget_s: Some(s) } => {
            let minutes = (s / 60.0).ceil();
            format!("Its six launches did not fit into the budget: --budget {minutes}m reaches it.")
        }
        F::Unavailable { reason } => stated(reason),
        F::Failed { outcome: how, reason, count, .. } => {
            let (how, reason) = (outcome(*how), stated(reason));
            match count.part == count.of {
                true => format!("{} {how}: {reason}", counted(count)),
                false => {
                    format!("{} gave no result; first error ({how}): {reason}", counted(count))
                }
            }
        }
        F::Stated { by, text, .. } => match by {
            Author::Catalog | Author::Workload => stated(text),
            Author::Document | Author::Reader => text.clone(),
        },
        F::Reckoned { from } => format!("Computed, not printed. {from}"),
        F::Custom { catalog } => format!("Custom benchmark, of the catalog {catalog}."),
        F::NotInCatalog {} => {
            "Gritstone does not measure it: it compares with printed values only.".into()
        }
        F::EndedEarly {} => "It ended before the first sample.".into(),

        F::WrongCheck { wrong, regions, n, got, expected } => {
            let regions = plural(*regions, "timed region");
            format!(
                "Wrong check value in {wrong} of {regions}: {got} instead of {expected} at n = {n}."
            )
        }
        F::NoCheck { count } => format!("No check value from {}.", counted(count)),
        F::NotLinear { small, large, exponent, allowed: [least, most] } => {
            let exponent = exponent.map_or_else(|| "infinity".to_owned(), number);
            format!(
                "Time does not grow in proportion to n: between n = {small} and n = {large} it grows as n^{exponent} (allowed: {least} to {most})."
            )
        }
        F::GrowthUnverified { launches } => format!(
            "Scaling with n is unverified: no launch of {launches} timed two values of n twice."
        ),
        F::BelowMinimum { ns, minimum } => {
            let [ns, minimum] = [*ns, *minimum].map(number);
            format!("{ns} ns/op is below the physical minimum of {minimum} ns.")
        }
        F::Untimed { count } => {
            format!("No time passed in the timed regions of {}.", counted(count))
        }
        F::Unsized { count } => {
            format!("{} did not report text, data and bss in whole bytes.", counted(count))
        }
        F::NeedsIeee { finding, flags } => {
            let text = sentence(finding);
            format!("{text} It needs IEEE arithmetic, which {flags} gives up.")
        }
        F::FewSwitches { per_op, claimed, share } => {
            let ([is, claimed], share) = ([*per_op, *claimed].map(number), percent(*share));
            format!(
                "{is} voluntary context switches per operation at most, less than {share} of the {claimed} claimed."
            )
        }
        F::SavedSwitches { per_op, claimed } => {
            let [is, claimed] = [*per_op, *claimed].map(number);
            format!(
                "{is} voluntary context switches per operation over all samples, of {claimed} claimed: on a busy machine a side finds its answer before it sleeps."
            )
        }
        F::ManyFaults { per_op, claimed } => {
            let [is, claimed] = [*per_op, *claimed].map(number);
            format!("{is} page faults per operation; at most {claimed} are claimed.")
        }
        F::FewMajorFaults { per_op, claimed } => {
            let [is, claimed] = [*per_op, *claimed].map(number);
            format!("{is} major page faults per operation; at least {claimed} are claimed.")
        }
        F::FewPageOuts { per_op, claimed } => {
            let [is, claimed] = [*per_op, *claimed].map(number);
            format!("{is} pages went out to swap per operation; at least {claimed} are claimed.")
        }
        F::SystemCalls { per_op, expected, claimed } => {
            let [is, expected] = [*per_op, *expected].map(number);
            let are = match claimed {
                true => "are claimed",
                false => "were counted of the shipped program",
            };
            format!("{is} system calls per operation; {expected} {are}.")
        }

        F::NoInterval { confidence, needed, n, what } => {
            let (confidence, needed) = (percent(*confidence), repeats(*needed, *what));
            format!("No interval: {confidence} confidence needs {needed}, and there are {n}.")
        }
        F::WideInterval { half, asked, n, what } => {
            // as the column shows it
            let same = number::percent(*half) == number::percent(*asked);
            let (half, asked) = (number::percent(*half), percent(*asked));
            let n = repeats(*n, *what);
            match same {
                true => {
                    format!("The interval is slightly wider after {n} than the target of ±{asked}.")
                }
                false => format!("The interval is ±{half} after {n}; the target is ±{asked}."),
            }
        }
        F::SeveralModes { modes, n, what } => {
            let n = repeats(*n, *what);
            format!("The {n} fall into {modes} modes: one estimate does not describe them.")
        }
        F::SizeVaries { least, most } => format!(
            "The size varies between launches, {least} to {most} bytes; the first is shown."
        ),
        F::IncompleteRounds { count } => {
            format!("Rounds that lack a result of a part do not count: {}.", counted(count))
        }
        F::Negative { value, unit, because } => {
            let because = match because {
                NegativeBecause::Interference => "its parts had interference",
                NegativeBecause::TooFew => "too few rounds for an interval",
                NegativeBecause::Work => "one of its parts does not do the claimed work",
            };
            format!("Negative difference of {} {unit}: {because}.", number(*value))
        }
        F::ReachesZero { interval, unit } => {
            let [low, high] = interval.map(number);
            format!(
                "The interval, {low} to {high} {unit}, includes 0: the difference may be nothing."
            )
        }

        F::Interfered { count, causes } => {
            let causes: Vec<String> = causes.iter().map(cause).collect();
            format!("Interference in {}: {}.", counted(count), causes.join(", "))
        }
        F::InterferenceUnobserved {} => {
            "Interference could not be observed: /proc is missing or hides processes.".into()
        }
        F::FailuresIgnored { count, statuses } => {
            let statuses = statuses.iter().map(|status| match status {
                ..0 => "a signal".to_owned(),
                status => format!("status {status}"),
            });
            let statuses: Vec<String> = statuses.collect();
            format!("{} failed ({}), and count.", counted(count), statuses.join(", "))
        }
        F::LeftOut { count } => {
            format!("{} left out of the estimate: the SMT sibling was busy.", counted(count))
        }
        F::Load { rates } => {
            let rate_text = |rate: &LoadRate| format!("{} {}", number(rate.per_hour), rate.what);
            let texts: Vec<String> = rates.iter().map(rate_text).collect();
            format!("Load, per hour: {}.", texts.join("; "))
        }
        F::IdleLoad { programs } => format!("A part of the load was idle: {}.", join(programs)),
        F::Paging { cpu_s, real_s, major_faults, each, swapped } => {
            let [cpu, real, faults] = [*cpu_s, *real_s, *major_faults].map(number);
            let each = each.as_ref();
            let per = each.map(|(_, thing)| format!(" per {thing}"));
            let per = per.unwrap_or_default();
            let each = each.map(|(faults, _)| format!(" ({}{per})", number(*faults)));
            let each = each.unwrap_or_default();
            let swapped = swapped.map(|pages| {
                let [ins, outs] = pages.map(number);
                format!(", {ins} page-ins and {outs} page-outs{per}")
            });
            let swapped = swapped.unwrap_or_default();
            format!(
                "Per operation: {cpu} s CPU time, {real} s real time, {faults} major page faults{each}{swapped}."
            )
        }
        F::Ends { cpu_ns, share, each, seconds, lost } => {
            let time = |ns| number::at_most(ns, "ns", 3);
            let observed = match *seconds > 0.0 {
                true => format!(", over {}", words::duration(*seconds)),
                false => String::new(),
            };
            let ([near, far], [here, there]) = (cpu_ns.map(time), share.map(percent));
            let lost = lost.map(|share| format!(" {} of the datagrams were lost.", percent(share)));
            let lost = lost.unwrap_or_default();
            format!(
                "CPU time per {each}: {near} at this end ({here} of a CPU), {far} at the other ({there}){observed}.{lost}"
            )
        }
        F::CacheRises { rises, unseen } => {
            let rises: Vec<String> = rises.iter().map(risen).collect();
            let unseen: Vec<String> = unseen.iter().map(named).collect();
            let (rises_at, not_at) = (join(&rises), join(&unseen));
            match (rises.is_empty(), unseen.is_empty()) {
                (_, true) => format!("The curve rises {rises_at}."),
                (true, false) => format!("The curve does not rise at {not_at}."),
                (false, false) => {
                    format!("The curve rises {rises_at}. It does not rise at {not_at}.")
                }
            }
        }
        F::Scaling { things, peak, last, drop, law, unfitted } => {
            let many = |x: f64| words::things(&number::printed(x, 0), things);
            let end = match last > peak {
                true => format!("; {} less with {}", percent(*drop), many(*last)),
                false => ", the most that were measured".to_owned(),
            };
            let law =
                law.as_ref().map(|law| format!(" Scalability law: {}.", super::law(law, things)));
            let why = unfitted.map(|why| format!(" {}", super::unfitted(why, things)));
            let law = law.or(why).unwrap_or_default();
            format!("Highest rate with {}{end}.{law}", many(*peak))
        }
        F::IncompleteCurve { things, missing } => {
            let missing: Vec<String> = missing.iter().map(|x| number::printed(*x, 0)).collect();
            format!(
                "The highest of an incomplete curve: no result with {} {things}.",
                join(&missing)
            )
        }
        F::Carried { least, most, too_many } => super::carried(*least, *most, *too_many),

        F::Inherited { from, finding } => format!("From {from}: {}", sentence(finding)),
        F::PartsMissing { absent, empty } => {
            let (absent, empty) = (ids(absent), ids(empty));
            match (absent.as_str(), empty.as_str()) {
                ("", "") => "No round measured all of its parts.".into(),
                (absent, "") => format!("Not in this run: {absent}."),
                ("", empty) => format!("Without a result: {empty}."),
                (absent, empty) => {
                    format!("Not in this run: {absent}; without a result: {empty}.")
                }
            }
        }
        F::ScoreWithheld { baseline, of: all, why } => {
            let (over, why) = (plural(*all, "benchmark"), withheld(why));
            format!("The score against {baseline} over {over} is not computed: {why}.")
        }
        F::PartialScore { part, of: all } => {
            let all = plural(*all, "benchmark");
            format!("The score is over the {part} of {all} that the baseline has.")
        }
        F::WeightLeftOut { share, baseline, benchmarks } => {
            let (share, left_out) = (percent(*share), ids(benchmarks));
            format!("{share} of the weight counts: {baseline} has no result for {left_out}.")
        }
        F::PartsFlagged { flag, benchmarks, of: all } => {
            let (n, all) = (benchmarks.len(), plural(*all, "benchmark"));
            format!("{n} of {all} {}: {}.", flagged(*flag), ids(benchmarks))
        }

        F::NoBatch { count, did, operations, .. } => {
            let did = did.map(|did| format!(" (one did {did} of {operations} operations)"));
            let did = did.unwrap_or_default();
            format!("{} did not run the reference workload as one batch{did}.", counted(count))
        }
        F::StartUp { limit } => format!(
            "Start-up is more than {} of this time: compare `real`, the work alone.",
            percent(*limit)
        ),
        F::StartUpUnseen { process_s, real_s } => {
            let [process, real] = [*process_s, *real_s].map(number);
            format!(
                "Start-up time is below noise: the process took {process} s, its work {real} s."
            )
        }

        F::NoCounterpart { lacking } => format!("{lacking} has no such benchmark."),
        F::VersionsDiffer { base, other } => {
            format!("The work changed: version {base} against version {other}.")
        }
        F::PeersDiffer { base, other } => {
            let place = |host: &Option<String>| match host {
                Some(host) => format!("on {host}"),
                None => "on the measured system".to_owned(),
            };
            let [base, other] = [place(base), place(other)];
            match base == other {
                true => format!("The far ends, {base}, were reached through different interfaces."),
                false => format!("The base has its far ends {base}, the other side {other}."),
            }
        }
        F::UnitsDiffer { base, other } => {
            format!("The units count different things: {base} against {other}.")
        }
        F::NoEstimate { base, other } => match (base, other) {
            (true, false) => "Only the base has a result.".into(),
            (false, true) => "Only the other side has a result.".into(),
            _ => "Neither side has a result.".into(),
        },
        F::NotPositive {} => "A value that is not above 0 has no ratio.".into(),
        F::NoLaunches {} => {
            "No values of single launches to compare: the ratio has no interval.".into()
        }
        F::RealTimeInstead { asked, unmeasured } => {
            let why = match unmeasured {
                true => "could not be measured here (fewer than 100 scheduler ticks)",
                false => "it does not print for one of them",
            };
            let asked = subject(*asked);
            format!("The document points to {asked}, which {why}; real time is compared.")
        }
        F::OnlyTime { time } => format!("Only {} is available on both sides.", subject(*time)),
        F::AcrossTimes { printed } => format!(
            "The printed {} is compared with measured real time, which includes waiting: no other time was measured.",
            subject(*printed)
        ),
        F::NothingInCommon {} => "The two sides have no result of the same kind.".into(),
        F::BothPrinted {} => {
            "Both values are printed ones without an interval: a difference may be chance.".into()
        }

        F::NoHistory {} => "No history.".into(),
        F::NoRunPasses { runs, filter } => {
            format!("No history: {filter} leaves out {}.", plural(*runs, "earlier run"))
        }
        F::OtherCircumstances { runs } => format!(
            "No history: {} of this system had other parameters, or another directory, tuning or peer.",
            plural(*runs, "earlier run")
        ),
        F::Accepted {} => "Slower than allowed, and accepted by name.".into(),
        F::CarryOver { base_first, other_first, p } => format!(
            "One side disturbs the launch after it: {} in pairs that start with the base, {} in the others (p = {}).",
            words::ratio(*base_first, None, Sense::Speed),
            words::ratio(*other_first, None, Sense::Speed),
            number::significant(*p, 2),
        ),
        F::UnequalTails { base, other } => format!(
            "Beyond the margin around this ratio, the base is slower in {}, the other in {}: their launches differ.",
            plural(*base, "pair"),
            plural(*other, "pair"),
        ),
        F::ShortHistory { runs, needed } => {
            let runs = plural(*runs, "earlier run");
            format!("{runs} of the same kind; {needed} are needed.")
        }
        F::NoEstimateIn { run } => format!("No result above 0 in run {run}."),
        F::NotInRun { run } => format!("Not in run {run}."),
        F::InvalidIn { run, finding } => format!("Invalid in run {run}: {}", sentence(finding)),
        F::ProgramsDiffer { run, first } => {
            format!("Another program or version in run {run} than in run {first}.")
        }
    }
}

fn risen(rise: &Rise) -> String {
    let [from, to] = [rise.from, rise.to].map(kilobytes);
    let cache = rise.cache.as_ref().map(|cache| format!("{} ends there", named(cache)));
    let cache = cache.unwrap_or_else(|| "no reported cache ends there".to_owned());
    format!("from {from} to {to} ({} times; {cache})", number(rise.factor))
}

/// A cache with its size: `L1d (32 KB)`.
fn named(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Unified => "",
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
    };
    let size = kilobytes(cache.bytes as f64 / 1024.0);
    format!("L{}{kind} ({size})", cache.level)
}

fn kilobytes(size: f64) -> String {
    match size >= 1024.0 {
        true => format!("{} MB", number(size / 1024.0)),
        false => format!("{} KB", number(size)),
    }
}

/// Three significant digits, with an exponent only for extreme numbers.
fn number(x: f64) -> String {
    let size = x.abs();
    if x != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{x:.2e}");
    }
    // digits after the point so that three remain: 2 for 1.23, 5 for 0.00123
    let places = match x == 0.0 {
        true => 0,
        false => (2 - size.log10().floor() as i32).max(0) as usize,
    };
    let text = format!("{size:.places$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    let sign = if x < 0.0 { "-" } else { "" };
    format!("{sign}{text}")
}

fn percent(share: f64) -> String {
    format!("{}%", number(share * 100.0))
}

fn repeats(n: usize, what: Repeat) -> String {
    match what {
        Repeat::Launch => plural(n, "launch"),
        Repeat::Round => plural(n, "round"),
        Repeat::Sample => plural(n, "sample"),
    }
}

fn counted(count: &Count) -> String {
    format!("{} of {}", count.part, repeats(count.of, count.what))
}

fn ids(ids: &[Id]) -> String {
    join(&ids.iter().map(Id::as_str).collect::<Vec<_>>())
}

/// The text with a capital letter and a full stop.
fn stated(text: &str) -> String {
    let text = text.trim();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{stop}", capital(text))
}

fn cause(cause: &Interference) -> String {
    let times = |n: u64| plural(n as usize, "time");
    match *cause {
        Interference::Others(x) => format!("other processes used up to {} of its CPUs", percent(x)),
        Interference::Steal(x) => format!("up to {} steal time", percent(x)),
        Interference::Throttled(x) => {
            format!("throttled by the cgroup CPU quota up to {} of the time", percent(x))
        }
        Interference::MemoryLimit(n) => format!("memory limit reached up to {}", times(n)),
        Interference::Smt => "the SMT sibling was busy".to_owned(),
        Interference::OtherRun(0) => "another run was measuring".to_owned(),
        Interference::OtherRun(process) => {
            format!("another run was measuring (process {process})")
        }
    }
}
