//! `gritstone score`: machines rated by environment against a run or a machine, and for their price.

use crate::args::ScoreArgs;
use crate::chosen::Chosen;
use crate::failure::Exit;
use crate::output;
use crate::world::World;
use anyhow::{Result, bail};
use gritstone_analysis::between;
use gritstone_analysis::ratings::{self as stats, Environment, Options};
use gritstone_measure::CONFIDENCE;
use gritstone_model::{
    Id, Price, RatedMachine, RatingsView, RunView, SCHEMA_RATINGS, Selector, Work,
};
use gritstone_plan::select;
use gritstone_report::document::{Block, Document};
use gritstone_report::{rating_line, ratings};
use std::collections::BTreeSet;

/// What a run is rated against when nobody says.
pub const BASE: &str = "ref:amd-epyc-kvm-2026";

/// `gritstone score`.
pub fn rate(world: &World, args: &ScoreArgs) -> Result<Exit> {
    let Chosen {
        runs,
        selectors: mut by,
    } = world.chosen_or_last(&args.words)?;
    by.extend_from_slice(&args.by);
    let prices = prices(args, runs.len())?;
    let base = world.view(&args.against)?;
    let machines = runs.into_iter().enumerate();
    let machines: Vec<_> = machines
        .map(|(at, (_, view))| (view, prices.get(at).copied()))
        .collect();
    let view = against(world, &machines, &base, &by)?;
    output::write(args.format.format, &view, || ratings(&view))?;
    let rated = view
        .machines
        .iter()
        .all(|m| m.one_cpu.overall.rating.is_some());
    Ok(if rated {
        Exit::Done
    } else {
        Exit::Inconclusive
    })
}

/// Runs and machines, each perhaps with a price, rated against a base: by environment, or by the rows that are named.
///
/// # Errors
/// When a selector matches nothing.
pub fn against(
    world: &World,
    machines: &[(RunView, Option<Price>)],
    base: &RunView,
    by: &[String],
) -> Result<RatingsView> {
    let environments = match by {
        [] => stats::environments(&world.catalogue.benchmarks),
        by => vec![Environment {
            name: "Named benchmarks".to_owned(),
            rows: named(world, by)?,
        }],
    };
    let benchmarks = world.catalogue.benchmarks.iter();
    let alone: BTreeSet<Id> = benchmarks
        .filter(|benchmark| !benchmark.can_be_copied())
        .map(|benchmark| benchmark.id.clone())
        .collect();
    let mut all = vec![base];
    all.extend(machines.iter().map(|(machine, _)| machine));
    let rated = machines.iter().map(|(machine, price)| {
        // of a printed machine the store tells nothing: then only the measured side has runs
        let other = match base.settings {
            None => machine,
            Some(_) => base,
        };
        let options = Options {
            confidence: CONFIDENCE,
            named: !by.is_empty(),
            alone: alone.clone(),
            between_run: between::learn(&world.past(&[other, machine]), other, machine),
        };
        RatedMachine {
            name: name(machine, &all),
            ..stats::rate(&environments, machine, base, *price, &options)
        }
    });
    Ok(RatingsView {
        schema: SCHEMA_RATINGS.to_owned(),
        base: base.id.clone(),
        base_name: name(base, &all),
        by: by.to_vec(),
        confidence: CONFIDENCE,
        machines: rated.collect(),
    })
}

/// The machine, or the run where another one is of a machine of the same name.
fn name(view: &RunView, all: &[&RunView]) -> String {
    let twin = |other: &&RunView| other.id != view.id && other.machine.name == view.machine.name;
    match (all.iter().any(twin), &view.label) {
        (false, _) => view.machine.name.clone(),
        (true, Some(label)) => label.clone(),
        (true, None) => view.id.clone(),
    }
}

/// Opens the tables of a run with the line that people ask for, unless it measured a part that is not rated.
///
/// # Errors
/// When the base that is built in cannot be read.
pub fn open(
    world: &World,
    tables: &mut Document,
    run: &RunView,
    base: Option<&RunView>,
) -> Result<()> {
    let base = match base {
        Some(base) => base,
        None => &world.view(BASE)?,
    };
    let view = against(world, &[(run.clone(), None)], base, &[])?;
    let everything = run
        .settings
        .as_ref()
        .is_some_and(|s| s.suite.as_deref() == Some("full"));
    for machine in &view.machines {
        if everything || machine.one_cpu.overall.rating.is_some() {
            let line = rating_line(tables, &view, machine);
            tables.blocks.insert(0, Block::Paragraph(line));
        }
    }
    Ok(())
}

/// The rows that selectors name; a rating stands for the rows that it is over.
fn named(world: &World, by: &[String]) -> Result<Vec<Id>> {
    let all = &world.catalogue.benchmarks;
    // says which selector matches nothing, and what is near
    select(all, by)?;
    let selectors: Vec<Selector> = by.iter().map(|text| Selector::new(text)).collect();
    let matched = |id: &Id| selectors.iter().any(|selector| selector.matches(id));
    let mut open: Vec<&Id> = all.iter().map(|b| &b.id).filter(|id| matched(id)).collect();
    open.reverse();
    let mut rows: Vec<Id> = vec![];
    while let Some(id) = open.pop() {
        let entry = all.iter().find(|benchmark| benchmark.id == *id);
        match entry.map(|entry| &entry.work) {
            Some(Work::Rating { over, .. }) => open.extend(over.iter().rev()),
            _ if rows.contains(id) => {}
            _ => rows.push(id.clone()),
        }
    }
    Ok(rows)
}

/// A price for each machine, all of one kind; none at all is fine.
fn prices(args: &ScoreArgs, machines: usize) -> Result<&[Price]> {
    let prices = &args.price;
    if !prices.is_empty() && prices.len() != machines {
        bail!(
            "{} of --price for {machines}: give one for each RUN, in the same order",
            prices.len()
        );
    }
    if prices.iter().any(|price| price.per != prices[0].per) {
        bail!(
            "prices per hour and prices of systems cannot be compared: give all as 0.42/h, or all as 1999"
        );
    }
    Ok(prices)
}
