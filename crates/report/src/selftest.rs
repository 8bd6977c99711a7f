//! Runs of one machine against each other: what `gritstone noise` prints.

use crate::document::{Document, Style};
use crate::table::Columns;
use crate::{findings, number, words};
use gritstone_model::{CriterionView, ScatterView, SelftestRow, SelftestView, ShareView};

/// A against A: the criteria in sentences, then a row for each benchmark.
#[must_use]
pub fn selftest(view: &SelftestView) -> Document {
    let mut document = Document::new(format!("A/A test on {}", view.machine));
    let names = view
        .runs
        .iter()
        .map(|run| run.label.as_ref().unwrap_or(&run.id));
    let between = view.pairs.between_run.iter().map(findings::variance);
    document.terms([
        ("runs", words::join(&names.collect::<Vec<_>>())),
        (
            "variance between runs",
            words::join(&between.collect::<Vec<_>>()),
        ),
        ("verdict", passed(view.passed).to_owned()),
    ]);
    crate::lists::not_ours(&mut document, view.catalogue.as_ref());
    if !view.differ_in.is_empty() {
        let facts = words::facts(&view.differ_in);
        document.paragraph(format!(
            "These runs do not measure the same: they differ in {facts}."
        ));
    }
    document.list(sentences(view));
    if view.rows.is_empty() {
        document.paragraph("No benchmark is in all runs.");
    }
    table(&mut document, view);
    if !view.left_out.is_empty() {
        document.paragraph("Left out:");
        let rows = view.left_out.iter();
        document.list(rows.map(|row| format!("{}: {}", row.id, findings::message(&row.why))));
    }
    document
}

/// What came out, criterion by criterion.
fn sentences(view: &SelftestView) -> impl Iterator<Item = String> {
    let pairs = &view.pairs;
    let chance = match pairs.different {
        0 => String::new(),
        _ => format!(" (p = {})", number::significant(pairs.p, 2)),
    };
    let different = format!(
        "Of {}, {} called faster or slower{chance}; {} are expected by chance: {}. {} p below {}.",
        words::plural(pairs.compared, "comparison"),
        match pairs.different {
            0 => "none were".to_owned(),
            1 => "1 was".to_owned(),
            n => format!("{} were", number::count(n)),
        },
        number::percent_asked(pairs.rate),
        passed(pairs.passed),
        match pairs.below_one_percent {
            1 => "1 has".to_owned(),
            n => format!("{} have", number::count(n)),
        },
        pairs.rate,
    );
    let disturbed = view.rows.iter().map(|row| row.disturbed).sum::<usize>();
    let figures = words::plural(disturbed, "result");
    let others = format!("Interference in {figures}: the noise of other processes is included.");
    let said = [
        Some(different),
        view.median.as_ref().map(|c| criterion("median", c)),
        view.p90.as_ref().map(|c| criterion("90th percentile", c)),
        held("as measured", view.raw_held),
        held("in core cycles", view.paced_held),
        (disturbed > 0).then_some(others),
    ];
    said.into_iter().flatten()
}

fn passed(passed: bool) -> &'static str {
    if passed { "passed" } else { "failed" }
}

fn criterion(which: &str, criterion: &CriterionView) -> String {
    let unsure = match criterion.passed && criterion.value > criterion.limit {
        true => ", since the interval includes the target",
        false => "",
    };
    format!(
        "Standard deviation between runs, {which}: {} (target: at most {}): {}{unsure}.",
        with_interval(criterion.value, criterion.interval),
        number::percent_asked(criterion.limit),
        passed(criterion.passed),
    )
}

fn held(how: &str, share: ShareView) -> Option<String> {
    let [part, of] = [share.part, share.of].map(number::count);
    (share.of > 0).then(|| {
        format!(
            "The interval of one run, {how}, contains the center of all runs in {part} of {of} cases."
        )
    })
}

/// `1.5% (0.90% to 4.3%)`.
fn with_interval(value: f64, [low, high]: [f64; 2]) -> String {
    let [value, low, high] = [value, low, high].map(number::percent);
    format!("{value} ({low} to {high})")
}

fn table(document: &mut Document, view: &SelftestView) {
    let cells = |scatter: Option<ScatterView>| {
        let between = scatter.map(|scatter| with_interval(scatter.between, scatter.interval));
        let within = scatter.and_then(|scatter| scatter.within);
        let within = within.map(|half| format!("±{}", number::percent(half)));
        [between.into(), within.into()]
    };
    let heads = ["between runs", "within one"];
    let caption = format!(
        "Standard deviation between {} with its 95% interval, and half-width of the interval of one run",
        words::plural(view.runs.len(), "run")
    );
    Columns::<&SelftestRow>::key("Benchmark", Style::Code, |row| row.id.as_str())
        .under("As measured")
        .pair(heads, move |row| cells(Some(row.raw)))
        .under("Per core cycle")
        .pair(heads, move |row| cells(row.paced))
        .under("")
        .number("Minimum detectable effect", |row| {
            row.smallest.map(number::percent)
        })
        .number("Called different", |row| {
            format!("{} of {}", row.different, row.pairs)
        })
        .table(document, caption, &view.rows);
}
