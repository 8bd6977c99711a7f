//! Instructions per operation in user mode, by single-stepping the program at two n: the difference excludes one-time work.

use gritstone_exec::syscalls::{Limit, Steps, Uncounted};
use gritstone_exec::{ExecError, Executor, Subject};
use gritstone_model::{Counter, Counts, Event};
use std::time::Duration;

const MAX_INSTRUCTIONS: u64 = 1_000_000;
const MAX_TIME: Duration = Duration::from_secs(1);
/// Share of the remaining time that is planned for the larger n: other load may slow down stepping.
const PLANNED_SHARE: f64 = 0.6;

/// Both n are powers of 2, as loops are unrolled by powers of 2.
///
/// # Errors
/// When nothing can be launched, or the user interrupts; inside, why the count is unknown.
pub fn count(
    executor: &Executor,
    subject: Subject<'_>,
) -> Result<Result<Instructions, Uncounted>, ExecError> {
    let mut stepping = Stepping {
        executor,
        subject,
        left: Limit { instructions: MAX_INSTRUCTIONS, time: MAX_TIME },
    };
    let rough = match stepping.difference(1, 2)? {
        Ok(rough) => rough,
        Err(why) => return Ok(Err(why)),
    };
    let n = stepping.affordable(&rough);
    // the small n remain exact if the larger ones are too slow, or cannot be done at a time
    let better = match n {
        0..4 => None,
        n => stepping.difference(n / 2, n)?.ok(),
    };
    Ok(better.unwrap_or(rough).counted())
}

#[derive(Clone, Copy, Debug)]
pub struct Instructions {
    n: u64,
    instructions: u64,
}

impl Instructions {
    pub fn per_op(self) -> f64 {
        self.instructions as f64 / self.n as f64
    }

    pub(crate) fn event(self) -> Event {
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

/// Differences between two n.
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
        Ok(Ok(Difference { n: many - few, few: few_steps, many: many_steps }))
    }

    /// The largest power of 2 that, with its half, fits into the remaining time at the speed so far.
    fn affordable(&self, rough: &Difference) -> u64 {
        let (few, many) = (rough.few, rough.many);
        let stepped = (few.instructions + many.instructions).max(1) as f64;
        let each = (few.took + many.took).as_secs_f64() / stepped;
        let by_time = self.left.time.as_secs_f64() * PLANNED_SHARE / each.max(1e-9);
        let most = by_time.min(self.left.instructions as f64 * PLANNED_SHARE);
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
        Ok(Instructions { n: self.n, instructions })
    }
}
