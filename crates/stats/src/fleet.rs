//! Finds outliers among the nodes of a fleet.
//!
//! Mixed model of y = ln(speed) of benchmark b on node i, the mean of its runs: y = m(b, kind) + s(i) + f(i, family) + e(i, b). Each
//! level is estimated robustly, from the widest: m by the median over the nodes of a kind, s by the median over benchmarks, f by the
//! Hodges-Lehmann estimate over a family. The scale of a level is estimated from its own distribution over nodes, so that benchmarks of a
//! family, or of a run, may have common errors. Fewer than half of the nodes of a kind may differ. docs/validation.md has rates of false
//! alarms and power.

use crate::moderated::{self, Variance};
use crate::{descriptive, multiple, quantile};
use std::collections::BTreeSet;

/// False discovery rate of each level: everything, families, benchmarks.
pub const LEVEL: f64 = 0.05;
/// Fewest benchmarks of a node for a deviation that all of them share, and of a fleet to moderate their variances.
pub const MIN_BENCHMARKS: usize = 8;
/// Fewest nodes of a kind that are compared with each other: of three, two outliers leave no majority.
pub const MIN_NODES: usize = 4;
/// Standard deviations at which deviations are clipped for the scale.
const CLIP: f64 = 2.5;
/// E(min(z, CLIP)^2) of a standard normal z.
const CLIPPED: f64 = 0.977_6;
/// The median of |z|, z standard normal.
const MEDIAN_ABS_NORMAL: f64 = 0.674_49;
/// Degrees of freedom per node of the robust scale, by simulation: those of the standard deviation, reduced by clipping.
const DF_OF_NODE: f64 = 0.7;
/// Share of the benchmarks of a family that must deviate by a standard deviation in its direction: a single outlier does not count as the
/// family.
const FAMILY_SHARE: f64 = 2.0 / 3.0;
/// Ratio of the standard deviation of a median of many normal values to that of their mean: the root of pi/2.
const MEDIAN_OVER_MEAN: f64 = 1.253_314;
/// One-sided normal quantile of 5%.
const ONE_IN_TWENTY: f64 = 1.644_854;

/// A benchmark on a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Mean of ln(speed) over the runs of the node.
    pub value: f64,
    /// Variance of it, from the launches.
    pub within: f64,
    /// Number of runs in the mean.
    pub runs: usize,
}

/// Measurements of a fleet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The kind of each node, from 0.
    pub kinds: Vec<usize>,
    /// By benchmark and node.
    pub cells: Vec<Vec<Option<Cell>>>,
    /// The family of each benchmark, from 0.
    pub families: Vec<usize>,
    /// Variance between runs of one node of each benchmark, if nodes have several.
    pub between_runs: Vec<Option<f64>>,
    /// Deviation, ln, up to which a node counts as like the others.
    pub margin: f64,
}

/// Estimates of one scope over the nodes: all benchmarks, a family or a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Robust standard deviation over nodes.
    pub sd: f64,
    /// Its degrees of freedom.
    pub df: f64,
    /// Smallest deviation, ln, that is detected on one node with a probability of 95%.
    pub smallest: f64,
    /// Nodes with an estimate.
    pub nodes: Vec<Option<Deviation>>,
}

/// Deviation of a node from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// ln(speed) less that of the others.
    pub by: f64,
    /// Half-width of its 95% interval.
    pub half: f64,
    /// p of no deviation.
    pub p: f64,
    /// Adjusted over nodes and over the whole level.
    pub p_adjusted: f64,
    /// Whether the deviation is significant and beyond the margin.
    pub differs: bool,
}

/// The fitted model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// All benchmarks; `None` with too few benchmarks or families.
    pub all: Option<Level>,
    /// Each family of at least two benchmarks, if there are two families.
    pub families: Vec<Option<Level>>,
    /// One level for each benchmark.
    pub benchmarks: Vec<Option<Level>>,
}

/// By node: deviation, and the ratio of its standard deviation to the typical one.
type Column = Vec<Option<(f64, f64)>>;

