//! OpenMetrics text: gauges in base units, one point a row, with the time at which the run began.
//!
//! Must not know: other formats.

use crate::figures::{Exported, Figure, Plain, figures};
use gritstone_model::{RunView, flags};
use std::fmt::Write as _;

/// The run as a scraper reads it, up to `# EOF`.
#[must_use]
pub fn openmetrics(view: &RunView) -> Exported {
    let (figures, left_out) = figures(view);
    let at = view.started.parse::<jiff::Timestamp>();
    let at = at.map_or(String::new(), |time| format!(" {}", time.as_second()));
    let mut text = String::new();
    for (plain, name, unit, help) in [
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
    ] {
        let own: Vec<&Figure<'_>> = figures.iter().filter(|f| f.plain().0 == plain).collect();
        family(&mut text, view, &own, name, unit, help, &at);
    }
    marks(&mut text, &figures, &at);
    text += "# EOF\n";
    Exported { text, left_out }
}

/// One family: the estimate, and the ends of its interval beside it as points of their own.
fn family(
    text: &mut String,
    view: &RunView,
    figures: &[&Figure<'_>],
    name: &str,
    unit: &str,
    help: &str,
    at: &str,
) {
    if figures.is_empty() {
        return;
    }
    let _ = writeln!(text, "# TYPE {name} gauge");
    if !unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {help}");
    for figure in figures {
        let (plain, times) = figure.plain();
        // seconds are the base unit of time
        let times = if plain == Plain::Ns {
            times / 1e9
        } else {
            times
        };
        let mut point = |bound: &str, x: f64| {
            let _ = writeln!(
                text,
                "{name}{{benchmark=\"{}\",machine=\"{}\",of=\"{}\",bound=\"{bound}\"}} {}{at}",
                escaped(figure.result.id.as_str()),
                escaped(&view.machine.id),
                escaped(figure.thing()),
                x * times
            );
        };
        point("estimate", figure.estimate);
        if let Some([low, high]) = figure.result.interval {
            point("low", low);
            point("high", high);
        }
    }
}

/// Which flags a result has: a point of 1 for each.
fn marks(text: &mut String, figures: &[Figure<'_>], at: &str) {
    let mut lines = String::new();
    for figure in figures {
        let own: Vec<_> = figure.result.own_notes().cloned().collect();
        for flag in flags(&own) {
            let _ = writeln!(
                lines,
                "gritstone_flag{{benchmark=\"{}\",flag=\"{}\"}} 1{at}",
                escaped(figure.result.id.as_str()),
                flag.as_str()
            );
        }
    }
    if !lines.is_empty() {
        *text += "# TYPE gritstone_flag gauge\n# HELP gritstone_flag Flags of a result.\n";
        *text += &lines;
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
