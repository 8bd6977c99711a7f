//! Compares two runs or systems: a ratio above 1 means that the other is better, whatever the unit.
//!
//! Stored runs are not interleaved, so intervals include run effects. Nothing is subtracted from a difference; a change shared by nearly
//! all benchmarks is reported beside the verdicts. The family-wise error rate is controlled over all results.

mod copies;
mod difference;
mod environment;
mod families;
mod measured;
mod options;
mod pair;
mod percentiles;
mod published;
mod spread;

use crate::explain::{self, explain};
use difference::{Difference, Spread};
pub use environment::runs_differ_in;
pub(crate) use environment::{peers_differ, programs_differ_in};
use gritstone_model::{
    Better, CompareFigure, CompareRow, CompareView, Explanation, Finding, Flag, Measurement, Note,
    RunView, SCHEMA_COMPARE, Subject, VarianceSource, Verdict, in_order,
};
use gritstone_stats::{multiple, verdict};
use options::ALPHA;
pub use options::Options;
pub(crate) use pair::ratio;
use pair::{ComparedBy, Pair};
use std::collections::BTreeMap;

/// Compares all results of both sides, the most important first, with sums by family.
pub fn compare(base: &RunView, other: &RunView, options: &Options) -> CompareView {
    let mut options = options.for_runs(base, other);
    let differences = differences(base, other, &options);
    options.spread = Spread {
        different_systems: base.machine.id != other.machine.id,
        ..spread::estimate(&differences, &options.effects)
    };
    let options = &options;
    let tails = percentiles::options(options);
    let mut rows: Vec<ComparedRow> = Vec::new();
    for b in &base.results {
        rows.push(match other.get(&b.id) {
            Some(o) => row([base, other], [b, o], options, &tails),
            None => unmatched(b, other, true),
        });
    }
    let new = other.results.iter().filter(|o| base.get(&o.id).is_none());
    rows.extend(new.map(|o| unmatched(o, base, false)));
    set_verdicts(&mut rows, options);
    percentiles::set_verdicts(&mut rows, options);
    set_detectable_effects(&mut rows, options);
    if let Some(selected) = &options.selected {
        rows.retain(|row| selected.contains(&row.row.id));
    }
    CompareView {
        schema: SCHEMA_COMPARE.to_owned(),
        base: base.id.clone(),
        other: other.id.clone(),
        runs: options.effects.runs,
        base_name: display_name(base, other),
        other_name: display_name(other, base),
        differ_in: environment::differ_in(base, other),
        margin: options.margin,
        between_run: between_run(&rows, options),
        common: spread::common_change(&differences, options.margin),
        sums: families::sums(&rows),
        rows: families::sort_rows(rows),
    }
}

/// Differences of all results that both sides measured.
fn differences(base: &RunView, other: &RunView, options: &Options) -> Vec<Difference> {
    let both = base.results.iter().filter_map(|b| Some((b, other.get(&b.id)?)));
    both.filter_map(|(b, o)| pair(b, o, options).difference).collect()
}

/// `None` where no launches were compared.
fn between_run(rows: &[ComparedRow], options: &Options) -> Option<VarianceSource> {
    let effects: Vec<usize> =
        rows.iter().filter_map(|row| Some(row.difference?.effect.runs)).collect();
    let learned = || effects.iter().copied().filter(|&n| n > 0);
    let ends = learned().min().zip(learned().max());
    (!effects.is_empty()).then(|| VarianceSource {
        rows: effects.len(),
        default: effects.len() - learned().count(),
        runs: ends.map(|(fewest, most)| [fewest, most]),
        default_sd: options.spread.stated_sd(),
        assumed: options.spread.is_bounded(),
    })
}

/// A row without its verdict.
fn row(
    runs: [&RunView; 2],
    [b, o]: [&Measurement; 2],
    options: &Options,
    tails: &BTreeMap<&str, Options>,
) -> ComparedRow {
    let mut pair = pair(b, o, options);
    if let Some(differ) = peers_differ(runs[0], runs[1]) {
        pair = pair.without_ratio_because(differ);
    }
    let percentiles = percentiles::percentiles(b, o, &pair, options, tails);
    let titled = if b.is_published() { o } else { b };
    // interference on one side cannot be distinguished from a change
    let mut sides = [b, o].into_iter();
    let disturbed = pair.basis == ComparedBy::Test
        && sides.any(|side| side.has_flag(Flag::Interference, pair.compared));
    let merge_notes = |b: &[Note], o: &[Note]| notes_by_side(runs, [b, o]);
    let mut notes = compared_notes(b, o, &pair, &merge_notes);
    notes.extend(pair.notes.into_iter().map(Note::new));
    let row = CompareRow {
        id: b.id.clone(),
        title: titled.title.clone(),
        ratio: pair.ratio,
        interval: pair.interval,
        verdict: None,
        p: pair.p.filter(|_| !disturbed),
        p_adjusted: None,
        smallest: None,
        explanation: explanation(b, o, pair.compared, options),
        compared: pair.compared,
        between_run: pair.variance,
        // a time of the reference workload has another unit than the result
        better: match pair.unit == b.unit.as_str() {
            true => b.better,
            false => Better::Lower,
        },
        unit: pair.unit,
        base: pair.base,
        other: pair.other,
        notes: in_order(notes),
        copies: copies::copies(b, o, options, &merge_notes),
        percentiles,
    };
    let basis = if disturbed { ComparedBy::Nothing } else { pair.basis };
    ComparedRow { row, basis, difference: pair.difference }
}

