//! Levels of all benchmarks over the runs of a system: the one model behind `compare`, `history`, `changes` and `check`
//! ([`gritstone_stats::series`]).

use crate::past::{Past, RunValue};
use gritstone_model::Id;
use gritstone_stats::moderated::{self, Variance};
use gritstone_stats::series::{self, Level, Noise, Point};
use std::collections::BTreeMap;

/// One benchmark over the runs that have a result of its newest version.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Positions of its runs among those of the system.
    pub runs: Vec<usize>,
    pub points: Vec<Point>,
    /// Positions among the points at which a level begins, but the first.
    pub starts: Vec<usize>,
    /// `None` with fewer than three runs.
    pub noise: Option<Noise>,
}

impl Series {
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        self.noise.map_or(vec![], |noise| {
            series::levels(&self.points, &self.starts, &noise)
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemLevels {
    pub series: BTreeMap<Id, Series>,
    /// Degrees of freedom of the tails of run effects, over all benchmarks.
    pub tails: f64,
}

/// Fits runs of one system in any order; `values` are those of a run: its estimates, or a percentile of them.
#[must_use]
pub fn fit<'a>(
    runs: &[&'a Past],
    values: &dyn Fn(&'a Past) -> Option<&'a BTreeMap<Id, RunValue>>,
) -> SystemLevels {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| runs[a].begun().cmp(&runs[b].begun()));
    order.dedup_by(|a, b| runs[*a].run == runs[*b].run);
    let mut all: BTreeMap<Id, Series> = BTreeMap::new();
    let mut versions: BTreeMap<Id, u32> = BTreeMap::new();
    for &run in &order {
        for (id, value) in values(runs[run]).into_iter().flatten() {
            let version = versions.entry(id.clone()).or_insert(value.version);
            let series = all.entry(id.clone()).or_insert_with(|| Series {
                runs: vec![],
                points: vec![],
                starts: vec![],
                noise: None,
            });
            if *version != value.version {
                *version = value.version;
                (series.runs, series.points) = (vec![], vec![]);
            }
            series.runs.push(run);
            series.points.push(Point {
                y: value.speed,
                variance: value.within,
            });
        }
    }
    let mut all: Vec<(Id, Series)> = all.into_iter().collect();
    let rough: Vec<Option<Noise>> = (all.iter())
        .map(|(_, of)| series::rough_noise(&of.points))
        .collect();
    set_noise(&mut all, &rough);
    for _ in 0..2 {
        for (_, of) in &mut all {
            of.starts = of
                .noise
                .map_or(vec![], |noise| series::changes(&of.points, &noise));
        }
        let known: Vec<Option<Noise>> = all
            .iter()
            .map(|(_, of)| Noise::of_points(&of.points, &of.starts))
            .collect();
        set_noise(&mut all, &known);
    }
    SystemLevels {
        tails: tails(&all),
        series: all.into_iter().collect(),
    }
}

/// The noise of each benchmark, moderated towards that of all.
fn set_noise(all: &mut [(Id, Series)], known: &[Option<Noise>]) {
    let variances: Vec<Option<Variance>> = known.iter().map(|of| Some((*of)?.variance)).collect();
    let distribution = moderated::distribution(&variances);
    for ((_, series), noise) in all.iter_mut().zip(known) {
        series.noise = match (noise, distribution) {
            (Some(noise), Some(prior)) => Some(Noise {
                variance: noise.variance.moderated(prior),
                ..*noise
            }),
            (noise, _) => *noise,
        };
    }
}

/// From how often deviations exceed three standard deviations.
fn tails(all: &[(Id, Series)]) -> f64 {
    let distances = all.iter().flat_map(|(_, of)| {
        let noise = of
            .noise
            .filter(|_| of.points.len() >= series::MIN_RUNS_OF_TAILS);
        noise.map_or(vec![], |noise| {
            series::distances(&of.points, &of.starts, &noise)
        })
    });
    series::tails(&distances.collect::<Vec<f64>>())
}
