//! Comparison of head and base for CI systems: Markdown, annotations of GitHub Actions, a metrics report of GitLab, JUnit XML.

use crate::ci_output::{GateOutput, error_annotation, gauge, outcome_annotation};
use crate::export::openmetrics::END;
use crate::junit::{JunitCases, Unpassed};
use gritstone_document::{Untrusted, number};
use gritstone_model::{CheckOutcome, PrQuantity, PrRow, PrView, Verdict};
use gritstone_report::{pr_remarks, pr_verdict, pr_word, value_change};
use std::fmt::Write as _;

/// Rows of a table for people; the others are counted.
const MAX_ROWS: usize = 100;

pub fn pr_output(view: &PrView) -> GateOutput {
    GateOutput {
        markdown: pr_markdown(view),
        annotations: pr_github_annotations(view),
        metrics: pr_gitlab_metrics(view.quantity, &view.rows),
        junit: pr_junit(view),
    }
}

/// The output of a trial that failed.
pub fn pr_failure(outcome: CheckOutcome, quantity: PrQuantity, why: &str) -> GateOutput {
    let unpassed = match outcome {
        CheckOutcome::Regressed => Unpassed::Failure,
        CheckOutcome::Passed | CheckOutcome::Inconclusive => Unpassed::Error,
    };
    let mut cases = JunitCases::default();
    cases.add("gritstone", "pr", Some((unpassed, why.to_owned())));
    let lines = why.lines().map(|line| Untrusted(line).markdown());
    let lines = lines.collect::<Vec<_>>().join("  \n");
    GateOutput {
        markdown: format!("### gritstone pr: {}\n\n{lines}\n", outcome.as_str()),
        annotations: error_annotation("gritstone pr", why),
        metrics: pr_gitlab_metrics(quantity, &[]),
        junit: cases.suite("gritstone pr"),
    }
}

/// A comment: the outcome, a table, remarks.
fn pr_markdown(view: &PrView) -> String {
    let safe = |text: &str| Untrusted(text).markdown();
    let mut text =
        format!("### gritstone pr: {}\n\n{}\n", view.outcome.as_str(), safe(&pr_verdict(view)));
    if !view.rows.is_empty() {
        text += "\n| benchmark | verdict | change | interval | detectable |\n| --- | --- | ---: | --- | ---: |\n";
    }
    for row in view.rows.iter().take(MAX_ROWS) {
        let (change, interval) = change(row).unwrap_or_default();
        let verdict = match row.regressed {
            true => format!("**{}**", pr_word(row, row.verdict)),
            false => pr_word(row, row.verdict).to_owned(),
        };
        let open = row.smallest.filter(|_| row.verdict == Verdict::Inconclusive);
        let smallest = open.map_or(String::new(), number::percent);
        let _ = writeln!(
            text,
            "| {} | {verdict} | {change} | {} | {smallest} |",
            safe(&row.name),
            interval.unwrap_or_default()
        );
    }
    if view.rows.len() > MAX_ROWS {
        let _ = writeln!(text, "\n{} more.", view.rows.len() - MAX_ROWS);
    }
    text.push('\n');
    for remark in pr_remarks(view) {
        let _ = writeln!(text, "- {}", safe(&remark));
    }
    text
}

/// Workflow commands: an error per regression, a warning if nothing was decided, a notice of the outcome.
fn pr_github_annotations(view: &PrView) -> String {
    let regressed = view.rows.iter().filter(|row| row.regressed);
    let errors: String =
        regressed.map(|row| error_annotation(&row.name, &row_text(view.quantity, row))).collect();
    let what = match view.outcome {
        CheckOutcome::Inconclusive => with_remarks(view),
        _ => pr_verdict(view),
    };
    errors + &outcome_annotation("pr", view.outcome, &what)
}

fn with_remarks(view: &PrView) -> String {
    let all = [pr_verdict(view)].into_iter().chain(pr_remarks(view));
    all.collect::<Vec<_>>().join("\n")
}

/// OpenMetrics for GitLab (`artifacts: reports: metrics`): speed of the head as a multiple of the base's.
fn pr_gitlab_metrics(quantity: PrQuantity, rows: &[PrRow]) -> String {
    let metric = match quantity {
        PrQuantity::Time => "gritstone_pr_speed",
        PrQuantity::Instructions => "gritstone_pr_instructions",
    };
    let point = |row: &PrRow| {
        let label = format!(",verdict=\"{}\"", row.verdict.as_str());
        Some((row.id.clone(), label, format!("{:.4}", row.ratio?)))
    };
    gauge(metric, rows.iter().filter_map(point)) + END
}

