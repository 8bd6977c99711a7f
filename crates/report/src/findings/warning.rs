//! The flagged notes of a table, summed up by cause: how many results, the worst of them, and what to do.

use crate::document::Footnote;
use crate::number;
use crate::words::plural;
use gritstone_model::{Finding, Flag, Interference};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::mem::discriminant;

/// A cause, in the parts of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// How many results have it.
    pub what: String,
    /// The worst first, or the first.
    pub details: Vec<String>,
    /// What to do about it.
    pub remedy: &'static str,
}

/// What the notes of a flag come to, each with the name of the row that it is of.
#[must_use]
pub fn warning(flag: Flag, told: &[(&str, &Footnote)]) -> Warning {
    let names: BTreeSet<&str> = told.iter().map(|(name, _)| *name).collect();
    let results = plural(names.len(), "result");
    let first = || {
        let first = told.first().map(|(name, note)| of(name, &note.text));
        first.into_iter().collect()
    };
    let (what, details, remedy) = match flag {
        Flag::Invalid => ("invalid", first(), "gritstone audit"),
        Flag::Noisy => (
            "noisy",
            widest(told).unwrap_or_else(first),
            "--budget, doctor",
        ),
        Flag::Modes => ("with several modes", listed(&names), "show RUN BENCHMARK"),
        Flag::Interference => ("with interference", interference(told), "gritstone doctor"),
        Flag::Skipped => ("without a value", listed(&names), "gritstone doctor"),
        Flag::NotComparable => ("not comparable", listed(&names), "add -vv"),
        Flag::Doubtful => ("doubtful in the source", listed(&names), "add -vv"),
        Flag::Custom => ("of custom benchmarks", vec![], "add -vv"),
    };
    Warning {
        what: format!("{results} {what}"),
        details,
        remedy,
    }
}

/// The names alone: their sentences are too long for a line.
fn listed(names: &BTreeSet<&str>) -> Vec<String> {
    let names = names.iter().filter(|name| !name.is_empty());
    names.map(|name| (*name).to_owned()).collect()
}

fn of(name: &str, text: &str) -> String {
    match name {
        "" => text.to_owned(),
        name => format!("{name}: {text}"),
    }
}

/// The intervals that are wider than the target, the widest first.
fn widest(told: &[(&str, &Footnote)]) -> Option<Vec<String>> {
    let wide = told.iter().filter_map(|(name, note)| match note.finding {
        Some(Finding::WideInterval { half, .. }) => Some((half, *name)),
        _ => None,
    });
    let mut wide: Vec<(f64, &str)> = wide.collect();
    wide.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut seen = BTreeSet::new();
    wide.retain(|(_, name)| seen.insert(*name));
    let told = wide
        .iter()
        .map(|(half, name)| format!("{name} ±{}", number::percent(*half)));
    (!wide.is_empty()).then(|| told.collect())
}

/// Each kind of interference at its worst.
fn interference(told: &[(&str, &Footnote)]) -> Vec<String> {
    let mut worst: Vec<Interference> = vec![];
    let causes = told.iter().filter_map(|(_, note)| match &note.finding {
        Some(Finding::Interfered { causes, .. }) => Some(causes),
        _ => None,
    });
    for one in causes.flatten() {
        match worst
            .iter_mut()
            .find(|of| discriminant(*of) == discriminant(one))
        {
            Some(known) if (*known).partial_cmp(one) == Some(Ordering::Less) => *known = *one,
            Some(_) => {}
            None => worst.push(*one),
        }
    }
    worst.iter().map(short).collect()
}

/// A cause in few words.
fn short(cause: &Interference) -> String {
    match *cause {
        Interference::Others(x) => format!("other processes {}", number::percent(x)),
        Interference::Steal(x) => format!("steal {}", number::percent(x)),
        Interference::Throttled(x) => format!("throttled {}", number::percent(x)),
        Interference::MemoryLimit(n) => format!("memory limit {}", plural(n as usize, "time")),
        Interference::Smt => "busy SMT sibling".to_owned(),
    }
}
