//! Earlier runs as the pages of a static site need them: of a store that stays as it is, each read once.

use anyhow::Result;
use gritstone_analysis::comparability::Circumstances;
use gritstone_analysis::past::Past;
use gritstone_analysis::run_effect::RunEffects;
use gritstone_model::RunInfo;
use gritstone_store::Store;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

/// Runs in memory at most.
const MAX_PASTS: usize = 1000;

#[derive(Default)]
pub(crate) struct Settled {
    machines: RefCell<BTreeMap<String, Rc<[Earlier]>>>,
    pasts: RefCell<Pasts>,
    /// Of the last two runs that were compared.
    effects: RefCell<Option<([String; 2], RunEffects)>>,
}

/// A run of a machine, no side of a trial.
struct Earlier {
    id: String,
    /// The second in which it began, and its circumstances; `None` where its head cannot be read.
    head: Option<(String, Circumstances)>,
}

#[derive(Default)]
struct Pasts {
    known: HashMap<String, Option<Rc<Past>>>,
    order: VecDeque<String>,
}

impl Settled {
    /// The newest runs under some circumstances that began no later than the second of `until`, newest first.
    pub(crate) fn runs(
        &self,
        store: &Store,
        like: &Circumstances,
        until: &str,
        most: usize,
    ) -> Result<Vec<String>> {
        let known = self.machines.borrow().get(&like.machine).cloned();
        let all = match known {
            Some(all) => all,
            None => {
                let all: Rc<[Earlier]> = of_machine(store, &like.machine)?.into();
                let mut machines = self.machines.borrow_mut();
                machines.insert(like.machine.clone(), Rc::clone(&all));
                all
            }
        };
        let wanted = |run: &&Earlier| {
            run.head
                .as_ref()
                .is_none_or(|(began, of)| began.as_str() <= second(until) && of == like)
        };
        let wanted = all.iter().filter(wanted).take(most);
        Ok(wanted.map(|run| run.id.clone()).collect())
    }

    /// The parts of runs that comparisons need, without unreadable ones.
    pub(crate) fn pasts(
        &self,
        ids: &[&str],
        read: impl FnOnce(&[&str]) -> Result<Vec<Option<Rc<Past>>>>,
    ) -> Result<Vec<Rc<Past>>> {
        let mut pasts = self.pasts.borrow_mut();
        let missing = ids.iter().filter(|id| !pasts.known.contains_key(**id));
        let missing: Vec<&str> = missing.copied().collect();
        for (id, past) in missing.iter().zip(read(&missing)?) {
            pasts.order.push_back((*id).to_owned());
            pasts.known.insert((*id).to_owned(), past);
        }
        let known = ids.iter().filter_map(|id| pasts.known.get(*id)?.clone());
        let known: Vec<Rc<Past>> = known.collect();
        while pasts.order.len() > MAX_PASTS {
            let oldest = pasts.order.pop_front().unwrap_or_default();
            pasts.known.remove(&oldest);
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

fn of_machine(store: &Store, machine: &str) -> Result<Vec<Earlier>> {
    let heads: RefCell<HashMap<String, (String, Circumstances)>> = RefCell::default();
    let wanted = |info: &RunInfo| {
        let ordinary = info.settings.trial.is_none();
        if ordinary {
            let of = Circumstances::new(&info.machine, Some(&info.settings));
            let head = (second(&info.started).to_owned(), of);
            heads.borrow_mut().insert(info.id.clone(), head);
        }
        ordinary
    };
    // no run began later
    let ids = store.runs_of(machine, "9", usize::MAX, &wanted)?;
    let mut heads = heads.into_inner();
    let run = |id: String| Earlier {
        head: heads.remove(&id),
        id,
    };
    Ok(ids.into_iter().map(run).collect())
}

fn second(time: &str) -> &str {
    time.get(..19).unwrap_or(time)
}
