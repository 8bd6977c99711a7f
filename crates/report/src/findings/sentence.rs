//! Findings on one result, as sentences.

use super::between::{comparison, history, parts, reference, scores};
use super::outcome;
use crate::words::{capital, join, plural};
use gritstone_model::{
    Author, Cache, CacheKind, Count, Finding as F, Finding, Id, Interference, Repeat, Rise,
};

/// A finding in a sentence.
pub(super) fn sentence(finding: &Finding) -> String {
    let groups = [
        no_result, work, counts, precision, conditions, curves, parts, scores, reference,
        comparison, history,
    ];
    let said = groups.iter().find_map(|group| group(finding));
    said.expect("each finding is in one of the groups, as the snapshot of all of them shows")
}

/// Why there is no result, and what others say of one.
fn no_result(finding: &Finding) -> Option<String> {
    Some(match finding {
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
        F::EndedEarly {} => "It ended before the first sample.".to_owned(),
        _ => return None,
    })
}

/// What a work check found.
fn work(finding: &Finding) -> Option<String> {
    Some(match finding {
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
        F::Untimed { count } => format!("No time passed in the timed regions of {}.", of(*count)),
        F::Unsized { count } => format!(
            "{} did not report text, data and bss in whole bytes.",
            of(*count)
        ),
        F::NeedsIeee { finding, flags } => format!(
            "{} It needs IEEE arithmetic, which {flags} gives up.",
            sentence(finding)
        ),
        _ => return None,
    })
}

/// What the kernel counted against a claim.
fn counts(finding: &Finding) -> Option<String> {
    Some(match finding {
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
        _ => return None,
    })
}

/// How sure a result is.
fn precision(finding: &Finding) -> Option<String> {
    Some(match finding {
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
        _ => return None,
    })
}

/// What went on meanwhile.
fn conditions(finding: &Finding) -> Option<String> {
    Some(match finding {
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
        _ => return None,
    })
}

/// What a curve shows.
fn curves(finding: &Finding) -> Option<String> {
    let F::CacheRises { rises, unseen } = finding else {
        return None;
    };
    let risen = |rise: &Rise| {
        let cache = rise.cache.as_ref().map_or_else(
            || "no reported cache ends there".to_owned(),
            |cache| format!("{} ends there", named(cache)),
        );
        format!(
            "from {} to {} ({} times; {cache})",
            kilobytes(rise.from),
            kilobytes(rise.to),
            number(rise.factor)
        )
    };
    let mut said = vec![];
    if !rises.is_empty() {
        let rises: Vec<String> = rises.iter().map(risen).collect();
        said.push(format!("The curve rises {}.", join(&rises)));
    }
    if !unseen.is_empty() {
        let it = if said.is_empty() { "The curve" } else { "It" };
        let unseen: Vec<String> = unseen.iter().map(named).collect();
        said.push(format!("{it} does not rise at {}.", join(&unseen)));
    }
    Some(said.join(" "))
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

/// Three significant digits, without an exponent where a person would write none.
pub(super) fn number(x: f64) -> String {
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

pub(super) fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

pub(super) fn repeats(n: usize, what: Repeat) -> String {
    match what {
        Repeat::Launch => plural(n, "launch"),
        Repeat::Round => plural(n, "round"),
    }
}

pub(super) fn of(count: Count) -> String {
    format!("{} of {}", count.part, repeats(count.of, count.what))
}

pub(super) fn ids(ids: &[Id]) -> String {
    join(&ids.iter().map(Id::as_str).collect::<Vec<_>>())
}

/// As it is, with a capital letter and a full stop.
fn stated(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?']) {
        true => capital(text),
        false => format!("{}.", capital(text)),
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
