//! Fills a store with copies of one run, an hour apart, their times scattered by 1%: what a machine has after a year.
//! With SYSTEMS, the runs are spread over that many systems in turn. A run has 100 launches at most.
//! `cargo run --release -p gritstone --example many-runs -- BUNDLE NUMBER STORE [SYSTEMS]`

use anyhow::{Context, Result};
use gritstone_model::RunData;
use gritstone_store::Store;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;

/// Most launches of a run.
const LAUNCHES: usize = 100;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context("usage: many-runs BUNDLE NUMBER STORE [SYSTEMS]");
    let (bundle, number, store) = (next()?, next()?.parse::<u32>()?, next()?);
    let systems = next().map_or(Ok(0), |text| text.parse::<u32>())?;
    let mut run = gritstone_exchange::read_bundle(&std::fs::read(&bundle)?[..])?;
    run.launches.truncate(LAUNCHES);
    let mut store = Store::open(Path::new(&store))?;
    let mut random = Pcg64::seed_from_u64(1);
    let first: jiff::Timestamp = "2025-01-01T00:00:00Z".parse()?;
    for index in 0..number {
        let started = first + jiff::SignedDuration::from_hours(i64::from(index));
        let factor = 1.0 + 0.02 * (random.random::<f64>() - 0.5);
        let mut copy = scaled(&run, factor);
        copy.info.id = gritstone_store::new_id(started, index);
        copy.info.started = started.to_string();
        copy.info.label = None;
        if systems > 0 {
            let machine = &mut copy.info.machine;
            machine.id = format!("{:012x}", index % systems);
            machine.name = format!("node-{}", index % systems);
        }
        store.import(&copy)?;
    }
    Ok(())
}

/// The same run with every sample longer by a factor.
fn scaled(run: &RunData, factor: f64) -> RunData {
    let mut copy = run.clone();
    for sample in copy.launches.iter_mut().flat_map(gritstone_testkit::samples) {
        sample.wall = (sample.wall as f64 * factor) as u64;
    }
    copy
}
