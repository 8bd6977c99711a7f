//! An audit: what `gritstone audit` prints.

use crate::table::{Cell, Columns};
use crate::{findings, words};
use gritstone_document::number;
use gritstone_document::{Block, Document, Style};
use gritstone_model::{
    AuditBuild, AuditEntry, AuditTest, AuditView, Claim, ClaimOutcome, Flag, Kind,
};

/// Digits of measured values.
const DIGITS: i32 = 4;

/// Claims of a workload: column head, and the word for a cell that lists failed claims.
const CLAIMS: [(Claim, &str, &str); 9] = [
    (Claim::Runs, "runs", "runs"),
    (Claim::Check, "check", "check"),
    (Claim::Linear, "time grows", "growth"),
    (Claim::SyscallsPerOp, "kernel entries", "entries"),
    (Claim::SwitchesPerOp, "switches", "switches"),
    (Claim::FaultsPerOp, "faults", "faults"),
    (Claim::MajorFaultsPerOp, "major faults", "major faults"),
    (Claim::PageOutsPerOp, "page-outs", "page-outs"),
    (Claim::MinNsPerOp, "ns", "time"),
];

/// An audit: the summary as its title, then a table for each topic.
pub fn audit(view: &AuditView) -> Document {
    let mut document = Document::new(title(view));
    crate::lists::not_ours(&mut document, view.catalogue.as_ref());
    if let Some(sentence) = untested(view) {
        document.paragraph(sentence);
    }
    document.terms(compilers(view));
    let entries = view.entries.iter();
    let (ours, theirs): (Vec<_>, Vec<_>) = entries.partition(|e| e.kind == Kind::Kernel);
    if let Some(build) = view.builds.first() {
        let mut columns = key_column();
        for (claim, head, _) in CLAIMS {
            let counted = !matches!(claim, Claim::Runs | Claim::Check | Claim::Linear);
            let group = if counted { "for each operation" } else { "" };
            let wanted = move |test: &&AuditTest| test.build == build.name && test.claim == claim;
            let cell = move |entry: &&AuditEntry| cell(view, entry.tests.iter().find(wanted));
            columns = columns.under(group).text(head, cell);
        }
        columns.table(&mut document, "As shipped", ours.iter().copied());
    }
    if !ours.is_empty() {
        document.paragraph("In brackets: measured, no limit declared.");
    }
    let stepped = ours.iter().copied();
    let stepped = stepped.filter(|entry| instructions(entry).is_some());
    key_column().number("user instructions", |entry| instructions(entry)).table(
        &mut document,
        "For each operation, by single steps",
        stepped,
    );
    if view.builds.len() > 1 {
        let mut columns = key_column();
        for build in &view.builds[1..] {
            let (compiler, flags) = head(build);
            let cell = move |entry: &&AuditEntry| again(view, entry, build);
            columns = columns.under(compiler).text(flags, cell);
        }
        let caption = "Recompiled: work checks";
        columns.table(&mut document, caption, ours);
    }
    let claim_cell = |entry: &AuditEntry, claim| {
        let mut tests = entry.tests.iter();
        cell(view, tests.find(|test| test.claim == claim))
    };
    key_column()
        .text("exit status, output, files", |entry| claim_cell(entry, Claim::Runs))
        .text("proof", |entry| claim_cell(entry, Claim::Proof))
        .table(&mut document, "Other programs", theirs);
    document.push(Block::Footnotes);
    document
}

/// Instructions per operation, if they were counted.
fn instructions(entry: &AuditEntry) -> Option<String> {
    let mut tests = entry.tests.iter();
    let test = tests.find(|test| test.claim == Claim::InstructionsPerOp)?;
    Some(number::at_most(test.measured?, "", 6))
}

fn key_column<'a>() -> Columns<'a, &'a AuditEntry> {
    Columns::key("Benchmark", Style::Code, |entry: &&AuditEntry| entry.id.to_string())
}

fn title(view: &AuditView) -> String {
    let tested = view.entries.iter().filter(|e| e.was_tested()).count();
    let failed = view.entries.iter().filter(|e| view.fails(e)).count();
    let all = words::plural(tested, "benchmark");
    match (tested, failed) {
        (0, _) => "Nothing could be audited".to_owned(),
        (1, 0) => "1 benchmark passes its work checks".to_owned(),
        (_, 0) => format!("All {all} pass their work checks"),
        (_, 1) => format!("1 of {all} fails its work checks"),
        _ => format!("{} of {all} fail their work checks", number::count(failed)),
    }
}

