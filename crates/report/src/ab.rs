//! Trials: what `gritstone ab` prints.

use crate::counters::explanation;
use crate::table::{Columns, noted};
use crate::verdicts;
use crate::words::{self, Sense};
use gritstone_document::number;
use gritstone_document::{About, Block, Column, Document, Style, Text};
use gritstone_model::{
    AbComparison, AbFigure, AbRow, AbSide, AbView, Compiled, Flag, Note, Subject, Verdict,
};
use gritstone_stats::interim::MIN_PAIRS;

/// Digits of a compile time.
const TIME_DIGITS: i32 = 3;
/// Start-up overhead is reported from this share of a side's time on.
const START_SHARE: f64 = 0.1;

/// A trial: the sides, the verdict of each benchmark in a sentence, then the results.
pub fn ab(view: &AbView) -> Document {
    trial(view, |side| {
        let run = side.label.as_ref().unwrap_or(&side.run);
        let text = Text::new(format!("{} (run {run})", side.what));
        text.about(Some(About::Run(side.run.clone())))
    })
}

/// As [`ab`], of sides that are in no store, so that no run has their names.
pub fn ab_unstored(view: &AbView) -> Document {
    trial(view, |side| side.what.as_str().into())
}

fn trial(view: &AbView, describe: impl Fn(&AbSide) -> Text) -> Document {
    let mut document = Document::new(format!("Side by side on {}", view.machine));
    document.terms(view.sides.iter().map(|side| (side.side.as_str(), describe(side))));
    let sentences_of_rows = view.rows.iter().flat_map(|row| sentences(view, row));
    document.list(sentences_of_rows.chain(aa_result(view)).chain(start_up(view)));
    comparisons(&mut document, view);
    sides(&mut document, view);
    compiled(&mut document, view);
    let builds = view.layouts.map_or_else(String::new, |number| {
        format!(" Compared over {number} builds of each side with different code layouts.")
    });
    document.paragraph(format!(
        "Intervals of changes are 99% intervals over all interim analyses; false discovery rate {}.{builds}",
        number::percent_option(view.level)
    ));
    document.push(Block::Footnotes);
    document
}

/// Sentences on a benchmark; with several benchmarks only exceptional facts.
fn sentences(view: &AbView, row: &AbRow) -> Vec<String> {
    let mut lines = vec![];
    // a reference side may be slower than others
    let base_leads = (row.comparisons.iter()).all(|c| c.ratio.is_none_or(|ratio| ratio <= 1.0));
    if view.sides.len() > 2
        && base_leads
        && let Some(AbComparison { base, .. }) = row.comparisons.first()
    {
        let slower = row.comparisons.iter().filter(|c| c.verdict == Verdict::Slower);
        let all = row.comparisons.len();
        lines.push(match slower.count() {
            n if n == all => format!("{base} is the fastest."),
            1 => format!("{base} is first; 1 of {} is significantly slower.", number::count(all)),
            n => format!(
                "{base} is first; {} of {} are significantly slower.",
                number::count(n),
                number::count(all)
            ),
        });
    }
    lines.extend(row.comparisons.iter().map(|c| {
        let explained = c.explanation.as_ref().map(explanation);
        let beside = [contention_sentence(c), explained].into_iter().flatten();
        let margin = row.margin.unwrap_or(view.margin);
        beside.fold(sentence(margin, c), |all, more| format!("{all} {more}"))
    }));
    if view.rows.len() > 1 {
        lines.iter_mut().for_each(|line| line.insert_str(0, &format!("{}: ", row.id)));
    }
    lines
}

