//! What a gate says, for what runs it: Markdown, annotations of GitHub Actions, a metrics report of GitLab, JUnit XML.

use crate::export::openmetrics::{END, label_value};
use crate::junit::{JunitCases, Unpassed};
use gritstone_document::number::{percent, percent_option};
use gritstone_document::{Untrusted, clean};
use gritstone_model::{CheckOutcome, CheckRow, CheckView, MissingBenchmark};
use gritstone_report::{
    check_counts, check_since, compared_value, findings, missing_reason, value_change,
};
use std::fmt::Write as _;

/// The outcome of a gate in each format of CI.
pub struct GateOutput {
    pub markdown: String,
    /// Workflow commands of GitHub.
    pub annotations: String,
    /// OpenMetrics for GitLab.
    pub metrics: String,
    pub junit: String,
}

pub fn check_output(view: &CheckView, inconclusive_passes: bool) -> GateOutput {
    GateOutput {
        markdown: check_markdown(view),
        annotations: github_annotations(view),
        metrics: gitlab_metrics(view),
        junit: junit(view, inconclusive_passes),
    }
}

/// A test suite with a case of the gate and one for each benchmark. What regressed has failed, an inconclusive benchmark was skipped. Missing benchmarks and a gate that can decide nothing are errors, or skipped where they pass.
fn junit(view: &CheckView, inconclusive_passes: bool) -> String {
    let undecided = match inconclusive_passes {
        true => Unpassed::Skipped,
        false => Unpassed::Error,
    };
    let mut cases = JunitCases::default();
    let gate = match view.outcome {
        CheckOutcome::Passed => None,
        CheckOutcome::Inconclusive => Some(undecided),
        CheckOutcome::Regressed => Some(Unpassed::Failure),
    };
    let gate = gate.map(|why| (why, headline(view)));
    cases.add("gritstone", "check", gate);
    for missing in &view.missing {
        let unpassed = Some((undecided, missing_text(missing)));
        cases.add(missing.id.family(), missing.id.as_str(), unpassed);
    }
    for row in &view.rows {
        let unpassed = match row.outcome {
            CheckOutcome::Passed => None,
            CheckOutcome::Inconclusive => Some((Unpassed::Skipped, row_text(row))),
            CheckOutcome::Regressed => Some((Unpassed::Failure, row_text(row))),
        };
        cases.add(row.row.id.family(), row.row.id.as_str(), unpassed);
    }
    cases.suite(&format!("gritstone check {} against {}", view.run, view.base))
}

/// Workflow commands: an error for each regression and each missing benchmark, one warning for all that is inconclusive, and a notice of the outcome.
fn github_annotations(view: &CheckView) -> String {
    let with_outcome = |outcome| view.rows.iter().filter(move |row| row.outcome == outcome);
    let regressed = with_outcome(CheckOutcome::Regressed).map(|row| (&row.row.id, row_text(row)));
    let missing = view.missing.iter().map(|missing| (&missing.id, missing_text(missing)));
    let errors = regressed.chain(missing);
    let mut text: String = errors.map(|(id, why)| error_annotation(id.as_str(), &why)).collect();
    let open: Vec<&str> =
        with_outcome(CheckOutcome::Inconclusive).map(|row| row.row.id.as_str()).collect();
    if !open.is_empty() {
        let _ = writeln!(
            text,
            "::warning title=gritstone check::inconclusive: {}",
            annotation_text(&open.join(", "))
        );
    }
    text + &outcome_annotation("check", view.outcome, &headline(view))
}

/// Foreign text in a workflow command.
fn annotation_text(text: &str) -> String {
    clean(text).replace('%', "%25")
}

/// Foreign text in a property of a workflow command, which has more delimiters.
fn annotation_property(text: &str) -> String {
    annotation_text(text).replace(':', "%3A").replace(',', "%2C")
}