fn untested(view: &AuditView) -> Option<String> {
    let untested = |test: &AuditTest| test.outcome == ClaimOutcome::Untested;
    let entries = view.entries.iter();
    let entries = entries.filter(|entry| entry.tests.iter().any(untested)).count();
    let builds = view.builds.iter().filter(|b| b.why_not.is_some()).count();
    let mut sentences = vec![];
    if entries > 0 {
        let entries = words::plural(entries, "benchmark");
        sentences.push(format!("{entries} could be tested only in part."));
    }
    if builds > 0 {
        let (builds, all) = (number::count(builds), words::plural(view.builds.len(), "way"));
        sentences.push(format!("{builds} of {all} compiled nothing."));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Every compiler, by the first word of its builds' names.
fn compilers(view: &AuditView) -> Vec<(&str, String)> {
    let mut terms: Vec<(&str, String)> = vec![];
    for build in view.builds.iter().filter(|build| !build.compiler.is_empty()) {
        let (group, flags) = head(build);
        if terms.iter().all(|(name, _)| *name != group) {
            let text = match flags {
                "" => format!("{} {}", build.compiler, build.flags),
                _ => build.compiler.clone(),
            };
            terms.push((group, text));
        }
    }
    terms
}

/// `gcc -O3 -flto` as its compiler and its flags; a build without flags has the one word.
fn head(build: &AuditBuild) -> (&str, &str) {
    build.name.split_once(' ').unwrap_or((&build.name, ""))
}

/// Measured and claimed value of a test.
fn cell(view: &AuditView, test: Option<&AuditTest>) -> Cell {
    let Some(test) = test else {
        return None.into();
    };
    let number = |x| number::at_most(x, "", DIGITS);
    let (measured, claimed) = (test.measured.map(number), test.claimed.map(number));
    let holds = test.outcome == ClaimOutcome::Holds;
    let text = match (test.outcome, test.claim, measured, claimed) {
        (ClaimOutcome::Untested, ..) => None,
        (ClaimOutcome::NotClaimed, _, measured, _) => measured.map(|x| format!("({x})")),
        (_, Claim::Linear, Some(measured), _) => Some(format!("as n^{measured}")),
        (_, Claim::Linear, None, _) => Some("not".to_owned()),
        (_, Claim::Runs, ..) => Some(if holds { "yes" } else { "no" }.to_owned()),
        (_, claim, Some(measured), Some(claimed)) => {
            Some(format!("{measured} {} {claimed}", relation(claim, holds)))
        }
        _ => Some(if holds { "right" } else { "wrong" }.to_owned()),
    };
    Cell::from(text).with(note(view, test))
}

fn relation(claim: Claim, holds: bool) -> &'static str {
    match (claim, holds) {
        (Claim::SyscallsPerOp, true) => "=",
        (Claim::SyscallsPerOp, false) => "≠",
        // the tolerance is 5% above and 10% below
        (Claim::FaultsPerOp, true) => "≲",
        (Claim::FaultsPerOp, false) => ">",
        (Claim::SwitchesPerOp | Claim::MajorFaultsPerOp | Claim::PageOutsPerOp, true) => "≳",
        (Claim::MinNsPerOp, true) => "≥",
        _ => "<",
    }
}

/// The note on a test, if it has one.
fn note(view: &AuditView, test: &AuditTest) -> Option<(Option<Flag>, String)> {
    let flag = match test.outcome {
        ClaimOutcome::Fails if view.counts(&test.build) => Some(Flag::Invalid),
        ClaimOutcome::Fails | ClaimOutcome::Expected => None,
        ClaimOutcome::Untested => Some(Flag::Skipped),
        ClaimOutcome::Holds | ClaimOutcome::NotClaimed => return None,
    };
    let shipped = view.builds.first().is_some_and(|b| b.name == test.build);
    let why = test.why.as_ref().map(findings::message).unwrap_or_default();
    Some(match shipped || why.is_empty() {
        true => (flag, why),
        false => (flag, format!("{}: {why}", test.build)),
    })
}

/// One program in one build: yes, or the failed claims.
fn again(view: &AuditView, entry: &AuditEntry, build: &AuditBuild) -> Cell {
    if let Some(why) = &build.why_not {
        return Cell::from(None).with([(Some(Flag::Skipped), why.clone())]);
    }
    let tests = || entry.tests.iter().filter(|test| test.build == build.name);
    let any = |outcome| tests().any(|test| test.outcome == outcome);
    let failing = tests().filter(|test| test.outcome == ClaimOutcome::Fails);
    let failing: Vec<&str> = failing.map(|test| short(test.claim)).collect();
    let text = match failing.is_empty() {
        false => Some(failing.join(", ")),
        true if any(ClaimOutcome::Expected) => Some("needs IEEE arithmetic".to_owned()),
        true => {
            tests().any(|test| test.outcome != ClaimOutcome::Untested).then(|| "yes".to_owned())
        }
    };
    Cell::from(text).with(tests().filter_map(|test| note(view, test)))
}

fn short(claim: Claim) -> &'static str {
    let known = CLAIMS.iter().find(|(known, ..)| *known == claim);
    known.map_or("proof", |(.., short)| short)
}
