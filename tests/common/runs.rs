//! Recorded runs, to be changed and stored.

use super::{Home, fixture};
use gritstone_model::{Conditions, Event, Launch, Owner, RunData};
use gritstone_store::Store;
use std::fs;

/// A fixture with all its launches.
pub fn recorded(name: &str) -> RunData {
    gritstone_exchange::read_bundle(&fs::read(fixture(name)).unwrap()[..]).unwrap()
}

/// A run that started `hours` hours after 1970, with a label.
pub fn at_hour(run: &RunData, hours: u32, label: &str) -> RunData {
    let mut run = run.clone();
    let started = jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(hours.into());
    run.info.started = started.to_string();
    run.info.id = gritstone_store::new_id(started, hours);
    run.info.label = Some(label.to_owned());
    run
}

/// Four launches, named after their hour.
pub fn short_run(hour: u32) -> RunData {
    let mut run = recorded("copies");
    run.launches.truncate(4);
    at_hour(&run, hour, &format!("hour-{hour}"))
}

/// Some benchmarks of a run.
pub fn part(mut run: RunData, has: impl Fn(&str) -> bool) -> RunData {
    run.benchmarks.retain(|benchmark| has(benchmark.id.as_str()));
    run.programs.retain(|id, _| has(id.as_str()));
    run.launches.retain(|launch| has(launch.id.as_str()));
    run.skips.retain(|skip| has(skip.id.as_str()));
    run
}

/// Removes contention from a launch, and sets both probes of each sample and batch, in ns.
pub fn calm(launch: &mut Launch, cycle_probe: u64, smt_probe: u64) {
    launch.conditions = Conditions { wall: launch.conditions.wall, ..Conditions::default() };
    for (index, event) in (0..).zip(&mut launch.events) {
        let probes = match event {
            Event::Sample(sample) => (&mut sample.cycle_probe, &mut sample.smt_probe),
            Event::Batch(batch) => (&mut batch.cycle_probe, &mut batch.smt_probe),
            _ => continue,
        };
        (*probes.0, *probes.1) = (cycle_probe + index % 3, smt_probe);
    }
}

/// Stores the beginning of a run.
pub fn begin(home: &Home, run: &RunData) {
    let mut info = run.info.clone();
    info.elapsed_s = None;
    let owner = Owner { uid: 0, machine: "here".to_owned() };
    let mut store = Store::open(&home.store()).unwrap();
    store.begin(&owner, &info, &run.benchmarks, &run.programs, &run.skips).unwrap();
}
