//! Any command: its wall time is the only result.

use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
};
use crate::foreign_run::ForeignRun;

pub(super) struct WallTime;

impl Format for WallTime {
    fn program(&self) -> Program {
        Program { name: "command", title: "a command" }
    }

    fn recognizes(&self, _: &Shape<'_>) -> bool {
        false
    }

    /// Never called: a command writes no results.
    fn parse(&self, _: &[HarnessFile]) -> Result<ForeignRun, HarnessError> {
        Err(HarnessError::Empty(self.title()))
    }
}

impl Harness for WallTime {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        Invocation {
            argv: execution.command.to_vec(),
            environment: vec![],
            output: Output::WallTime,
        }
    }
}
