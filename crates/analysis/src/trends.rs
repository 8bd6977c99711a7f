//! Trends of the families of benchmarks over the newest runs of each system.

use gritstone_model::{Better, FamilyTrend, HistoryPoint, HistorySeries, HistoryView, SystemTrend};
use gritstone_stats::descriptive;
use std::collections::{BTreeMap, BTreeSet};

/// Newest runs of a system.
const RUNS: usize = 30;

/// Start and id of a run.
type Run = (String, String);

/// A family on a system: ln(speed) of its benchmarks, each relative to its median, by run.
#[derive(Default)]
struct Family {
    runs: BTreeMap<Run, Vec<f64>>,
    /// ln(speed after over speed before) over all changes in these runs, by benchmark.
    changes: Vec<f64>,
    changed: usize,
}

/// By system, the one with the newest run first. Of several series of a benchmark on a system the newest counts.
pub fn trends(histories: &[HistoryView]) -> Vec<SystemTrend> {
    let first = first_runs(histories);
    let mut systems: BTreeMap<&str, (&str, BTreeMap<&str, Family>)> = BTreeMap::new();
    for view in histories {
        let newest: BTreeMap<&str, &HistorySeries> =
            view.series.iter().map(|series| (series.machine.as_str(), series)).collect();
        for (machine, series) in newest {
            let Some(from) = first.get(machine) else {
                continue;
            };
            let (_, families) =
                systems.entry(machine).or_insert_with(|| (series.name.as_str(), BTreeMap::new()));
            let family = families.entry(view.id.family()).or_default();
            add(family, series, view.better, from);
        }
    }
    let mut trends: Vec<(Option<String>, SystemTrend)> = systems
        .into_iter()
        .map(|(machine, (name, families))| system(machine, name, families))
        .collect();
    trends.sort_by(|(a, _), (b, _)| b.cmp(a));
    trends.into_iter().map(|(_, trend)| trend).collect()
}

fn run(point: &HistoryPoint) -> Run {
    (point.started.clone(), point.run.clone())
}

/// The first of the newest runs of each system, over all of its benchmarks.
fn first_runs(histories: &[HistoryView]) -> BTreeMap<&str, Run> {
    let mut runs: BTreeMap<&str, BTreeSet<Run>> = BTreeMap::new();
    for series in histories.iter().flat_map(|view| &view.series) {
        let of_system = runs.entry(&series.machine).or_default();
        of_system.extend(series.points.iter().map(run));
    }
    let first = |runs: BTreeSet<Run>| {
        let earlier = runs.len().saturating_sub(RUNS);
        runs.into_iter().nth(earlier)
    };
    runs.into_iter().filter_map(|(machine, runs)| Some((machine, first(runs)?))).collect()
}

/// Adds a series from a run on. A change counts if the level before it is visible.
fn add(family: &mut Family, series: &HistorySeries, better: Better, from: &Run) {
    let newest = series.points.iter().enumerate();
    let newest = newest.filter(|(_, point)| run(point) >= *from);
    let known = newest
        .filter_map(|(index, point)| Some((index, run(point), better.log_speed(point.value?))));
    let known: Vec<(usize, Run, f64)> = known.collect();
    let Some((first, ..)) = known.first().cloned() else {
        return;
    };
    let center = descriptive::median_of(known.iter().map(|(.., speed)| speed));
    for (_, run, speed) in known {
        family.runs.entry(run).or_default().push(speed - center);
    }
    let changes = series.changes.iter().filter(|change| change.at > first);
    let ratios: Vec<f64> = changes.map(|change| change.ratio.ln()).collect();
    family.changed += usize::from(!ratios.is_empty());
    family.changes.push(ratios.iter().sum());
}

