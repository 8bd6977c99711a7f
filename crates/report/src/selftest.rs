//! Runs of one machine against each other: what `gritstone noise` prints.

use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::words;
use crate::{findings, number};
use gritstone_model::{CriterionView, ScatterView, SelftestRow, SelftestView, ShareView};

/// A against A: the criteria in sentences, then a row for each benchmark.
#[must_use]
pub fn selftest(view: &SelftestView) -> Document {
    let mut document = Document::new(format!("A against A on {}", view.machine));
    let names = view
        .runs
        .iter()
        .map(|run| run.label.as_ref().unwrap_or(&run.id));
    let between = view.pairs.between_run.iter().map(findings::variance);
    document.push(Block::Terms(vec![
        (
            "runs".to_owned(),
            words::join(&names.collect::<Vec<_>>()).into(),
        ),
        (
            "scatter between runs".to_owned(),
            words::join(&between.collect::<Vec<_>>()).into(),
        ),
        (
            "verdict".to_owned(),
            if view.passed { "passed" } else { "failed" }.into(),
        ),
    ]));
    crate::lists::not_ours(&mut document, view.catalogue.as_ref());
    if !view.differ_in.is_empty() {
        let names: Vec<&str> = view.differ_in.iter().map(|d| d.what.as_str()).collect();
        document.paragraph(format!(
            "These runs are not of the same: they differ in {}.",
            words::join(&names)
        ));
    }
    document.push(Block::List(sentences(view).map(Text::new).collect()));
    if view.rows.is_empty() {
        document.paragraph("There is no row that all runs have.");
    } else {
        document.table(table(view));
    }
    if !view.left_out.is_empty() {
        document.paragraph("Left out:");
        let line = |row: &gritstone_model::LeftOut| {
            format!("{}: {}", row.id, findings::message(&row.why)).into()
        };
        document.push(Block::List(view.left_out.iter().map(line).collect()));
    }
    document
}

/// What came out, criterion by criterion.
fn sentences(view: &SelftestView) -> impl Iterator<Item = String> {
    let pairs = &view.pairs;
    let chance = match pairs.different {
        0 => String::new(),
        _ => format!(
            ", and so many or more in {} of all trials",
            number::percent(pairs.p)
        ),
    };
    let different = format!(
        "Of {} of figures of the same, {} called faster or slower; by chance {} may be{chance}: {}. {} a p of {} or less.",
        words::plural(pairs.compared, "pair"),
        were(pairs.different),
        number::percent_asked(pairs.rate),
        passed(pairs.passed),
        match pairs.below_one_percent {
            1 => "1 has".to_owned(),
            n => format!("{} have", number::count(n)),
        },
        pairs.rate,
    );
    let median = criterion("half of the rows", view.median.as_ref());
    let p90 = criterion("nine rows of ten", view.p90.as_ref());
    let raw = held("as measured", view.raw_held);
    let paced = held("in core cycles", view.paced_held);
    let disturbed = view.rows.iter().map(|row| row.disturbed).sum::<usize>();
    let others = (disturbed > 0).then(|| {
        format!(
            "Others used the machine during {}: this is a trial of them too.",
            words::plural(disturbed, "figure")
        )
    });
    [Some(different), median, p90, raw, paced, others]
        .into_iter()
        .flatten()
}

fn were(n: usize) -> String {
    match n {
        0 => "none were".to_owned(),
        1 => "1 was".to_owned(),
        n => format!("{} were", number::count(n)),
    }
}

fn passed(passed: bool) -> &'static str {
    if passed { "passed" } else { "failed" }
}

fn criterion(which: &str, criterion: Option<&CriterionView>) -> Option<String> {
    let criterion = criterion?;
    let unsure = criterion.passed && criterion.value > criterion.limit;
    Some(format!(
        "Between runs, {which} scatter by at most {}; it should be {} at most: {}{}.",
        with_interval(criterion.value, criterion.interval),
        number::percent_asked(criterion.limit),
        passed(criterion.passed),
        if unsure {
            ", since so few runs may show more than there is"
        } else {
            ""
        }
    ))
}

fn held(how: &str, share: ShareView) -> Option<String> {
    (share.of > 0).then(|| {
        format!(
            "The interval of a single run, {how}, holds the center of all runs in {} of {} cases.",
            number::count(share.part),
            number::count(share.of)
        )
    })
}

/// `1.5 % (0.90 % to 4.3 %)`.
fn with_interval(value: f64, [low, high]: [f64; 2]) -> String {
    let [value, low, high] = [value, low, high].map(number::percent);
    format!("{value} ({low} to {high})")
}

fn table(view: &SelftestView) -> Table {
    Table {
        caption: format!(
            "Standard deviation between {} with its interval at 95 %, beside the half-width of the interval of one",
            words::plural(view.runs.len(), "run")
        )
        .into(),
        columns: vec![
            Column::key("Benchmark", Style::Code),
            Column::new("between runs", Style::Number).of("As measured"),
            Column::new("within one", Style::Number).of("As measured"),
            Column::new("between runs", Style::Number).of("Per core cycle"),
            Column::new("within one", Style::Number).of("Per core cycle"),
            Column::new("Smallest change seen", Style::Number),
            Column::new("Called different", Style::Number),
        ],
        rows: view.rows.iter().map(row).collect(),
    }
    .without_empty_columns()
}

fn row(row: &SelftestRow) -> Row {
    let within = |scatter: ScatterView| {
        let half = scatter.within.map(number::percent);
        half.map_or_else(Text::missing, |half| format!("±{half}").into())
    };
    let between =
        |scatter: ScatterView| Text::new(with_interval(scatter.between, scatter.interval));
    let paced = |cell: &dyn Fn(ScatterView) -> Text| row.paced.map_or_else(Text::missing, cell);
    Row::new(vec![
        row.id.to_string().into(),
        between(row.raw),
        within(row.raw),
        paced(&between),
        paced(&within),
        row.smallest
            .map_or_else(Text::missing, |x| number::percent(x).into()),
        format!("{} of {}", row.different, row.pairs).into(),
    ])
}
