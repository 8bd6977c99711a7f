//! The measuring loop: a pilot, then the launches that the pilot calls for, in rounds, within the budget.
//!
//! Everything that it does to the world goes through [`Ways`], so that made-up launches and a made-up clock make it exact.
//! Must not know: the store, the terminal, how a launch is carried out.

use anyhow::Result;
use gritstone_exec::{Execute, Launched};
use gritstone_model::{Benchmark, Conditions, Id, Launch, Outcome, Plan, Step, Work};
use gritstone_plan::{Row, adjacent, rounds, share};
use gritstone_stats::{
    plan::launches_needed,
    summary::{self, Floor},
};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long one launch may take before it counts as hung.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// Confidence of all intervals.
pub const CONFIDENCE: f64 = 0.95;
/// Launches of the pilot: the fewest that have an interval at 95 %.
pub const PILOT: usize = 6;
/// Launches that a figure needs to be compared.
const LEAST: usize = 10;
/// Beyond this the drift of the machine, not the number of launches, limits what can be known.
const MOST: usize = 100;
/// Values below which a scatter is hardly one.
const FEW: usize = 3;
/// Of a row's launches, at most one in so many is made again because it was disturbed.
const REPEATED: usize = 4;
/// Part of the budget that is shared out after the pilot; the rest is for launches that take longer than the pilot's.
const SHARED_OUT: f64 = 0.97;

/// What bounds a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time for everything.
    pub budget: Duration,
    /// Half-width of the interval that is asked for, as a share of the estimate.
    pub precision: f64,
    /// Seed of the orders.
    pub seed: u64,
}

/// How far the session is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// What is launched now.
    pub id: &'a Id,
    /// Its entry.
    pub benchmark: &'a Benchmark,
    /// Where; empty for all CPUs.
    pub cpus: &'a [u32],
    /// How many copies at once.
    pub copies: u32,
    /// The pass, from 0.
    pub round: u32,
    /// Passes in all, as far as it is known.
    pub rounds: usize,
    /// Since the start.
    pub elapsed: Duration,
    /// When it will be over, from the start.
    pub end: Duration,
}

/// What the session does to the world.
pub trait Ways {
    /// Time since the start of the run.
    fn now(&self) -> Duration;
    /// Before a launch: says where the session is, and looks at the machine.
    fn before(&mut self, progress: &Progress<'_>);
    /// After it: what the machine did for others, given what the launch itself used and said.
    fn after(&mut self, benchmark: &Benchmark, launched: &Launched) -> Conditions;
    /// Keeps a finished launch.
    ///
    /// # Errors
    /// When it cannot be kept; the session ends then.
    fn keep(&mut self, launch: &Launch) -> Result<()>;
}

/// One row of the session.
struct Track<'a> {
    benchmark: &'a Benchmark,
    step: &'a Step,
    /// ln of the value of each launch that was measured.
    values: Vec<f64>,
    /// Of these, those of launches that had their core to themselves: the figure is made of them.
    alone: Vec<f64>,
    launches: usize,
    seconds: f64,
    disturbed: usize,
    /// Of the disturbed, those for which there was another launch in the second stage.
    replaced: usize,
    /// No more launches: it failed, timed out, or cannot run.
    out: bool,
}

