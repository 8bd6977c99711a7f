//! Runs of a system over time: calls of gate, comparisons and changes, with and without true changes.

use crate::machine::{Machine, ROWS, WORLDS};
use crate::runs::row_id;
use crate::{head, line, percent};
use gritstone_analysis::check::{self, Accepted};
use gritstone_analysis::compare::{self, Options};
use gritstone_analysis::events::{self, KnownEvent, KnownEvents};
use gritstone_analysis::levels::{self, SystemLevels};
use gritstone_analysis::run_effect;
use gritstone_analysis::run_summary::RunSummary;
use gritstone_analysis::series::{self, Systems};
use gritstone_analysis::side::Side;
use gritstone_model::{
    ChangeEvent, CheckOutcome, CompareRow, CompareView, HistoryView, Id, RunView, Verdict,
};
use std::collections::BTreeSet;

pub fn checked(earlier: &[RunSummary], run: &RunView) -> CheckOutcome {
    check::against_history(run, earlier, 0.02, &Accepted::default()).outcome
}

/// Without a change: failed runs, the longest sequence of them, and changes that last to the end.
pub fn unchanged() -> String {
    let (machines, runs) = (25, 40);
    let title = format!(
        "{ROWS} benchmarks, {runs} runs after 3 in which nothing changed, {machines} machines"
    );
    let columns = ["exit 0, %", "exit 1, %", "most in a row", "red at the end"].map(str::to_owned);
    let mut table = head(&title, "effect of a run", columns.into_iter());
    for (seed, effects) in (300..).zip(WORLDS) {
        let (mut green, mut red, mut longest, mut at_end) = (0, 0, 0, 0);
        for machine in 0..machines {
            let mut machine = Machine::new(seed * 100 + machine as u64, effects);
            let mut earlier = machine.summaries(&[0.0; ROWS], 3);
            let mut in_a_row = 0;
            for _ in 0..runs {
                let run = machine.run(&[0.0; ROWS]);
                let outcome = checked(&earlier, &run);
                green += usize::from(outcome == CheckOutcome::Passed);
                let regressed = outcome == CheckOutcome::Regressed;
                red += usize::from(regressed);
                in_a_row = if regressed { in_a_row + 1 } else { 0 };
                longest = longest.max(in_a_row);
                earlier.push(RunSummary::new(&run));
            }
            at_end += usize::from(in_a_row > 2);
        }
        let all = machines * runs;
        let cells = [
            percent(green, all),
            percent(red, all),
            longest.to_string(),
            format!("{at_end} of {machines}"),
        ];
        table += &line(effects.name, cells.into_iter());
    }
    table
}

/// Delay until the gate fails on a lasting slowdown of one benchmark or of all, and whether it still fails at the tenth run.
pub fn lasting() -> String {
    [15, 5].map(lasting_after).join("\n")
}

fn lasting_after(before: usize) -> String {
    let times = 100;
    let title = format!(
        "Three standard deviations of a run (at least 3%) slower after {before} runs, for good: exit 1 at once / within three runs / at the tenth run, % of {times} machines"
    );
    let columns = ["slowdown".to_owned(), format!("one of {ROWS} benchmarks"), "all".to_owned()];
    let mut table = head(&title, "effect of a run", columns.into_iter());
    for (seed, effects) in (400..).zip(WORLDS) {
        let by = (3.0 * effects.sd.hypot(effects.common)).max(0.03);
        let cells = [1, ROWS].map(|changed| {
            let mut slower = [0.0; ROWS];
            slower[..changed].fill(by);
            let mut found = [0; 3];
            for trial in 0..times {
                let mut machine = Machine::new(seed * 100 + trial as u64, effects);
                let mut earlier = machine.summaries(&[0.0; ROWS], before);
                let mut red = [false; 10];
                for red in &mut red {
                    let run = machine.run(&slower);
                    *red = checked(&earlier, &run) == CheckOutcome::Regressed;
                    earlier.push(RunSummary::new(&run));
                }
                found[0] += usize::from(red[0]);
                found[1] += usize::from(red[..3].contains(&true));
                found[2] += usize::from(red[9]);
            }
            found.map(|found| percent(found, times)).join(" / ")
        });
        let cells = [format!("{:.0}%", 100.0 * by)].into_iter().chain(cells);
        table += &line(effects.name, cells);
    }
    table
}