/// Fits the model.
pub fn fit(measured: &Measured) -> Fit {
    let nodes = measured.kinds.len();
    let mut columns: Vec<Column> = measured
        .cells
        .iter()
        .zip(&measured.between_runs)
        .map(|(cells, between)| centered(cells, &measured.kinds, *between))
        .collect();
    let families = measured.families.iter().max().map_or(0, |last| last + 1);
    let several = families > 1;
    let all =
        (several && columns.len() >= MIN_BENCHMARKS).then(|| common_deviations(&columns, nodes));
    if let Some(shares) = &all {
        for column in &mut columns {
            for (cell, share) in column.iter_mut().zip(shares) {
                // a node with too few benchmarks has no common value, and keeps its deviations
                if let (Some((by, _)), Some((share, _))) = (cell, share) {
                    *by -= share;
                }
            }
        }
    }
    let scales = scales(&columns, measured);
    let of_family: Vec<Vec<usize>> = (0..families)
        .map(|family| (0..columns.len()).filter(|&b| measured.families[b] == family).collect())
        .collect();
    let of_families: Vec<Option<Column>> = of_family
        .iter()
        .map(|members| {
            (several && members.len() > 1).then(|| family_deviations(&columns, members, nodes))
        })
        .collect();
    let mut families = levels(of_families, measured, |family, node, by| {
        family_deviates(&columns, &scales, &of_family[family], node, by)
    });
    for (family, level) in families.iter_mut().enumerate() {
        let Some(level) = level else { continue };
        for &benchmark in &of_family[family] {
            for (cell, deviation) in columns[benchmark].iter_mut().zip(&level.nodes) {
                if let (Some((by, _)), Some(deviation)) =
                    (cell, deviation.filter(|deviation| deviation.differs))
                {
                    *by -= deviation.by;
                }
            }
        }
    }
    let benchmarks = columns.into_iter().zip(&scales);
    let benchmarks = benchmarks.map(|(column, scale)| scale.map(|scale| (column, scale)));
    Fit {
        all: all.and_then(|all| levels(vec![Some(all)], measured, |_, _, _| true).pop()?),
        families,
        benchmarks: tested(benchmarks.collect(), measured.margin, |_, _, _| true),
    }
}

/// Deviations of a benchmark from the median of the nodes of each kind; none if the kind has too few.
fn centered(cells: &[Option<Cell>], kinds: &[usize], between: Option<f64>) -> Column {
    let last = kinds.iter().max().copied();
    let mut centers = vec![];
    for kind in 0..=last.unwrap_or(0) {
        let same_kind = cells.iter().zip(kinds).filter(|(_, cell_kind)| **cell_kind == kind);
        let values: Vec<f64> = same_kind.filter_map(|(cell, _)| Some((*cell)?.value)).collect();
        centers.push((values.len() >= MIN_NODES).then(|| descriptive::median_of(&values)));
    }
    let off = |(cell, kind): (&Option<Cell>, &usize)| Some((*cell).zip(centers[*kind])).flatten();
    let deviations: Vec<Option<(Cell, f64)>> = cells.iter().zip(kinds).map(off).collect();
    let values: Vec<f64> = deviations.iter().flatten().map(|(c, m)| c.value - m).collect();
    let known = || deviations.iter().flatten();
    let by_run =
        known().map(|(c, _)| 1.0 / c.runs as f64).sum::<f64>() / values.len().max(1) as f64;
    let total = scale(&values).map_or(0.0, |sd| sd * sd);
    let of_runs = between.unwrap_or(0.0);
    let of_nodes = (total - of_runs * by_run).max(0.0);
    let factor = |cell: &Cell| {
        let typical = of_nodes + of_runs * by_run;
        let variance = of_nodes + of_runs / cell.runs as f64;
        if typical > 0.0 { (variance / typical).sqrt() } else { 1.0 }
    };
    let with_factor = |(cell, center): (Cell, f64)| (cell.value - center, factor(&cell));
    deviations.into_iter().map(|known| known.map(with_factor)).collect()
}

