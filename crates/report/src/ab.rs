//! Sides against each other: what `gritstone ab` prints.

use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::number;
use crate::words::{self, Sense};
use gritstone_model::{AbComparison, AbFigure, AbRow, AbView, Flag, Subject, Verdict};

/// Pairs before which nothing is concluded.
const FEWEST: usize = 12;
/// From this share of its time on, the start of a process is worth a sentence.
const START_SHARE: f64 = 0.1;

/// A trial: the sides, the verdict of each row in a sentence, then the figures.
#[must_use]
pub fn ab(view: &AbView) -> Document {
    let mut document = Document::new(format!("Side by side on {}", view.machine));
    let side = |side: &gritstone_model::AbSide| {
        let run = side.label.as_ref().unwrap_or(&side.run);
        (
            side.side.clone(),
            format!("{} (run {run})", side.what).into(),
        )
    };
    document.push(Block::Terms(view.sides.iter().map(side).collect()));
    let mut said: Vec<String> = view
        .rows
        .iter()
        .flat_map(|row| sentences(view, row))
        .collect();
    said.extend(the_same(view));
    said.extend(starts(view));
    document.push(Block::List(said.into_iter().map(Text::new).collect()));
    if view.rows.iter().any(|row| !row.comparisons.is_empty()) {
        let table = comparisons(&mut document, view);
        document.table(table);
    }
    let table = figures(&mut document, view);
    document.table(table);
    document.push(Block::Footnotes);
    document
}

/// A row in words; of many rows only what differs from the usual is said.
fn sentences(view: &AbView, row: &AbRow) -> Vec<String> {
    let prefix = match view.rows.len() {
        1 => String::new(),
        _ => format!("{}: ", row.id),
    };
    let mut said = vec![];
    if view.sides.len() > 2
        && let Some(first) = row.comparisons.first()
    {
        let worse = |c: &&AbComparison| c.verdict == Verdict::Slower;
        let all = row.comparisons.len();
        said.push(match row.comparisons.iter().filter(worse).count() {
            n if n == all => format!("{prefix}{} is the fastest.", first.base),
            n => format!(
                "{prefix}{} comes first; {} of {} {} surely slower.",
                first.base,
                number::count(n),
                number::count(all),
                if n == 1 { "is" } else { "are" }
            ),
        });
    }
    let comparison = |c: &AbComparison| format!("{prefix}{}", sentence(view, c));
    said.extend(row.comparisons.iter().map(comparison));
    said
}

fn sentence(view: &AbView, c: &AbComparison) -> String {
    let (base, other) = (&c.base, &c.other);
    let pairs = words::plural(c.pairs, "pair");
    let Some(ratio) = c.ratio.map(|r| words::ratio(r, c.interval, Sense::Speed)) else {
        return format!("Cannot tell {other} from {base}: there is no pair of both.");
    };
    let seen = c.smallest.map_or_else(String::new, |smallest| {
        format!(
            "; they would have shown a change of {} in 95 of 100 trials",
            number::percent(smallest)
        )
    });
    match c.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!(
                "{other} is {} than {base}: {ratio} ({pairs}).",
                c.verdict.as_str()
            )
        }
        Verdict::Same => format!(
            "No difference beyond {} between {base} and {other}: {ratio} ({pairs}).",
            number::percent_asked(view.margin)
        ),
        Verdict::Inconclusive if c.pairs < FEWEST => format!(
            "Cannot tell {other} from {base}: {pairs}, and it takes {FEWEST}; give a longer --budget. So far: {ratio}."
        ),
        Verdict::Inconclusive => {
            format!("Cannot tell {other} from {base}: {ratio} ({pairs}{seen}).")
        }
    }
}

/// What a trial of the same says.
fn the_same(view: &AbView) -> Option<String> {
    let all = view.rows.iter().flat_map(|row| &row.comparisons);
    let different = |c: &&AbComparison| matches!(c.verdict, Verdict::Faster | Verdict::Slower);
    let (n, called) = (all.clone().count(), all.filter(different).count());
    view.same.then(|| {
        format!(
            "Both sides are the same. Called different: {} of {}; it may be {} of many such trials. The smallest change seen, below, is what this machine can show.",
            number::count(called),
            number::count(n),
            number::percent_asked(view.level)
        )
    })
}

/// Of short commands, how much is the start of a process.
fn starts(view: &AbView) -> Vec<String> {
    let Some(nothing) = view.start_up_ns else {
        return vec![];
    };
    let share = |row: &AbRow, figure: &AbFigure| {
        let ns = figure.estimate? * 1e6;
        let share = (nothing / ns).min(1.0);
        let row = if view.rows.len() == 1 {
            String::new()
        } else {
            format!(" of {}", row.id)
        };
        (share >= START_SHARE)
            .then(|| format!("{} of {}{row}", number::percent(share), figure.side))
    };
    let shares: Vec<String> = view
        .rows
        .iter()
        .flat_map(|row| {
            row.figures
                .iter()
                .filter_map(move |figure| share(row, figure))
        })
        .collect();
    if shares.is_empty() {
        return vec![];
    }
    vec![format!(
        "A program that does nothing takes {} from start to end: {}.",
        number::seconds(nothing / 1e9, None),
        words::join(&shares)
    )]
}

