//! The words of every finding, flag and outcome, once.

use crate::sample::stated;
use gritstone_model::{Finding, Flag, Note, Status};
use gritstone_report::findings::{meaning, message, outcome};
use std::collections::BTreeSet;

/// One finding a line, as JSON has it; of each at least one.
const FINDINGS: &str = include_str!("findings.jsonl");

#[test]
fn every_finding_has_its_words() {
    let mut worded = BTreeSet::new();
    let lines = FINDINGS.lines().map(|line| {
        let finding: Finding = serde_json::from_str(line).expect(line);
        let flag = finding.flag().map_or("-", Flag::as_str);
        let value = serde_json::to_value(&finding).unwrap();
        let code = value["code"].as_str().unwrap();
        worded.insert(code.to_owned());
        format!("{flag} {code}: {}", message(&Note::new(finding)))
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    // serde names all variants to whom asks for one that is none
    let none = serde_json::from_str::<Finding>("{\"code\":\"\"}").unwrap_err();
    let none = none.to_string();
    let codes = none.split('`').skip(3).step_by(2).map(str::to_owned);
    let codes: BTreeSet<String> = codes.collect();
    assert!(codes.len() > 50, "{none}");
    assert_eq!(worded, codes);
}

#[test]
fn sides_come_first() {
    let mut note = stated(None, "It is old.");
    note.side = Some("before".to_owned());
    assert_eq!(message(&note), "before: It is old.");
}

#[test]
fn flags_and_outcomes_have_words() {
    use Flag::*;
    use Status::{Failed, Measured, Published, TimedOut};
    let flags = [Invalid, Noisy, Modes, Interference, Skipped, NotComparable, Doubtful, Custom];
    let flags = flags.map(|flag| format!("{} {}", flag.as_str(), meaning(flag)));
    let outcomes = [Measured, Status::Skipped, Failed, TimedOut, Published];
    let outcomes = outcomes.map(|status| format!("{}: {}", status.as_str(), outcome(status)));
    insta::assert_snapshot!(flags.into_iter().chain(outcomes).collect::<Vec<_>>().join("\n"));
}
