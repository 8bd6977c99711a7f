//! What a gate says, for what runs it: JUnit XML, and annotations and a step summary of GitHub Actions.

use gritstone_document::Foreign;
use gritstone_model::{CheckOutcome, CheckRow, CheckView};
use gritstone_report::{findings, value_change};
use std::fmt::Write as _;

/// A test suite with a case for each benchmark: one that regressed has failed, one that is inconclusive was skipped.
#[must_use]
pub fn junit(view: &CheckView) -> String {
    let [failures, skipped, _] = counts(view);
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"",
        view.rows.len()
    );
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{}\" {counts}>\n",
        Foreign(&format!(
            "gritstone check {} against {}",
            view.run, view.base
        ))
        .markup()
    );
    for row in &view.rows {
        let said = Foreign(&row_text(row)).markup();
        let inner = match row.outcome {
            CheckOutcome::Passed => String::new(),
            CheckOutcome::Inconclusive => format!("<skipped message=\"{said}\"/>"),
            CheckOutcome::Regressed => format!("<failure message=\"{said}\"/>"),
        };
        let [family, id] =
            [row.row.id.family(), row.row.id.as_str()].map(|id| Foreign(id).markup());
        let _ = writeln!(
            text,
            "<testcase classname=\"{family}\" name=\"{id}\">{inner}</testcase>"
        );
    }
    text + "</testsuite>\n</testsuites>\n"
}

/// Workflow commands: an error for each regression, one warning for all that is inconclusive, and a notice of the outcome.
#[must_use]
pub fn github_annotations(view: &CheckView) -> String {
    let of = |outcome| view.rows.iter().filter(move |row| row.outcome == outcome);
    let mut text = String::new();
    for row in of(CheckOutcome::Regressed) {
        let title = Foreign(row.row.id.as_str()).command_property();
        let _ = writeln!(
            text,
            "::error title={title}::{}",
            Foreign(&row_text(row)).command()
        );
    }
    let open: Vec<&str> = of(CheckOutcome::Inconclusive)
        .map(|row| row.row.id.as_str())
        .collect();
    if !open.is_empty() {
        let _ = writeln!(
            text,
            "::warning title=gritstone check::inconclusive: {}",
            Foreign(&open.join(", ")).command()
        );
    }
    let _ = writeln!(
        text,
        "::notice title=gritstone check::{}",
        Foreign(&headline(view)).command()
    );
    text
}

/// The same for a page: the outcome, and a table of all that did not pass.
#[must_use]
pub fn github_summary(view: &CheckView) -> String {
    let mut text = format!(
        "### gritstone check: {}\n\n{}\n",
        view.outcome.as_str(),
        Foreign(&headline(view)).markdown()
    );
    let open = || {
        view.rows
            .iter()
            .filter(|row| row.outcome != CheckOutcome::Passed)
    };
    if open().next().is_some() {
        text += "\n| benchmark | outcome | change | interval |\n| --- | --- | ---: | --- |\n";
    }
    for row in open() {
        let (change, interval) = change(row).unwrap_or_default();
        let interval = interval.unwrap_or_default();
        let id = Foreign(row.row.id.as_str()).markdown();
        let _ = writeln!(
            text,
            "| {id} | {} | {change} | {interval} |",
            row.outcome.as_str()
        );
    }
    text
}

/// How many regressed, are inconclusive, and passed.
fn counts(view: &CheckView) -> [usize; 3] {
    let all = [
        CheckOutcome::Regressed,
        CheckOutcome::Inconclusive,
        CheckOutcome::Passed,
    ];
    all.map(|outcome| {
        view.rows
            .iter()
            .filter(|row| row.outcome == outcome)
            .count()
    })
}

fn headline(view: &CheckView) -> String {
    let [regressed, inconclusive, passed] = counts(view);
    format!(
        "{} against {}: {regressed} regressed, {inconclusive} inconclusive, {passed} passed; a slowdown of {}% is allowed",
        view.run,
        view.base,
        100.0 * view.max_slowdown
    )
}

/// Of the value, with its interval.
fn change(row: &CheckRow) -> Option<(String, Option<String>)> {
    let of = &row.row;
    Some(value_change(of.better, of.ratio?, of.interval))
}

fn row_text(row: &CheckRow) -> String {
    let of = &row.row;
    let Some((change, interval)) = change(row) else {
        let reasons: Vec<String> = of.notes.iter().map(findings::message).collect();
        return match reasons.is_empty() {
            true => "no ratio".to_owned(),
            false => reasons.join(" "),
        };
    };
    let interval = interval.map_or(String::new(), |interval| format!(" {interval}"));
    let number = |side: Option<f64>| side.map_or("-".to_owned(), |x| format!("{x:.4e}"));
    format!(
        "{change}{interval}: expected {}, found {} {}",
        number(of.base),
        number(of.other),
        of.unit
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Better, CompareRow, Id, SCHEMA_CHECK, Subject};

    fn view() -> CheckView {
        let row = |id: &str, outcome| CheckRow {
            outcome,
            since: None,
            row: CompareRow {
                id: Id::parse(id).unwrap(),
                title: String::new(),
                ratio: Some(0.5),
                interval: Some([0.4, 0.6]),
                verdict: None,
                p: None,
                p_adjusted: None,
                smallest: None,
                compared: Subject::Estimate,
                between_run: None,
                unit: "ns/call".to_owned(),
                better: Better::Lower,
                base: Some(1.0),
                other: Some(2.0),
                notes: vec![],
                copies: vec![],
                percentiles: vec![],
                explanation: None,
            },
        };
        CheckView {
            schema: SCHEMA_CHECK.to_owned(),
            base: "main, 100%\n".to_owned(),
            run: "a<b".to_owned(),
            max_slowdown: 0.02,
            differ_in: vec![],
            outcome: CheckOutcome::Regressed,
            rows: vec![
                row("a/slow", CheckOutcome::Regressed),
                row("a/open", CheckOutcome::Inconclusive),
                row("a/good", CheckOutcome::Passed),
            ],
        }
    }

    #[test]
    fn regressions_are_failures() {
        insta::assert_snapshot!("gate_junit", junit(&view()));
        insta::assert_snapshot!("gate_annotations", github_annotations(&view()));
        insta::assert_snapshot!("gate_summary", github_summary(&view()));
    }
}