pub(crate) fn error_annotation(benchmark: &str, why: &str) -> String {
    let title = annotation_property(benchmark);
    format!("::error title={title}::{}\n", annotation_text(why))
}

/// A warning if nothing was decided, else a notice.
pub(crate) fn outcome_annotation(command: &str, outcome: CheckOutcome, headline: &str) -> String {
    let kind = match outcome {
        CheckOutcome::Inconclusive => "warning",
        _ => "notice",
    };
    let headline = annotation_text(headline);
    format!("::{kind} title=gritstone {command}::{headline}\n")
}

/// OpenMetrics, which a GitLab job names as `artifacts: reports: metrics`: speed as a multiple of the base's, and missing benchmarks.
fn gitlab_metrics(view: &CheckView) -> String {
    let point = |row: &CheckRow| {
        let label = format!(",outcome=\"{}\"", row.outcome.as_str());
        let value = row.row.ratio.map_or("1".to_owned(), |ratio| format!("{ratio:.4}"));
        (row.row.id.to_string(), label, value)
    };
    let (compared, others): (Vec<_>, Vec<_>) =
        view.rows.iter().partition(|row| row.row.ratio.is_some());
    let missing = view.missing.iter();
    let missing = missing.map(|missing| (missing.id.to_string(), String::new(), "1".to_owned()));
    gauge("gritstone_check_speed", compared.into_iter().map(point))
        + &gauge("gritstone_check_not_compared", others.into_iter().map(point))
        + &gauge("gritstone_check_missing", missing)
        + END
}

/// A metric with a point for each benchmark, further label and value.
pub(crate) fn gauge(
    metric: &str,
    points: impl Iterator<Item = (String, String, String)>,
) -> String {
    let point = |(benchmark, label, value): (String, String, String)| {
        let name = label_value(&benchmark);
        format!("{metric}{{benchmark=\"{name}\"{label}}} {value}\n")
    };
    format!("# TYPE {metric} gauge\n") + &points.map(point).collect::<String>()
}

/// A comment or a step summary: the outcome, and a table of all that did not pass.
fn check_markdown(view: &CheckView) -> String {
    let mut text = format!(
        "### gritstone check: {}\n\n{}\n",
        view.outcome.as_str(),
        Untrusted(&headline(view)).markdown()
    );
    let open = || view.rows.iter().filter(|row| row.outcome != CheckOutcome::Passed);
    if open().next().is_some() || !view.missing.is_empty() {
        text += "\n| benchmark | outcome | change | interval | expected | found |\n| --- | --- | ---: | --- | ---: | ---: |\n";
    }
    for missing in &view.missing {
        let [id, said] =
            [missing.id.as_str(), &missing_text(missing)].map(|text| Untrusted(text).markdown());
        let _ = writeln!(text, "| {id} | {said} | | | | |");
    }
    for row in open() {
        let id = Untrusted(row.row.id.as_str()).markdown();
        let outcome = row.outcome.as_str();
        let Some((change, interval)) = change(row) else {
            let why = Untrusted(&row_text(row)).markdown();
            let _ = writeln!(text, "| {id} | {outcome}: {why} | | | | |");
            continue;
        };
        let interval = interval.unwrap_or_default();
        let since = check_since(row).map_or(String::new(), |since| format!(" since {since}"));
        let [expected, found] = sides(row).map(|side| Untrusted(&side).markdown());
        let _ = writeln!(
            text,
            "| {id} | {outcome}{since} | {change} | {interval} | {expected} | {found} |"
        );
    }
    text
}

fn headline(view: &CheckView) -> String {
    let detect = view.detect.map(percent_option);
    let detect =
        detect.map_or(String::new(), |share| format!("; one of {share} must be detectable"));
    let headline = format!("{} against {}: {}{detect}", view.run, view.base, check_counts(view));
    match &view.common {
        Some(common) => format!("{headline}. {}", findings::common_change(common)),
        None => headline,
    }
}

