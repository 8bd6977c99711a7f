//! Two lines for each command: the estimate, then its executions.

use super::statistics::{TimeStatistics, percentile};
use super::{Ranking, Timing, aligned, names};
use crate::words;
use gritstone_document::clean;
use gritstone_document::number::{self, fixed};
use gritstone_document::sparkline;
use gritstone_document::terminal::{NO_BREAK, unbroken};
use gritstone_model::AbFigure;

/// Columns of a sparkline.
const BINS: usize = 8;

/// The unit of all times, with its factor from seconds.
#[derive(Clone, Copy)]
pub struct TimeScale {
    pub factor: f64,
    pub sign: &'static str,
}

impl TimeScale {
    /// Of a unit, or of one that suits a time, s.
    pub fn new(unit: Option<&str>, seconds: f64) -> Self {
        let unit = unit.unwrap_or(match seconds {
            s if s < 1e-3 => "us",
            s if s < 1.0 => "ms",
            _ => "s",
        });
        let (factor, sign) = match unit {
            "us" => (1e6, "µs"),
            "ms" => (1e3, "ms"),
            _ => (1.0, "s"),
        };
        Self { factor, sign }
    }
}

pub(super) fn lines(figures: &[AbFigure], ranking: &Ranking) -> String {
    // estimates are in milliseconds
    let first = figures.iter().find_map(|figure| figure.estimate);
    let scale = TimeScale::new(ranking.unit, first.map_or(f64::INFINITY, |ms| ms / 1e3));
    let commands = || figures.iter().zip(&ranking.commands);
    let mut heads: Vec<[String; 6]> =
        commands().map(|(figure, timing)| head(figure, timing, ranking.warm_ups, scale)).collect();
    let names = commands().map(|(_, timing)| clean(&timing.command).into_owned());
    let names = names::fitted(&names.collect::<Vec<_>>(), names::room(&heads, ranking.width));
    for (head, name) in heads.iter_mut().zip(names) {
        head[0] = name;
    }
    let right = [false, true, false, false, false, true];
    let heads = aligned(&heads, right, ranking.color);
    let mut text = String::new();
    for (head, (figure, timing)) in heads.lines().zip(commands()) {
        text.push_str(head);
        text.push('\n');
        text.push_str(&details(figure, timing, &ranking.percentiles, scale));
    }
    text
}

/// All cells but the name.
fn head(figure: &AbFigure, timing: &Timing, warm_ups: u32, scale: TimeScale) -> [String; 6] {
    let decimals = decimals(figure, scale.factor);
    let show = |ms: f64| fixed(ms / 1e3 * scale.factor, decimals);
    let bound = if figure.at_most { "< " } else { "" };
    let interval = figure.interval.filter(|_| !figure.at_most);
    let executions = words::plural(timing.times.len(), "run");
    let warm_ups = match warm_ups as usize {
        0 => String::new(),
        warm_ups => format!(" + {}", words::plural(warm_ups, "warm-up")),
    };
    [
        String::new(),
        figure.estimate.map_or("-".to_owned(), |ms| format!("{bound}{} {}", show(ms), scale.sign)),
        interval.map_or("-".to_owned(), |[low, high]| format!("[{} – {}]", show(low), show(high))),
        figure.estimate.map_or("", |_| "estimate").to_owned(),
        distribution(&timing.times),
        format!("{executions}{warm_ups}"),
    ]
}

/// `    mean 54.9 ± 0.93  min 53.10  max 57.22  user 50.1  system 3.2  1.9 MB`, in the unit of the head.
fn details(figure: &AbFigure, timing: &Timing, percentiles: &[f64], scale: TimeScale) -> String {
    let Some(all) = TimeStatistics::new(&timing.times) else {
        return String::new();
    };
    let decimals = decimals(figure, scale.factor);
    let show = |seconds: f64| fixed(seconds * scale.factor, decimals);
    let deviation = all.deviation;
    let deviation = deviation.map_or(String::new(), |deviation| format!(" ± {}", show(deviation)));
    let mut parts = vec![
        format!("mean {}{deviation}", show(all.mean)),
        format!("min {}", show(all.min)),
        format!("max {}", show(all.max)),
        format!("user {}", show(timing.user)),
        format!("system {}", show(timing.system)),
    ];
    let peak = timing.memory.iter().max();
    parts.extend(peak.map(|bytes| number::at_most(*bytes as f64 / 1e6, "MB", 3)));
    let parts: Vec<String> = parts.iter().map(|part| unbroken(part)).collect();
    let mut text = format!("    {}\n", parts.join(&format!("{NO_BREAK} ")));
    let ranks = percentiles.iter().filter_map(|&share| {
        let value = percentile(&timing.times, share)?;
        let name = number::at_most(100.0 * share, "", 6);
        Some(format!("p{name} {}", show(value)))
    });
    let ranks: Vec<String> = ranks.collect();
    if !ranks.is_empty() {
        text.push_str(&format!("    {}\n", ranks.join("  ")));
    }
    text
}

/// Decimals that give the half-width of an interval two digits; without one, those of four digits of the estimate.
fn decimals(figure: &AbFigure, factor: f64) -> i32 {
    let scaled = |ms: f64| ms / 1e3 * factor;
    let half = figure.interval.map(|[low, high]| scaled(high - low) / 2.0);
    let (size, digits) = match (half.filter(|half| *half > 0.0), figure.estimate) {
        (Some(half), _) => (half, 2),
        (None, Some(ms)) if ms > 0.0 => (scaled(ms), 4),
        _ => return 0,
    };
    // an interval of rounding errors has no digits to show
    let most = figure.estimate.map_or(9, |ms| number::significant_decimals(scaled(ms), 6));
    (digits - 1 - size.log10().floor() as i32).clamp(0, most.max(0))
}

/// Number of times in each eighth of the range; empty for fewer than three executions.
fn distribution(times: &[f64]) -> String {
    match times.len() {
        0..3 => String::new(),
        _ => sparkline::distribution(times, BINS),
    }
}