/// How often the gate fails on a benchmark that slows down a little with each run.
pub fn drift() -> String {
    let times = 100;
    let (step, runs) = (0.25, 20);
    let title = format!(
        "One of {ROWS} benchmarks gets slower by a quarter of the standard deviation of a run (at least 0.25%) with each run after 15; {times} machines"
    );
    let columns = ["exit 1 by the time of 3 deviations, %".to_owned(), "of 5, %".to_owned()];
    let mut table = head(&title, "effect of a run", columns.into_iter());
    for (seed, effects) in (700..).zip(WORLDS) {
        let each = step * effects.sd.hypot(effects.common).max(0.01);
        let mut found = [0; 2];
        for trial in 0..times {
            let mut machine = Machine::new(seed * 100 + trial as u64, effects);
            let mut earlier = machine.summaries(&[0.0; ROWS], 15);
            let first = (1..=runs).find(|number| {
                let mut slower = [0.0; ROWS];
                slower[0] = each * f64::from(*number);
                let run = machine.run(&slower);
                let red = checked(&earlier, &run) == CheckOutcome::Regressed;
                earlier.push(RunSummary::new(&run));
                red
            });
            found[0] += usize::from(first.is_some_and(|number| number <= 12));
            found[1] += usize::from(first.is_some());
        }
        let cells = found.map(|found| percent(found, times));
        table += &line(effects.name, cells.into_iter());
    }
    table
}

/// Verdicts of one comparison: whether there is a false call; calls among changed benchmarks; "same", and intervals with 1, among the
/// others.
#[derive(Default)]
struct Calls {
    wrong: usize,
    called: usize,
    same: usize,
    covered: usize,
}

impl Calls {
    fn add(&mut self, view: &CompareView, changed: usize) {
        let number = |row: &CompareRow| {
            let number = row.id.as_str().rsplit('/').next();
            number.and_then(|n| n.parse::<usize>().ok())
        };
        let is_changed = |row: &CompareRow| number(row).is_some_and(|row| row < changed);
        let different = |row: &CompareRow| {
            let verdict = row.verdict;
            matches!(verdict, Some(Verdict::Faster | Verdict::Slower))
        };
        let (of_changed, others): (Vec<&CompareRow>, Vec<_>) =
            view.rows.iter().partition(|row| is_changed(row));
        self.wrong += usize::from(others.iter().any(|row| different(row)));
        self.called += of_changed.iter().filter(|row| different(row)).count();
        let others = others.iter();
        let same = others.clone().filter(|row| row.verdict == Some(Verdict::Same));
        self.same += same.count();
        let has_one = |ends: [f64; 2]| ends[0] <= 1.0 && ends[1] >= 1.0;
        self.covered += others.filter(|row| row.interval.is_some_and(has_one)).count();
    }
}

/// Comparisons of two runs, with and without earlier ones.
pub fn comparisons() -> String {
    let changes = [(0, 0.0), (1, 0.1), (1, 0.05), (12, 0.05)];
    compared(ROWS, 1, &[0, 8, 20], &changes)
}

/// Comparisons of three runs with three.
pub fn sides() -> String {
    let changes = [(0, 0.0), (1, 0.05), (1, 0.02), (12, 0.05)];
    compared(ROWS, 3, &[0, 8], &changes)
}

/// The same of five and of two benchmarks, and of one run with one of five.
pub fn few() -> String {
    let changes = |all: usize| [(0, 0.0), (1, 0.05), (1, 0.02), (all, 0.05)];
    [
        compared(5, 3, &[0, 8], &changes(3)),
        compared(2, 3, &[0, 8], &changes(2)),
        compared(5, 1, &[0, 8], &changes(3)),
    ]
    .join("\n")
}

