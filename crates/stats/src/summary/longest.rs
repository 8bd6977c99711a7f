//! What the longest of single operations was due to, as far as the launches could tell.
//!
//! A launch says of each operation that was the longest until then how long it was, a word for the cause, and a sentence; the one
//! that is as long as the histogram's largest is that of the launch.
//! Must not know: how a launch found out, other rules.

use super::reading::Reading;
use super::words::{count, number};
use gritstone_model::{Footnote, FootnoteKind};
use std::collections::BTreeMap;

/// The parameter by which a launch says it.
const LONGEST: &str = "longest";

/// The words for causes, and what they are in a sentence.
const CAUSES: [(&str, &str); 5] = [
    ("process", "another process"),
    ("interrupt", "an interrupt"),
    ("host", "the host or the hardware"),
    ("masked", "interrupts that were off, or the host"),
    (
        "itself",
        "the kernel's own work for the process, or the host",
    ),
];

struct Longest<'a> {
    ns: u64,
    cause: &'a str,
    why: &'a str,
}

impl<'a> Longest<'a> {
    fn of(launch: &Reading<'a>) -> Option<Self> {
        let most = launch.latencies.iter().map(|events| events.max).max()?;
        let told = launch.params(LONGEST).filter_map(|told| {
            let (ns, rest) = told.split_once(' ')?;
            let (cause, why) = rest.split_once(' ')?;
            let ns = ns.parse().ok()?;
            Some(Self { ns, cause, why })
        });
        told.into_iter().find(|longest| longest.ns == most)
    }
}

/// A remark on the longest of all operations, and on what the longest of each launch was due to.
pub(super) fn explained(launches: &[&Reading]) -> Option<Footnote> {
    let told: Vec<Longest> = launches.iter().filter_map(|l| Longest::of(l)).collect();
    let most = told.iter().max_by_key(|longest| longest.ns)?;
    let mut by_cause: BTreeMap<usize, usize> = BTreeMap::new();
    for longest in &told {
        let known = CAUSES.iter().position(|(word, _)| *word == longest.cause);
        *by_cause.entry(known.unwrap_or(CAUSES.len())).or_default() += 1;
    }
    let causes: Vec<String> = by_cause
        .into_iter()
        .map(|(cause, n)| {
            let cause = CAUSES
                .get(cause)
                .map_or("something else", |(_, words)| words);
            format!("{cause} ({})", count(n, "launch"))
        })
        .collect();
    let why = format!(
        "The longest event took {} us, and {}. The longest of each launch was due mostly to {}.",
        number(most.ns as f64 / 1e3),
        most.why,
        causes.join(", ")
    );
    Some(Footnote::new(FootnoteKind::Note, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Conditions, Event, Histogram, Id, Launch, Outcome};

    fn launch(max: u64, said: &[(&str, &str)]) -> Launch {
        let said = said.iter().map(|(key, value)| Event::Param {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
        });
        let events = Event::Latency(Box::new(Histogram {
            count: 1,
            min: max,
            max,
            sum: max,
            buckets: vec![],
        }));
        Launch {
            id: Id::parse("rt/user-latency").unwrap(),
            copies: 1,
            round: 0,
            start: 0,
            cpus: vec![1],
            outcome: Outcome::Measured,
            events: said.chain([events]).collect(),
            conditions: Conditions::default(),
        }
    }

    fn said(launches: &[Launch]) -> Option<String> {
        let readings: Vec<Reading> = launches.iter().map(Reading::of).collect();
        let readings: Vec<&Reading> = readings.iter().collect();
        explained(&readings).map(|footnote| footnote.why)
    }

    #[test]
    fn the_longest_is_told_with_its_cause_and_those_of_other_launches() {
        let idle = "9000 host for 8.0 us of it the CPU was idle";
        let cron = "12000 process for 11.0 us of it process 7 (cron) had the CPU";
        let launches = [
            launch(9000, &[("longest", "8000 interrupt x"), ("longest", idle)]),
            launch(12_000, &[("longest", cron)]),
            launch(9000, &[("longest", idle)]),
        ];
        assert_eq!(
            said(&launches).unwrap(),
            "The longest event took 12 us, and for 11.0 us of it process 7 (cron) had the CPU. The longest of each launch was due mostly to another process (1 launch), the host or the hardware (2 launches)."
        );
    }

    #[test]
    fn what_is_not_the_longest_or_not_told_explains_nothing() {
        let launches = [launch(
            9000,
            &[("longest", "8000 host y"), ("longest", "x")],
        )];
        assert_eq!(said(&launches), None);
    }
}
