//! Compares the nodes of a fleet, from runs in the store or in files.

use anyhow::{Context as _, Result, bail, ensure};
use gritstone_analysis::fleet::{self, Earlier, NodeRun};
use gritstone_model::FleetView;
use gritstone_runs::context::{Context, this_machine};
use gritstone_runs::uncached::or_warning;
use gritstone_store::{Member, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Limits the earlier fleet runs, and the nodes of each beyond the outliers; a median over 24 is precise enough.
const MAX_EARLIER: usize = 24;
const MAX_OTHERS: usize = 200;

/// Compares the nodes of the named runs, with the onset of each difference.
pub fn view(context: &Context, words: &[String], margin: f64) -> Result<FleetView> {
    let (name, mut runs) = runs(context, words)?;
    let mut view = fleet::report(&name, &runs, margin);
    ensure!(!view.benchmarks.is_empty(), "no run of {name} has a comparable result");
    let of_store = words.is_empty() || words.iter().any(|word| context.is_store_name(word));
    if let Some(store) = context.reader()?.filter(|_| of_store) {
        let names = compared(&view);
        let earlier = earlier(context, &store, &view, &names)?;
        runs.retain(|run| names.contains(&run.node));
        fleet::since(&mut view, &runs, earlier);
    }
    Ok(view)
}

/// Nodes whose history is read: the outliers, and enough others for medians.
fn compared(view: &FleetView) -> BTreeSet<String> {
    let differ = view.outliers.iter().map(|outlier| &outlier.node);
    let some = view.nodes.iter().map(|node| &node.node);
    let some = some.step_by(view.nodes.len().div_ceil(MAX_OTHERS).max(1));
    differ.chain(some).cloned().collect()
}

/// The newest fleet runs before this one that measured any of these nodes, oldest first.
fn earlier(
    context: &Context,
    store: &Store,
    view: &FleetView,
    nodes: &BTreeSet<String>,
) -> Result<Vec<Earlier>> {
    let current: BTreeSet<&String> = view.nodes.iter().flat_map(|node| &node.runs).collect();
    let members = store.members()?;
    let mut fleets: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    for member in members.iter().filter(|member| member.ended) {
        fleets.entry(&member.member.fleet).or_default().push(member);
    }
    let mut found = vec![];
    for members in fleets.values() {
        let started = members.iter().map(|member| member.started.as_str()).min();
        let before = started.filter(|started| *started < view.started.as_str());
        let wanted = members.iter().filter(|member| nodes.contains(&member.member.node));
        let wanted: Vec<&str> = wanted.map(|member| member.run.as_str()).collect();
        let reported = members.iter().any(|member| current.contains(&member.run));
        if let Some(started) = before.filter(|_| !wanted.is_empty() && !reported) {
            found.push((started, wanted));
        }
    }
    found.sort_unstable();
    let skipped = found.len().saturating_sub(MAX_EARLIER);
    let read = |(started, ids): (&str, Vec<&str>)| {
        Ok(Earlier { started: started.to_owned(), runs: readable(context, store, &ids)? })
    };
    found.into_iter().skip(skipped).map(read).collect()
}

/// Results of runs by node. A run that cannot be read is reported and left out.
fn readable(context: &Context, store: &Store, ids: &[&str]) -> Result<Vec<NodeRun>> {
    let read = context.stored_nodes(store, ids)?;
    let readable = ids.iter().zip(read).map(|(id, read)| or_warning(id, read));
    Ok(readable.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The named runs, and their common name.
pub fn runs(context: &Context, words: &[String]) -> Result<(String, Vec<NodeRun>)> {
    let (stored, files): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| context.is_store_name(word));
    let mut nodes = vec![];
    for file in &files {
        let run = context.data(file)?;
        nodes.push(NodeRun::new(&run, &context.summary(&run)));
    }
    let mut names: Vec<String> = match (files.len(), stored.is_empty()) {
        (several @ 2.., true) => vec![format!("{several} files")],
        _ => files.iter().map(ToString::to_string).collect(),
    };
    if !stored.is_empty() || words.is_empty() {
        let store = context
            .reader()?
            .context("no run is stored yet: `gritstone import` brings in the bundles of nodes")?;
        let members = store.members()?;
        let mut ids: BTreeSet<String> = BTreeSet::new();
        if words.is_empty() {
            let newest = members
                .first()
                .context("no run in the store is of a fleet: name runs, a label or bundles")?;
            ids.extend(complete_runs(&members, &newest.member.fleet));
            names.push(newest.member.fleet.clone());
        }
        for word in stored {
            let (name, runs) = named(context, &store, &members, word)?;
            ids.extend(runs);
            names.push(name);
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        nodes.extend(readable(context, &store, &ids)?);
    }
    let mut seen = BTreeSet::new();
    nodes.retain(|node| seen.insert(node.run.clone()));
    let name = names.join(" ");
    ensure!(!nodes.is_empty(), "no run of {name} can be read");
    Ok((name, nodes))
}

/// Complete runs of a fleet; an incomplete one means that its node died.
fn complete_runs(members: &[Member], fleet: &str) -> Vec<String> {
    let complete = members.iter().filter(|member| member.member.fleet == fleet && member.ended);
    complete.map(|member| member.run.clone()).collect()
}

/// The runs that a word names, and their name: those of a fleet, all with a label, or one.
fn named(
    context: &Context,
    store: &Store,
    members: &[Member],
    word: &str,
) -> Result<(String, Vec<String>)> {
    let fleets: BTreeSet<&str> =
        members.iter().map(|member| member.member.fleet.as_str()).collect();
    let heads = store.runs()?;
    let labeled =
        heads.iter().filter(|head| head.label.as_deref() == Some(word) && head.elapsed_s.is_some());
    let labeled: Vec<String> = labeled.map(|head| head.id.clone()).collect();
    let like: Vec<&str> = fleets.iter().copied().filter(|fleet| fleet.contains(word)).collect();
    let fleet = match like.as_slice() {
        _ if fleets.contains(word) => Some(word),
        _ if !labeled.is_empty() => None,
        [one] => Some(*one),
        [one, other, ..] => bail!("'{word}' may be fleet {one} or {other}: write more of it"),
        [] => None,
    };
    if let Some(fleet) = fleet {
        return Ok((fleet.to_owned(), complete_runs(members, fleet)));
    }
    let runs = match labeled.is_empty() {
        true => vec![context.resolve(store, word)?],
        false => {
            // an ambiguous name is an error
            store.resolve(word, this_machine)?;
            labeled
        }
    };
    Ok((word.to_owned(), runs))
}
