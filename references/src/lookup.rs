//! Finding a reference system by what a person typed.

use crate::References;
use gritstone_model::Machine;

/// How many names are offered for one that is unknown, and of those that one fits.
const OFFERED: usize = 3;
const LISTED: usize = 5;

/// Why a name does not lead to one machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// It fits no machine.
    #[error("no reference system is called '{asked}'; the nearest are {}", .nearest.join(", "))]
    Unknown {
        /// What was asked for, without `ref:`.
        asked: String,
        /// The most similar names, best first.
        nearest: Vec<String>,
    },
    /// It is the beginning of several.
    #[error("'{asked}' fits {} reference systems; `gritstone systems '{asked}'` lists them:{}", .candidates.len(), some(.candidates))]
    Ambiguous {
        /// What was asked for, without `ref:`.
        asked: String,
        /// The machines that it fits, in alphabetical order.
        candidates: Vec<String>,
    },
}

/// A line for each of the first names.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(LISTED);
    let mut lines: String = shown.map(|name| format!("\n  ref:{name}")).collect();
    if names.len() > LISTED {
        lines += "\n  ...";
    }
    lines
}

impl References {
    /// The machine of that name, with or without `ref:`. The beginning of a name will do where it fits one machine
    /// alone: whole parts of it, so that `vax-11-7` is nothing, and `masscomp` the one machine of that name.
    ///
    /// # Errors
    /// When the name fits no machine, or several.
    pub fn machine(&self, asked: &str) -> Result<&Machine, LookupError> {
        let asked = asked.strip_prefix("ref:").unwrap_or(asked);
        // as the document spells it: `VAX-11/780`
        let plain = asked.to_lowercase().replace(['/', ' '], "-");
        if let Some(machine) = self.machines.iter().find(|machine| machine.id == plain) {
            return Ok(machine);
        }
        let fits = |machine: &&Machine| begins(&machine.id, &plain);
        let fitting: Vec<&Machine> = self.machines.iter().filter(fits).collect();
        let asked = asked.to_owned();
        match fitting.as_slice() {
            [] => {
                let ids = self.machines.iter().map(|machine| machine.id.clone());
                let mut scored: Vec<(f64, String)> = ids
                    .map(|id| (-strsim::jaro_winkler(&plain, &id), id))
                    .collect();
                scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let nearest = scored.into_iter().take(OFFERED).map(|(_, id)| id).collect();
                Err(LookupError::Unknown { asked, nearest })
            }
            [machine] => Ok(machine),
            _ => {
                let ids = fitting.iter().map(|machine| machine.id.clone());
                let mut candidates: Vec<String> = ids.collect();
                candidates.sort();
                Err(LookupError::Ambiguous { asked, candidates })
            }
        }
    }
}

/// Whether `asked` is the beginning of `id` and ends where a part of it does.
fn begins(id: &str, asked: &str) -> bool {
    id.strip_prefix(asked)
        .is_some_and(|rest| rest.starts_with(['-', '.']))
}
