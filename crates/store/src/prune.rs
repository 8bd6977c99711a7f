//! Runs whose launches were pruned: their results are kept for good, and an entry of the ledger has the seals on both sides of what is gone.

use crate::cache::{KEPT, Results, Which};
use crate::engine::{Engine, Purpose, query, snapshot, whole};
use crate::error::{Fault, StoreError};
use crate::row_codec::row;
use crate::store::Store;
use crate::write::enter;
use crate::{queries, read, sql};
use gritstone_model::{RunData, RunInfo};

/// The entry of the ledger.
const PRUNE: &str = "prune";

/// Since when a run has no launches any more, and what has become of it since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// When they were pruned, RFC 3339, UTC.
    pub at: String,
    /// By what its results were computed.
    pub analysis: String,
    /// The label that it was given, perhaps since.
    pub label: Option<String>,
}

/// The raw samples of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Its launches.
    pub launches: u64,
    /// Those of them that were measured.
    pub measured: u64,
    /// What they said and under which conditions, in bytes of text.
    pub bytes: u64,
}

/// What became of the free space of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrunk {
    /// It was given back: so large is the file now, in bytes.
    To(u64),
    /// So many bytes are free in the file, too few to write it anew: what is stored next takes them.
    Little(u64),
    /// So many bytes are free in the file, which another process has open.
    InUse(u64),
    /// It is for the server to reuse.
    Server,
}

impl Store {
    /// Prunes the launches of a run that has ended: `of` is kept in their place, as this analysis computed it from so many launches. All of it
    /// happens, or nothing.
    ///
    /// # Errors
    /// [`StoreError::NotPruned`], [`StoreError::Pruned`] where it was done before, and what befalls the file.
    pub fn prune(
        &mut self,
        run_id: &str,
        analysis: &str,
        launches: usize,
        of: &Results,
        now: &str,
    ) -> Result<(), StoreError> {
        self.reach_disk(true)?;
        self.at(whole(self.engine(), Purpose::Write, |engine| {
            prune(engine, run_id, analysis, launches, of, now)
        }))
    }

    /// How much the raw samples of a run are.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what befalls the file.
    pub fn samples(&self, run_id: &str) -> Result<Samples, StoreError> {
        let read = || -> Result<Samples, Fault> {
            let run = queries::run(self.engine(), run_id)?.number;
            let sums: Vec<(i64, i64, i64)> = query(self.engine(), sql::SELECT_SAMPLES, row![run])?;
            let (launches, measured, bytes) = sums.first().copied().unwrap_or_default();
            Ok(Samples {
                launches: launches.unsigned_abs(),
                measured: measured.unsigned_abs(),
                bytes: bytes.unsigned_abs(),
            })
        };
        self.at(read())
    }

    /// Gives free space in the file back to the system, where it is a tenth of it or more and nobody else has the file open.
    ///
    /// # Errors
    /// What befalls the file; it is as it was then.
    pub fn shrink(&mut self) -> Result<Shrunk, StoreError> {
        self.at(self.engine().shrink())
    }

    /// Whether a run is stored as it is here, but for its label, which it may have been given later. One whose launches were pruned is
    /// known by their seals.
    pub(crate) fn has(&self, data: &RunData) -> Result<bool, StoreError> {
        match self.load(&data.info.id) {
            Ok(mut known) => {
                known.info.label.clone_from(&data.info.label);
                Ok(known == *data)
            }
            Err(StoreError::Pruned(..)) => {
                self.at(snapshot(self.engine(), |engine| read::had(engine, data)))
            }
            Err(error) => Err(error),
        }
    }
}

fn prune(
    engine: &dyn Engine,
    id: &str,
    analysis: &str,
    launches: usize,
    of: &Results,
    now: &str,
) -> Result<(), Fault> {
    let found = queries::run(engine, id)?;
    if let Some(known) = entry(engine, found.number)? {
        return Err(StoreError::Pruned(id.to_owned(), known.at).into());
    }
    let not = |why| Err(StoreError::NotPruned(id.to_owned(), why).into());
    if !found.ended {
        return not("it has not ended");
    }
    let last: Option<(i64, String)> = query(engine, sql::LAST_LAUNCH, row![found.number])?.pop();
    let Some((_, tip)) = last.filter(|(last, _)| last + 1 == launches as i64) else {
        return not("its results are not of the launches that it has");
    };
    let seal = KEPT.store(engine, found.number, [analysis, &tip, &tip], of)?;
    let entry = Entry {
        tip,
        seal,
        at: now.to_owned(),
    };
    enter(engine, found.number, PRUNE, &entry.text())?;
    engine.execute(sql::FORGET, row![found.number])?;
    engine.execute(sql::REMOVE_LAUNCHES, row![found.number])
}

/// What the ledger has of a run whose launches were pruned.
pub(crate) struct Entry {
    /// The seal of the last launch.
    pub(crate) tip: String,
    /// That of the results that were kept.
    pub(crate) seal: String,
    pub(crate) at: String,
}

impl Entry {
    fn text(&self) -> String {
        format!("{} {} {}", self.tip, self.seal, self.at)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            [tip, seal, at] => Ok(Self {
                tip: tip.to_owned(),
                seal: seal.to_owned(),
                at: at.to_owned(),
            }),
            _ => Err(Fault::Damaged(format!(
                "'{text}' is no entry of pruned launches"
            ))),
        }
    }
}

/// The entry of a run, if its launches were pruned.
pub(crate) fn entry(engine: &dyn Engine, run: i64) -> Result<Option<Entry>, Fault> {
    let found: Vec<(String,)> = query(engine, sql::SELECT_SEALED, row![run, PRUNE.to_owned()])?;
    let found = found.first().map(|(sealed,)| Entry::parse(sealed));
    found.transpose()
}

/// What was kept of a run; `None` where its launches were not pruned, or where it has no result of the benchmark that is asked for.
pub(crate) fn read(engine: &dyn Engine, id: &str, which: Which) -> Result<Option<Results>, Fault> {
    let run = match queries::run(engine, id) {
        Err(Fault::Whole(StoreError::NoSuchRun(_))) => return Ok(None),
        found => found?.number,
    };
    let Some(entry) = entry(engine, run)? else {
        return Ok(None);
    };
    let row = engine.all(sql::SELECT_KEPT_RUN, row![run])?.pop();
    let damaged = |how| Fault::Damaged(format!("the kept results of run {id} are {how}"));
    let row = row.ok_or_else(|| damaged("missing"))?;
    let rows = |which: Which| match which {
        None => engine.all(sql::SELECT_KEPT_RESULTS, row![run]),
        Some(None) => Ok(vec![]),
        Some(Some(of)) => engine.all(sql::SELECT_KEPT_RESULT, row![of.to_string(), run]),
    };
    let written = || damaged("not as they were written");
    let (_, head) = KEPT.head(row, &entry.tip).ok_or_else(written)?;
    let results = match (KEPT.results(&head, rows(which)?, which), which) {
        // that of one benchmark is missing: it has none, unless one of all is missing
        (None, Some(Some(_))) => {
            let all = KEPT.results(&head, rows(None)?, None);
            return all.map(|_| None).ok_or_else(written);
        }
        (results, _) => results.ok_or_else(written)?,
    };
    if (&head.seal, &head.sealed) != (&entry.seal, &entry.tip) {
        return Err(written());
    }
    let mut info = RunInfo::default();
    read::relabel(engine, run, &mut info)?;
    Ok(Some(Results {
        pruned: Some(Pruned {
            at: entry.at,
            analysis: head.analysis,
            label: info.label,
        }),
        results,
        ..head.results
    }))
}
