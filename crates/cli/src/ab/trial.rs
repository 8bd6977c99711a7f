//! The measuring loop of a trial: pairs in random order, until every row is decided, or the time is over.
//!
//! Everything that it does to the world goes through [`Ways`], so that made-up times and a made-up clock make it exact.
//! Must not know: the store, the terminal, how a launch is carried out, what is special about a side.

use crate::session::CONFIDENCE;
use anyhow::Result;
use gritstone_stats::looks::{self, LOOKS};
use gritstone_stats::plan::launches_needed;
use gritstone_stats::times::{Timed, Times};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::BTreeSet;
use std::time::Duration;

/// Launches of a command that is alone: the pilot, and at most.
const ALONE: (usize, usize) = (10, 100);
/// Half-width of the interval that a command alone gets.
const PRECISION: f64 = 0.01;

/// What a trial is.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    pub rows: usize,
    pub sides: usize,
    pub budget: Duration,
    pub margin: f64,
    pub seed: u64,
}

/// What the trial does to the world.
pub trait Ways {
    /// Time since the start.
    fn now(&self) -> Duration;
    /// Launches a row on a side, and keeps the launch; what it took, or none where it failed.
    ///
    /// # Errors
    /// When nothing can be launched or kept any more.
    fn launch(&mut self, row: usize, side: usize, round: u32) -> Result<Option<Timed>>;
    /// After each pair of a row: its times so far.
    fn standing(&mut self, row: usize, times: &Times);
}

/// One row of the trial.
struct Track {
    times: Times,
    /// The sides that get no more launches, in a ranking of several.
    lost: BTreeSet<usize>,
    /// No more launches: it is decided, cannot be launched, or has no time left.
    out: bool,
    seconds: f64,
    rounds: u32,
    failed: usize,
}

impl Track {
    fn cost(&self) -> f64 {
        self.seconds / f64::from(self.rounds.max(1))
    }

    /// Pairs that are enough whatever they say.
    fn full(&self) -> bool {
        let rounds = self.times.rounds();
        match self.times.0.as_slice() {
            [alone] => {
                let values: Vec<f64> = alone.iter().flatten().map(|t| t.ns.ln()).collect();
                let (pilot, most) = ALONE;
                rounds >= pilot
                    && rounds
                        >= launches_needed(&values[..pilot], PRECISION, CONFIDENCE, pilot, most)
            }
            _ => {
                let mut kept = self.times.kept().into_iter();
                kept.all(|pairs| pairs >= LOOKS[LOOKS.len() - 1])
            }
        }
    }

    fn failing(&self) -> bool {
        self.failed >= 2 && self.times.rounds() < 2 * self.failed
    }
}

/// Measures until nothing is left to decide. Everything that was measured has been kept.
///
/// # Errors
/// When launches cannot be carried out or kept any more, or the user asks to stop.
pub fn measure(design: &Design, ways: &mut dyn Ways) -> Result<Vec<Times>> {
    let mut coin = Pcg64::seed_from_u64(design.seed);
    let track = |_| Track {
        times: Times(vec![vec![]; design.sides]),
        lost: BTreeSet::new(),
        out: false,
        seconds: 0.0,
        rounds: 0,
        failed: 0,
    };
    let mut tracks: Vec<Track> = (0..design.rows).map(track).collect();
    for round in 0.. {
        let mut order: Vec<usize> = (0..design.rows).filter(|&row| !tracks[row].out).collect();
        if order.is_empty() {
            break;
        }
        order.shuffle(&mut coin);
        for row in order {
            pair(design, ways, &mut coin, &mut tracks[row], row, round)?;
        }
        look(design, &mut tracks);
    }
    Ok(tracks.into_iter().map(|track| track.times).collect())
}

/// One launch on each side that is not out, in random order.
fn pair(
    design: &Design,
    ways: &mut dyn Ways,
    coin: &mut Pcg64,
    track: &mut Track,
    row: usize,
    round: u32,
) -> Result<()> {
    let start = ways.now();
    if start + Duration::from_secs_f64(track.cost()) > design.budget {
        track.out = true;
        return Ok(());
    }
    let still_in = |side: &usize| !track.lost.contains(side);
    let mut order: Vec<usize> = (0..design.sides).filter(still_in).collect();
    order.shuffle(coin);
    for side in order {
        let value = ways.launch(row, side, round)?;
        track.failed += usize::from(value.is_none());
        track.times.0[side].push(value);
    }
    track.rounds += 1;
    track.seconds += ways.now().saturating_sub(start).as_secs_f64();
    ways.standing(row, &track.times);
    Ok(())
}

/// After a round: if it is time to look, whatever is decided gets no more launches, be it a row or a side of one.
fn look(design: &Design, tracks: &mut [Track]) {
    for track in tracks.iter_mut() {
        track.out |= track.full() || track.failing();
    }
    let due = |track: &Track| {
        let mut kept = track.times.kept().into_iter();
        !track.out && kept.any(|pairs| LOOKS.contains(&pairs))
    };
    if design.sides < 2 || !tracks.iter().any(due) {
        return;
    }
    let times: Vec<Times> = tracks.iter().map(|track| track.times.clone()).collect();
    let judged = looks::judge(&times, design.margin, false);
    for (track, judged) in tracks.iter_mut().zip(&judged) {
        track.out |= looks::decided(&track.times, judged);
        track.lost.extend(looks::lost(&track.times, judged));
    }
}

#[cfg(test)]
mod tests;