impl Track<'_> {
    fn cost(&self) -> f64 {
        if self.launches == 0 {
            0.0
        } else {
            self.seconds / self.launches as f64
        }
    }

    /// Launches that are not to be in the figure. Where hardly any was alone, all of them must do.
    fn crowded(&self) -> usize {
        match self.alone.len() < FEW {
            true => 0,
            false => self.values.len() - self.alone.len(),
        }
    }

    /// How many launches the figure needs: what a crowded one says of the scatter is not the figure's, and it is made again.
    fn row(&self, precision: f64) -> Row {
        let crowded = self.crowded();
        let values = match crowded {
            0 => &self.values,
            _ => &self.alone,
        };
        let wanted = match self.out {
            true => 0,
            false => launches_needed(values, precision, CONFIDENCE, LEAST, MOST) + crowded,
        };
        Row {
            cost: self.cost(),
            done: self.launches,
            wanted,
            least: LEAST,
        }
    }

    fn learn(&mut self, launch: &Launch, floor: &mut Floor, seconds: f64) {
        self.launches += 1;
        self.seconds += seconds;
        // as in the figures: of several copies each has the others beside it
        if launch.copies == 1 {
            floor.see(launch);
        }
        let learned = summary::launch_learned(self.benchmark, launch, floor);
        self.disturbed += usize::from(learned.disturbed);
        if let Some(ns) = learned.ns_per_op {
            self.values.push(ns.ln());
            if !learned.crowded {
                self.alone.push(ns.ln());
            }
        }
        let failures = self.launches - self.values.len();
        self.out = match &launch.outcome {
            Outcome::Measured if exact(self.benchmark) => true,
            Outcome::Skipped(_) | Outcome::TimedOut(_) => true,
            // one failure may be the machine's; two, and more than a third of all, are the program's
            _ => failures >= 2 && self.values.len() < 2 * failures,
        };
    }
}

/// A size or a count: once is enough.
fn exact(benchmark: &Benchmark) -> bool {
    matches!(benchmark.unit.quantity(), gritstone_model::Quantity::Exact)
}

/// Measures the steps of `plan`, going on from `earlier` launches of the same plan if there are any.
///
/// # Errors
/// When launches cannot be carried out or kept any more, or the user asks to stop; everything finished has been kept.
pub fn measure(
    plan: &Plan,
    limits: &Limits,
    earlier: &[Launch],
    execute: &mut dyn Execute,
    ways: &mut dyn Ways,
) -> Result<()> {
    let mut tracks = tracks(plan);
    let mut floor = Floor::default();
    for launch in earlier {
        let own =
            |track: &&mut Track| (&track.step.id, track.step.copies) == (&launch.id, launch.copies);
        if let Some(track) = tracks.iter_mut().find(own) {
            track.learn(launch, &mut floor, launch.conditions.wall as f64 / 1e9);
        }
    }
    let first = earlier
        .iter()
        .map(|l| l.round.saturating_add(1))
        .max()
        .unwrap_or(0);
    let mut run = Session {
        limits,
        execute,
        ways,
        floor,
        round: first,
        rounds: first as usize + PILOT,
        end: limits.budget,
    };
    // a seed repeats the order of a whole run, but of a round for which there is no time; what goes on after a cut is in another order anyway
    let seed = |stage: u64| {
        limits
            .seed
            .wrapping_add(u64::from(first) << 8)
            .wrapping_add(stage)
    };

    let pilot: Vec<usize> = tracks
        .iter()
        .map(|t| PILOT.saturating_sub(t.launches))
        .collect();
    run.pass_through(&rounds(&pilot, seed(0)), &mut tracks)?;
    let more = allot(plan, &tracks, limits, run.ways.now());
    for track in &mut tracks {
        track.replaced = track.crowded();
    }
    run.expect(&more, &tracks);
    run.pass_through(&rounds(&more, seed(1)), &mut tracks)?;

    let again: Vec<usize> = tracks
        .iter()
        .map(|t| (t.disturbed - t.replaced).min(t.launches / REPEATED))
        .collect();
    run.expect(&again, &tracks);
    run.pass_through(&rounds(&again, seed(2)), &mut tracks)
}

fn tracks(plan: &Plan) -> Vec<Track<'_>> {
    let benchmarks: BTreeMap<&Id, &Benchmark> =
        plan.benchmarks.iter().map(|b| (&b.id, b)).collect();
    plan.steps
        .iter()
        .filter_map(|step| {
            Some(Track {
                benchmark: benchmarks.get(&step.id)?,
                step,
                values: vec![],
                alone: vec![],
                launches: 0,
                seconds: 0.0,
                disturbed: 0,
                replaced: 0,
                out: false,
            })
        })
        .collect()
}