fn comparisons(document: &mut Document, view: &AbView) -> Table {
    let mut rows = vec![];
    for row in &view.rows {
        let of_row = row.comparisons.iter();
        rows.extend(of_row.map(|c| comparison_row(document, row, c)));
    }
    Table {
        caption: format!(
            "Intervals hold at all looks together, 99 times in 100; of what is called different, {} may not be",
            number::percent_asked(view.level)
        )
        .into(),
        columns: vec![
            Column::key("Row", Style::Code),
            Column::key("Sides", Style::Text),
            Column::new("Ratio", Style::Text),
            Column::new("Verdict", Style::Text),
            Column::new("Pairs", Style::Number),
            Column::new("Smallest change seen", Style::Number),
        ],
        rows,
    }
}

fn comparison_row(document: &mut Document, row: &AbRow, c: &AbComparison) -> Row {
    let marks: Vec<_> = crowded(c)
        .map(|text| document.footnote(None, text))
        .into_iter()
        .collect();
    let ratio = c.ratio.map(|r| words::ratio(r, c.interval, Sense::Speed));
    Row::new(vec![
        row.id.to_string().into(),
        format!("{} against {}", c.other, c.base).into(),
        ratio.map_or_else(Text::missing, Text::new),
        c.verdict.as_str().into(),
        Text::new(number::count(c.pairs)).with(marks),
        c.smallest
            .map_or_else(Text::missing, |s| number::percent(s).into()),
    ])
}

/// A remark on pairs beside which another thread of the core was busy.
fn crowded(c: &AbComparison) -> Option<String> {
    let left_out = match c.left_out {
        n if n == c.crowded => "what was measured then is kept, and not compared".to_owned(),
        n => {
            format!("{n} of these are kept and not compared; at least half of all pairs always are")
        }
    };
    let why = format!(
        "In {} of {} another thread of the core was busy: {left_out}.",
        c.crowded,
        words::plural(c.pairs + c.left_out, "pair")
    );
    (c.crowded > 0).then_some(why)
}

fn figures(document: &mut Document, view: &AbView) -> Table {
    let mut rows = vec![];
    for row in &view.rows {
        rows.extend(
            row.figures
                .iter()
                .map(|figure| figure_row(document, row, figure)),
        );
    }
    Table {
        caption: "Each side by itself, per operation; real time as its unit says".into(),
        columns: vec![
            Column::key("Row", Style::Code),
            Column::key("Side", Style::Text),
            Column::new("Real", Style::Number),
            Column::new("95 % interval", Style::Number),
            Column::new("Least to most", Style::Number),
            Column::new("User", Style::Number),
            Column::new("System", Style::Number),
            Column::new("User and system", Style::Number),
            Column::new("Peak memory", Style::Number),
            Column::new("Launches", Style::Number),
            Column::new("Samples", Style::Number),
            Column::new("Exit statuses", Style::Number),
        ],
        rows,
    }
    .without_empty_columns()
}

fn figure_row(document: &mut Document, row: &AbRow, figure: &AbFigure) -> Row {
    let own = figure.notes.iter();
    let of_estimate = own.filter(|note| note.about == Subject::Result);
    // the pairs say how sure it is: a wide interval of one side alone is no fault
    let noisy = [Some(Flag::Noisy), Some(Flag::Modes)];
    let told = of_estimate.filter(|note| !noisy.contains(&note.flag()));
    let marks: Vec<_> = told.map(|note| document.note(note)).collect();
    let shown = figure
        .estimate
        .map(|e| number::figure(e, figure.interval, row.unit.as_str()));
    let seconds =
        |s: Option<f64>| s.map_or_else(Text::missing, |s| number::seconds(s, None).into());
    let unit = row.unit.as_str();
    let range = figure.range.map(|[low, high]| {
        format!(
            "{} to {}",
            number::at_most(low, unit, 4),
            number::at_most(high, unit, 4)
        )
    });
    let statuses: Vec<String> = figure.statuses.iter().map(i32::to_string).collect();
    let split = figure.user_s.is_some();
    Row::new(vec![
        row.id.to_string().into(),
        figure.side.clone().into(),
        shown
            .as_ref()
            .map_or_else(Text::missing, |s| s.with_unit().into())
            .with(marks),
        shown
            .filter(|s| !s.interval.is_empty())
            .map_or_else(Text::missing, |s| s.interval.into()),
        range.map_or_else(Text::missing, Text::new),
        seconds(figure.user_s),
        seconds(figure.system_s),
        seconds(figure.cpu_s.filter(|_| !split && figure.peak_kb.is_some())),
        figure
            .peak_kb
            .map_or_else(Text::missing, |kb| memory(kb).into()),
        number::count(figure.launches).into(),
        number::count(figure.samples).into(),
        if statuses.is_empty() {
            Text::missing()
        } else {
            words::join(&statuses).into()
        },
    ])
}

/// `1.4 MB`, of KiB.
fn memory(kb: u64) -> String {
    number::at_most(kb as f64 * 1024.0 / 1e6, "MB", 3)
}
