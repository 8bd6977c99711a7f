//! The pages of a site, each with a hash of its inputs.

use crate::digests::Digest;
use crate::http::{FIRST, PageRequest, Params, Route};
use crate::pages::{Pages, ROUTES, SiteFiles};
use crate::pages::{
    benchmark, benchmark_list, change_log, compare, lists, ranking, run, system, trial,
};
use anyhow::{Context as _, Result};
use gritstone_document::About;
use gritstone_document::html::{self, path};
use gritstone_model::{ChangeEvent, Id, ScoredSystem, hexadecimal};
use gritstone_runs::changes::add_triage;
use gritstone_runs::context::Context;
use gritstone_store::{RunHead, Store};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Newest runs on the pages of benchmarks.
const NEWEST: usize = 100;

/// The script of pages with charts.
pub(super) const CHARTS_FILE: &str = "assets/charts.js";

/// A page of a site.
pub(super) struct Page {
    route: &'static Route<Pages>,
    /// Path on a server.
    pub(super) path: String,
    values: Vec<(&'static str, String)>,
    query: String,
    pub(super) file: String,
    pub(super) inputs: String,
}

impl Page {
    /// The request that a server would get for it.
    pub(super) fn request(&self) -> Result<PageRequest> {
        let values = self.values.iter().map(|(name, value)| (*name, &**value));
        let params = Params::parse(self.route.parameters, values, &self.query);
        let params = params.map_err(anyhow::Error::msg)?;
        let uri = self.path.parse().context("not a path")?;
        Ok(PageRequest::internal(params, uri))
    }

    pub(super) fn route(&self) -> &'static Route<Pages> {
        self.route
    }
}

#[derive(Default)]
pub(super) struct Plan {
    pub(super) pages: Vec<Page>,
    pub(super) site: SiteFiles,
}

