//! Order of a comparison, and sums by family.

use super::ComparedRow;
use super::pair::ComparedBy;
use gritstone_model::{CompareRow, CompareSum, Verdict, grouped};
use gritstone_stats::descriptive;

/// Sorts by verdict: different, inconclusive, same, without ratio, on one side only; then by the magnitude of the ratio.
pub(super) fn sort_rows(rows: Vec<ComparedRow>) -> Vec<CompareRow> {
    let mut rows: Vec<CompareRow> = rows.into_iter().map(|row| row.row).collect();
    let place = |row: &CompareRow| match row.verdict {
        Some(Verdict::Faster | Verdict::Slower) => 0,
        Some(Verdict::Inconclusive) => 1,
        Some(Verdict::Same) => 2,
        None if row.base.is_some() && row.other.is_some() => 3,
        None => 4,
    };
    let order = |a: &CompareRow, b: &CompareRow| {
        (place(a).cmp(&place(b))).then(magnitude(b.ratio).total_cmp(&magnitude(a.ratio)))
    };
    rows.sort_by(order);
    rows
}

/// One for each family, those with differences first, by the size of the mean; the sum over all last, if there are
/// several.
pub(super) fn sums(rows: &[ComparedRow]) -> Vec<CompareSum> {
    let families = grouped(rows.iter().map(|row| (row.row.id.family(), row)));
    let mut sums: Vec<CompareSum> =
        families.iter().map(|(family, rows)| sum(Some(family), rows)).collect();
    let is_unchanged = |sum: &CompareSum| sum.faster + sum.slower == 0;
    sums.sort_by(|a, b| {
        (is_unchanged(a).cmp(&is_unchanged(b)))
            .then(magnitude(b.mean).total_cmp(&magnitude(a.mean)))
    });
    if sums.len() > 1 {
        sums.push(sum(None, &rows.iter().collect::<Vec<_>>()));
    }
    sums
}

/// Distance of a ratio from 1 in millionths, below which only rounding differs; -1 without a ratio.
fn magnitude(ratio: Option<f64>) -> f64 {
    ratio.map_or(-1.0, |ratio| (ratio.ln().abs() * 1e6).round())
}

fn sum(family: Option<&str>, rows: &[&ComparedRow]) -> CompareSum {
    let count = |verdict| {
        let rows = rows.iter();
        rows.filter(|row| row.row.verdict == Some(verdict)).count()
    };
    let counted: Vec<&CompareRow> =
        rows.iter().filter(|row| is_averaged(&row.row, row.basis)).map(|row| &row.row).collect();
    let mean = |value: fn(&CompareRow) -> Option<f64>| -> Option<f64> {
        let logs: Vec<f64> =
            (counted.iter()).map(|row| value(row).map(f64::ln)).collect::<Option<_>>()?;
        (!logs.is_empty()).then(|| descriptive::mean(&logs).exp())
    };
    // run effects are shared by many benchmarks, and do not average out
    let ends = mean(|row| Some(row.interval?[0])).zip(mean(|row| Some(row.interval?[1])));
    CompareSum {
        family: family.map(str::to_owned),
        rows: rows.len(),
        faster: count(Verdict::Faster),
        slower: count(Verdict::Slower),
        same: count(Verdict::Same),
        inconclusive: count(Verdict::Inconclusive),
        without_ratio: rows.iter().filter(|row| row.row.ratio.is_none()).count(),
        mean: mean(|row| row.ratio),
        interval: ends.map(|(low, high)| [low, high]),
        of: counted.len(),
    }
}

/// Sizes, doubtful results and those with interference are not averaged.
fn is_averaged(row: &CompareRow, basis: ComparedBy) -> bool {
    let averaged = matches!(basis, ComparedBy::Test | ComparedBy::Interval) && !row.in_doubt();
    averaged && row.ratio.is_some_and(|x| x.is_finite() && x > 0.0)
}