/// Comparisons of `rows` benchmarks with `runs` runs per side, after each of `earlier` numbers of runs; `changes` are numbers of changed
/// benchmarks and their slowdown.
fn compared(rows: usize, runs: usize, earlier: &[usize], changes: &[(usize, f64)]) -> String {
    let unchanged = vec![0.0; rows];
    let times = 150;
    let title = format!(
        "Comparisons of {} of {rows} benchmarks, {times} each: a false call in any of the unchanged, %; where nothing changed also \"same\" / intervals that contain 1, % of benchmarks, else those called of the changed, %",
        match runs {
            1 => "two runs".to_owned(),
            _ => format!("{runs} runs with {runs}"),
        }
    );
    let columns = changes.iter().map(|(changed, by)| match changed {
        0 => "nothing changed".to_owned(),
        1 => format!("one +{:.0}%", 100.0 * by),
        _ => format!("{changed} of {rows} +{:.0}%", 100.0 * by),
    });
    let mut table = head(&title, "effect of a run; earlier runs", columns);
    for (seed, effects) in (500..).zip(WORLDS) {
        for &earlier in earlier {
            let cells = changes.iter().map(|&(changed, by)| {
                let mut slower = unchanged.clone();
                slower[..changed].fill(by.ln_1p());
                let mut calls = Calls::default();
                let mut machine = Machine::with_rows(seed * 100 + earlier as u64, effects, rows);
                let mut past = vec![];
                for trial in 0..times {
                    if trial % 15 == 0 {
                        past = machine.summaries(&unchanged, earlier);
                    }
                    let sides = [&unchanged, &slower].map(|slower| {
                        let runs = (0..runs).map(|_| machine.run(slower)).collect();
                        Side::new(runs).expect("they are of one machine")
                    });
                    let options = Options::new(0.02, run_effect::estimate_sides(&past, &sides));
                    let [base, other] = &sides;
                    calls.add(&compare::compare(&base.view, &other.view, &options), changed);
                }
                let wrong = percent(calls.wrong, times);
                match changed {
                    0 => format!(
                        "{wrong}; {} / {}",
                        percent(calls.same, times * rows),
                        percent(calls.covered, times * rows)
                    ),
                    _ => format!("{wrong}; {}", percent(calls.called, times * changed)),
                }
            });
            table += &line(&format!("{}; {earlier}", effects.name), cells);
        }
    }
    table
}

/// Changes found in series of a hundred runs.
pub fn changes() -> String {
    let series = 5;
    let title = format!(
        "{} series of 20 and of 100 runs: changes where there is none; a step of 3 standard deviations of a run (at least 3%) after 60",
        series * ROWS
    );
    let columns = [
        "false changes, 20 runs",
        "100 runs",
        "steps of 4 of 20 benchmarks: found / at the right run, %",
        "of all",
    ]
    .map(str::to_owned);
    let mut table = head(&title, "effect of a run", columns.into_iter());
    for (seed, effects) in (600..).zip(WORLDS) {
        let mut wrong = [0; 2];
        let mut steps = [4, ROWS].map(|rows| (rows, 0, 0));
        for number in 0..series {
            let seed = seed * 100 + number as u64;
            for (wrong, runs) in wrong.iter_mut().zip([20, 100]) {
                let fitted = fit(&Machine::new(seed, effects).summaries(&[0.0; ROWS], runs));
                *wrong += fitted.series.values().map(|row| row.starts.len()).sum::<usize>();
            }
            let step = (3.0 * effects.sd).max(0.03);
            for (rows, found, right) in &mut steps {
                let mut machine = Machine::new(seed + 50, effects);
                let mut past = machine.summaries(&[0.0; ROWS], 60);
                let slower: [f64; ROWS] =
                    std::array::from_fn(|row| if row < *rows { step } else { 0.0 });
                past.extend((0..40).map(|_| RunSummary::new(&machine.run(&slower))));
                let fitted = fit(&past);
                let changed: Vec<Id> = (0..*rows).map(row_id).collect();
                for row in changed.iter().filter_map(|id| fitted.series.get(id)) {
                    *found += usize::from(row.starts.iter().any(|start| start.abs_diff(60) <= 3));
                    *right += usize::from(row.starts.contains(&60));
                }
            }
        }
        let [short, long] = wrong.map(|wrong| wrong.to_string());
        let [few, of_all] = steps.map(|(rows, found, right)| {
            let all = series * rows;
            format!("{} / {}", percent(found, all), percent(right, all))
        });
        let cells = [short, long, few, of_all];
        table += &line(effects.name, cells.into_iter());
    }
    table
}

