//! How the families of benchmarks went over the newest runs of each system.

use gritstone_model::{Better, FamilyTrend, HistorySeries, HistoryView, SystemTrend};
use gritstone_stats::descriptive;
use std::collections::BTreeMap;

/// Newest runs of a series.
const RUNS: usize = 30;

/// A family on a system: ln(speed) of its benchmarks, each relative to its median, by start and id of the run.
#[derive(Default)]
struct Family {
    runs: BTreeMap<(String, String), Vec<f64>>,
    /// ln(speed after over speed before) over all changes in these runs, by benchmark.
    changes: Vec<f64>,
    changed: usize,
}

/// By system, that with the newest run first. Of several series of a benchmark on a system the newest counts.
#[must_use]
pub fn trends(histories: &[HistoryView]) -> Vec<SystemTrend> {
    let mut systems: BTreeMap<&str, (&str, BTreeMap<&str, Family>)> = BTreeMap::new();
    for view in histories {
        let newest: BTreeMap<&str, &HistorySeries> = view
            .series
            .iter()
            .map(|series| (series.machine.as_str(), series))
            .collect();
        for (machine, series) in newest {
            let (_, families) = systems
                .entry(machine)
                .or_insert_with(|| (series.name.as_str(), BTreeMap::new()));
            let family = families.entry(view.id.family()).or_default();
            add(family, series, view.better);
        }
    }
    let mut trends: Vec<(Option<String>, SystemTrend)> = systems
        .into_iter()
        .map(|(machine, (name, families))| system(machine, name, families))
        .collect();
    trends.sort_by(|(a, _), (b, _)| b.cmp(a));
    trends.into_iter().map(|(_, trend)| trend).collect()
}

fn add(family: &mut Family, series: &HistorySeries, better: Better) {
    let first = series.points.len().saturating_sub(RUNS);
    let speed = |value: f64| match better {
        Better::Higher => value.ln(),
        Better::Lower => -value.ln(),
    };
    let newest = series.points[first..].iter();
    let known = newest.filter_map(|point| Some((point, speed(point.value?))));
    let known: Vec<_> = known.collect();
    let all: Vec<f64> = known.iter().map(|(_, speed)| *speed).collect();
    if all.is_empty() {
        return;
    }
    let center = descriptive::median(&descriptive::sorted(&all));
    for (point, speed) in known {
        let run = (point.started.clone(), point.run.clone());
        family.runs.entry(run).or_default().push(speed - center);
    }
    let changes = series.changes.iter().filter(|of| of.at >= first);
    let ratios: Vec<f64> = changes.map(|of| of.ratio.ln()).collect();
    family.changed += usize::from(!ratios.is_empty());
    family.changes.push(ratios.iter().sum());
}

fn system(
    machine: &str,
    name: &str,
    families: BTreeMap<&str, Family>,
) -> (Option<String>, SystemTrend) {
    let runs = families
        .values()
        .filter_map(|of| of.runs.keys().next_back());
    let newest = runs.map(|(started, _)| started.clone()).max();
    let mean = |values: &[f64]| (values.iter().sum::<f64>() / values.len() as f64).exp();
    let family = |(name, of): (&str, Family)| {
        let runs: Vec<_> = of.runs.values().collect();
        let newest = runs.len().saturating_sub(RUNS);
        (!runs.is_empty()).then(|| FamilyTrend {
            family: name.to_owned(),
            benchmarks: of.changes.len(),
            changed: of.changed,
            ratio: mean(&of.changes),
            speeds: runs[newest..].iter().map(|values| mean(values)).collect(),
        })
    };
    let trend = SystemTrend {
        machine: machine.to_owned(),
        name: name.to_owned(),
        families: families.into_iter().filter_map(family).collect(),
    };
    (newest, trend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{HistoryChange, HistoryPoint, Id, SCHEMA_HISTORY, Subject, Unit};

    fn view(id: &str, machine: &str, values: &[f64], changes: Vec<HistoryChange>) -> HistoryView {
        let point = |(at, value): (usize, &f64)| HistoryPoint {
            run: format!("r{at:02}"),
            label: None,
            commit: None,
            started: format!("2026-01-{:02}T00:00:00Z", at + 1),
            estimate: Some(*value),
            interval: None,
            value: Some(*value),
            notes: vec![],
        };
        HistoryView {
            schema: SCHEMA_HISTORY.to_owned(),
            id: Id::parse(id).unwrap(),
            title: String::new(),
            unit: Unit::parse("ns/call").unwrap(),
            better: Better::Lower,
            series: vec![HistorySeries {
                machine: machine.to_owned(),
                name: machine.to_owned(),
                kernel: String::new(),
                compiler: String::new(),
                version: 1,
                dir: String::new(),
                steady: vec![],
                params: BTreeMap::new(),
                compared: Subject::Estimate,
                points: values.iter().enumerate().map(point).collect(),
                changes,
                marks: vec![],
            }],
        }
    }

    #[test]
    fn slower_families_fall() {
        let change = HistoryChange {
            run: "r02".to_owned(),
            started: String::new(),
            at: 2,
            ratio: 0.5,
            interval: None,
            between: [2, 2],
            runs: 2,
        };
        let views = [
            view("a/one", "m", &[10.0, 10.0, 20.0, 20.0], vec![change]),
            view("a/two", "m", &[5.0; 4], vec![]),
            view("b/one", "m", &[5.0; 5], vec![]),
            view("b/one", "late", &[5.0; 6], vec![]),
        ];
        let all = trends(&views);
        let names: Vec<&str> = all.iter().map(|of| of.machine.as_str()).collect();
        assert_eq!(names, ["late", "m"]);
        let [a, b] = all[1].families.as_slice() else {
            panic!("{all:?}")
        };
        assert_eq!((a.benchmarks, a.changed), (2, 1));
        assert!((a.ratio - 0.5_f64.sqrt()).abs() < 1e-9);
        assert!((a.speeds[3] / a.speeds[0] - 0.5_f64.sqrt()).abs() < 1e-9);
        assert_eq!((b.changed, b.ratio, b.speeds.len()), (0, 1.0, 5));
    }
}
