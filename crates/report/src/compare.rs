//! Comparison of two runs or machines: what `gritstone compare` prints.

use crate::counters::explained;
use crate::table::{self, Cell, Columns, noted};
use crate::verdicts::{
    DIGITS, differs, heads, is_reference, labels, minimum_detectable, short_name, side, tone_of,
    verdict,
};
use crate::words::Detail;
use crate::words::{self, Sense};
use crate::{absent, copies, findings, latencies};
use gritstone_document::number;
use gritstone_document::{Block, Column, Document, Style, Tone};
use gritstone_model::{
    CompareRow, CompareSum, CompareView, Difference, Flag, Note, RunView, Verdict,
};

/// How to show a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comparison<'a> {
    /// The compared runs, whose labels head the columns.
    pub sides: &'a [&'a RunView],
    /// Which columns and sections are shown.
    pub detail: Detail,
    /// Show only benchmarks that are faster or slower.
    pub changed: bool,
}

/// A comparison: the sides and their differences, a line for each benchmark with both estimates, the change, its interval and the verdict,
/// and the summary.
pub fn compare(view: &CompareView, shown: Comparison) -> Document {
    let mut document = Document::new(format!("{} against {}", view.other_name, view.base_name));
    let mut terms = vec![
        ("base", named(&view.base_name, &view.base, view.runs[0])),
        ("other", named(&view.other_name, &view.other, view.runs[1])),
        ("differ in", words::facts(&view.differ_in)),
    ];
    // an assumed variance explains why two runs show little
    let variance = view.between_run.as_ref();
    let variance = variance.filter(|v| shown.detail > Detail::Results || v.runs.is_none());
    terms.extend(variance.map(|v| ("variance between runs", findings::variance(v))));
    document.terms(terms);
    if shown.detail > Detail::Results {
        let heads = [view.base_name.as_str(), &view.other_name];
        differences(&mut document, heads, "Differences in configuration", &view.differ_in);
    }
    if view.rows.is_empty() {
        document.paragraph("There is nothing to compare: neither side has a result.");
    } else if shown.changed && !view.rows.iter().any(|row| row.verdict.is_some_and(differs)) {
        document.paragraph("No benchmark is shown to be faster or slower.");
    }
    benchmarks(&mut document, view, shown);
    document.list(absent::comparisons(&view.rows));
    document.list(explained(&view.rows));
    copies::compared(&mut document, view, shown.detail);
    latencies::compared(&mut document, view, shown.detail);
    if shown.detail > Detail::Results {
        families(&mut document, view);
    }
    document.paragraph(summary(view));
    if let Some(sentence) = speed_range(view) {
        document.paragraph(sentence);
    }
    document.push(Block::Footnotes);
    document
}

/// Name and identifier of a side, or the number of its runs.
fn named(name: &str, id: &str, runs: usize) -> String {
    match (runs, name.contains(id)) {
        (1, true) => name.to_owned(),
        (1, false) => format!("{name} ({id})"),
        (runs, _) => format!("{name}, median of {runs} runs"),
    }
}

pub(crate) fn differences(
    document: &mut Document,
    [base, other]: [&str; 2],
    caption: &str,
    differ_in: &[Difference],
) {
    Columns::<&Difference>::key("Fact", Style::Text, |d| words::fact(&d.what))
        .text(base, |d| d.base.as_str())
        .text(other, |d| d.other.as_str())
        .table(document, caption, differ_in);
}

