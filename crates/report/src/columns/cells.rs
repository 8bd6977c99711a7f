//! What stands in the head and in the cells of each column of a table of results.

use super::Col;
use crate::document::{Column, Style, Text};
use crate::{findings, number, words};
use gritstone_model::{
    Estimate, Measurement, PublishedView, Quantity, Statistics, Status, Subject,
};

/// The group of columns that tell of the document's own amount of work.
const PUBLISHED: &str = "Published work";

/// The group of columns that tell how much was measured, and what it took of the core.
const MEASUREMENT: &str = "Measurement";

impl Col {
    /// The column of what a note is about; none for the result as a whole and its estimate.
    pub(crate) fn of(subject: Subject) -> Option<Self> {
        match subject {
            Subject::Result | Subject::Estimate => None,
            Subject::Cycles => Some(Self::Cycles),
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

    /// Whether it is about the reference workload.
    pub(super) fn is_published(&self) -> bool {
        matches!(
            self,
            Self::Real | Self::User | Self::System | Self::Cpu | Self::Process | Self::Faults
        )
    }

    pub(super) fn is_key(&self) -> bool {
        matches!(self, Self::Id)
    }

    pub(crate) fn head(&self, results: &[&Measurement]) -> Column {
        use Style::{Code, Number, Text};
        match self {
            Self::Id => Column::key("Benchmark", Code),
            Self::Title => Column::new("What", Text),
            Self::Figure | Self::WithUnit => Column::new("Figure", Number),
            Self::Unit => Column::new("Unit", Text),
            Self::Interval => Column::new(interval_head(results), Number),
            Self::PlusMinus => Column::new(plus_minus_head(results), Number),
            Self::Launches => Column::new("launches", Number).of(MEASUREMENT),
            Self::Samples => Column::new("samples", Number).of(MEASUREMENT),
            Self::Cycles => Column::new("cycles", Number).of(MEASUREMENT),
            Self::Ghz => Column::new("GHz", Number).of(MEASUREMENT),
            Self::Work => Column::new("work", Text).of(PUBLISHED),
            Self::Real => Column::new("real", Number).of(PUBLISHED),
            Self::RealInterval => Column::new("interval", Number).of(PUBLISHED),
            Self::User => Column::new("user", Number).of(PUBLISHED),
            Self::System => Column::new("system", Number).of(PUBLISHED),
            Self::Cpu => Column::new("cpu", Number).of(PUBLISHED),
            Self::Process => Column::new("process", Number).of(PUBLISHED),
            Self::StartShare => Column::new("start-up", Number).of(PUBLISHED),
            Self::Faults => Column::new("faults a page", Number).of(PUBLISHED),
            Self::Precision => Column::new("Half-width", Number),
            Self::Sd => Column::new("Deviation", Number),
            Self::Drift => Column::new("Drift", Number),
            Self::Modes => Column::new("Modes", Number),
            Self::Min => Column::new("min", Number),
            Self::Median => Column::new("median", Number),
            Self::Mean => Column::new("mean", Number),
            Self::Max => Column::new("max", Number),
            Self::Percentile(name) => Column::new(name.clone(), Number),
        }
    }

    pub(crate) fn cell(&self, result: &Measurement, all: &[&Measurement]) -> Text {
        let text = match self {
            Self::Id => Some(result.id.to_string()),
            Self::Title => Some(title(result)),
            Self::Figure => figure(result),
            Self::WithUnit => {
                figure(result).map(|f| format!("{f} {}", unit(result)).trim_end().to_owned())
            }
            Self::Unit => return unit(result).into(),
            Self::Interval => interval(result),
            Self::Launches => counted(result.launches),
            Self::Samples => counted(result.samples),
            Self::Cycles => result
                .cycles
                .map(|c| number::count_of(c.value, c.interval, 3)),
            Self::Ghz => result.ghz.map(|g| number::fixed(g, 2)),
            Self::Faults => result.faults_per_page.map(faults),
            Self::Precision | Self::PlusMinus => precision(result).map(number::percent),
            Self::Work
            | Self::Real
            | Self::RealInterval
            | Self::User
            | Self::System
            | Self::Cpu
            | Self::Process
            | Self::StartShare => result
                .published
                .as_ref()
                .and_then(|p| self.published(p, result, all)),
            _ => result
                .statistics
                .as_ref()
                .and_then(|s| self.statistic(s, result)),
        };
        text.map_or_else(Text::missing, Text::new)
    }

    fn published(
        &self,
        p: &PublishedView,
        result: &Measurement,
        all: &[&Measurement],
    ) -> Option<String> {
        match self {
            Self::Work => Some(p.work.clone()).filter(|work| !work.is_empty()),
            Self::RealInterval => {
                let real = p.real.filter(|real| real.interval.is_some())?;
                let shown = number::figure(real.value, real.interval, "s");
                Some(format!("{} {}", shown.interval, shown.unit))
            }
            Self::StartShare => p.start_share.map(number::percent),
            _ => {
                let Estimate { value, interval } = self.time(p)?;
                if result.is_published() {
                    let decimals = self.printed_decimals(all.iter().copied());
                    return Some(format!("{} s", number::printed(value, decimals)));
                }
                Some(number::seconds(value, interval))
            }
        }
    }

    /// One of the times, s; with the interval of those that are shown with theirs.
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

    /// The most decimals with which documents printed this time in these results: what was 8.0 on paper
    /// comes as 8 from a file.
    pub(crate) fn printed_decimals<'a>(
        &self,
        results: impl Iterator<Item = &'a Measurement>,
    ) -> usize {
        results
            .filter(|r| r.is_published())
            .filter_map(|r| Some(self.time(r.published.as_ref()?)?.value))
            .map(number::printed_decimals)
            .max()
            .unwrap_or(0)
            .min(4)
    }

    fn statistic(&self, s: &Statistics, result: &Measurement) -> Option<String> {
        let show = |value: f64| Some(shown(result, value).with_unit());
        match self {
            Self::Sd => result
                .value()
                .filter(|e| *e != 0.0)
                .zip(s.sd)
                .map(|(e, sd)| number::percent(sd / e.abs())),
            Self::Drift => s.drift.map(number::percent),
            Self::Modes => s.modes.map(number::count),
            Self::Min => show(s.min),
            Self::Median => show(s.median),
            Self::Mean => s.mean.and_then(show),
            Self::Max => show(s.max),
            Self::Percentile(name) => s.percentiles.get(name).copied().and_then(show),
            _ => None,
        }
    }
}

/// Page faults for each page, as exact as anyone would compare them.
pub(crate) fn faults(faults: f64) -> String {
    number::at_most(faults, "", 3)
}

fn counted(n: usize) -> Option<String> {
    (n > 0).then(|| number::count(n))
}

/// The estimate, or in a word why there is none.
fn figure(result: &Measurement) -> Option<String> {
    if let Some(estimate) = result.value() {
        return Some(shown(result, estimate).estimate);
    }
    match result.outcome {
        Status::Measured | Status::Published => None,
        other => Some(findings::outcome(other).to_owned()),
    }
}

/// The estimate with its unit, for a cell of its own.
pub(crate) fn figure_with_unit(result: &Measurement) -> String {
    result
        .value()
        .map_or(String::new(), |e| shown(result, e).with_unit())
}

/// What was done, and on what: a figure of a disk that is one of a cache says so.
fn title(result: &Measurement) -> String {
    match (&result.measured, result.unit.quantity()) {
        (Some(what), Quantity::Rate { .. }) => format!("{} ({what})", result.title),
        _ => result.title.clone(),
    }
}

fn unit(result: &Measurement) -> String {
    result
        .value()
        .map_or(String::new(), |e| shown(result, e).unit)
}

fn interval(result: &Measurement) -> Option<String> {
    let estimate = result.value()?;
    result.interval().map(|_| shown(result, estimate).interval)
}

fn shown(result: &Measurement, estimate: f64) -> number::Shown {
    if result.is_published() && result.interval().is_none() {
        return number::Shown {
            estimate: number::printed(estimate, 0),
            interval: String::new(),
            unit: number::unit_text(result.unit.as_str()),
        };
    }
    number::figure(estimate, result.interval(), result.unit.as_str())
}

/// Half the interval as a share of the estimate.
pub(crate) fn precision(result: &Measurement) -> Option<f64> {
    let [low, high] = result.interval()?;
    let estimate = result.value().filter(|e| *e != 0.0)?;
    Some((high - low) / 2.0 / estimate.abs())
}

fn interval_head(results: &[&Measurement]) -> String {
    words::capital(format!("{} interval", level(results)).trim_start())
}

/// `±(95%)`, in one word so that it is not broken.
fn plus_minus_head(results: &[&Measurement]) -> String {
    match level(results).replace(' ', "").as_str() {
        "" => "±".to_owned(),
        level => format!("±({level})"),
    }
}

/// `95 %`; nothing where the rows do not agree on the confidence.
fn level(results: &[&Measurement]) -> String {
    let mut levels = results
        .iter()
        .filter(|r| r.interval().is_some())
        .map(|r| r.confidence);
    match levels.next() {
        Some(Some(level)) if levels.all(|l| l == Some(level)) => number::percent_asked(level),
        _ => String::new(),
    }
}

/// The names of the percentiles that any of these rows has, in their order.
pub(crate) fn percentiles(results: &[&Measurement]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for statistics in results.iter().filter_map(|r| r.statistics.as_ref()) {
        for name in statistics.percentiles.keys() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let rank = |name: &String| Statistics::percent(name).unwrap_or(f64::MAX);
    names.sort_by(|a, b| rank(a).total_cmp(&rank(b)).then_with(|| a.cmp(b)));
    names
}
