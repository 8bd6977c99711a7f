//! Fills a store with a simulated fleet: up to 60 benchmarks of one `--quick` run per node, 0.5% between nodes and 1% between runs. One
//! node in forty, 20 at most, is slow in `memory`: by 3% and by 10% in turn, from node 0 on.
//! `cargo run --release -p gritstone --example many-nodes -- BUNDLE NUMBER STORE`

use anyhow::{Context, Result};
use gritstone_model::{Event, FleetMember, Id, RunData};
use gritstone_store::Store;
use gritstone_testkit::set_time;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::path::Path;

/// Families with samples.
const FAMILIES: [&str; 13] = [
    "aim", "byte", "cpu", "event", "file", "iocall", "ipc", "kernel", "memory", "sched", "thread",
    "unix", "vm",
];
/// Most benchmarks: the recorded run has 54 with six launches.
const BENCHMARKS: usize = 60;
const LAUNCHES: usize = 6;
/// Time per operation, ns.
const TIME: f64 = 10_000.0;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context("usage: many-nodes BUNDLE NUMBER STORE");
    let (bundle, number, store) = (next()?, next()?.parse::<usize>()?, next()?);
    let mut run = gritstone_exchange::read_bundle(&std::fs::read(&bundle)?[..])?;
    shorten(&mut run);
    let mut store = Store::open(Path::new(&store))?;
    let mut random = Pcg64::seed_from_u64(1);
    let slow = (number / 40).clamp(1, 20);
    for index in 0..number {
        let slower = match index {
            _ if index >= slow => 1.0,
            _ if index % 2 == 0 => 1.0 / 0.97,
            _ => 1.0 / 0.9,
        };
        store.import(&node(&run, index, slower, &mut random))?;
    }
    Ok(())
}

/// Reduces each launch to a sample and a check value.
fn shorten(run: &mut RunData) {
    let mut launches: BTreeMap<Id, usize> = BTreeMap::new();
    run.launches.retain(|launch| {
        let sampled = launch.events.iter().any(|event| matches!(event, Event::Sample(_)));
        let count = launches.entry(launch.id.clone()).or_default();
        *count += 1;
        sampled && *count <= LAUNCHES && FAMILIES.contains(&launch.id.family())
    });
    let measured: Vec<Id> = run.benchmarks.iter().map(|benchmark| benchmark.id.clone()).collect();
    let measured = measured
        .into_iter()
        .filter(|id| run.launches.iter().filter(|launch| launch.id == *id).count() == LAUNCHES);
    // some of each family
    let mut by_family: BTreeMap<String, Vec<Id>> = BTreeMap::new();
    for id in measured {
        by_family.entry(id.family().to_owned()).or_default().push(id);
    }
    let most = by_family.values().map(Vec::len).max().unwrap_or(0);
    let in_turn =
        (0..most).flat_map(|position| by_family.values().filter_map(move |ids| ids.get(position)));
    let ids: Vec<Id> = in_turn.take(BENCHMARKS).cloned().collect();
    run.benchmarks.retain(|benchmark| ids.contains(&benchmark.id));
    run.launches.retain(|launch| ids.contains(&launch.id));
    run.skips.retain(|skip| ids.contains(&skip.id));
    for launch in &mut run.launches {
        let mut sampled = false;
        launch.events.retain(|event| match event {
            Event::Sample(_) => !std::mem::replace(&mut sampled, true),
            Event::Hello { .. } | Event::Warm { .. } | Event::Check(_) | Event::Bye => true,
            _ => false,
        });
    }
}

fn node(run: &RunData, number: usize, slower: f64, random: &mut Pcg64) -> RunData {
    let mut run = run.clone();
    run.info.id = format!("20261103-100000-{number:08}");
    run.info.started = "2026-11-03T10:00:00Z".to_owned();
    run.info.label = None;
    run.info.settings.fleet = Some(FleetMember {
        fleet: "made-up".to_owned(),
        node: format!("node-{number:05}"),
        place: BTreeMap::from([("rack".to_owned(), (number / 40).to_string())]),
        ..FleetMember::default()
    });
    let factors: BTreeMap<Id, f64> = run
        .benchmarks
        .iter()
        .map(|benchmark| {
            let slower = match benchmark.id.family() {
                "memory" => slower,
                _ => 1.0,
            };
            let scatter = 0.005 * normal(random) + 0.01 * normal(random);
            (benchmark.id.clone(), slower * scatter.exp())
        })
        .collect();
    for launch in &mut run.launches {
        let ns = TIME * factors[&launch.id] * (0.001 * normal(random)).exp();
        set_time(launch, ns);
    }
    run
}

/// Nearly normal: the sum of twelve.
fn normal(random: &mut Pcg64) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}
