//! Programs that benchmarks need: `gritstone doctor NAME...` and `--install`.

use crate::ui::confirm;
use crate::ui::output;
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_document::{Column, Document, Style};
use gritstone_host::Finding;
use gritstone_host::doctor::programs::{self, Needed};
use gritstone_plan::select;
use gritstone_report::lists;
use gritstone_runs::context::Context;
use gritstone_session::host_context::HostContext;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::Command;

/// Programs of these names, and those of the selected benchmarks; without words all, and that which counts instructions.
pub fn needed(context: &Context, words: &[String]) -> Result<Vec<Needed>> {
    let benchmarks = &context.catalogue.benchmarks;
    let mut all = programs::needed(benchmarks);
    all.push(programs::counter());
    if words.is_empty() {
        return Ok(all);
    }
    let is_program = |word: &String| all.iter().any(|needed| needed.is_called(word));
    let (names, selectors): (Vec<String>, Vec<String>) =
        words.iter().cloned().partition(is_program);
    let selected = match selectors.is_empty() {
        true => vec![],
        false => {
            let selectors = context.with_suites_expanded(&selectors);
            let selected = select(benchmarks, &selectors);
            programs::needed(&selected.context("not a program that benchmarks need")?)
        }
    };
    all.retain(|needed| {
        let is_selected = || selected.iter().any(|other| other.is_same(needed));
        names.iter().any(|name| needed.is_called(name)) || is_selected()
    });
    Ok(all)
}

pub fn findings(host: &HostContext, needed: &[Needed]) -> Vec<Finding> {
    let path = search_path();
    let finding = |needed: &Needed| needed.finding(host.facts(), &path);
    needed.iter().map(finding).collect()
}

/// A line for each program, and the command that installs those that are missing.
pub fn document(host: &HostContext, needed: &[Needed]) -> Document {
    let path = search_path();
    let row = |needed: &Needed| {
        let place = match needed.found(&path) {
            Some(program) => program.display().to_string(),
            None => "missing".to_owned(),
        };
        let need = &needed.need;
        [need.name.clone(), place, need.package.clone(), needed.users()]
    };
    let columns = [
        Column::new("program", Style::Code),
        Column::new("here", Style::Code),
        Column::new("Debian package", Style::Code),
        Column::new("needed by", Style::Text),
    ];
    let mut document = lists::table("", columns, needed.iter().map(row).collect());
    if let Some(command) = programs::install(host.facts(), &missing(needed)) {
        document.terms([("install", programs::shown(&command))]);
    }
    document
}

fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn missing(needed: &[Needed]) -> Vec<Needed> {
    let path = search_path();
    let missing = needed.iter().filter(|needed| needed.found(&path).is_none());
    missing.cloned().collect()
}

/// Installs missing programs; asks first on a terminal.
pub fn install(host: &HostContext, needed: &[Needed]) -> Result<()> {
    let missing = missing(needed);
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