/// A test suite with a case of the gate and one for each benchmark. What regressed has failed; errors are benchmarks of one side alone, and
/// a gate that can decide nothing; an inconclusive benchmark was skipped.
fn pr_junit(view: &PrView) -> String {
    let mut cases = JunitCases::default();
    let gate = match view.outcome {
        CheckOutcome::Passed => None,
        CheckOutcome::Inconclusive => Some((Unpassed::Error, with_remarks(view))),
        CheckOutcome::Regressed => Some((Unpassed::Failure, pr_verdict(view))),
    };
    cases.add("gritstone", "pr", gate);
    for row in &view.rows {
        let message = || row_text(view.quantity, row);
        let unpassed = match row.verdict {
            _ if row.regressed => Some((Unpassed::Failure, message())),
            Verdict::Inconclusive => Some((Unpassed::Skipped, message())),
            _ => None,
        };
        cases.add(&view.harness, &row.name, unpassed);
    }
    for unmatched in &view.unmatched {
        let only = unmatched.only.as_str();
        let why = match &unmatched.why {
            Some(why) => format!("a value in the {only} alone: {why}"),
            None => format!("a benchmark of the {only} alone"),
        };
        cases.add(&view.harness, &unmatched.name, Some((Unpassed::Error, why)));
    }
    cases.suite(&format!("gritstone pr {} against {}", view.head.commit, view.base.commit))
}

/// Change of the value, with its interval.
fn change(row: &PrRow) -> Option<(String, Option<String>)> {
    Some(value_change(row.better, row.ratio?, row.interval))
}

fn row_text(quantity: PrQuantity, row: &PrRow) -> String {
    let Some((change, interval)) = change(row) else {
        return "no pair of base and head".to_owned();
    };
    let interval = interval.map_or(String::new(), |interval| format!(" {interval}"));
    let [verdict, worse] = [row.verdict, Verdict::Slower].map(|verdict| pr_word(row, verdict));
    let (allowed, pairs) = (number::percent_option(row.margin), row.pairs);
    match quantity {
        PrQuantity::Time => {
            format!("{verdict}: {change}{interval}, {allowed} {worse} is allowed; {pairs} pairs")
        }
        PrQuantity::Instructions => format!(
            "{verdict}: instructions {change}{interval}, {allowed} {worse} are allowed; {pairs} pairs; time was not measured"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{PrSide, SCHEMA_PR};
    use serde_json::json;

    fn view(name: &str) -> PrView {
        let side = |revision: &str| PrSide::new(revision, "0123456789abcdef");
        let row = |name: &str, verdict: Verdict, regressed: bool| {
            json!({
                "id": format!("lines/{name}"), "name": name, "unit": "ns", "better": "lower",
                "verdict": verdict, "regressed": regressed, "margin": 0.02, "ratio": 0.9,
                "interval": [0.88, 0.92], "p_adjusted": 0.001, "smallest": 0.03, "pairs": 18,
                "failed": 0, "base": 1.0, "head": 1.1,
            })
        };
        let view = json!({
            "schema": SCHEMA_PR, "base": side(name), "head": side("HEAD"), "harness": "lines",
            "quantity": "time", "command": ["./bench"], "max_slowdown": 0.02, "level": 0.01,
            "rounds": 18, "harness_time_s": 0.05, "elapsed_s": 10.0, "budget_s": 300.0,
            "outcome": CheckOutcome::Regressed, "identical": false,
            "rows": [row(name, Verdict::Slower, true), row("open", Verdict::Inconclusive, false)],
            "unmatched": [{ "name": name, "only": "head" }],
        });
        serde_json::from_value(view).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn formats_show_all_rows() {
        let view = view("sum");
        insta::assert_snapshot!("pr_markdown", pr_markdown(&view));
        insta::assert_snapshot!("pr_github", pr_github_annotations(&view));
        insta::assert_snapshot!("pr_gitlab", pr_gitlab_metrics(view.quantity, &view.rows));
        insta::assert_snapshot!("pr_junit", pr_junit(&view));
        let undecided = PrView { outcome: CheckOutcome::Inconclusive, ..view.clone() };
        let junit = pr_junit(&undecided);
        assert!(junit.contains("name=\"pr\"><error"), "{junit}");
    }

    #[test]
    fn outcomes_are_explained() {
        let mut view = view("sum");
        view.rows[0].interval = Some([0.41, 0.996]);
        let text = pr_markdown(&view);
        let wanted = text.contains("[+0.4 – +144]") && text.contains("whose interval excludes 0");
        assert!(wanted, "{text}");
        view.quantity = PrQuantity::Instructions;
        view.budget_s = 5.0;
        view.rows.remove(0);
        view.rows[0].pairs = 1;
        let text = pr_markdown(&view);
        let wanted = "Most verdicts take 2 rounds, and there was time for 1: raise --budget";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn foreign_names_stay_text() {
        let name = "a\n::error::x | @all <img src=x> \"} 1\n# EOF\x1b[31m";
        let view = view(name);
        let markdown = pr_markdown(&view);
        assert!(
            !markdown.contains("<img")
                && !markdown.contains("@all")
                && !markdown.contains("\n::error"),
            "{markdown}"
        );
        let annotations = pr_github_annotations(&view);
        assert_eq!(
            annotations.lines().filter(|line| line.starts_with("::")).count(),
            annotations.lines().count()
        );
        assert_eq!(annotations.matches("\n::").count(), 1, "{annotations}");
        let metrics = pr_gitlab_metrics(view.quantity, &view.rows);
        assert_eq!(
            metrics.lines().filter(|line| line.starts_with("# EOF")).count(),
            1,
            "{metrics}"
        );
        let junit = pr_junit(&view);
        assert!(!junit.contains("<img") && !junit.contains('\x1b'), "{junit}");
    }
}
