//! An audit: what `gritstone audit` prints.

use crate::document::{Block, Column, Document, MISSING, Row, Style, Table, Text};
use crate::{findings, number, words};
use gritstone_model::{
    AuditBuild, AuditEntry, AuditTest, AuditView, Claim, ClaimOutcome, Flag, Kind,
};

/// Digits of what was measured.
const DIGITS: i32 = 4;

/// An audit: the summing up as its title, then a table for each concern. A claim that fails carries `*`, one that
/// could not be tested `§`, a failure that is only reported `¶`, each with its sentence.
#[must_use]
pub fn audit(view: &AuditView) -> Document {
    let mut document = Document::new(title(view));
    crate::lists::not_ours(&mut document, view.catalogue.as_ref());
    if let Some(sentence) = untold(view) {
        document.paragraph(sentence);
    }
    let compilers = compilers(view);
    if !compilers.is_empty() {
        document.push(Block::Terms(compilers));
    }
    let ours: Vec<&AuditEntry> = view
        .entries
        .iter()
        .filter(|e| e.kind == Kind::Kernel)
        .collect();
    let shipped = shipped(&mut document, view, &ours);
    document.table(shipped);
    if !ours.is_empty() {
        document.paragraph("In brackets: measured, but nothing is claimed.");
    }
    let again = again(&mut document, view, &ours);
    document.table(again);
    let theirs = theirs(&mut document, view);
    document.table(theirs);
    document.push(Block::Footnotes);
    document
}

fn title(view: &AuditView) -> String {
    let tested = view.entries.iter().filter(|e| e.was_tested()).count();
    let failed = view.entries.iter().filter(|e| view.fails(e)).count();
    match (tested, failed) {
        (0, _) => "Nothing could be audited".to_owned(),
        (1, 0) => "1 benchmark does what it claims".to_owned(),
        (_, 0) => format!(
            "All {} do what they claim",
            words::plural(tested, "benchmark")
        ),
        (_, 1) => format!(
            "1 of {} does not do what it claims",
            words::plural(tested, "benchmark")
        ),
        _ => format!(
            "{} of {} do not do what they claim",
            number::count(failed),
            words::plural(tested, "benchmark")
        ),
    }
}

