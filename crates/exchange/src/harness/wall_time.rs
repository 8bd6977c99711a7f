//! Any command: its wall time is the only result.

use super::{Execution, Format, Harness, Invocation, Output, Program};

pub(super) struct WallTime;

impl Format for WallTime {
    fn program(&self) -> Program {
        Program { name: "command", title: "a command" }
    }
}

impl Harness for WallTime {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        Invocation::new(execution.command.to_vec(), Output::WallTime)
    }
}
