//! Rows under load: what the levels of a family add to each other, and the variants of an entry that are measured beside them.
//!
//! Must not know: what the programs of a load do, how they are started.

use crate::error::Error;
use crate::raw::{self, At};
use crate::read::{Reader, Row};
use gritstone_model::{Benchmark, Id, Need, Work};

/// What a level adds to the one below.
#[derive(Debug)]
pub(crate) struct Level {
    /// In words.
    what: String,
    /// `load/name`.
    program: String,
    needs: Vec<Need>,
}

impl Reader<'_> {
    pub fn level(&self, raw: &raw::Load) -> Result<Level, Error> {
        let program = self.program(&raw.program)?;
        if !program.starts_with("load/") {
            return Err(self.error(
                &raw.program,
                format!(
                    "'{program}' makes no load: the programs of a load are those of kernels/load/"
                ),
            ));
        }
        Ok(Level {
            what: self.prose("what", &raw.what)?,
            program,
            needs: self.declared(raw.needs.iter())?,
        })
    }

    /// The variant `@level-N` of an entry: the same work beside the load of that level and of all below.
    pub fn under_load(&self, base: &Benchmark, level: &At<usize>) -> Result<Row, Error> {
        let n = *level.get_ref();
        if !(1..=self.load.len()).contains(&n) {
            let what = format!(
                "there is no load level {n}: this file has {} of them, each a [[load]]; without load is level 0, the entry itself",
                self.load.len()
            );
            return Err(self.error(level, what));
        }
        let id = Id::parse(&format!("{}@level-{n}", base.id))
            .map_err(|why| self.error(level, why.to_string()))?;
        let mut row = Benchmark {
            id,
            title: format!("{}, load level {n}", base.title),
            // a batch of the published work belongs to the entry
            published: None,
            curve: None,
            ..base.clone()
        };
        let levels = &self.load[..n];
        let what: Vec<&str> = levels.iter().map(|level| level.what.as_str()).collect();
        row.operation = format!("{} Beside it: {}.", base.operation, what.join("; "));
        for level in levels {
            if let Work::Kernel(work) = &mut row.work {
                work.uses.push(level.program.clone());
            }
            let new = |need: &&Need| !base.needs.contains(need);
            row.needs.extend(level.needs.iter().filter(new).cloned());
        }
        Ok(Row {
            benchmark: row,
            at: level.span(),
            references: Vec::new(),
            over: Vec::new(),
        })
    }
}
