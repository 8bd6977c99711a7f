//! How many instructions an operation takes in user mode: its program stepped through at two n, whose difference has nothing in it that is
//! done once.

use gritstone_exec::syscalls::{Limit, Steps, Uncounted};
use gritstone_exec::{ExecError, Executor, Subject};
use gritstone_model::{Counter, Counts, Event};
use std::time::Duration;

/// Most instructions that are stepped through for a program.
const MOST: u64 = 1_000_000;
/// Most time that this may take.
const TIME: Duration = Duration::from_secs(1);
/// What of the time that is left is planned for the larger two n: a step takes longer where others want the CPU.
const PLANNED: f64 = 0.6;

/// The instructions of the operations by which two n differ. Loops are unrolled by powers of 2, and so are n.
///
/// # Errors
/// When nothing can be launched any more, or the user asks to stop; in the inner result, why they are not known.
pub fn count(
    executor: &Executor,
    subject: Subject<'_>,
) -> Result<Result<Instructions, Uncounted>, ExecError> {
    let mut stepping = Stepping {
        executor,
        subject,
        left: Limit {
            instructions: MOST,
            time: TIME,
        },
    };
    let rough = match stepping.difference(1, 2)? {
        Ok(rough) => rough,
        Err(why) => return Ok(Err(why)),
    };
    let n = stepping.affordable(&rough);
    // where it takes longer than planned, or so many cannot be done at a time, the small n have been counted as exactly
    let better = match n {
        0..4 => None,
        n => stepping.difference(n / 2, n)?.ok(),
    };
    Ok(better.unwrap_or(rough).counted())
}

/// Instructions in user mode.
#[derive(Clone, Copy, Debug)]
pub struct Instructions {
    /// Operations.
    n: u64,
    /// Of all of them.
    instructions: u64,
}

impl Instructions {
    pub fn per_op(self) -> f64 {
        self.instructions as f64 / self.n as f64
    }

    /// As a launch has it.
    pub fn event(self) -> Event {
        Event::Counters {
            n: self.n,
            counts: Counts::from([(Counter::UserInstructions, self.instructions)]),
        }
    }
}

struct Stepping<'a> {
    executor: &'a Executor,
    subject: Subject<'a>,
    left: Limit,
}

/// So many operations more, and so many instructions.
struct Difference {
    n: u64,
    few: Steps,
    many: Steps,
}

impl Stepping<'_> {
    fn difference(
        &mut self,
        few: u64,
        many: u64,
    ) -> Result<Result<Difference, Uncounted>, ExecError> {
        let mut steps = [Steps::default(); 2];
        for (steps, n) in steps.iter_mut().zip([few, many]) {
            *steps = match self.executor.steps(self.subject, n, self.left)? {
                Ok(steps) => steps,
                Err(why) => return Ok(Err(why)),
            };
            let Limit { instructions, time } = &mut self.left;
            *instructions = instructions.saturating_sub(steps.instructions);
            *time = time.saturating_sub(steps.took);
        }
        let [few_steps, many_steps] = steps;
        Ok(Ok(Difference {
            n: many - few,
            few: few_steps,
            many: many_steps,
        }))
    }

    /// The largest power of 2 such that it and its half are stepped through within what is left, at the speed of those before.
    fn affordable(&self, rough: &Difference) -> u64 {
        let (few, many) = (rough.few, rough.many);
        let stepped = (few.instructions + many.instructions).max(1) as f64;
        let each = (few.took + many.took).as_secs_f64() / stepped;
        let by_time = self.left.time.as_secs_f64() * PLANNED / each.max(1e-9);
        let most = by_time.min(self.left.instructions as f64 * PLANNED);
        let per_op = many.instructions.saturating_sub(few.instructions).max(1) as f64;
        let once = few.instructions as f64 - per_op;
        let n = (most - 2.0 * once) / per_op / 1.5;
        if n < 1.0 { 0 } else { 1 << n.log2() as u32 }
    }
}

impl Difference {
    fn counted(&self) -> Result<Instructions, Uncounted> {
        let more = self.many.instructions.checked_sub(self.few.instructions);
        let instructions = more.filter(|more| *more > 0).ok_or(Uncounted::Constant)?;
        Ok(Instructions {
            n: self.n,
            instructions,
        })
    }
}
