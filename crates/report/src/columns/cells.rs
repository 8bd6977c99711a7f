//! Heads and cells of each column of a table of results.

use super::Col;
use crate::{findings, words};
use gritstone_document::number;
use gritstone_document::{Column, Style, Text};
use gritstone_model::{
    Estimate, Measurement, PublishedView, Quantity, Statistics, Status, Subject,
};

impl Col {
    /// The column for the subject of a note; none for the result and its estimate.
    pub(crate) fn for_subject(subject: Subject) -> Option<Self> {
        match subject {
            Subject::Result | Subject::Estimate => None,
            Subject::Real => Some(Self::Real),
            Subject::User => Some(Self::User),
            Subject::System => Some(Self::System),
            Subject::Cpu => Some(Self::Cpu),
            Subject::Process => Some(Self::Process),
            Subject::FaultsPerPage => Some(Self::Faults),
            Subject::Min => Some(Self::Min),
            Subject::Mean => Some(Self::Mean),
            Subject::Max => Some(Self::Max),
        }
    }

    pub(crate) fn head(&self, results: &[&Measurement]) -> Column {
        // amount of measurement, and core usage
        let measurement =
            |head: &str| Column::new(head, Style::Number).in_group("Measurement").rank(3);
        // the document's amount of work
        let published =
            |head: &str| Column::new(head, Style::Number).in_group("Reference workload");
        let head = match self {
            Self::Id => return Column::key("Benchmark", Style::Code),
            Self::Title => return Column::new("What", Style::Text).rank(3),
            Self::Unit => return Column::new("Unit", Style::Text),
            Self::Work => {
                return Column::new("work", Style::Text).in_group("Reference workload").rank(1);
            }
            Self::Launches => return measurement("launches"),
            Self::Samples => return measurement("samples"),
            Self::Cycles => return measurement("cycles"),
            Self::Ghz => return measurement("GHz"),
            Self::OfRuns => return Column::new("± of runs", Style::Number).rank(2),
            Self::Real => return published("real"),
            Self::RealInterval => return published("interval"),
            Self::User => return published("user"),
            Self::System => return published("system"),
            Self::Cpu => return published("cpu"),
            Self::Process => return published("process"),
            Self::StartShare => return published("start-up"),
            Self::Faults => return published("faults a page"),
            Self::Figure | Self::WithUnit => "Result",
            Self::Interval => &words::capital(format!("{} interval", level(results)).trim_start()),
            Self::Bounds => &format!("{} CI", level(results)),
            Self::PlusMinus => "±",
            Self::Precision => "Half-width",
            Self::Sd => "Deviation",
            Self::Drift => "Drift",
            Self::Modes => "Modes",
            Self::Min => "min",
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Percentile(name) => name,
        };
        let rank = match self {
            Self::Bounds => 1,
            Self::PlusMinus => 2,
            Self::Min | Self::Median | Self::Mean | Self::Max => 3,
            _ => 0,
        };
        Column::new(head, Style::Number).rank(rank)
    }

    pub(crate) fn cell(&self, result: &Measurement, all: &[&Measurement]) -> Text {
        let text = self.cell_text(result, all);
        text.map_or_else(Text::missing, Text::new)
    }

    fn cell_text(&self, r: &Measurement, all: &[&Measurement]) -> Option<String> {
        let (published, statistics) = (r.published.as_ref(), r.statistics());
        let event = |value| shown(r, value).with_unit();
        match self {
            Self::Id => Some(r.id.to_string()),
            Self::Title => Some(match (&r.measured, r.unit.quantity()) {
                // the unit of a disk rate names the cache, if one served it
                (Some(what), Quantity::Rate { .. }) => format!("{} ({what})", r.title),
                _ => r.title.clone(),
            }),
            Self::Figure => figure(r).map(|shown| shown.estimate),
            Self::WithUnit => figure(r).map(|shown| shown.with_unit()),
            Self::Unit => Some(r.value().map_or(String::new(), |e| shown(r, e).unit)),
            Self::Interval => {
                r.interval()?;
                Some(shown(r, r.value()?).interval)
            }
            Self::Bounds => {
                r.interval()?;
                shown(r, r.value()?).brackets()
            }
            Self::Launches => number::counted(r.launches()),
            Self::Samples => number::counted(r.samples()),
            Self::Cycles => r.cycles().map(|c| number::count_of(c.value, c.interval, 3)),
            Self::Ghz => r.ghz().map(|g| number::fixed(g, 2)),
            Self::OfRuns => r.of_runs?.half_width.map(number::percent),
            Self::Faults => r.faults_per_page().map(faults),
            Self::Precision | Self::PlusMinus => precision(r).map(number::percent),
            Self::Work => published.map(|p| p.work.clone()).filter(|w| !w.is_empty()),
            Self::RealInterval => {
                let real = published?.real.filter(|real| real.interval.is_some())?;
                let shown = number::figure(real.value, real.interval, "s");
                Some(format!("{} {}", shown.interval, shown.unit))
            }
            Self::StartShare => published?.start_share.map(number::percent),
            Self::Real | Self::User | Self::System | Self::Cpu | Self::Process => {
                let Estimate { value, interval } = self.time(published?)?;
                Some(match r.is_published() {
                    true => {
                        let decimals = self.printed_decimals(all.iter().copied());
                        format!("{} s", number::printed(value, decimals))
                    }
                    false => number::seconds(value, interval),
                })
            }
            Self::Sd => {
                let estimate = r.value().filter(|e| *e != 0.0)?;
                let is_known = |sd: &f64| *sd > 0.0 || r.launches() > 1 || r.is_published();
                let sd = statistics?.sd.filter(is_known)?;
                Some(number::percent(sd / estimate.abs()))
            }
            Self::Drift => statistics?.drift.map(number::percent),
            Self::Modes => statistics?.modes.map(number::count),
            Self::Min => statistics.map(|s| event(s.min)),
            Self::Median => statistics.map(|s| event(s.median)),
            Self::Mean => statistics?.mean.map(event),
            Self::Max => statistics.map(|s| event(s.max)),
            Self::Percentile(name) => percentile(r, name),
        }
    }

