//! OpenMetrics text: gauges in base units, one point per result, with the start of the run as timestamp.

use crate::exportable::{BaseUnit, Exported, ExportedResult, flag_words, valid_results};
use gritstone_document::clean;
use gritstone_model::{RunData, RunView};

/// Metric families: base unit, name and help.
const FAMILIES: [(BaseUnit, &str, &str); 3] = [
    (BaseUnit::Ns, "gritstone_time_seconds", "Time per operation."),
    (BaseUnit::PerSecond, "gritstone_rate", "Operations per second."),
    (BaseUnit::Exact, "gritstone_size", "Exact results: sizes, ratios."),
];

/// A run as a file, up to `# EOF`, with its start as timestamp.
pub(super) fn write(_: &RunData, view: &RunView) -> Exported {
    let (_, left_out) = valid_results(view);
    let text = families(&[view], true) + END;
    Exported { text, left_out }
}

/// The newest runs of systems for a scraper, which sets timestamps: the start of a run is a value.
pub fn scraped(views: &[&RunView], stored: usize) -> String {
    let started = views.iter().filter_map(|view| {
        let time = view.started.parse::<jiff::Timestamp>().ok()?;
        let machine = label_value(&view.machine.id);
        let second = time.as_second();
        Some(format!("gritstone_run_started_seconds{{machine=\"{machine}\"}} {second}\n"))
    });
    let started = family(
        "gritstone_run_started_seconds",
        "Start of the newest run of a system.",
        started.collect(),
    );
    let stored = family(
        "gritstone_stored_runs",
        "Runs in the store.",
        format!("gritstone_stored_runs {stored}\n"),
    );
    families(views, false) + &started + &stored + END
}

pub(crate) const END: &str = "# EOF\n";

/// Foreign text as the value of a label.
pub(crate) fn label_value(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The results of runs by family.
fn families(views: &[&RunView], timed: bool) -> String {
    let runs: Vec<_> = views
        .iter()
        .map(|view| {
            let timestamp = view.started.parse::<jiff::Timestamp>().ok();
            let timestamp = timestamp.filter(|_| timed);
            let timestamp =
                timestamp.map_or(String::new(), |time| format!(" {}", time.as_second()));
            (valid_results(view).0, label_value(&view.machine.id), timestamp)
        })
        .collect();
    let mut text = String::new();
    for (base_unit, name, help) in FAMILIES {
        let points = runs.iter().flat_map(|(results, machine, timestamp)| {
            let of_family = results.iter().filter(|exported| exported.base_unit().0 == base_unit);
            of_family.flat_map(|exported| points(exported, name, machine, timestamp))
        });
        text += &family(name, help, points.collect());
    }
    let flags = runs.iter().flat_map(|(results, machine, timestamp)| {
        results.iter().flat_map(move |exported| {
            let id = label_value(exported.result.id.as_str());
            let point = |flag| {
                format!(
                    "gritstone_flag{{benchmark=\"{id}\",machine=\"{machine}\",flag=\"{flag}\"}} 1{timestamp}\n"
                )
            };
            flag_words(exported.result).into_iter().map(point).collect::<Vec<_>>()
        })
    });
    text + &family("gritstone_flag", "Flags of a result.", flags.collect())
}

/// One family; empty without points.
pub(crate) fn family(name: &str, help: &str, points: String) -> String {
    if points.is_empty() {
        return points;
    }
    let unit = ["seconds", "ratio"].into_iter();
    let unit = unit.filter(|unit| name.ends_with(&format!("_{unit}")));
    let unit: String = unit.map(|unit| format!("# UNIT {name} {unit}\n")).collect();
    format!("# TYPE {name} gauge\n{unit}# HELP {name} {help}\n{points}")
}

/// The estimate, and the bounds of its interval as separate points.
fn points(
    exported: &ExportedResult<'_>,
    name: &str,
    machine: &str,
    timestamp: &str,
) -> Vec<String> {
    let (id, thing) = (label_value(exported.result.id.as_str()), label_value(exported.thing()));
    let times = match exported.base_unit() {
        // seconds are the base unit of time
        (BaseUnit::Ns, times) => times / 1e9,
        (_, times) => times,
    };
    let mut points = vec![("estimate", exported.estimate)];
    if let Some([low, high]) = exported.result.interval() {
        points.extend([("low", low), ("high", high)]);
    }
    let line = |(bound, x): (&str, f64)| {
        let labels =
            format!("benchmark=\"{id}\",machine=\"{machine}\",of=\"{thing}\",bound=\"{bound}\"");
        format!("{name}{{{labels}}} {}{timestamp}\n", x * times)
    };
    points.into_iter().map(line).collect()
}