impl Plan {
    fn add(
        &mut self,
        route: &'static Route<Pages>,
        about: &About,
        values: &[(&'static str, &str)],
        inputs: &[&str],
    ) {
        self.site.files.insert(about);
        let path = path(about);
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let file = self.site.files.file(&path).unwrap_or_default();
        self.pages.push(Page {
            route,
            values: values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            query: query.to_owned(),
            file: file.to_owned(),
            inputs: hash(inputs),
            path,
        });
    }

    /// Adds the pages of the navigation.
    fn add_navigation(&mut self, everything: &str, names: &str) {
        self.site.files.insert_path("/", "index.html");
        for route in ROUTES.iter().filter(|route| route.title.is_some()) {
            let name = if route.path == FIRST { "/index" } else { route.path };
            let file = format!("{}.html", &name[1..]);
            let inputs = if route.path == benchmark_list::ROUTE.path { names } else { everything };
            self.site.files.insert_path(route.path, &file);
            self.pages.push(Page {
                route,
                path: route.path.to_owned(),
                values: vec![],
                query: String::new(),
                file,
                inputs: hash(&[inputs]),
            });
        }
    }
}

/// A run and its predecessors.
struct Run {
    head: RunHead,
    /// Hash over all runs of the system up to this one.
    until: String,
    /// The previous run.
    before: Option<String>,
}

pub(super) fn plan(context: &Context, store: Option<&Store>, digest: &Digest) -> Result<Plan> {
    let mut plan = Plan::default();
    plan.site.files.insert_path(html::CHARTS_PATH, CHARTS_FILE);
    let mut events: Vec<ChangeEvent> =
        digest.events.iter().take(change_log::MAX_EVENTS).cloned().collect();
    let runs = match store {
        Some(store) => {
            add_triage(&mut events, store.change_entries()?);
            runs(context, store)?
        }
        None => BTreeMap::new(),
    };
    let mut pairs = pairs(&runs, &events);
    let ranking = ranking::ranked(context, store)?;
    for sides in side_by_side(&ranking.machines) {
        let [Some(a), Some(b)] = sides.map(|machine| runs.get(&machine.id)) else {
            // a run that was added meanwhile is left to the next call
            continue;
        };
        let pair = sides.map(|machine| machine.id.clone());
        for (run, [_, other]) in [(a, sides), (b, [sides[1], sides[0]])] {
            let comparisons = plan.site.comparisons.entry(run.head.machine_id.clone());
            let comparisons = comparisons.or_default();
            comparisons.push((other.name.clone(), pair.clone()));
        }
        pairs.insert(pair);
    }
    let json = serde_json::to_string(&events).context("cannot write JSON")?;
    let until: Vec<&str> = runs.values().map(|run| run.until.as_str()).collect();
    let benchmarks = store.map_or(Ok(vec![]), |store| lists::benchmarks(context, store))?;
    let mut names: Vec<String> = benchmarks.iter().map(ToString::to_string).collect();
    if let Some(store) = store {
        names.extend(store.titles(&|_| true)?.into_values());
    }
    plan.add_navigation(&hash(&[&hash(&until), &json]), &names.join(" "));
    add_runs(&mut plan, &runs);
    add_trials(&mut plan, &runs);
    for pair in &pairs {
        let inputs = pair.each_ref().map(|id| runs[id].until.as_str());
        plan.add(&compare::ROUTE, &About::Pair(pair.clone()), &[], &inputs);
    }
    for event in &events {
        let json = serde_json::to_string(event).context("cannot write JSON")?;
        let values = [("event", event.id.as_str())];
        plan.add(&change_log::CHANGE, &About::Event(event.id.clone()), &values, &[&json]);
    }
    if let Some(store) = store {
        add_benchmarks(&mut plan, store, &runs, &benchmarks, &json)?;
    }
    Ok(plan)
}

fn add_runs(plan: &mut Plan, runs: &BTreeMap<String, Run>) {
    let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, run) in runs {
        let machine = machines.entry(&run.head.machine_id).or_default();
        machine.push(&run.until);
        let values = [("run", id.as_str())];
        let before = run.before.as_deref().unwrap_or_default();
        plan.add(&run::PAGE, &About::Run(id.clone()), &values, &[&run.until, before]);
        if let Some(before) = &run.before {
            plan.site.before.insert(id.clone(), before.clone());
        }
    }
    for (id, until) in machines {
        let mut inputs = until;
        for (name, pair) in plan.site.comparisons.get(id).into_iter().flatten() {
            inputs.extend([name.as_str(), &pair[0], &pair[1]]);
        }
        let inputs = hash(&inputs);
        plan.add(&system::ROUTE, &About::System(id.to_owned()), &[("system", id)], &[&inputs]);
    }
}

fn add_trials(plan: &mut Plan, runs: &BTreeMap<String, Run>) {
    let mut trials: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (id, run) in runs {
        if let Some(side) = &run.head.side {
            trials.entry(&side.trial).or_default().push((id, &run.until));
        }
    }
    for sides in trials.values() {
        let inputs: Vec<&str> = sides.iter().map(|(_, until)| *until).collect();
        for (id, _) in sides {
            let about = About::Trial((*id).to_owned());
            plan.add(&trial::ROUTE, &about, &[("run", id)], &inputs);
        }
    }
}

fn add_benchmarks(
    plan: &mut Plan,
    store: &Store,
    runs: &BTreeMap<String, Run>,
    benchmarks: &[Id],
    events: &str,
) -> Result<()> {
    for (id, newest) in benchmarks.iter().zip(store.newest(benchmarks, NEWEST, None)?) {
        // newer runs are left to the next call
        let newest = newest.iter().filter_map(|id| runs.get(id));
        let mut inputs: Vec<&str> = newest.map(|run| run.until.as_str()).collect();
        // comparisons of the runs around a change are linked
        inputs.push(events);
        let id = id.to_string();
        let values = [("benchmark", id.as_str())];
        plan.add(&benchmark::ROUTE, &About::Benchmark(id.clone()), &values, &[&hash(&inputs)]);
    }
    Ok(())
}

/// Pairs of runs with a comparison: each run and its predecessor, and the runs around each change.
fn pairs(runs: &BTreeMap<String, Run>, events: &[ChangeEvent]) -> BTreeSet<[String; 2]> {
    let each = runs.iter();
    let each = each.filter_map(|(id, run)| Some([run.before.clone()?, id.clone()]));
    let changes = events.iter().flat_map(|event| {
        let changes = event.changes.iter();
        let changes = changes.map(|change| (change.before.clone(), change.change.run.clone()));
        let pair = [(event.before.clone(), event.run.clone())];
        changes.chain(pair).collect::<Vec<_>>()
    });
    let changes = changes.filter_map(|(before, run)| Some([before?, run]));
    let is_known =
        |pair: &[String; 2]| pair[0] != pair[1] && pair.iter().all(|id| runs.contains_key(id));
    each.chain(changes).filter(is_known).collect()
}

/// Systems that are compared: each with the first of the ranking, and with the next better.
fn side_by_side(ranked: &[ScoredSystem]) -> impl Iterator<Item = [&ScoredSystem; 2]> {
    let with_first = ranked.iter().skip(1).map(|machine| [&ranked[0], machine]);
    let with_next = ranked.windows(2).skip(1).map(|two| [&two[0], &two[1]]);
    with_first.chain(with_next)
}

fn runs(context: &Context, store: &Store) -> Result<BTreeMap<String, Run>> {
    let results = context.result_hashes(store)?;
    let mut runs = BTreeMap::new();
    let mut machines: BTreeMap<String, (String, Option<String>)> = BTreeMap::new();
    let heads = store.runs()?;
    // runs of one second affect each other's page
    for second in heads.chunk_by(|a, b| a.started.get(..19) == b.started.get(..19)) {
        let mut known = vec![];
        for head in second {
            let state_hash = state(store, head, results.get(&head.id))?;
            let (until, before) = machines.entry(head.machine_id.clone()).or_default();
            *until = hash(&[until, &state_hash]);
            let earlier = match head.is_whole() {
                true => before.replace(head.id.clone()),
                false => None,
            };
            known.push((head, earlier));
        }
        for (head, before) in known {
            let (until, _) = &machines[&head.machine_id];
            let run = Run { until: hash(&[until, &head.id]), head: head.clone(), before };
            runs.insert(head.id.clone(), run);
        }
    }
    Ok(runs)
}

/// Hash of all mutable parts of a run.
fn state(store: &Store, head: &RunHead, results: Option<&String>) -> Result<String> {
    let launches = match head.elapsed_s {
        Some(_) => 0,
        None => store.progress(&head.id)?.launches,
    };
    let label = head.label.as_deref().unwrap_or_default();
    let pruned = head.pruned.as_deref().unwrap_or_default();
    let results = results.map_or("", String::as_str);
    Ok(hash(&[&head.id, label, pruned, results, &format!("{:?} {launches}", head.elapsed_s)]))
}

fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    // another version renders other pages
    hash.update(env!("CARGO_PKG_VERSION"));
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hexadecimal(hash.finalize())
}