/// Change of the value, with its interval.
fn change(row: &CheckRow) -> Option<(String, Option<String>)> {
    let result = &row.row;
    Some(value_change(result.better, result.ratio?, result.interval))
}

fn missing_text(missing: &MissingBenchmark) -> String {
    format!("missing: {}", missing_reason(missing))
}

fn row_text(row: &CheckRow) -> String {
    let result = &row.row;
    let Some((change, interval)) = change(row) else {
        let reasons: Vec<String> = result.notes.iter().map(findings::message).collect();
        return match reasons.is_empty() {
            true => "no ratio".to_owned(),
            false => reasons.join(" "),
        };
    };
    let interval = interval.map_or(String::new(), |interval| format!(" {interval}"));
    let [expected, found] = sides(row);
    let detectable = result.smallest.filter(|_| row.outcome == CheckOutcome::Inconclusive);
    let detectable = detectable.map(percent);
    let detectable =
        detectable.map_or(String::new(), |share| format!("; minimum detectable slowdown {share}"));
    let since = check_since(row).map_or(String::new(), |since| format!("; since {since}"));
    format!("{change}{interval}: expected {expected}, found {found}{since}{detectable}")
}

/// The expected and the found value.
fn sides(row: &CheckRow) -> [String; 2] {
    let result = &row.row;
    [result.base, result.other].map(|side| compared_value(side, &result.unit).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{CompareRow, Id, SCHEMA_CHECK};
    use gritstone_testkit::compare_row;

    fn view() -> CheckView {
        let row = |id: &str, outcome| CheckRow {
            outcome,
            since: (outcome == CheckOutcome::Regressed).then(|| "2026-01-02T03:04:05Z".to_owned()),
            since_run: None,
            since_commit: Some("0123456789abcdef".to_owned()),
            row: CompareRow {
                ratio: Some(0.5),
                interval: Some([0.4, 0.6]),
                base: Some(1.0),
                other: Some(2.0),
                ..compare_row(id)
            },
        };
        CheckView {
            schema: SCHEMA_CHECK.to_owned(),
            base: "main, 100%\n".to_owned(),
            run: "a<b".to_owned(),
            max_slowdown: 0.02,
            detect: None,
            differ_in: vec![],
            common: None,
            outcome: CheckOutcome::Regressed,
            rows: vec![
                row("a/slow", CheckOutcome::Regressed),
                row("a/open", CheckOutcome::Inconclusive),
                row("a/good", CheckOutcome::Passed),
            ],
            missing: vec![MissingBenchmark {
                id: Id::parse("a/gone").unwrap(),
                runs: 11,
                notes: vec![],
            }],
        }
    }

    #[test]
    fn hostile_annotations_are_inert() {
        let annotation = error_annotation("a,\n::error::%", "b\n::error::\x1b\u{202e}%");
        let inert = "::error title=a%2C %3A%3Aerror%3A%3A%25::b ::error::\u{FFFD}\u{FFFD}%25\n";
        assert_eq!(annotation, inert);
    }

    #[test]
    fn undecided_gates_are_errors() {
        let undecided = CheckView {
            outcome: CheckOutcome::Inconclusive,
            missing: vec![],
            rows: vec![],
            ..view()
        };
        let fails = junit(&undecided, false);
        assert!(fails.contains("errors=\"1\""), "{fails}");
        assert!(fails.contains("<error message=\"a&lt;b against"), "{fails}");
        let passes = junit(&undecided, true);
        assert!(passes.contains("errors=\"0\" skipped=\"1\""), "{passes}");
    }

    #[test]
    fn regressions_are_failures() {
        insta::assert_snapshot!("gate_junit", junit(&view(), false));
        insta::assert_snapshot!("gate_annotations", github_annotations(&view()));
        insta::assert_snapshot!("gate_summary", check_markdown(&view()));
        insta::assert_snapshot!("gate_metrics", gitlab_metrics(&view()));
    }
}
