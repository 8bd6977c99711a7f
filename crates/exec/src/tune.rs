//! Settings of single launches, not of the machine: memory layout and real-time priority.

use crate::cgroup::Group;
use crate::setup::Setup;
use gritstone_model::{Benchmark, Placement, Work};

/// Supervisor's word for a fixed memory layout (no ASLR).
const LAYOUT: &str = "layout";
/// Supervisor's word for SCHED_FIFO.
const REAL_TIME: &str = "realtime";
/// Separator of words: names of control groups may have any other character.
const SEPARATOR: &str = "\n";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Same memory layout in all launches.
    pub fixed_layout: bool,
    /// SCHED_FIFO for workloads of processor-bound benchmarks on one CPU.
    pub real_time: bool,
}

impl Tuning {
    /// The supervisor's words for a program: those of the workload only if `kernel` is given, and those of its group
    /// and process limit.
    pub(crate) fn words(
        self,
        kernel: Option<&Benchmark>,
        group: Option<&Group>,
        bound: Option<&str>,
    ) -> String {
        let real_time = self.real_time && kernel.is_some_and(real_time_is_fair);
        let words: Vec<String> = [(self.fixed_layout, LAYOUT), (real_time, REAL_TIME)]
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, word)| word.to_owned())
            .chain(group.map(Group::word))
            .chain(bound.map(str::to_owned))
            .collect();
        match words.as_slice() {
            [] => "-".to_owned(),
            words => words.join(SEPARATOR),
        }
    }
}

/// Real-time priority must not change what is measured: only one process that never waits, on its own CPU.
fn real_time_is_fair(benchmark: &Benchmark) -> bool {
    matches!(benchmark.work, Work::Kernel(_))
        && benchmark.processor_bound
        && benchmark.placement == Placement::OneCpu
        && !benchmark.scheduler
        && benchmark.claims.switches_per_op.is_none()
}

impl Setup {
    pub fn may_fix_layout(&self) -> Result<(), String> {
        self.attempt(LAYOUT)
    }

    pub fn may_use_real_time(&self) -> Result<(), String> {
        self.attempt(REAL_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::CommandWork;

    fn busy_benchmark() -> Benchmark {
        Benchmark { processor_bound: true, ..gritstone_testkit::benchmark("a/b", "ns/op") }
    }

    #[test]
    fn real_time_tolerates_one_process() {
        let all = Tuning { fixed_layout: true, real_time: true };
        assert_eq!(all.words(Some(&busy_benchmark()), None, None), "layout\nrealtime");
        assert_eq!(all.words(None, None, None), "layout");
        let mut waits = busy_benchmark();
        waits.processor_bound = false;
        let mut two = busy_benchmark();
        two.placement = Placement::Cross;
        let mut anywhere = busy_benchmark();
        anywhere.placement = Placement::All;
        let mut switches = busy_benchmark();
        switches.claims.switches_per_op = Some(1.0);
        let mut foreign = busy_benchmark();
        foreign.work = Work::Command(CommandWork::default());
        let shares = Benchmark { scheduler: true, ..busy_benchmark() };
        for busy_benchmark in [waits, two, anywhere, switches, foreign, shares] {
            assert_eq!(
                all.words(Some(&busy_benchmark), None, None),
                "layout",
                "{busy_benchmark:?}"
            );
        }
        assert_eq!(Tuning::default().words(Some(&busy_benchmark()), None, None), "-");
    }
}