/// Events of a step as its runs arrive: detected, located, with a stable identifier.
pub fn events() -> String {
    let (times, before, after) = (20, 20, 20);
    let title = format!(
        "Events as runs arrive, {times} machines of {ROWS} benchmarks: three standard deviations of a run (at least 3%) slower after {before} runs, for good; at the end, {after} runs later"
    );
    let columns = ["one of 20 benchmarks", "all"].map(|changed| {
        format!("{changed}: an event / one identifier, of these / the right run may have begun it when found, at the end, %")
    });
    let columns = columns.into_iter().chain(["other events".to_owned()]);
    let mut table = head(&title, "effect of a run", columns);
    for (seed, effects) in (800..).zip(WORLDS) {
        let by = (3.0 * effects.sd.hypot(effects.common)).max(0.03);
        let mut others = 0;
        let cells = [1, ROWS].map(|changed| {
            let mut slower = [0.0; ROWS];
            slower[..changed].fill(by);
            let (mut found, mut stable, mut first, mut last) = (0, 0, 0, 0);
            for trial in 0..times {
                let mut machine = Machine::new(seed * 100 + trial as u64, effects);
                let mut runs: Vec<RunView> =
                    (0..before).map(|_| machine.run(&[0.0; ROWS])).collect();
                let mut seen = Seen::default();
                for _ in 0..after {
                    runs.push(machine.run(&slower));
                    seen.see(&runs, before);
                }
                found += usize::from(seen.at_end);
                stable += usize::from(seen.at_end && seen.identifiers.len() == 1);
                first += usize::from(seen.at_end && seen.right_at_first);
                last += usize::from(seen.at_end && seen.right_at_end);
                others += seen.others;
            }
            let of_found = |n| percent(n, found.max(1));
            format!(
                "{} / {} / {}, {}",
                percent(found, times),
                of_found(stable),
                of_found(first),
                of_found(last)
            )
        });
        let others = format!("{others} of {} machines", 2 * times);
        table += &line(effects.name, cells.into_iter().chain([others]));
    }
    table
}

/// Output of `gritstone changes` on one step while runs arrive.
#[derive(Default)]
struct Seen {
    known: KnownEvents,
    /// Those that the event of the step had.
    identifiers: BTreeSet<String>,
    right_at_first: bool,
    right_at_end: bool,
    at_end: bool,
    /// Events at the end that do not begin near the step.
    others: usize,
}

impl Seen {
    fn see(&mut self, runs: &[RunView], step: usize) {
        let past: Vec<RunSummary> = runs.iter().map(RunSummary::new).collect();
        let systems = Systems::fit(past, &[]);
        let ids = runs[0].results.iter().map(|result| &result.id);
        let histories: Vec<HistoryView> =
            ids.filter_map(|id| series::history(id, runs, &systems)).collect();
        let events = events::events(&histories, &self.known);
        let place = |run: &String| runs.iter().position(|view| view.id == *run);
        let near = |event: &&ChangeEvent| {
            event.worse && place(&event.run).is_some_and(|position| position.abs_diff(step) <= 3)
        };
        let (of_step, others): (Vec<&ChangeEvent>, Vec<&ChangeEvent>) =
            events.iter().partition(near);
        (self.others, self.at_end) = (others.len(), !of_step.is_empty());
        if let Some(event) = of_step.first() {
            self.right_at_end = event.may_begin.contains(&runs[step].id);
            if self.identifiers.is_empty() {
                self.right_at_first = self.right_at_end;
            }
        }
        self.identifiers.extend(of_step.iter().map(|event| event.id.clone()));
        self.known.extend(events.into_iter().map(|event| {
            let benchmarks = event.benchmarks().collect();
            (event.id.clone(), KnownEvent { id: event.id, benchmarks })
        }));
    }
}

fn fit(past: &[RunSummary]) -> SystemLevels {
    let all: Vec<&RunSummary> = past.iter().collect();
    levels::fit(&all, &|_| levels::Role::Earlier, &|run| Some(&run.values))
}