/// Common deviation of all benchmarks of a node.
fn common_deviations(columns: &[Column], nodes: usize) -> Column {
    let node_median = |node: usize| {
        let (values, factors): (Vec<f64>, Vec<f64>) =
            columns.iter().filter_map(|column| column[node]).unzip();
        (values.len() >= MIN_BENCHMARKS)
            .then(|| (descriptive::median_of(&values), descriptive::mean(&factors)))
    };
    (0..nodes).map(node_median).collect()
}

/// Common deviation of the benchmarks of a family, on each node that has half of them.
fn family_deviations(columns: &[Column], benchmarks: &[usize], nodes: usize) -> Column {
    let node_median = |node: usize| {
        let (values, factors): (Vec<f64>, Vec<f64>) =
            benchmarks.iter().filter_map(|&b| columns[b][node]).unzip();
        let lacks = (benchmarks.len() as f64 / values.len() as f64).sqrt();
        (2 * values.len() >= benchmarks.len())
            .then(|| (descriptive::pseudo_median(&values), descriptive::mean(&factors) * lacks))
    };
    (0..nodes).map(node_median).collect()
}

/// Whether most benchmarks of a family deviate in its direction.
fn family_deviates(
    columns: &[Column],
    scales: &[Option<Variance>],
    benchmarks: &[usize],
    node: usize,
    by: f64,
) -> bool {
    let deviations = || {
        benchmarks.iter().filter_map(|&b| {
            let (by, factor) = columns[b][node]?;
            Some((by, factor * scales[b]?.value.sqrt()))
        })
    };
    let off = deviations().filter(|(deviation, sd)| deviation * by.signum() > *sd).count();
    off as f64 >= FAMILY_SHARE * deviations().count() as f64
}

/// The variance of each benchmark over nodes, moderated by that of all, and at least that of the launches of most nodes.
fn scales(columns: &[Column], measured: &Measured) -> Vec<Option<Variance>> {
    let variances: Vec<Option<Variance>> =
        columns.iter().map(|column| variance(column, measured)).collect();
    let prior = match variances.len() < MIN_BENCHMARKS {
        true => None,
        false => moderated::distribution(&variances),
    };
    let moderate = |variance: Variance| prior.map_or(variance, |prior| variance.moderated(prior));
    let floors = measured.cells.iter().map(|cells| {
        let within: Vec<f64> = cells.iter().flatten().map(|cell| cell.within).collect();
        match within.is_empty() {
            true => 0.0,
            false => descriptive::median_of(within),
        }
    });
    let floored = |(variance, floor): (Option<Variance>, f64)| {
        let variance = moderate(variance?);
        let value = if floor > variance.value { floor } else { variance.value };
        (value > 0.0).then_some(Variance { value, ..variance })
    };
    variances.into_iter().zip(floors).map(floored).collect()
}

/// The robust variance of the deviations of nodes.
fn variance(column: &Column, measured: &Measured) -> Option<Variance> {
    let values: Vec<f64> = column.iter().flatten().map(|(by, factor)| by / factor).collect();
    let known = column.iter().zip(&measured.kinds).filter(|(cell, _)| cell.is_some());
    let kinds: BTreeSet<usize> = known.map(|(_, kind)| *kind).collect();
    let df = DF_OF_NODE * (values.len().saturating_sub(kinds.len())) as f64;
    let sd = scale(&values)?;
    Some(Variance { value: sd * sd, df })
}

/// The variance, unless it is 0.
fn some_scatter(column: &Column, measured: &Measured) -> Option<Variance> {
    variance(column, measured).filter(|variance| variance.value > 0.0)
}

/// Robust standard deviation about 0: the median of the absolute values, then one step of the variance of values clipped by it.
fn scale(values: &[f64]) -> Option<f64> {
    if values.len() < MIN_NODES {
        return None;
    }
    let sizes = values.iter().map(|value| value.abs());
    let first = descriptive::median_of(sizes.clone()) / MEDIAN_ABS_NORMAL;
    let clipped = sizes.map(|size| size.min(CLIP * first).powi(2)).sum::<f64>();
    Some((clipped / values.len() as f64 / CLIPPED).sqrt())
}