    /// One of the times, s; with its interval where that is shown.
    pub(crate) fn time(&self, p: &PublishedView) -> Option<Estimate> {
        let bare = |time: Estimate| Estimate::exact(time.value);
        match self {
            Self::Real => p.real,
            Self::User => p.user.map(bare),
            Self::System => p.system.map(bare),
            Self::Cpu => p.cpu_s.map(Estimate::exact),
            Self::Process => p.process,
            _ => None,
        }
    }

    /// Most decimals of this printed time in these results: a printed 8.0 is stored as 8.
    pub(crate) fn printed_decimals<'a>(
        &self,
        results: impl Iterator<Item = &'a Measurement>,
    ) -> usize {
        let printed = results.filter(|r| r.is_published());
        let times = printed.filter_map(|r| self.time(r.published.as_ref()?));
        let decimals = times.map(|time| number::printed_decimals(time.value));
        decimals.max().unwrap_or(0).min(4)
    }
}

/// A percentile with half of its interval: 12.3 us ±4.2%.
fn percentile(r: &Measurement, name: &str) -> Option<String> {
    let estimate = r.latencies().and_then(|latencies| latencies.get(name)?.estimate);
    let Some(estimate) = estimate else {
        let printed = r.statistics()?.percentiles.get(name)?;
        return Some(shown(r, *printed).with_unit());
    };
    let figure = number::figure(estimate.value, estimate.interval, r.unit.as_str()).with_unit();
    Some(match estimate.half_width() {
        Some(half) => format!("{figure} ±{}", number::percent(half)),
        None => figure,
    })
}

/// Page faults per page, with a useful number of digits.
pub(crate) fn faults(faults: f64) -> String {
    number::at_most(faults, "", 3)
}

/// The estimate, or a word for its absence.
pub(crate) fn figure(result: &Measurement) -> Option<number::Shown> {
    match (result.value(), result.outcome()) {
        (Some(estimate), _) => Some(shown(result, estimate)),
        (None, Status::Measured | Status::Published) => None,
        (None, outcome) => Some(number::Shown {
            estimate: findings::outcome(outcome).to_owned(),
            interval: String::new(),
            bounds: None,
            unit: String::new(),
        }),
    }
}

/// The estimate with its unit, for a separate cell.
pub(crate) fn figure_with_unit(result: &Measurement) -> String {
    let estimate = result.value();
    estimate.map_or(String::new(), |e| shown(result, e).with_unit())
}

fn shown(result: &Measurement, estimate: f64) -> number::Shown {
    if result.is_published() && result.interval().is_none() {
        return number::Shown {
            estimate: number::printed(estimate, 0),
            interval: String::new(),
            bounds: None,
            unit: number::unit_text(result.unit.as_str()),
        };
    }
    number::figure(estimate, result.interval(), result.unit.as_str())
}

/// Relative half-width of the interval.
pub(crate) fn precision(result: &Measurement) -> Option<f64> {
    result.estimate()?.half_width()
}

/// `95%`; empty if the results have different confidence.
fn level(results: &[&Measurement]) -> String {
    let sure = results.iter().filter(|r| r.interval().is_some());
    let mut levels = sure.map(|r| r.confidence());
    match levels.next() {
        Some(Some(level)) if levels.all(|l| l == Some(level)) => number::percent_option(level),
        _ => String::new(),
    }
}

/// The percentiles of any of these results, in order.
pub(crate) fn percentiles(results: &[&Measurement]) -> Vec<String> {
    let statistics = results.iter().filter_map(|r| r.statistics());
    let mut names: Vec<String> = statistics.flat_map(|s| s.percentiles.keys().cloned()).collect();
    let rank = |name: &String| Statistics::percent(name).unwrap_or(f64::MAX);
    names.sort_by(|a, b| rank(a).total_cmp(&rank(b)).then_with(|| a.cmp(b)));
    names.dedup();
    names
}