/// The counts of the verdicts: "19 benchmarks: 12 faster, 3 slower, ...".
pub(crate) fn summary(view: &CompareView) -> String {
    let rows = || view.rows.iter();
    let margin = number::percent_option(view.margin);
    let verdicts = [
        ("faster", "faster"),
        ("smaller", "smaller"),
        ("slower", "slower"),
        ("larger", "larger"),
        ("same", &format!("the same within {margin}")),
        ("inconclusive", "inconclusive"),
    ];
    let decided = || rows().filter(|row| !published(view, row));
    let counts =
        verdicts.map(|(word, text)| (decided().filter(|row| verdict(row) == word).count(), text));
    let disturbed = |row: &&CompareRow| {
        let interference = |note: &Note| note.flag() == Some(Flag::Interference);
        row.verdict == Some(Verdict::Inconclusive) && row.notes.iter().any(interference)
    };
    let disturbed = decided().filter(disturbed).count();
    let printed = rows().filter(|row| published(view, row)).count();
    let counts = counts.into_iter().chain([(printed, "published, without intervals")]);
    let counts = counts.chain(absent::count_absent(&view.rows));
    let counted: Vec<String> = counts
        .filter(|(n, _)| *n > 0)
        .map(|(n, text)| match (text, disturbed) {
            ("inconclusive", 1..) if n == disturbed => {
                format!("{} inconclusive for interference", number::count(n))
            }
            ("inconclusive", 1..) => {
                let [n, disturbed] = [n, disturbed].map(number::count);
                format!("{n} inconclusive ({disturbed} with interference)")
            }
            _ => format!("{} {text}", number::count(n)),
        })
        .collect();
    let counted = match counted.is_empty() {
        true => "none can be compared".to_owned(),
        false => words::join(&counted),
    };
    let all = words::plural(view.rows.len(), "benchmark");
    format!("{all}: {counted}{}.", mean(view))
}

/// The geometric mean of all ratios.
fn mean(view: &CompareView) -> String {
    let sum = view.sums.iter().find(|sum| sum.family.is_none());
    let sum = sum.or(match view.sums.as_slice() {
        [one] => Some(one),
        _ => None,
    });
    let is_published = [&view.base, &view.other].into_iter().any(|side| is_reference(side));
    // one row says the same, and a mean of measured rows without an interval says nothing
    let sum = sum.filter(|sum| sum.of > 1 && (is_published || sum.interval.is_some()));
    let mean_and_interval = sum.and_then(|sum| Some((sum.mean?, sum.interval, sum.of)));
    mean_and_interval.map_or_else(String::new, |(mean, interval, count)| {
        let ratio = words::ratio(mean, interval, Sense::Speed);
        format!("; geometric mean of {}: {ratio}", number::count(count))
    })
}

/// Whether a ratio is of two printed values without intervals, which gives no verdict.
pub(crate) fn published(view: &CompareView, row: &CompareRow) -> bool {
    let both = [&view.base, &view.other].into_iter().all(|side| is_reference(side));
    both && row.ratio.is_some() && row.interval.is_none()
}

/// With a reference system as the base: range of the ratio.
fn speed_range(view: &CompareView) -> Option<String> {
    if !is_reference(&view.base) {
        return None;
    }
    let timed = |row: &&CompareRow| Sense::for_unit(&row.unit) == Sense::Speed && !row.in_doubt();
    let rated = view.rows.iter().filter(timed);
    let rated = rated.filter_map(|row| Some((row.ratio?, row.title.as_str())));
    let mut rated: Vec<(f64, &str)> = rated.collect();
    rated.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((low, least), (high, most)) = (*rated.first()?, *rated.last()?);
    let (other, base) = (&view.other_name, short_name(&view.base_name));
    let [low, high] = [low, high].map(|ratio| words::bare_ratio(ratio, None).0);
    Some(match rated.len() {
        1 => format!("Speed of {other} relative to {base}: {low} ({least})."),
        _ => format!(
            "Speed of {other} relative to {base}: {low} to {high} (lowest {least}, highest {most})."
        ),
    })
}

/// Both compared values of a benchmark and their unit; with a reference system, whose values differ much, each with its unit.
fn values(row: &CompareRow, far: bool) -> [Option<String>; 3] {
    match row.base.zip(row.other) {
        Some((base, other)) if !far => {
            let ([base, other], unit) = number::pair([base, other], &row.unit, DIGITS);
            [Some(base), Some(other), Some(unit)]
        }
        _ => {
            let [base, other] = [row.base, row.other].map(|value| side(value, &row.unit));
            [base, other, None]
        }
    }
}

fn tone(row: &CompareRow) -> Option<Tone> {
    row.verdict.map(tone_of)
}

