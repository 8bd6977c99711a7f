//! `gritstone doctor`: checks whether this host is ready to be measured, and suggests fixes.

mod named;

use crate::ui::candidates;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::Result;
use clap::Args;
use gritstone_document::Document;
use gritstone_document::Style;
use gritstone_host::doctor::{self, programs};
use gritstone_host::{Finding, Severity};
use gritstone_model::{Machine, SCHEMA_DOCTOR, pluralize};
use gritstone_report::{Detail, lists};
use gritstone_runs::context::Context;
use gritstone_session::host_context::HostContext;
use gritstone_session::privileges;
use gritstone_session::undo;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone doctor                          the machine
  gritstone doctor ffmpeg                   a program: where it is, and what needs it
  gritstone doctor --install applications   programs of a suite")]
pub struct DoctorArgs {
    /// Install missing programs; lists them, and asks on a terminal unless CI=true
    #[arg(long)]
    pub install: bool,
    /// Show these programs, or those of benchmarks and suites, and not the machine [default with --install: all, and valgrind]
    #[arg(value_name = "PROGRAM|BENCHMARK|SUITE", add = candidates::benchmarks())]
    pub words: Vec<String>,
    /// Directory whose file system would be measured
    #[arg(long, conflicts_with = "words", add = SetBy::UserFile)]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Findings that are listed without `-v`.
const MAX_FINDINGS: usize = 8;

/// Output of `doctor`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Examined<'a> {
    schema: &'static str,
    findings: &'a [Finding],
}

pub fn doctor(context: &Context, args: &DoctorArgs) -> Result<Exit> {
    undo::recover();
    let host = HostContext::probe(args.dir.as_deref())?;
    let severity = match args.words.is_empty() {
        true => show_machine(context, args, &host)?,
        false => show_programs(context, args, &host)?,
    };
    if args.install {
        named::install(&host, &named::needed(context, &args.words)?)?;
    }
    if severity == Severity::Problem {
        let what = "results measured now would be unreliable: see the lines with 'problem'";
        return Err(Exit::CheckFailed.because(what));
    }
    Ok(Exit::Done)
}

/// Shows all findings; returns the greatest severity.
fn show_machine(context: &Context, args: &DoctorArgs, host: &HostContext) -> Result<Severity> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rows = &context.catalogue.benchmarks;
    let mut findings = doctor::examine(host.facts(), rows, &host.dir, &path);
    findings.extend(store_finding(context));
    let privileged = findings.len();
    findings.extend(privileges::findings(rows));
    write(args, &findings, || examination(&host.machine(), &findings, privileged))
}

/// Shows the programs that are named, and those of named benchmarks.
fn show_programs(context: &Context, args: &DoctorArgs, host: &HostContext) -> Result<Severity> {
    let needed = named::needed(context, &args.words)?;
    let findings = named::findings(host, &needed);
    write(args, &findings, || named::document(host, &needed))
}

fn write(
    args: &DoctorArgs,
    findings: &[Finding],
    document: impl FnOnce() -> Document,
) -> Result<Severity> {
    let examined = Examined { schema: SCHEMA_DOCTOR, findings };
    output::write(args.format.format, &examined, document)?;
    let severities = findings.iter().map(|finding| finding.severity);
    Ok(severities.max().unwrap_or(Severity::Ok))
}

/// Verifies the ledger of the store, not its launches.
fn store_finding(context: &Context) -> Option<Finding> {
    let looked = context.reader().and_then(|store| {
        let counted = store.map(|store| store.verify_ledger().and_then(|()| store.count()));
        Ok(counted.transpose()?)
    });
    let (severity, value) = match looked {
        Ok(None) => return None,
        Ok(Some(runs)) => {
            (Severity::Ok, format!("{}, ledger intact", gritstone_report::plural(runs, "run")))
        }
        Err(error) => (Severity::Warning, format!("{error:#}")),
    };
    Some(Finding {
        name: "store".to_owned(),
        value,
        why: "Damaged runs are not shown; gritstone runs verify checks every launch. Export the intact runs, move the database away, and import them again."
            .to_owned(),
        todo: None,
        severity,
    })
}

/// The machine, problems, then the commands that fix them; missing programs and the rest are counted. `-v` adds them, reasons, and the
/// actions of root, which start at `privileged`.
fn examination(machine: &Machine, findings: &[Finding], privileged: usize) -> Document {
    let more = output::detail() > Detail::Results;
    let as_root = findings.len() - privileged;
    let findings = if more { findings } else { &findings[..privileged] };
    let (well, mut rest): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|f| f.severity == Severity::Ok);
    rest.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let (programs, others): (Vec<&Finding>, Vec<&Finding>) =
        rest.iter().partition(|finding| programs::is_program(finding));
    let mut document = Document::new(verdict(&others));
    document.subtitle = Some(gritstone_report::machine_line(machine));
    if !more {
        rest = others;
    }
    let shown = if more { rest.len() } else { MAX_FINDINGS.min(rest.len()) };
    let shown = &rest[..shown];
    let columns = [("", Style::Code), ("what", Style::Text), ("value", Style::Text)];
    let rows = shown.iter().map(|finding| {
        let cells = [severity(finding.severity), &finding.name, &finding.value];
        cells.map(str::to_owned)
    });
    lists::append(&mut document, "", columns, rows.collect());
    let commands = shown.iter().filter_map(|f| Some((&f.name, f.todo.as_ref()?)));
    document.terms(commands.map(|(name, command)| (format!("for {name}"), command.as_str())));
    let reason = |finding: &&Finding| (finding.name.clone(), finding.why.clone());
    if more {
        document.terms(rest.iter().map(reason));
        let columns = [("what", Style::Text), ("value", Style::Text)];
        let rows = well.iter().map(|f| [f.name.clone(), f.value.clone()]);
        lists::append(&mut document, "OK", columns, rows.collect());
    } else {
        let problems = shown.iter().filter(|f| f.severity == Severity::Problem);
        document.terms(problems.map(reason));
        let folded = [
            (rest.len() - shown.len(), "more of these"),
            (as_root, "actions that need root"),
            (well.len(), "checks OK"),
        ];
        let folded = folded.iter().filter(|(n, _)| *n > 0);
        let folded: Vec<String> = folded.map(|(n, what)| format!("{n} {what}")).collect();
        if !programs.is_empty() {
            document.paragraph(format!(
                "{} missing: gritstone doctor -v lists them, --install installs them.",
                match programs.len() {
                    1 => "1 optional program is".to_owned(),
                    many => format!("{many} optional programs are"),
                }
            ));
        }
        document.paragraph(format!("{}: add -v.", folded.join(", ")));
    }
    document
}

/// "Not ready: 1 problem, 2 warnings."
fn verdict(rest: &[&Finding]) -> String {
    let count = |severity| rest.iter().filter(|f| f.severity == severity).count();
    let counted = |n: usize, noun: &str| format!("{n} {}", pluralize(n, noun));
    let warnings = counted(count(Severity::Warning), "warning");
    match (count(Severity::Problem), count(Severity::Warning)) {
        (0, 0) => "Ready: no problem, no warning.".to_owned(),
        (0, _) => format!("Ready, with {warnings}: results will scatter, or some are skipped."),
        (problems, _) => format!(
            "Not ready: {}, {warnings}. Results would be unreliable.",
            counted(problems, "problem")
        ),
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Problem => "problem",
    }
}
