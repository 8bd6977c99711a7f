//! Tables of results: cached ones, and those stored by pruning.

use crate::engine::{Engine, Row, Value, insert};
use crate::error::{Fault, StoreError};
use crate::ledger::{self, Pruned, split};
use crate::row_codec::row;
use crate::{row_hash, sql};
use gritstone_model::{Id, RunInfo};

/// The results of a run, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The run without its results.
    pub view: String,
    /// Input for comparisons with later runs.
    pub past: String,
    /// Results in display order.
    pub results: Vec<(Id, String)>,
    /// Set for pruned runs.
    pub pruned: Option<Pruned>,
}

/// Statements of one pair of tables, and the kinds that their hashes cover.
pub(crate) struct Tables {
    kinds: [&'static str; 2],
    insert: [&'static str; 2],
}

pub(crate) const CACHED: Tables = Tables {
    kinds: ["cached run", "cached result"],
    insert: [sql::INSERT_CACHED_RUN, sql::INSERT_CACHED_RESULT],
};

pub(crate) const PRUNED: Tables = Tables {
    kinds: ["kept run", "kept result"],
    insert: [sql::INSERT_KEPT_RUN, sql::INSERT_KEPT_RESULT],
};

/// Selects results: all, those of one benchmark, or none.
pub(crate) type Which<'a> = Option<Option<&'a Id>>;

impl Tables {
    /// Stores results that an analysis computed up to a hash, chained to `before`. Returns their hash.
    pub(crate) fn store(
        &self,
        engine: &dyn Engine,
        run: i64,
        [analysis, sealed, before]: [&str; 3],
        results: &Results,
    ) -> Result<String, Fault> {
        let row = row![
            run,
            analysis.to_owned(),
            sealed.to_owned(),
            results.results.len() as i64,
            results.view.clone(),
            results.past.clone(),
        ];
        let seal = row_hash::hash(self.kinds[0], before, [&row]);
        insert(engine, self.insert[0], row![seal.clone()], row)?;
        for (position, (id, result)) in (0_i64..).zip(&results.results) {
            let row = row![position, id.to_string(), result.clone()];
            let key = row![run, row_hash::hash(self.kinds[1], &seal, [&row])];
            insert(engine, self.insert[1], key, row)?;
        }
        Ok(seal)
    }

    /// Decodes the head of a run with its number; `None` if its hash does not match.
    pub(crate) fn head(&self, row: Row, before: &str) -> Option<(i64, Read)> {
        let (seal, row) = check_hash(row, self.kinds[0], before)?;
        let Ok(
            [
                Value::Integer(run),
                Value::Text(analysis),
                Value::Text(sealed),
                Value::Integer(count),
                Value::Text(view),
                Value::Text(past),
            ],
        ) = <[Value; 6]>::try_from(row)
        else {
            return None;
        };
        let head = Read {
            seal,
            sealed,
            analysis,
            count,
            results: Results { view, past, ..Results::default() },
        };
        Some((run, head))
    }

    /// The selected results, if none is missing.
    pub(crate) fn results(
        &self,
        head: &Read,
        rows: Vec<Row>,
        which: Which,
    ) -> Option<Vec<(Id, String)>> {
        let result =
            |row| match <[Value; 3]>::try_from(check_hash(row, self.kinds[1], &head.seal)?.1) {
                Ok([_, Value::Text(id), Value::Text(result)]) => {
                    Some((Id::parse(&id).ok()?, result))
                }
                _ => None,
            };
        let results: Vec<(Id, String)> = rows.into_iter().map(result).collect::<Option<_>>()?;
        let count = match which {
            None => head.count,
            Some(one) => i64::from(one.is_some()),
        };
        (results.len() as i64 == count).then_some(results)
    }
}

/// Checks and removes the hash of a row.
fn check_hash(row: Row, kind: &str, before: &str) -> Option<(String, Row)> {
    let sealed = split(row).ok();
    sealed.filter(|(sealed, row)| *sealed == row_hash::hash(kind, before, [row]))
}

/// Head of stored results.
pub(crate) struct Read {
    pub(crate) seal: String,
    pub(crate) sealed: String,
    pub(crate) analysis: String,
    /// Number of results of the run.
    count: i64,
    /// Without the results themselves.
    pub(crate) results: Results,
}

/// Results stored by pruning; `None` for a run that was not pruned, or that lacks the benchmark.
pub(crate) fn pruned_results(
    engine: &dyn Engine,
    id: &str,
    which: Which,
) -> Result<Option<Results>, Fault> {
    let run = match ledger::run(engine, id) {
        Err(Fault::Whole(StoreError::NoSuchRun(_))) => return Ok(None),
        found => found?.number,
    };
    let Some(entry) = ledger::entry(engine, run)? else {
        return Ok(None);
    };
    let row = engine.all(sql::SELECT_KEPT_RUN, row![run])?.pop();
    let damaged = |how| Fault::Damaged(format!("the kept results of run {id} are {how}"));
    let row = row.ok_or_else(|| damaged("missing"))?;
    let rows = |which: Which| match which {
        None => engine.all(sql::SELECT_KEPT_RESULTS, row![run]),
        Some(None) => Ok(vec![]),
        Some(Some(benchmark)) => {
            engine.all(sql::SELECT_KEPT_RESULT, row![benchmark.to_string(), run])
        }
    };
    let written = || damaged("damaged");
    let (_, head) = PRUNED.head(row, &entry.tip).ok_or_else(written)?;
    let results = match (PRUNED.results(&head, rows(which)?, which), which) {
        // no result of this benchmark: correct unless another one is missing too
        (None, Some(Some(_))) => {
            let all = PRUNED.results(&head, rows(None)?, None);
            return all.map(|_| None).ok_or_else(written);
        }
        (results, _) => results.ok_or_else(written)?,
    };
    if (&head.seal, &head.sealed) != (&entry.seal, &entry.tip) {
        return Err(written());
    }
    let mut info = RunInfo::default();
    ledger::relabel(engine, run, &mut info)?;
    Ok(Some(Results {
        pruned: Some(Pruned { time: entry.time, analysis: head.analysis, label: info.label }),
        results,
        ..head.results
    }))
}