fn untold(view: &AuditView) -> Option<String> {
    let untold = |entry: &&AuditEntry| {
        entry
            .tests
            .iter()
            .any(|t| t.outcome == ClaimOutcome::Untested)
    };
    let entries = view.entries.iter().filter(untold).count();
    let builds = view.builds.iter().filter(|b| b.why_not.is_some()).count();
    let mut said = vec![];
    if entries > 0 {
        said.push(format!(
            "Not everything could be tested of {}.",
            words::plural(entries, "benchmark")
        ));
    }
    if builds > 0 {
        said.push(format!(
            "Nothing could be compiled in {} of {}.",
            number::count(builds),
            words::plural(view.builds.len(), "way")
        ));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// Every compiler, by the first word of its builds' names.
fn compilers(view: &AuditView) -> Vec<(String, Text)> {
    let mut terms: Vec<(String, Text)> = vec![];
    for build in &view.builds {
        let (group, flags) = head(build);
        let known = terms.iter().any(|(name, _)| *name == group);
        if !known && !build.compiler.is_empty() {
            let text = match flags {
                None => format!("{} {}", build.compiler, build.flags),
                Some(_) => build.compiler.clone(),
            };
            terms.push((group, text.into()));
        }
    }
    terms
}

/// `gcc -O3 -flto` as its compiler and its flags; a build without flags has the one word.
fn head(build: &AuditBuild) -> (String, Option<String>) {
    match build.name.split_once(' ') {
        Some((compiler, flags)) => (compiler.to_owned(), Some(flags.to_owned())),
        None => (build.name.clone(), None),
    }
}

/// The claims of the programs in this binary, with what was measured.
fn shipped(document: &mut Document, view: &AuditView, entries: &[&AuditEntry]) -> Table {
    let Some(build) = view.builds.first() else {
        return Table::default();
    };
    let columns = [
        (Claim::Runs, "runs"),
        (Claim::Check, "check"),
        (Claim::Linear, "time grows"),
        (Claim::SyscallsPerOp, "kernel entries"),
        (Claim::SwitchesPerOp, "switches"),
        (Claim::FaultsPerOp, "faults"),
        (Claim::MajorFaultsPerOp, "major faults"),
        (Claim::MinNsPerOp, "ns"),
    ];
    let rows = entries.iter().map(|entry| {
        let mut cells = vec![Text::new(entry.id.as_str())];
        for (claim, _) in columns {
            let test = entry
                .tests
                .iter()
                .find(|test| test.build == build.name && test.claim == claim);
            cells.push(test.map_or_else(Text::missing, |test| {
                Text::new(outcome(test)).with(mark(document, view, test))
            }));
        }
        Row::new(cells)
    });
    let rows = rows.collect();
    let heads = columns.iter().map(|(claim, head)| match claim {
        Claim::Runs | Claim::Check | Claim::Linear => Column::new(*head, Style::Text),
        _ => Column::new(*head, Style::Text).of("for each operation"),
    });
    let key = Column::key("Benchmark", Style::Code);
    Table {
        caption: "As shipped".into(),
        columns: [key].into_iter().chain(heads).collect(),
        rows,
    }
    .without_empty_columns()
}

/// What came out of a test, beside what is claimed.
fn outcome(test: &AuditTest) -> String {
    let measured = test.measured.map(|x| number::at_most(x, "", DIGITS));
    let claimed = test.claimed.map(|x| number::at_most(x, "", DIGITS));
    let holds = test.outcome == ClaimOutcome::Holds;
    let relation = match (test.claim, holds) {
        (Claim::SyscallsPerOp, true) => "=",
        (Claim::SyscallsPerOp, false) => "≠",
        // a twentieth more and a tenth less are allowed
        (Claim::FaultsPerOp, true) => "≲",
        (Claim::FaultsPerOp, false) => ">",
        (Claim::SwitchesPerOp | Claim::MajorFaultsPerOp, true) => "≳",
        (Claim::MinNsPerOp, true) => "≥",
        _ => "<",
    };
    match (test.outcome, test.claim, measured, claimed) {
        (ClaimOutcome::Untested, ..) => MISSING.to_owned(),
        (ClaimOutcome::NotClaimed, _, Some(measured), _) => format!("({measured})"),
        (ClaimOutcome::NotClaimed, ..) => MISSING.to_owned(),
        (_, Claim::Linear, Some(measured), _) => format!("as n^{measured}"),
        (_, Claim::Linear, None, _) => "not".to_owned(),
        (ClaimOutcome::Holds, Claim::Runs, ..) => "yes".to_owned(),
        (ClaimOutcome::Fails | ClaimOutcome::Expected, Claim::Runs, ..) => "no".to_owned(),
        (ClaimOutcome::Holds, _, Some(measured), Some(claimed))
        | (ClaimOutcome::Fails | ClaimOutcome::Expected, _, Some(measured), Some(claimed)) => {
            format!("{measured} {relation} {claimed}")
        }
        (ClaimOutcome::Holds, ..) => "right".to_owned(),
        (ClaimOutcome::Fails | ClaimOutcome::Expected, ..) => "wrong".to_owned(),
    }
}

/// The footnote of a test, if it has one.
fn mark(
    document: &mut Document,
    view: &AuditView,
    test: &AuditTest,
) -> Option<crate::document::NoteId> {
    let shipped = view.builds.first().is_some_and(|b| b.name == test.build);
    let why = test
        .why
        .as_ref()
        .map_or_else(String::new, findings::message);
    let why = match shipped || why.is_empty() {
        true => why,
        false => format!("{}: {why}", test.build),
    };
    let flag = match test.outcome {
        ClaimOutcome::Fails if view.counts(&test.build) => Some(Flag::Invalid),
        ClaimOutcome::Fails | ClaimOutcome::Expected => None,
        ClaimOutcome::Untested => Some(Flag::Skipped),
        ClaimOutcome::Holds | ClaimOutcome::NotClaimed => return None,
    };
    Some(document.footnote(flag, why))
}

/// What each other build does to the claims.
fn again(document: &mut Document, view: &AuditView, entries: &[&AuditEntry]) -> Table {
    let builds: Vec<&AuditBuild> = view.builds.iter().skip(1).collect();
    if builds.is_empty() {
        return Table::default();
    }
    let rows = entries.iter().map(|entry| {
        let mut cells = vec![Text::new(entry.id.as_str())];
        cells.extend(
            builds
                .iter()
                .map(|build| cell(document, view, entry, build)),
        );
        Row::new(cells)
    });
    let rows = rows.collect();
    let heads = builds.iter().map(|build| {
        let (compiler, flags) = head(build);
        Column::new(flags.unwrap_or_default(), Style::Text).of(compiler)
    });
    let key = Column::key("Benchmark", Style::Code);
    Table {
        caption: "Compiled again: do the claims hold?".into(),
        columns: [key].into_iter().chain(heads).collect(),
        rows,
    }
}

/// One program compiled in one way: yes, or what fails.
fn cell(document: &mut Document, view: &AuditView, entry: &AuditEntry, build: &AuditBuild) -> Text {
    if let Some(why) = &build.why_not {
        let note = document.footnote(Some(Flag::Skipped), why.clone());
        return Text::missing().with([note]);
    }
    let tests: Vec<&AuditTest> = entry
        .tests
        .iter()
        .filter(|test| test.build == build.name)
        .collect();
    if tests.is_empty() {
        return Text::missing();
    }
    let failing = tests
        .iter()
        .filter(|test| test.outcome == ClaimOutcome::Fails);
    let failing: Vec<&str> = failing.map(|test| short(test.claim)).collect();
    let told = tests
        .iter()
        .any(|test| test.outcome != ClaimOutcome::Untested);
    let expected = tests
        .iter()
        .any(|test| test.outcome == ClaimOutcome::Expected);
    let text = match (failing.is_empty(), told) {
        (true, _) if expected => "needs IEEE arithmetic".to_owned(),
        (true, true) => "yes".to_owned(),
        (true, false) => MISSING.to_owned(),
        (false, _) => failing.join(", "),
    };
    let marks: Vec<_> = tests
        .iter()
        .filter_map(|test| mark(document, view, test))
        .collect();
    Text::new(text).with(marks)
}

fn short(claim: Claim) -> &'static str {
    match claim {
        Claim::Runs => "runs",
        Claim::Check => "check",
        Claim::Linear => "growth",
        Claim::SyscallsPerOp => "entries",
        Claim::SwitchesPerOp => "switches",
        Claim::FaultsPerOp => "faults",
        Claim::MajorFaultsPerOp => "major faults",
        Claim::MinNsPerOp => "time",
        Claim::Proof => "proof",
    }
}

/// Commands and scenarios.
fn theirs(document: &mut Document, view: &AuditView) -> Table {
    let entries: Vec<&AuditEntry> = view
        .entries
        .iter()
        .filter(|e| e.kind != Kind::Kernel)
        .collect();
    let rows = entries.iter().map(|entry| {
        let mut cells = vec![Text::new(entry.id.as_str())];
        for claim in [Claim::Runs, Claim::Proof] {
            let test = entry.tests.iter().find(|test| test.claim == claim);
            cells.push(test.map_or_else(Text::missing, |test| {
                Text::new(outcome(test)).with(mark(document, view, test))
            }));
        }
        Row::new(cells)
    });
    let rows = rows.collect();
    Table {
        caption: "Programs of others".into(),
        columns: vec![
            Column::key("Benchmark", Style::Code),
            Column::new("runs, prints, leaves what it should", Style::Text),
            Column::new("proof", Style::Text),
        ],
        rows,
    }
}