/// Instruction counts compare only within one machine.
fn explanation(
    b: &Measurement,
    o: &Measurement,
    compared: Subject,
    options: &Options,
) -> Option<Explanation> {
    let of_the_work = compared == Subject::Estimate;
    let alike = of_the_work && options.reference_ghz.is_some();
    alike.then(|| explain(explain::Side::new(b), explain::Side::new(o)))?
}

/// Combines the notes of both sides.
type MergeNotes<'a> = dyn Fn(&[Note], &[Note]) -> Vec<Note> + 'a;

struct ComparedRow {
    row: CompareRow,
    basis: ComparedBy,
    difference: Option<Difference>,
}

/// A result of one side; `is_base` is true for the base.
fn unmatched(result: &Measurement, lacking: &RunView, is_base: bool) -> ComparedRow {
    let mut notes = result.notes.clone();
    let lacking = name(lacking).to_owned();
    notes.push(Finding::NoCounterpart { lacking }.into());
    let (base, other) = if is_base { (result.value(), None) } else { (None, result.value()) };
    let row = CompareRow { base, other, notes: in_order(notes), ..uncompared(result) };
    ComparedRow { row, basis: ComparedBy::Test, difference: None }
}

/// A row without a base.
pub(crate) fn uncompared(result: &Measurement) -> CompareRow {
    CompareRow {
        id: result.id.clone(),
        title: result.title.clone(),
        ratio: None,
        interval: None,
        verdict: None,
        p: None,
        p_adjusted: None,
        smallest: None,
        explanation: None,
        compared: Subject::Estimate,
        between_run: None,
        unit: result.unit.to_string(),
        better: result.better,
        base: None,
        other: result.value(),
        notes: result.notes_on_result().cloned().collect(),
        copies: vec![],
        percentiles: vec![],
    }
}

pub(crate) fn pair(base: &Measurement, other: &Measurement, options: &Options) -> Pair {
    let pair = if base.is_published() || other.is_published() {
        published::pair(base, other)
    } else {
        measured::pair(base, other, options)
    };
    let mut sides = [base, other].into_iter();
    if sides.any(|side| side.has_flag(Flag::Invalid, pair.compared)) {
        // the note itself gives the reason
        return pair.without_ratio();
    }
    pair
}

/// Whether a result is valid and without interference.
pub(crate) fn is_usable(result: &Measurement, compared: Subject) -> bool {
    !result.has_flag(Flag::Invalid, compared) && !result.has_flag(Flag::Interference, compared)
}

/// Notes on the compared quantity, with their side; all notes where there is no ratio, since any may give the reason.
/// "Not comparable" is about documents, not about two measured sides.
fn compared_notes(
    base: &Measurement,
    other: &Measurement,
    pair: &Pair,
    merge_notes: &MergeNotes,
) -> Vec<Note> {
    let belongs = |side: &Measurement| -> Vec<Note> {
        let notes = side.notes.iter();
        let concerns = |note: &&Note| pair.ratio.is_none() || note.about.concerns(pair.compared);
        notes.filter(concerns).cloned().collect()
    };
    let mut notes = merge_notes(&belongs(base), &belongs(other));
    if !base.is_published() && !other.is_published() {
        notes.retain(|note| note.flag() != Some(Flag::NotComparable) || note.side.is_some());
    }
    notes
}

/// Common notes, then those of one side, prefixed by its name.
fn notes_by_side([base, other]: [&RunView; 2], [b, o]: [&[Note]; 2]) -> Vec<Note> {
    let of_side = |view: &RunView, mine: &[Note], theirs: &[Note]| -> Vec<Note> {
        let named = |note: &Note| Note { side: Some(name(view).to_owned()), ..note.clone() };
        let unshared = |note: &&Note| !theirs.contains(note);
        mine.iter().filter(unshared).map(named).collect()
    };
    let common = b.iter().filter(|note| o.contains(note));
    let mut notes: Vec<Note> = common.cloned().collect();
    notes.extend(of_side(base, b, o));
    notes.extend(of_side(other, o, b));
    notes
}

