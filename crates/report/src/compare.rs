//! One run or machine against another: what `gritstone compare` prints.

use crate::document::{Block, Document, Style};
use crate::table::{self, Columns, noted};
use crate::words::{self, Sense};
use crate::{copies, findings, number};
use gritstone_model::{CompareRow, CompareSum, CompareView, Difference, Verdict};

/// A longer name does not head a column.
const LONGEST_HEAD: usize = 16;
/// Digits of a value beside a ratio.
const DIGITS: i32 = 4;

/// A comparison: what it comes to in a sentence and by family, what the sides differ in, and a row for each benchmark with
/// ratio, verdict, both values and notes. Against a reference machine it says how many of them the other is.
#[must_use]
pub fn compare(view: &CompareView) -> Document {
    let mut document = Document::new(format!("{} against {}", view.other_name, view.base_name));
    let mut terms = vec![
        ("base", format!("{} ({})", view.base_name, view.base)),
        ("other", format!("{} ({})", view.other_name, view.other)),
    ];
    let variance = view.between_run.as_ref().map(findings::variance);
    terms.extend(variance.map(|said| ("variance between runs", said)));
    let shifts = view.shifts.iter().map(findings::shift);
    terms.extend(shifts.map(|said| ("common shift", said)));
    document.terms(terms);
    document.paragraph(summary(view));
    if let Some(sentence) = how_many(view) {
        document.paragraph(sentence);
    }
    families(&mut document, view);
    differences(&mut document, view);
    if view.rows.is_empty() {
        document.paragraph("There is nothing to compare: neither side has a row.");
    }
    benchmarks(&mut document, view);
    copies::compared(&mut document, view);
    document.push(Block::Footnotes);
    document
}

fn differences(document: &mut Document, view: &CompareView) {
    if view.differ_in.is_empty() {
        document.paragraph("These two differ in nothing that is recorded.");
        return;
    }
    let facts = words::facts(&view.differ_in);
    document.paragraph(format!("These two differ in: {facts}."));
    Columns::<&Difference>::key("Fact", Style::Text, |d| d.what.as_str())
        .text(&view.base_name, |d| d.base.as_str())
        .text(&view.other_name, |d| d.other.as_str())
        .table(document, "What is not the same", &view.differ_in);
}

/// The counts of the verdicts: "Of 19 rows 12 are faster, 3 slower, ...".
fn summary(view: &CompareView) -> String {
    let rows = || view.rows.iter();
    let margin = number::percent_asked(view.margin);
    let verdicts = [
        ("faster", "faster"),
        ("smaller", "smaller"),
        ("slower", "slower"),
        ("larger", "larger"),
        ("same", &format!("the same within {margin}")),
        ("inconclusive", "inconclusive"),
    ];
    let counts = verdicts.map(|(of, text)| (rows().filter(|row| verdict(row) == of).count(), text));
    let without = rows().filter(|row| row.ratio.is_none()).count();
    let counts = counts.into_iter().chain([(without, "without a ratio")]);
    let said: Vec<String> = counts
        .filter(|(n, _)| *n > 0)
        .map(|(n, text)| format!("{} {text}", number::count(n)))
        .collect();
    let said = match said.is_empty() {
        true => "none can be compared".to_owned(),
        false => words::join(&said),
    };
    let all = words::plural(view.rows.len(), "row");
    format!("Of {all}, seen from {}: {said}.", view.other_name)
}

/// The verdict in the word that suits what was compared: a size is smaller, not faster.
fn verdict(row: &CompareRow) -> &'static str {
    let sense = Sense::of_unit(&row.unit);
    row.verdict.map_or("", |verdict| in_a_word(verdict, sense))
}

/// The same of a verdict alone.
pub(crate) fn in_a_word(verdict: Verdict, sense: Sense) -> &'static str {
    let [better, worse] = sense.words();
    match verdict {
        Verdict::Faster => better,
        Verdict::Slower => worse,
        other => other.as_str(),
    }
}

/// The ratio in words.
pub(crate) fn ratio(row: &CompareRow) -> Option<String> {
    let sense = Sense::of_unit(&row.unit);
    row.ratio.map(|r| words::ratio(r, row.interval, sense))
}

/// "VAX-11/780" of "VAX-11/780, 4.1 BSD" or "VAX-11/780 (4.1 BSD)".
fn short_name(name: &str) -> &str {
    let cuts = [", ", " (", "; "].iter();
    let end = cuts.filter_map(|cut| name.find(cut)).min();
    name[..end.unwrap_or(name.len())].trim()
}

pub(crate) fn is_reference(side: &str) -> bool {
    side.starts_with("ref:")
}