/// Levels with a scale from their own distribution.
fn levels(
    columns: Vec<Option<Column>>,
    measured: &Measured,
    confirmed: impl Fn(usize, usize, f64) -> bool,
) -> Vec<Option<Level>> {
    let with_scale = |column: Column| some_scatter(&column, measured).map(|scale| (column, scale));
    let columns = columns.into_iter().map(|column| column.and_then(with_scale));
    tested(columns.collect(), measured.margin, confirmed)
}

/// Tests every node in every column, and marks outliers.
fn tested(
    columns: Vec<Option<(Column, Variance)>>,
    margin: f64,
    confirmed: impl Fn(usize, usize, f64) -> bool,
) -> Vec<Option<Level>> {
    let p = |by: f64, factor: f64, scale: &Variance| {
        let sd = scale.value.sqrt() * factor;
        quantile::student_tails(by.abs() / sd, scale.df)
    };
    let mut all = vec![];
    for (column, scale) in columns.iter().flatten() {
        all.extend(column.iter().map(|cell| cell.map(|(by, factor)| p(by, factor, scale))));
    }
    let tests = all.iter().flatten().count();
    let adjusted = multiple::benjamini_hochberg(&all);
    let mut each = all.into_iter().zip(adjusted);
    let mut level = |(index, (column, scale)): (usize, (Column, Variance))| {
        let t = quantile::student(0.95, scale.df);
        let sd = scale.value.sqrt();
        let nodes = column.into_iter().enumerate().map(|(node, cell)| {
            let (p, p_adjusted) = each.next()?;
            let (by, factor) = cell?;
            let p_adjusted = p_adjusted?;
            Some(Deviation {
                by,
                half: t * sd * factor,
                p: p?,
                p_adjusted,
                differs: p_adjusted <= LEVEL && by.abs() > margin && confirmed(index, node, by),
            })
        });
        Level {
            nodes: nodes.collect(),
            // a single outlier needs p <= LEVEL / tests (Benjamini-Hochberg)
            smallest: margin.max(quantile::student(1.0 - LEVEL / tests as f64, scale.df) * sd)
                + ONE_IN_TWENTY * sd,
            sd,
            df: scale.df,
        }
    };
    let columns = columns.into_iter().enumerate();
    columns.map(|(index, column)| Some(level((index, column?)))).collect()
}

/// Index from which a series of values, oldest first and each with its standard deviation, has the level of the last one: by least squares,
/// with a level of `before` or a free mean until then; 0 if one level fits best. Without `before`, two levels always fit at least as well.
pub fn onset(series: &[(f64, f64)], before: Option<f64>) -> usize {
    let mean = |part: &[(f64, f64)]| {
        let weight: f64 = part.iter().map(|(_, sd)| sd.powi(-2)).sum();
        part.iter().map(|(x, sd)| x * sd.powi(-2)).sum::<f64>() / weight
    };
    let squares = |part: &[(f64, f64)], about: f64| {
        let terms = part.iter().map(|(x, sd)| ((x - about) / sd).powi(2));
        terms.sum::<f64>()
    };
    let cost = |split: usize| {
        let (old, new) = series.split_at(split);
        let about = before.unwrap_or_else(|| mean(old));
        let old = if old.is_empty() { 0.0 } else { squares(old, about) };
        old + squares(new, mean(new))
    };
    (0..series.len())
        .map(|split| (split, cost(split)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(split, _)| split)
}

/// Change of a fleet between two runs: the median over nodes, and its standard deviation, by the robust scale of nodes.
pub fn shift(by_node: &[f64]) -> Option<(f64, f64)> {
    if by_node.len() < MIN_NODES {
        return None;
    }
    let median = descriptive::median_of(by_node);
    let around: Vec<f64> = by_node.iter().map(|x| x - median).collect();
    let sd = scale(&around)? * MEDIAN_OVER_MEAN / (by_node.len() as f64).sqrt();
    Some((median, sd))
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