/// How many more launches each row gets.
fn allot(plan: &Plan, tracks: &[Track<'_>], limits: &Limits, now: Duration) -> Vec<usize> {
    let mut rows: Vec<Row> = tracks
        .iter()
        .map(|track| track.row(limits.precision))
        .collect();
    // the terms of a difference are paired round by round, as one copy and several are: they need launches in the same rounds
    for benchmark in &plan.benchmarks {
        let paired = |step: &Step| match &benchmark.work {
            Work::Derived { .. } => step.copies == 1 && benchmark.work.parts().contains(&&step.id),
            _ => step.id == benchmark.id,
        };
        let members: Vec<usize> = (0..tracks.len())
            .filter(|&i| paired(tracks[i].step) && !tracks[i].out)
            .collect();
        let most = members.iter().map(|&i| rows[i].wanted).max().unwrap_or(0);
        for i in members {
            rows[i].wanted = most;
        }
    }
    let left = limits.budget.saturating_sub(now).as_secs_f64();
    share(&rows, left * SHARED_OUT)
}

struct Session<'a> {
    limits: &'a Limits,
    execute: &'a mut dyn Execute,
    ways: &'a mut dyn Ways,
    /// What the cores are when they are ours alone, as far as it was seen.
    floor: Floor,
    round: u32,
    rounds: usize,
    end: Duration,
}

impl Session<'_> {
    /// What the next stage will take, for whoever waits.
    fn expect(&mut self, launches: &[usize], tracks: &[Track<'_>]) {
        let open = || tracks.iter().zip(launches).filter(|(track, _)| !track.out);
        let cost: f64 = open().map(|(t, &n)| t.cost() * n as f64).sum();
        self.rounds = self.round as usize + open().map(|(_, &n)| n).max().unwrap_or(0);
        self.end = (self.ways.now() + Duration::from_secs_f64(cost)).min(self.limits.budget);
    }

    fn pass_through(&mut self, rounds: &[Vec<usize>], tracks: &mut [Track<'_>]) -> Result<()> {
        for order in rounds {
            let order = self.as_time_allows(order, tracks);
            // what is measured under the same load comes together, so that the load need not be started for each launch
            for i in adjacent(&order, |i| tracks[i].benchmark.load().len()) {
                let track = &mut tracks[i];
                let fits =
                    self.ways.now() + Duration::from_secs_f64(track.cost()) <= self.limits.budget;
                if fits {
                    self.launch(track)?;
                }
            }
            self.round += 1;
        }
        Ok(())
    }

    /// A round for which there is no time takes rows that have few launches first, and of these the quick ones: so as many as can be
    /// have what a figure needs.
    fn as_time_allows(&self, order: &[usize], tracks: &[Track<'_>]) -> Vec<usize> {
        let cost = |i: &usize| tracks[*i].cost();
        let has = |i: &usize| tracks[*i].launches.min(LEAST);
        let open = order.iter().copied().filter(|&i| !tracks[i].out);
        let mut order: Vec<usize> = open.collect();
        let left = self.limits.budget.saturating_sub(self.ways.now());
        if order.iter().map(cost).sum::<f64>() > left.as_secs_f64() {
            order.sort_by(|a, b| has(a).cmp(&has(b)).then(cost(a).total_cmp(&cost(b))));
        }
        order
    }

    fn launch(&mut self, track: &mut Track<'_>) -> Result<()> {
        let start = self.ways.now();
        self.execute.settle(track.benchmark)?;
        self.ways.before(&Progress {
            id: &track.step.id,
            benchmark: track.benchmark,
            cpus: &track.step.cpus,
            copies: track.step.copies,
            round: self.round,
            rounds: self.rounds,
            elapsed: start,
            end: self.end.max(start),
        });
        let step = track.step;
        let execute = &mut self.execute;
        let launched = execute.launch_copies(track.benchmark, &step.cpus, step.copies)?;
        let conditions = self.ways.after(track.benchmark, &launched);
        let launch = Launch {
            id: track.step.id.clone(),
            round: self.round,
            start: u64::try_from(start.as_nanos()).unwrap_or(u64::MAX),
            cpus: step.cpus.clone(),
            copies: step.copies,
            outcome: launched.outcome,
            events: launched.events,
            conditions,
        };
        self.ways.keep(&launch)?;
        let seconds = self.ways.now().saturating_sub(start).as_secs_f64();
        track.learn(&launch, &mut self.floor, seconds);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
