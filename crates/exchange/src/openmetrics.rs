//! OpenMetrics text: gauges in base units, one point a row, with the time at which the run began.

use crate::figures::{Exported, Figure, Plain, figures};
use gritstone_model::{Flag, RunView, flags};

/// The families: what their figures count, name, unit and help.
const FAMILIES: [(Plain, &str, &str, &str); 3] = [
    (
        Plain::Ns,
        "gritstone_time_seconds",
        "seconds",
        "Time for one of what the benchmark counts.",
    ),
    (
        Plain::PerSecond,
        "gritstone_rate",
        "",
        "How many a second of what the benchmark counts.",
    ),
    (
        Plain::Exact,
        "gritstone_size",
        "",
        "Exact figures: sizes, ratios.",
    ),
];

/// The run as a scraper reads it, up to `# EOF`.
#[must_use]
pub fn openmetrics(view: &RunView) -> Exported {
    let (figures, left_out) = figures(view);
    let at = view.started.parse::<jiff::Timestamp>();
    let at = at.map_or(String::new(), |time| format!(" {}", time.as_second()));
    let machine = escaped(&view.machine.id);
    let mut text = String::new();
    for (plain, name, unit, help) in FAMILIES {
        let mut points = String::new();
        for figure in figures.iter().filter(|figure| figure.plain().0 == plain) {
            points += &family_points(figure, name, &machine, &at);
        }
        family(&mut text, name, unit, help, &points);
    }
    let flags: String = figures
        .iter()
        .map(|figure| flag_points(figure, &at))
        .collect();
    family(
        &mut text,
        "gritstone_flag",
        "",
        "Flags of a result.",
        &flags,
    );
    text += "# EOF\n";
    Exported { text, left_out }
}

/// One family; nothing where it has no points.
fn family(text: &mut String, name: &str, unit: &str, help: &str, points: &str) {
    if points.is_empty() {
        return;
    }
    *text += &format!("# TYPE {name} gauge\n");
    if !unit.is_empty() {
        *text += &format!("# UNIT {name} {unit}\n");
    }
    *text += &format!("# HELP {name} {help}\n{points}");
}

/// The estimate, and the ends of its interval beside it as points of their own.
fn family_points(figure: &Figure<'_>, name: &str, machine: &str, at: &str) -> String {
    let (id, thing) = (escaped(figure.result.id.as_str()), escaped(figure.thing()));
    let times = match figure.plain() {
        // seconds are the base unit of time
        (Plain::Ns, times) => times / 1e9,
        (_, times) => times,
    };
    let [low, high] = figure
        .result
        .interval()
        .map_or([None; 2], |ends| ends.map(Some));
    let points = [
        ("estimate", Some(figure.estimate)),
        ("low", low),
        ("high", high),
    ];
    let line = |(bound, x): (&str, Option<f64>)| {
        let x = x? * times;
        Some(format!(
            "{name}{{benchmark=\"{id}\",machine=\"{machine}\",of=\"{thing}\",bound=\"{bound}\"}} {x}{at}\n"
        ))
    };
    points.into_iter().filter_map(line).collect()
}

/// A point of 1 for each flag that a result has.
fn flag_points(figure: &Figure<'_>, at: &str) -> String {
    let id = escaped(figure.result.id.as_str());
    let notes: Vec<_> = figure.result.own_notes().cloned().collect();
    let point = |flag: Flag| {
        let flag = flag.as_str();
        format!("gritstone_flag{{benchmark=\"{id}\",flag=\"{flag}\"}} 1{at}\n")
    };
    flags(&notes).into_iter().map(point).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
