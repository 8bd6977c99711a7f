//! What else went on during launches: how much of the machine they did not have, and when that is too much.
//!
//! Must not know: what was measured, how a figure was computed.

use super::limits;
use super::reading::Reading;
use super::words::{count, of, percent};
use gritstone_model::{Benchmark, Conditions, Footnote, FootnoteKind};

/// What is said of a launch that had its core to itself beside none of its samples.
pub(super) const CROWDED: &str = "another thread of its core was busy";

/// Whether the launches had less than the whole machine in too many of them.
pub(super) fn disturbed(benchmark: &Benchmark, launches: &[&Reading]) -> Option<Footnote> {
    let found: Vec<Disturbance> = launches
        .iter()
        .map(|reading| Disturbance::of(benchmark.processor_bound, reading))
        .filter(Disturbance::is_any)
        .collect();
    if found.len() as f64 <= limits::DISTURBED_SHARE * launches.len() as f64 {
        return None;
    }
    let most = found.iter().fold(Disturbance::default(), |a, b| a.max(b));
    let why = format!(
        "Disturbed in {}: {}.",
        of(found.len(), launches.len(), "launch"),
        most.causes().join(", ")
    );
    Some(Footnote::new(FootnoteKind::Disturbed, why))
}

/// What was above its limit during a launch, as shares of its length; 0 for what was not, or cannot be known here.
#[derive(Default)]
pub(super) struct Disturbance {
    others: f64,
    elsewhere: f64,
    steal: f64,
    stood: f64,
    throttled: f64,
    overheated: u64,
    memory: u64,
    crowded: bool,
}

impl Disturbance {
    /// Work that the processor bounds does not feel the CPUs beside it, or feels them in the pacer too.
    pub(super) fn of(processor_bound: bool, reading: &Reading) -> Self {
        Self {
            crowded: reading.crowded,
            ..Self::by_conditions(processor_bound, &reading.launch.conditions)
        }
    }

    pub(super) fn by_conditions(processor_bound: bool, conditions: &Conditions) -> Self {
        let above = |part: Option<u64>, limit: f64| {
            let share = part.unwrap_or(0) as f64 / conditions.wall.max(1) as f64;
            if share > limit { share } else { 0.0 }
        };
        // of others only what is more than the grain of their counter
        let grain = conditions.grain.unwrap_or(0);
        let others = conditions.others.map(|others| others.saturating_sub(grain));
        let elsewhere = conditions.elsewhere.filter(|_| !processor_bound);
        Self {
            others: above(others, limits::OTHERS_SHARE),
            elsewhere: above(elsewhere, limits::ELSEWHERE_SHARE),
            steal: above(conditions.steal, limits::STEAL_SHARE),
            stood: above(conditions.gap, limits::STEAL_SHARE),
            throttled: above(conditions.throttled, 0.0),
            overheated: conditions.overheated.unwrap_or(0),
            memory: conditions.memory_limit.unwrap_or(0),
            crowded: false,
        }
    }

    pub(super) fn is_any(&self) -> bool {
        !self.causes().is_empty()
    }

    fn max(self, other: &Self) -> Self {
        Self {
            others: self.others.max(other.others),
            elsewhere: self.elsewhere.max(other.elsewhere),
            steal: self.steal.max(other.steal),
            stood: self.stood.max(other.stood),
            throttled: self.throttled.max(other.throttled),
            overheated: self.overheated.max(other.overheated),
            memory: self.memory.max(other.memory),
            crowded: self.crowded || other.crowded,
        }
    }

    fn causes(&self) -> Vec<String> {
        let shares = [
            (self.others, "others used up to", "of a CPU"),
            (
                self.elsewhere,
                "the CPUs beside it were busy for up to",
                "of the time",
            ),
            (self.steal, "the hypervisor stole up to", "of the time"),
            (self.stood, "it stood still for up to", "of the time"),
            (
                self.throttled,
                "the CPU quota held it back for up to",
                "of the time",
            ),
        ];
        let counts = [
            (self.overheated, "the CPU was slowed for its heat up to"),
            (self.memory, "the memory limit was reached up to"),
        ];
        let shares = shares
            .into_iter()
            .filter(|(share, ..)| *share > 0.0)
            .map(|(share, what, whole)| format!("{what} {} {whole}", percent(share)));
        let counts = counts
            .into_iter()
            .filter(|(times, _)| *times > 0)
            .map(|(times, what)| format!("{what} {}", count(times as usize, "time")));
        let crowded = self.crowded.then(|| CROWDED.to_owned());
        shares.chain(counts).chain(crowded).collect()
    }
}
