//! `gritstone doctor`: checks whether this host is ready to be measured, and suggests fixes.

use crate::ui::candidates;
use crate::ui::confirm;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use gritstone_document::Document;
use gritstone_document::Style;
use gritstone_host::doctor::{self, programs};
use gritstone_host::{Finding, Severity};
use gritstone_model::{Machine, SCHEMA_DOCTOR, pluralize};
use gritstone_plan::select;
use gritstone_report::{Detail, lists};
use gritstone_runs::context::Context;
use gritstone_session::host_context::HostContext;
use gritstone_session::privileges;
use gritstone_session::undo;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Command;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone doctor
  gritstone doctor --install
  gritstone doctor --install applications")]
pub struct DoctorArgs {
    /// Install the missing programs of these benchmarks, and valgrind; lists them, and asks on a terminal unless CI=true
    #[arg(long)]
    pub install: bool,
    /// Benchmarks or suites to install programs for [default: all]
    #[arg(value_name = "BENCHMARK|SUITE", requires = "install", add = candidates::benchmarks())]
    pub benchmarks: Vec<String>,
    /// Directory whose file system would be measured
    #[arg(long, add = SetBy::UserFile)]
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
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rows = &context.catalogue.benchmarks;
    let mut findings = doctor::examine(host.facts(), rows, &host.dir, &path);
    findings.extend(store_finding(context));
    let privileged = findings.len();
    findings.extend(privileges::findings(rows));
    let examined = Examined {
        schema: SCHEMA_DOCTOR,
        findings: &findings,
    };
    output::write(args.format.format, &examined, || {
        examination(&host.machine(), &findings, privileged)
    })?;
    if args.install {
        install(context, &host, &args.benchmarks)?;
    }
    if findings.iter().any(|f| f.severity == Severity::Problem) {
        let what = "results measured now would be unreliable: see the lines with 'problem'";
        return Err(Exit::CheckFailed.because(what));
    }
    Ok(Exit::Done)
}

/// Verifies the ledger of the store, not its launches.
fn store_finding(context: &Context) -> Option<Finding> {
    let looked = context.reader().and_then(|store| {
        let counted = store.map(|store| store.verify_ledger().and_then(|()| store.count()));
        Ok(counted.transpose()?)
    });
    let (severity, value) = match looked {
        Ok(None) => return None,
        Ok(Some(runs)) => (Severity::Ok, format!("{runs} runs, ledger intact")),
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
    let findings = if more {
        findings
    } else {
        &findings[..privileged]
    };
    let (well, mut rest): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|f| f.severity == Severity::Ok);
    rest.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let (programs, others): (Vec<&Finding>, Vec<&Finding>) = rest
        .iter()
        .partition(|finding| programs::is_program(finding));
    let mut document = Document::new(verdict(&others));
    document.subtitle = Some(gritstone_report::machine_line(machine));
    if !more {
        rest = others;
    }
    let shown = if more {
        rest.len()
    } else {
        MAX_FINDINGS.min(rest.len())
    };
    let shown = &rest[..shown];
    let columns = [
        ("", Style::Code),
        ("what", Style::Text),
        ("value", Style::Text),
    ];
    let rows = shown.iter().map(|finding| {
        let cells = [severity(finding.severity), &finding.name, &finding.value];
        cells.map(str::to_owned)
    });
    lists::append(&mut document, "", columns, rows.collect());
    let commands = shown
        .iter()
        .filter_map(|f| Some((&f.name, f.todo.as_ref()?)));
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

/// Installs missing programs; asks first on a terminal.
fn install(context: &Context, host: &HostContext, selectors: &[String]) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let counter = programs::missing_counter(&path).filter(|_| selectors.is_empty());
    let selectors = context.with_suites_expanded(selectors);
    let mut missing = programs::missing(&select(&context.catalogue.benchmarks, &selectors)?, &path);
    missing.extend(counter);
    if missing.is_empty() {
        output::remark("no program is missing");
        return Ok(());
    }
    let command = programs::install(host.facts(), &missing).context(
        "package names are Debian's: install the programs with the tools of this distribution",
    )?;
    output::remark(&format!("+ {}", programs::shown(&command)));
    let unattended = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    let person = std::io::stdin().is_terminal() && output::is_terminal();
    if person && !unattended && !confirm::answered_yes("Install these packages?")? {
        bail!("nothing was installed");
    }
    let (program, arguments) = command.split_first().context("an empty command")?;
    let status = Command::new(program)
        .args(arguments)
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    let command = programs::shown(&command);
    ensure!(status.success(), "'{command}' ended with {status}");
    Ok(())
}