pub(crate) fn word(verdict: verdict::Verdict) -> Verdict {
    match verdict {
        verdict::Verdict::Faster => Verdict::Faster,
        verdict::Verdict::Slower => Verdict::Slower,
        verdict::Verdict::Same => Verdict::Same,
        verdict::Verdict::Inconclusive => Verdict::Inconclusive,
    }
}

/// Adjusts p over all comparisons and sets the verdicts by the intervals. An interval that excludes 1 is recomputed at the level of the
/// family: at Holm's level of the last rejected p, it excludes 1 exactly if the adjusted p is below alpha.
fn set_verdicts(rows: &mut [ComparedRow], options: &Options) {
    let all: Vec<Option<f64>> = rows.iter().flat_map(|row| tested(&row.row)).collect();
    let adjusted = multiple::holm(&all);
    let selected = adjusted.iter().flatten().filter(|p| **p < ALPHA).count();
    let tests = adjusted.iter().flatten().count().max(1);
    let level = ALPHA / (tests + 1 - selected.max(1)) as f64;
    let mut adjusted = adjusted.into_iter();
    let verdict = |interval, p| word(verdict::verdict(interval, p, options.margin, ALPHA));
    for ComparedRow { row, basis, difference } in rows {
        row.p_adjusted = adjusted.next().flatten();
        let excludes = |ends: [f64; 2]| ends[0] > 1.0 || ends[1] < 1.0;
        if let (Some(difference), true) = (difference, row.interval.is_some_and(excludes)) {
            row.interval = difference.ratio(&options.spread, 1.0 - level).interval;
        }
        // without a test the interval decides; an exact ratio is its own interval
        let (interval, p) = match basis {
            ComparedBy::Test => (row.interval.filter(|_| row.p.is_some()), row.p_adjusted),
            ComparedBy::Interval => (row.interval, Some(0.0)),
            ComparedBy::Nothing => (None, None),
            ComparedBy::Exact => (row.ratio.map(|ratio| [ratio; 2]), Some(0.0)),
        };
        row.verdict = row.ratio.map(|_| verdict(interval, p));
        if !matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower)) {
            row.explanation = None;
        }
        for compared in
            row.copies.iter_mut().flat_map(|point| [&mut point.total, &mut point.efficiency])
        {
            set_verdict(compared, adjusted.next().flatten(), options);
        }
    }
}

/// Inconclusive without p.
fn set_verdict(compared: &mut CompareFigure, p: Option<f64>, options: &Options) {
    compared.p_adjusted = p;
    if p.is_none() || compared.verdict != Verdict::Same {
        let interval = compared.interval.filter(|_| p.is_some());
        compared.verdict = word(verdict::verdict(interval, p, options.margin, ALPHA));
    }
}

fn tested(row: &CompareRow) -> Vec<Option<f64>> {
    let copies = row.copies.iter();
    let copies = copies.flat_map(|point| [point.total.p, point.efficiency.p]);
    std::iter::once(row.p).chain(copies).collect()
}

pub(crate) fn tests<'a>(rows: impl Iterator<Item = &'a CompareRow>) -> usize {
    rows.flat_map(tested).flatten().count()
}

/// Sets the minimum detectable effect of inconclusive results, or of all that a gate tests.
fn set_detectable_effects(rows: &mut [ComparedRow], options: &Options) {
    let tests = tests(rows.iter().map(|row| &row.row));
    for ComparedRow { row, difference, .. } in rows {
        let is_stated = options.gate.is_some() || row.verdict == Some(Verdict::Inconclusive);
        let difference = difference.filter(|_| is_stated && row.p.is_some());
        row.smallest = difference.map(|difference| measured::smallest(&difference, tests, options));
    }
}

fn name(view: &RunView) -> &str {
    view.label.as_deref().unwrap_or(&view.id)
}

/// Machine and system of a reference system; machine of a run, or the run's name if the sides share the machine.
fn display_name(view: &RunView, other: &RunView) -> String {
    let machine = &view.machine;
    let printed = machine.document.is_some();
    match (machine.name.as_str(), machine.system.as_str()) {
        ("", system) => system.to_owned(),
        (name, system) if printed && !system.is_empty() => format!("{name}, {system}"),
        (same, _) if !printed && same == other.machine.name => format!("run {}", name(view)),
        (name, _) => name.to_owned(),
    }
}