fn system(
    machine: &str,
    name: &str,
    families: BTreeMap<&str, Family>,
) -> (Option<String>, SystemTrend) {
    let runs = families.values().filter_map(|family| family.runs.keys().next_back());
    let newest = runs.map(|(started, _)| started.clone()).max();
    let mean = |values: &[f64]| descriptive::mean(values).exp();
    let family = |(name, family): (&str, Family)| {
        (!family.runs.is_empty()).then(|| FamilyTrend {
            family: name.to_owned(),
            benchmarks: family.changes.len(),
            changed: family.changed,
            ratio: mean(&family.changes),
            speeds: family.runs.values().map(|values| mean(values)).collect(),
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
    use gritstone_model::{HistoryChange, Id, SCHEMA_HISTORY, Unit};

    fn view(id: &str, machine: &str, values: &[f64], changes: Vec<HistoryChange>) -> HistoryView {
        let point = |(index, value): (usize, &f64)| HistoryPoint {
            run: format!("r{index:02}"),
            label: None,
            commit: None,
            started: format!("2026-{:02}-{:02}T00:00:00Z", 1 + index / 28, 1 + index % 28),
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
                unit: Unit::parse("ns/call").unwrap(),
                dir: String::new(),
                tuned: vec![],
                params: BTreeMap::new(),
                points: values.iter().enumerate().map(point).collect(),
                changes,
                marks: vec![],
            }],
        }
    }

    fn halved(index: usize) -> HistoryChange {
        HistoryChange {
            run: format!("r{index:02}"),
            started: String::new(),
            at: index,
            ratio: 0.5,
            interval: None,
            between: [index, index],
            runs: 2,
            drift: false,
        }
    }

    #[test]
    fn slower_families_fall() {
        let views = [
            view("a/one", "m", &[10.0, 10.0, 20.0, 20.0], vec![halved(2)]),
            view("a/two", "m", &[5.0; 4], vec![]),
            view("b/one", "m", &[5.0; 5], vec![]),
            view("b/one", "late", &[5.0; 6], vec![]),
        ];
        let all = trends(&views);
        let names: Vec<&str> = all.iter().map(|trend| trend.machine.as_str()).collect();
        assert_eq!(names, ["late", "m"]);
        let [a, b] = all[1].families.as_slice() else { panic!("{all:?}") };
        assert_eq!((a.benchmarks, a.changed), (2, 1));
        assert!((a.ratio - 0.5_f64.sqrt()).abs() < 1e-9);
        assert!((a.speeds[3] / a.speeds[0] - 0.5_f64.sqrt()).abs() < 1e-9);
        assert_eq!((b.changed, b.ratio, b.speeds.len()), (0, 1.0, 5));
    }

    #[test]
    fn trends_end_at_thirty_runs() {
        // of 40 runs the last 30 are visible; the second benchmark is in every fourth run
        let rare = |changes| {
            let mut rare = view("a/rare", "m", &[5.0; 40], changes);
            let points = std::mem::take(&mut rare.series[0].points);
            rare.series[0].points = points.into_iter().step_by(4).collect();
            rare
        };
        for (often, seldom, changed) in [
            (vec![halved(9), halved(10)], vec![], 0),
            (vec![halved(11)], vec![], 1),
            // visible from its fourth run on, r12
            (vec![], vec![halved(2), halved(3)], 0),
            (vec![], vec![halved(4)], 1),
            (vec![halved(11), halved(20)], vec![halved(9)], 2),
        ] {
            let views = [view("a/often", "m", &[5.0; 40], often), rare(seldom)];
            let all = trends(&views);
            let family = &all[0].families[0];
            assert_eq!((family.benchmarks, family.speeds.len()), (2, 30));
            assert_eq!(family.changed, changed, "{views:?}");
            let is_changed = family.ratio < 1.0;
            assert_eq!(is_changed, changed > 0, "{family:?}");
        }
    }

    #[test]
    fn retired_benchmarks_have_no_trend() {
        let old = view("a/old", "m", &[5.0; 8], vec![halved(4)]);
        let all = trends(&[view("a/often", "m", &[5.0; 40], vec![]), old]);
        let family = &all[0].families[0];
        assert_eq!((family.benchmarks, family.changed), (1, 0));
    }

    #[test]
    fn newest_series_counts() {
        let mut several = view("a/one", "m", &[5.0; 40], vec![]);
        let mut old = view("a/one", "m", &[9.0; 12], vec![halved(11)]);
        several.series.insert(0, old.series.remove(0));
        let family = &trends(&[several])[0].families[0];
        assert_eq!((family.benchmarks, family.changed), (1, 0));
    }
}