fn sentence(margin: f64, c: &AbComparison) -> String {
    let (base, other) = (&c.base, &c.other);
    let pairs = words::plural(c.pairs, "pair");
    let Some(ratio) = ratio(c) else {
        return match c.pairs {
            0 => format!("Inconclusive: no pair of {other} and {base}."),
            _ => format!(
                "{other} against {base}: no ratio, since one takes less than can be measured."
            ),
        };
    };
    match c.verdict {
        Verdict::Faster | Verdict::Slower => {
            let verdict = c.verdict.as_str();
            format!("{other} is {verdict} than {base}: {ratio} ({pairs}).")
        }
        Verdict::Same => format!(
            "No difference beyond {} between {base} and {other}: {ratio} ({pairs}).",
            number::percent_option(margin)
        ),
        Verdict::Inconclusive if c.pairs < MIN_PAIRS => format!(
            "Inconclusive: {pairs} of {other} and {base}, and a verdict takes {MIN_PAIRS}: repeat with a longer --budget, or more --runs of `bench`. Estimate: {ratio}."
        ),
        Verdict::Inconclusive => {
            let detectable = c.smallest.map(number::percent).map_or_else(String::new, |smallest| {
                format!("; minimum detectable effect {smallest}")
            });
            format!("Inconclusive: {other} against {base} is {ratio} ({pairs}{detectable}).")
        }
    }
}

fn ratio(c: &AbComparison) -> Option<String> {
    let ratio = c.ratio?;
    Some(words::ratio(ratio, c.interval, Sense::Speed))
}

/// Result of an A/A test.
fn aa_result(view: &AbView) -> Option<String> {
    let all = view.rows.iter().flat_map(|row| &row.comparisons);
    let different = |c: &&AbComparison| matches!(c.verdict, Verdict::Faster | Verdict::Slower);
    let (n, called) = (all.clone().count(), all.filter(different).count());
    view.same.then(|| {
        format!(
            "A/A test: both sides are the same. Called different: {} of {}; allowed: {}. The column Detectable has the minimum detectable effect.",
            number::count(called),
            number::count(n),
            number::percent_option(view.level)
        )
    })
}

/// For short commands, the share of process start-up.
fn start_up(view: &AbView) -> Option<String> {
    let start_up_ns = view.start_up_ns?;
    let share = |(row, result): (&AbRow, &AbFigure)| {
        let share = (start_up_ns / (result.estimate? * 1e6)).min(1.0); // commands are timed in ms
        let share_of_side = format!("{} of {}", number::percent(share), result.side);
        (share >= START_SHARE).then(|| match view.rows.len() {
            1 => share_of_side,
            _ => format!("{share_of_side} of {}", row.id),
        })
    };
    let shares: Vec<String> = results(view).filter_map(share).collect();
    (!shares.is_empty()).then(|| {
        format!(
            "Process start-up overhead {}: {}.",
            number::seconds(start_up_ns / 1e9, None),
            words::join(&shares)
        )
    })
}

fn comparisons(document: &mut Document, view: &AbView) {
    type Compared<'a> = (&'a AbRow, &'a AbComparison);
    let rows = view.rows.iter().flat_map(|row| {
        let comparisons = row.comparisons.iter();
        comparisons.map(move |c| (row, c))
    });
    let change =
        |row: &AbRow, c: &AbComparison| Some(words::change(row.better, c.ratio?, c.interval));
    Columns::<Compared>::key("Benchmark", Style::Code, |(row, _)| row.id.as_str())
        .and_key("Sides", Style::Text, |(_, c)| format!("{} against {}", c.other, c.base))
        .number("Change", move |(row, c)| change(row, c).map(|(change, _)| change))
        .number("Interval", move |(row, c)| change(row, c).and_then(|(_, interval)| interval))
        .text("Verdict", |(_, c)| {
            noted(c.verdict.as_str(), &c.notes).toned(Some(verdicts::tone_of(c.verdict)))
        })
        .number("Pairs", |(_, c)| c.pairs)
        .column(Column::new("Detectable", Style::Number).rank(1), |(_, c)| {
            c.smallest.map(verdicts::minimum_detectable)
        })
        .table(document, "Comparisons", rows);
}

/// Sentence on launches with a busy SMT sibling.
fn contention_sentence(c: &AbComparison) -> Option<String> {
    let [base, other] = c.contended;
    let pairs = c.pairs + c.left_out;
    let what = match c.contention_differs {
        true => "one side keeps it busy, so all pairs are compared, by their means".to_owned(),
        false => {
            format!("{} of these excluded, at most half of all", words::plural(c.left_out, "pair"))
        }
    };
    (base + other > 0).then(|| {
        format!(
            "The SMT sibling was busy in {base} of {pairs} launches of {}, in {other} of {}: {what}.",
            c.base, c.other
        )
    })
}

