//! Any command: its wall time is the one result.

use super::{Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output};

pub(super) struct WallTime;

impl Harness for WallTime {
    fn name(&self) -> &'static str {
        "command"
    }

    fn title(&self) -> &'static str {
        "a command"
    }

    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        Invocation {
            argv: execution.command.to_vec(),
            environment: vec![],
            output: Output::WallTime,
        }
    }

    /// A command writes no result.
    fn parse(&self, _: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        Err(HarnessError::Empty(self.title()))
    }
}
