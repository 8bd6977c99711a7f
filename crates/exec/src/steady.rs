//! What is steadied for each launch alone, and not for the machine: the layout of its memory, and real-time priority.

use crate::group::Group;
use crate::launch::Setup;
use crate::process::{Task, carry_out};
use crate::{ExecError, Executor};
use gritstone_kernels::KEEPER;
use gritstone_model::{Benchmark, Placement, Work};
use std::path::Path;

/// The keeper's word for the same layout of memory in every launch.
const LAYOUT: &str = "layout";
/// What is between two words: the name of a control group may have any other character.
const BETWEEN: &str = "\n";
/// The keeper's word for SCHED_FIFO.
const REAL_TIME: &str = "realtime";

/// What launches get.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steady {
    layout: bool,
    real_time: bool,
}

impl Steady {
    /// The keeper's words for the kernel of a benchmark, with those for its group and its bound; for any other program there is none of the kernel's.
    pub(crate) fn words(
        self,
        kernel: Option<&Benchmark>,
        group: Option<&Group>,
        bound: Option<&str>,
    ) -> String {
        let real_time = self.real_time && kernel.is_some_and(real_time_is_fair);
        let words: Vec<String> = [(self.layout, LAYOUT), (real_time, REAL_TIME)]
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, word)| word.to_owned())
            .chain(group.map(Group::word))
            .chain(bound.map(str::to_owned))
            .collect();
        match words.as_slice() {
            [] => "-".to_owned(),
            words => words.join(BETWEEN),
        }
    }
}

/// Real-time priority keeps others away; it must not change what is measured. So only one process that never waits, on
/// a CPU of its own: not a row about the scheduler, and not two processes that need turns on it.
fn real_time_is_fair(benchmark: &Benchmark) -> bool {
    matches!(benchmark.work, Work::Kernel(_))
        && benchmark.processor_bound
        && benchmark.placement == Placement::OneCpu
        && benchmark.claims.switches_per_op.is_none()
}

impl Executor {
    /// From now on, all launches have the same layout of memory.
    ///
    /// # Errors
    /// When that is not permitted, with the system's reason.
    pub fn fix_layout(&mut self) -> Result<(), String> {
        self.setup.attempt(LAYOUT)?;
        self.steady.layout = true;
        Ok(())
    }

    /// From now on, kernels of processor-bound rows on one CPU have real-time priority.
    ///
    /// # Errors
    /// When that is not permitted, with the system's reason.
    pub fn use_real_time(&mut self) -> Result<(), String> {
        self.setup.attempt(REAL_TIME)?;
        self.steady.real_time = true;
        Ok(())
    }
}

impl Setup {
    /// Whether the keeper can do it, by trying: containers refuse it in ways that no file tells. The program that it
    /// starts is itself, which without arguments ends with status 2.
    pub(crate) fn attempt(&self, word: &str) -> Result<(), String> {
        let keeper = gritstone_kernels::find(KEEPER).ok_or("this binary has no keeper")?;
        let keeper = self.places.program(keeper);
        let ended = keeper.and_then(|keeper| {
            carry_out(&Task {
                keeper: &keeper,
                cpus: &self.cpus,
                steady: word,
                program: &keeper,
                arguments: vec![],
                directory: Path::new("/"),
                environment: &self.environment_in(Path::new("/")),
                deadline: self.deadline,
                stop: &self.stop,
            })
        });
        match ended {
            Ok(ended) if ended.end.is_some_and(|end| end.exit == 2) => Ok(()),
            Ok(ended) => Err(ended.stderr),
            // the session finds that it is to stop before its first launch
            Err(ExecError::Interrupted) => Err("stopped on request".to_owned()),
            Err(why) => Err(why.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{CommandWork, Id, KernelWork, Unit};

    fn row() -> Benchmark {
        Benchmark {
            processor_bound: true,
            ..Benchmark::new(
                Id::parse("a/b").unwrap(),
                Unit::parse("ns/op").unwrap(),
                Work::Kernel(KernelWork {
                    program: "a/b".into(),
                    params: Default::default(),
                    uses: vec![],
                }),
            )
        }
    }

    #[test]
    fn real_time_is_for_one_process_that_never_waits() {
        let all = Steady {
            layout: true,
            real_time: true,
        };
        assert_eq!(all.words(Some(&row()), None, None), "layout\nrealtime");
        assert_eq!(all.words(None, None, None), "layout");
        let mut waits = row();
        waits.processor_bound = false;
        let mut two = row();
        two.placement = Placement::Cross;
        let mut anywhere = row();
        anywhere.placement = Placement::All;
        let mut switches = row();
        switches.claims.switches_per_op = Some(1.0);
        let mut foreign = row();
        foreign.work = Work::Command(CommandWork::default());
        for row in [waits, two, anywhere, switches, foreign] {
            assert_eq!(all.words(Some(&row), None, None), "layout", "{row:?}");
        }
        assert_eq!(Steady::default().words(Some(&row()), None, None), "-");
    }
}
