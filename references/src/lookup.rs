//! Resolves the name of a reference system.

use crate::References;
use gritstone_model::Machine;

/// Most suggestions for an unknown name, and most matches of an ambiguous one.
const OFFERED: usize = 3;
const LISTED: usize = 5;

/// Why a name does not resolve to one machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No machine matches.
    #[error("no reference system is called '{asked}'; the nearest are {}", .nearest.join(", "))]
    Unknown {
        /// The name without `ref:`.
        asked: String,
        /// The most similar names, best first.
        nearest: Vec<String>,
    },
    /// Several machines match.
    #[error("'{asked}' fits {} reference systems; `gritstone systems '{asked}'` lists them:{}", .candidates.len(), some(.candidates))]
    Ambiguous {
        /// The name without `ref:`.
        asked: String,
        /// The matching machines, in alphabetical order.
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
    /// The machine of that name, with or without `ref:`. A unique prefix of whole parts suffices: `vax-11-7` matches nothing, `masscomp`
    /// the one machine of that name.
    ///
    /// # Errors
    /// When the name matches no machine, or several.
    pub fn machine(&self, asked: &str) -> Result<&Machine, LookupError> {
        let asked = asked.strip_prefix("ref:").unwrap_or(asked);
        // documents write `VAX-11/780`
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
                let mut scored: Vec<(f64, String)> =
                    ids.map(|id| (-strsim::jaro_winkler(&plain, &id), id)).collect();
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

/// Whether `asked` is a prefix of `id` that ends with a part of it.
fn begins(id: &str, asked: &str) -> bool {
    id.strip_prefix(asked).is_some_and(|rest| rest.starts_with(['-', '.']))
}