fn benchmarks(document: &mut Document, view: &CompareView, shown: Comparison) {
    let reference = is_reference(&view.base);
    let detail = shown.detail;
    let change = move |row: &CompareRow| {
        let (ratio, interval) = (row.ratio?, row.interval);
        Some(match reference {
            true => words::times(ratio, interval),
            false => words::change(row.better, ratio, interval),
        })
    };
    // the change with its interval is the result; the estimates are dropped first on a narrow terminal
    let [base, other] = labels(shown.sides)
        .unwrap_or_else(|| heads(view))
        .map(|head| Column::new(head, Style::Number).rank(1));
    let unit = Column::new("Unit", Style::Text).rank(1).paired();
    let far = reference || is_reference(&view.other);
    let value = move |row: &CompareRow, index: usize| values(row, far)[index].clone();
    let begun = Columns::<&CompareRow>::key("Benchmark", Style::Code, |row| row.id.as_str())
        .column(base, move |row| value(row, 0))
        .column(other.paired(), move |row| value(row, 1))
        .column(unit, move |row| value(row, 2))
        .number(if reference { "Ratio" } else { "Change" }, move |row| {
            let change = change(row).map(|(change, _)| change);
            noted(Cell::from(change).toned(tone(row)), &row.notes)
        })
        .column(Column::new("Interval", Style::Number), move |row| {
            change(row).and_then(|(_, interval)| interval)
        })
        .text("Verdict", move |row| {
            let verdict_text = (!published(view, row)).then(|| verdict(row).to_owned());
            Cell::from(verdict_text).toned(tone(row))
        })
        .column(Column::new("Detectable", Style::Number).rank(2), |row| {
            row.smallest.map(minimum_detectable)
        });
    let begun = match detail {
        Detail::Results => begun,
        _ => begun
            .column(Column::new("Compared", Style::Text).rank(3), |row| {
                findings::subject(row.compared)
            })
            .column(Column::new("What", Style::Text).rank(4), |row| row.title.as_str()),
    };
    let rows = view.rows.iter().filter(|row| match shown.changed {
        true => row.verdict.is_some_and(differs),
        false => row.ratio.is_some() || detail > Detail::Results,
    });
    begun.table(document, "", rows);
    if let Some(common) = &view.common {
        document.paragraph(findings::common_change(common));
    }
}

/// A row for each family, and one over all, if there are several ratios.
pub(crate) fn families(document: &mut Document, view: &CompareView) {
    let with_ratio: Vec<&CompareRow> = view.rows.iter().filter(|r| r.ratio.is_some()).collect();
    if with_ratio.len() < 2 {
        return;
    }
    let size = |row: &&CompareRow| Sense::for_unit(&row.unit) == Sense::Size;
    let [better, worse] = match with_ratio.iter().any(size) {
        true => ["Faster, smaller", "Slower, larger"],
        false => ["Faster", "Slower"],
    };
    let family = |sum: &&CompareSum| sum.family.clone().unwrap_or_else(|| "all".to_owned());
    let begun = Columns::<&CompareSum>::key("Family", Style::Code, family)
        .strong(|sum| sum.family.is_none())
        .number("Benchmarks", |sum| sum.rows)
        .number(better, |sum| number::counted(sum.faster))
        .number(worse, |sum| number::counted(sum.slower))
        .number("Inconclusive", |sum| number::counted(sum.inconclusive))
        .number("Same", |sum| number::counted(sum.same))
        .number("Not compared", |sum| number::counted(sum.without_ratio))
        .under("Geometric mean of the ratios");
    let mean = |sum: &&CompareSum| {
        let mean = sum.mean?;
        Some(words::ratio(mean, sum.interval, Sense::Speed))
    };
    let begun = match is_reference(&view.base) {
        true => {
            begun.pair(["ratio", "interval"], |sum| table::bare_ratio(sum.mean, sum.interval, &[]))
        }
        false => begun.text("ratio", mean),
    };
    let (base, other) = (&view.base_name, &view.other_name);
    let caption = format!("By family, largest effect first: {other} relative to {base}");
    begun
        .number("benchmarks in it", |sum| number::counted(sum.of))
        .table(document, caption, &view.sums);
}
