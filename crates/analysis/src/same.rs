//! Facts that runs of a series share on request (`--same`).

use gritstone_model::{Measurement, RunView, SameFact};

/// A fact of a whole run; empty if it is unknown, and for facts of a benchmark.
pub fn run_fact(view: &RunView, fact: SameFact) -> String {
    let facts = &view.machine.facts;
    let known = |name: &str| facts.get(name).cloned().unwrap_or_default();
    match fact {
        SameFact::Kernel => known("kernel.release"),
        SameFact::Microcode => known("cpu.microcode"),
        SameFact::Libc => known("system.libc"),
        SameFact::FileSystem => known("dir.filesystem"),
        SameFact::Mitigations => {
            let all = facts.iter().filter(|(name, state)| {
                name.starts_with("mitigation.") && state.as_str() != "Not affected"
            });
            all.map(|(name, state)| format!("{name}={state}")).collect::<Vec<_>>().join("\n")
        }
        SameFact::Gritstone => view.gritstone.clone().unwrap_or_default(),
        SameFact::Compiler => String::new(),
    }
}

/// Compiler and flags of the program behind a result; empty if there is none.
pub fn compiler(result: &Measurement) -> String {
    let program = result.program.as_ref();
    program.map_or(String::new(), |program| {
        format!("{} {}", program.compiler, program.flags).trim().to_owned()
    })
}
