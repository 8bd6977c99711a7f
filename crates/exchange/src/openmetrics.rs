//! OpenMetrics text: gauges in base units, one point a row, with the time at which the run began.

use crate::figures::{Exported, Figure, Plain, figures};
use gritstone_model::{Flag, RunView, flags};

/// The families: what their figures count, name and help.
const FAMILIES: [(Plain, &str, &str); 3] = [
    (
        Plain::Ns,
        "gritstone_time_seconds",
        "Time for one of what the benchmark counts.",
    ),
    (
        Plain::PerSecond,
        "gritstone_rate",
        "How many a second of what the benchmark counts.",
    ),
    (
        Plain::Exact,
        "gritstone_size",
        "Exact results: sizes, ratios.",
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
    for (plain, name, help) in FAMILIES {
        let of_family = figures.iter().filter(|figure| figure.plain().0 == plain);
        let points = of_family.flat_map(|figure| points(figure, name, &machine, &at));
        text += &family(name, help, points.collect());
    }
    let flags = figures.iter().flat_map(|figure| {
        let id = escaped(figure.result.id.as_str());
        let notes: Vec<_> = figure.result.own_notes().cloned().collect();
        let words = flags(&notes).into_iter().map(Flag::as_str);
        let point = |flag| format!("gritstone_flag{{benchmark=\"{id}\",flag=\"{flag}\"}} 1{at}\n");
        words.map(point).collect::<Vec<_>>()
    });
    text += &family("gritstone_flag", "Flags of a result.", flags.collect());
    text += "# EOF\n";
    Exported { text, left_out }
}

/// One family; nothing where it has no points.
fn family(name: &str, help: &str, points: String) -> String {
    if points.is_empty() {
        return points;
    }
    let seconds = format!("# UNIT {name} seconds\n");
    let unit = if name.ends_with("_seconds") {
        &*seconds
    } else {
        ""
    };
    format!("# TYPE {name} gauge\n{unit}# HELP {name} {help}\n{points}")
}

/// The estimate, and the ends of its interval beside it as points of their own.
fn points(figure: &Figure<'_>, name: &str, machine: &str, at: &str) -> Vec<String> {
    let (id, thing) = (escaped(figure.result.id.as_str()), escaped(figure.thing()));
    let times = match figure.plain() {
        // seconds are the base unit of time
        (Plain::Ns, times) => times / 1e9,
        (_, times) => times,
    };
    let mut points = vec![("estimate", figure.estimate)];
    if let Some([low, high]) = figure.result.interval() {
        points.extend([("low", low), ("high", high)]);
    }
    let line = |(bound, x): (&str, f64)| {
        let labels =
            format!("benchmark=\"{id}\",machine=\"{machine}\",of=\"{thing}\",bound=\"{bound}\"");
        format!("{name}{{{labels}}} {}{at}\n", x * times)
    };
    points.into_iter().map(line).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
