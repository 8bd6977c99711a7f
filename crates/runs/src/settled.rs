//! Earlier runs for the pages of a static site: the store does not change, so each run is read once.

use anyhow::Result;
use gritstone_analysis::comparability::ComparisonKey;
use gritstone_analysis::run_effect::RunEffects;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_model::RunInfo;
use gritstone_store::Store;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

/// Runs in memory at most.
const MAX_SUMMARIES: usize = 1000;

#[derive(Default)]
pub(crate) struct Settled {
    machines: RefCell<BTreeMap<String, Rc<[Earlier]>>>,
    summaries: RefCell<Summaries>,
    /// Effects of the last two runs that were compared.
    effects: RefCell<Option<([String; 2], RunEffects)>>,
}

/// A run of a machine, not a side of a trial.
struct Earlier {
    id: String,
    /// Start, to the second.
    began: String,
    /// `None` if unreadable.
    circumstances: Option<ComparisonKey>,
}

#[derive(Default)]
struct Summaries {
    known: HashMap<String, Option<Rc<RunSummary>>>,
    order: VecDeque<String>,
}

impl Settled {
    /// The newest runs under given circumstances that began no later than the second of `until`, newest first.
    pub(crate) fn runs(
        &self,
        store: &Store,
        like: &ComparisonKey,
        until: &str,
        max: usize,
    ) -> Result<Vec<String>> {
        let known = self.machines.borrow().get(&like.machine).cloned();
        let all = match known {
            Some(all) => all,
            None => {
                let all: Rc<[Earlier]> = earlier_runs(store, &like.machine)?.into();
                let mut machines = self.machines.borrow_mut();
                machines.insert(like.machine.clone(), Rc::clone(&all));
                all
            }
        };
        let wanted = |run: &&Earlier| {
            let circumstances = run.circumstances.as_ref();
            run.began.as_str() <= second(until)
                && circumstances.is_none_or(|circumstances| circumstances == like)
        };
        let wanted = all.iter().filter(wanted).take(max);
        Ok(wanted.map(|run| run.id.clone()).collect())
    }

    /// The parts of runs that comparisons need, without unreadable ones.
    pub(crate) fn summaries(
        &self,
        ids: &[&str],
        read: impl FnOnce(&[&str]) -> Result<Vec<Option<Rc<RunSummary>>>>,
    ) -> Result<Vec<Rc<RunSummary>>> {
        let mut summaries = self.summaries.borrow_mut();
        let missing = ids.iter().filter(|id| !summaries.known.contains_key(**id));
        let missing: Vec<&str> = missing.copied().collect();
        for (id, past) in missing.iter().zip(read(&missing)?) {
            summaries.order.push_back((*id).to_owned());
            summaries.known.insert((*id).to_owned(), past);
        }
        let known = ids.iter().filter_map(|id| summaries.known.get(*id)?.clone());
        let known: Vec<Rc<RunSummary>> = known.collect();
        while summaries.order.len() > MAX_SUMMARIES {
            let oldest = summaries.order.pop_front().unwrap_or_default();
            summaries.known.remove(&oldest);
        }
        Ok(known)
    }

    pub(crate) fn effects(
        &self,
        [base, other]: [&str; 2],
        estimate: impl FnOnce() -> RunEffects,
    ) -> RunEffects {
        let mut last = self.effects.borrow_mut();
        match &*last {
            Some(([a, b], known)) if (a.as_str(), b.as_str()) == (base, other) => known.clone(),
            _ => {
                let effects = estimate();
                *last = Some(([base, other].map(str::to_owned), effects.clone()));
                effects
            }
        }
    }
}

fn earlier_runs(store: &Store, machine: &str) -> Result<Vec<Earlier>> {
    let read: RefCell<HashMap<String, (String, ComparisonKey)>> = RefCell::default();
    let wanted = |info: &RunInfo| {
        let ordinary = info.settings.trial.is_none();
        if ordinary {
            let circumstances = ComparisonKey::new(&info.machine, Some(&info.settings));
            let head = (second(&info.started).to_owned(), circumstances);
            read.borrow_mut().insert(info.id.clone(), head);
        }
        ordinary
    };
    // "9" is later than any start
    let ids = store.runs_of(machine, "9", usize::MAX, &wanted)?;
    let mut read = read.into_inner();
    let run = |id: String| {
        let (began, circumstances) = match read.remove(&id) {
            Some((began, circumstances)) => (began, Some(circumstances)),
            None => (second(&store.head(&id)?.started).to_owned(), None),
        };
        Ok(Earlier { id, began, circumstances })
    };
    ids.into_iter().map(run).collect()
}

fn second(time: &str) -> &str {
    time.get(..19).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::config::DbConfig;

    /// A store of ten runs, an hour apart, two of them under other circumstances.
    fn stored(path: &std::path::Path) -> (Store, Vec<RunInfo>) {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/copies.jsonl");
        let recorded = crate::files::read(fixture.as_ref()).unwrap().run;
        let mut store = Store::open(path).unwrap();
        let infos = (0..10_u32).map(|hour| {
            let mut run = recorded.clone();
            run.info.started = format!("2026-01-01T{hour:02}:00:00Z");
            run.info.id = format!("20260101-{hour:02}0000-0000000{hour}");
            if hour % 5 == 1 {
                run.info.settings.dir = "/mnt".to_owned();
            }
            store.import(&run).unwrap();
            run.info
        });
        let infos = infos.collect();
        (store, infos)
    }

    /// Both ways to find the runs until each of them.
    fn compare(store: &Store, infos: &[RunInfo]) -> Vec<Vec<String>> {
        let settled = Settled::default();
        let mut all = vec![];
        for info in infos {
            let like = ComparisonKey::new(&info.machine, Some(&info.settings));
            let wanted = |earlier: &RunInfo| {
                earlier.settings.trial.is_none()
                    && ComparisonKey::new(&earlier.machine, Some(&earlier.settings)) == like
            };
            for max in [1, 3, 100] {
                let until = &info.started;
                let found = store.runs_of(&like.machine, until, max, &wanted).unwrap();
                let known = settled.runs(store, &like, until, max).unwrap();
                assert_eq!(known, found, "{until}, {max}");
                all.push(known);
            }
        }
        all
    }

    #[test]
    fn settled_runs_equal_stored_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (store, infos) = stored(&path);
        let found = compare(&store, &infos);
        let counts: Vec<usize> = found.iter().skip(2).step_by(3).map(Vec::len).collect();
        assert_eq!(counts, [1, 1, 2, 3, 4, 5, 2, 6, 7, 8]);
        drop(store);
        // a later run that cannot be read takes no place of an earlier one
        let other = rusqlite::Connection::open(&path).unwrap();
        let off = other.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false);
        assert_eq!(off, Ok(false));
        let damage = "UPDATE run SET settings = '{' WHERE started LIKE '%T08:%'";
        assert_eq!(other.execute(damage, ()), Ok(1));
        drop(other);
        let store = Store::open(&path).unwrap();
        let damaged = compare(&store, &infos);
        assert_eq!(damaged[..24], found[..24]);
        assert!(damaged[28].contains(&infos[8].id), "{damaged:?}");
    }
}