/// With a reference machine as the base: how many of it the other is, at least and at most.
pub(crate) fn how_many(view: &CompareView) -> Option<String> {
    if !is_reference(&view.base) {
        return None;
    }
    let timed = |row: &&CompareRow| Sense::of_unit(&row.unit) == Sense::Speed && !row.in_doubt();
    let rated = view.rows.iter().filter(timed);
    let rated = rated.filter_map(|row| Some((row.ratio?, row.title.as_str())));
    let mut rated: Vec<(f64, &str)> = rated.collect();
    rated.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((low, least), (high, most)) = (*rated.first()?, *rated.last()?);
    let (other, base) = (&view.other_name, short_name(&view.base_name));
    let [low, high] = [low, high].map(|ratio| words::bare_ratio(ratio, None).0);
    Some(match rated.len() {
        1 => format!("{other} is {low} {base}s, by {least}."),
        _ => format!(
            "{other} is {low} to {high} {base}s, by what is done: fewest by {least}, most by {most}."
        ),
    })
}

fn benchmarks(document: &mut Document, view: &CompareView) {
    let other_name = &view.other_name;
    let begun = Columns::<&CompareRow>::key("Benchmark", Style::Code, |row| row.id.as_str())
        .text("What", |row| row.title.as_str());
    let (caption, begun) = match is_reference(&view.base) {
        true => (
            format!("What differs most first; above 1, {other_name} is better"),
            begun.pair(
                [
                    &format!("How many {}s", short_name(&view.base_name)),
                    "Interval",
                ],
                |row| table::bare_ratio(row.ratio, row.interval, &row.notes),
            ),
        ),
        false => (
            format!("Row by row, what differs most first, seen from {other_name}"),
            begun.text("Ratio", |row| noted(ratio(row), &row.notes)),
        ),
    };
    let [base, other] = heads(view);
    begun
        .text("Verdict", |row| Some(verdict(row).to_owned()))
        .number("Smallest change seen", |row| {
            row.smallest.map(number::percent)
        })
        .under("Figures")
        .text("compared", |row| findings::subject(row.compared))
        .number(base, |row| side(row.base, &row.unit))
        .number(other, |row| side(row.other, &row.unit))
        .table(document, caption, &view.rows);
}

/// A row for each family, and one over all, where there is more than one ratio to sum up.
fn families(document: &mut Document, view: &CompareView) {
    let with_ratio: Vec<&CompareRow> = view.rows.iter().filter(|r| r.ratio.is_some()).collect();
    if with_ratio.len() < 2 {
        return;
    }
    let size = |row: &&CompareRow| Sense::of_unit(&row.unit) == Sense::Size;
    let [better, worse] = match with_ratio.iter().any(size) {
        true => ["Faster, smaller", "Slower, larger"],
        false => ["Faster", "Slower"],
    };
    let family = |sum: &&CompareSum| sum.family.clone().unwrap_or_else(|| "all".to_owned());
    let begun = Columns::<&CompareSum>::key("Family", Style::Code, family)
        .strong(|sum| sum.family.is_none())
        .number("Rows", |sum| sum.rows)
        .number(better, |sum| number::counted(sum.faster))
        .number(worse, |sum| number::counted(sum.slower))
        .number("Cannot tell", |sum| number::counted(sum.inconclusive))
        .number("No difference", |sum| number::counted(sum.same))
        .number("Without a ratio", |sum| number::counted(sum.without_ratio))
        .under("Geometric mean of the ratios");
    let mean = |sum: &&CompareSum| {
        let mean = sum.mean?;
        Some(words::ratio(mean, sum.interval, Sense::Speed))
    };
    let begun = match is_reference(&view.base) {
        true => begun.pair(["ratio", "interval"], |sum| {
            table::bare_ratio(sum.mean, sum.interval, &[])
        }),
        false => begun.text("ratio", mean),
    };
    let seen_from = &view.other_name;
    let caption = format!("By family, what differs most first, seen from {seen_from}");
    begun
        .number("of rows", |sum| number::counted(sum.of))
        .table(document, caption, &view.sums);
}

/// The value of a side.
pub(crate) fn side(value: Option<f64>, unit: &str) -> Option<String> {
    value.map(|value| match unit {
        "bytes" => number::figure(value, None, unit).with_unit(),
        _ => number::at_most(value, unit, DIGITS),
    })
}

/// Heads of the two columns of values: names where they tell the sides apart and are short.
pub(crate) fn heads(view: &CompareView) -> [&str; 2] {
    let names = [&view.base_name, &view.other_name].map(|name| short_name(name));
    let short = |name: &str| name.chars().count() <= LONGEST_HEAD;
    match names[0] != names[1] && names.into_iter().all(short) {
        true => names,
        false => ["base", "other"],
    }
}