fn results(view: &AbView) -> impl Iterator<Item = (&AbRow, &AbFigure)> {
    view.rows.iter().flat_map(|row| {
        let results = row.figures.iter();
        results.map(move |result| (row, result))
    })
}

fn sides(document: &mut Document, view: &AbView) {
    // pairs determine the certainty: a wide interval of one side is no defect
    let is_relevant = |note: &&Note| {
        let noisy = matches!(note.flag(), Some(Flag::Noisy | Flag::Modes));
        note.about == Subject::Result && !noisy
    };
    let seconds = |s: Option<f64>| s.map(|s| number::seconds(s, None));
    type Side<'a> = (&'a AbRow, &'a AbFigure);
    Columns::<Side>::key("Benchmark", Style::Code, |(row, _)| row.id.as_str())
        .and_key("Side", Style::Text, |(_, side)| side.side.as_str())
        .pair(["Real", "95% CI"], move |(row, side)| {
            let unit = row.unit.as_str();
            let shown = side.estimate.map(|e| number::figure(e, side.interval, unit));
            let bound = if side.at_most { "< " } else { "" };
            let real = shown.as_ref().map(|shown| format!("{bound}{}", shown.with_unit()));
            let interval = shown.filter(|_| !side.at_most);
            let interval = interval.and_then(|shown| shown.brackets());
            let notes = side.notes.iter().filter(is_relevant).cloned();
            let notes: Vec<Note> =
                notes.map(|note| Note { side: Some(side.side.clone()), ..note }).collect();
            [noted(real, &notes), interval.into()]
        })
        .number("Range", |(row, side)| {
            let show = |x| number::at_most(x, row.unit.as_str(), 4);
            let [least, most] = side.range?.map(show);
            Some(format!("{least} to {most}"))
        })
        .number("User", move |(_, side)| seconds(side.user_s))
        .number("System", move |(_, side)| seconds(side.system_s))
        .number("User and system", move |(_, side)| {
            // of a command, where ticks are too coarse to split its time
            let split = side.user_s.is_some() || side.peak_kb.is_none();
            seconds(side.cpu_s.filter(|_| !split))
        })
        .number("Peak memory", |(_, side)| {
            let bytes = side.peak_kb? as f64 * 1024.0;
            Some(number::at_most(bytes / 1e6, "MB", 3))
        })
        .number("Launches", |(_, side)| side.launches)
        .number("Samples", |(_, side)| side.samples)
        .number("Exit statuses", |(_, side)| {
            let statuses = side.statuses.iter().map(|status| match status {
                signal if *signal < 0 => format!("signal {}", -signal),
                status => status.to_string(),
            });
            Some(words::join(&statuses.collect::<Vec<_>>()))
        })
        .number("Left out", |(_, side)| (side.left_out > 0).then(|| side.left_out.to_string()))
        .table(document, "Results of each side, per operation", results(view));
}

/// Table of compilers, if any side was compiled.
fn compiled(document: &mut Document, view: &AbView) {
    let sides = || view.sides.iter();
    let compilers: Vec<(&str, &Compiled)> =
        sides().filter_map(|side| Some((side.what.as_str(), side.compiled.as_ref()?))).collect();
    Columns::<(&str, &Compiled)>::key("Compiler", Style::Code, |(name, _)| *name)
        .number("Programs", |(_, compiler)| compiler.programs)
        .number("Compile time s", |(_, compiler)| {
            number::significant(compiler.compile_s, TIME_DIGITS)
        })
        .number("Object size bytes", |(_, compiler)| {
            compiler.bytes.map(|bytes| number::fixed(bytes as f64, 0))
        })
        .text("Version", |(_, compiler)| compiler.version.as_str())
        .table(document, "Compiled workloads", compilers.iter().copied());
    let refused = compilers.iter().flat_map(|&(name, compiler)| {
        let refused = compiler.refused.iter();
        refused.map(move |(program, why)| format!("{name} refused {program}: {why}"))
    });
    document.list(refused);
}
