//! Trust in the programs of a custom catalog: confirmed once for the hash of all its files.

use crate::undo;
use anyhow::{Context, Result, bail};
use gritstone_catalogue::CustomBenchmarks;
use gritstone_exec::OFlags;
use gritstone_model::{Benchmark, Need, Work};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};

/// File of trusted catalogs, a line each: hash, name.
const TRUSTED_FILE: &str = "trusted";

/// Checks that the user trusts a catalog: recorded before, by `--trust`, or by the answer to `ask`, which gets a description of the
/// programs and returns `None` without a terminal.
///
/// # Errors
/// Without a terminal, or when the answer is no.
pub fn ensure(
    custom: &CustomBenchmarks,
    trusted: bool,
    ask: impl FnOnce(&str) -> Result<Option<bool>>,
) -> Result<()> {
    if is_trusted(&custom.stored.hash) {
        return Ok(());
    }
    if !trusted {
        match ask(&describe_programs(custom))? {
            Some(true) => {}
            Some(false) => bail!("nothing was run"),
            None => bail!(
                "the catalog {} is new or has changed, and runs the programs above: inspect it, and give --trust (there is no terminal to ask on)",
                custom.stored.named()
            ),
        }
    }
    if let Err(why) = remember(custom) {
        log::warn!("cannot store the trust, which will be asked for again: {why:#}");
    }
    Ok(())
}

fn is_trusted(hash: &str) -> bool {
    let trusted = || -> std::io::Result<String> {
        let state = undo::state().ok_or(ErrorKind::NotFound)?.open()?;
        let mut text = String::new();
        let mut file = state.file(OsStr::new(TRUSTED_FILE), OFlags::RDONLY)?;
        file.read_to_string(&mut text)?;
        Ok(text)
    };
    let text = trusted().unwrap_or_else(|why| {
        if why.kind() != ErrorKind::NotFound {
            log::warn!("cannot read the list of trusted catalogs: {why}");
        }
        String::new()
    });
    text.lines().any(|line| line.split(' ').next() == Some(hash))
}

fn remember(custom: &CustomBenchmarks) -> Result<()> {
    let state = undo::state().context("neither XDG_STATE_HOME nor HOME says where")?;
    let path = state.path().join(TRUSTED_FILE);
    let how = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let file = state.make().and_then(|state| state.file(OsStr::new(TRUSTED_FILE), how));
    let mut file = file.with_context(|| path.display().to_string())?;
    // one write, so that concurrent ones do not mix
    let line = format!("{} {}\n", custom.stored.hash, custom.stored.name);
    file.write_all(line.as_bytes()).with_context(|| path.display().to_string())
}

/// Every program, command, argument and file, with control characters escaped.
fn describe_programs(custom: &CustomBenchmarks) -> String {
    let catalog = &custom.stored;
    let mut text = format!(
        "The catalog {} is not Gritstone's. Measuring it runs the following as you, with all your rights:\n",
        catalog.named()
    );
    for benchmark in &custom.catalogue.benchmarks {
        let needs = benchmark.needs.iter().map(describe_need);
        for line in run_by(benchmark, custom).into_iter().chain(needs) {
            let _ = writeln!(text, "  {}  {line}", benchmark.id);
        }
    }
    let files = catalog.files.iter().map(|(path, file)| {
        let bytes = file.contents.bytes().map_or(0, |bytes| bytes.len());
        format!("{} ({bytes} bytes)", shown(path))
    });
    let files = files.collect::<Vec<_>>().join(", ");
    text + &format!("Its files: {files}.\nIts hash: {}", catalog.hash)
}

fn run_by(benchmark: &Benchmark, custom: &CustomBenchmarks) -> Vec<String> {
    match &benchmark.work {
        Work::Kernel(work) => {
            let params = work.params.iter();
            let params = params.map(|(key, value)| shown(&format!("{key}={value}")));
            let programs = [&work.program].into_iter().chain(&work.uses);
            let how = |program: &String| match program {
                p if custom.compiled.contains(p) => format!("compiles and runs {p}.c"),
                p if custom.executables.contains(p) => format!("runs the file {p}"),
                p => format!("runs Gritstone's {p}"),
            };
            let commands = programs.map(how).collect::<Vec<_>>().join(", ");
            match params.collect::<Vec<_>>().join(" ") {
                none if none.is_empty() => vec![commands],
                params => vec![format!("{commands} with {params}")],
            }
        }
        Work::Command(work) | Work::Scenario(work) => {
            let verify = work.verify.as_ref().map_or(&[][..], |verify| &verify.argv);
            let commands = [
                ("prepares with", work.prepare.as_slice()),
                ("runs", &work.argv),
                ("checks it by", &work.check),
                ("proves it by", verify),
            ];
            let commands = commands.into_iter().filter(|(_, argv)| !argv.is_empty());
            let line = |(how, argv): (&str, &[String])| {
                let words: Vec<String> = argv.iter().map(|word| shown(word)).collect();
                format!("{how} {}", words.join(" "))
            };
            let file = |(name, text): (&String, &String)| {
                format!("with the file {}: {}", shown(name), shown(text))
            };
            let files = work.files.iter().map(file);
            commands.map(line).chain(files).collect()
        }
        Work::Derived { .. } | Work::Score { .. } => vec![],
    }
}

/// The programs that may meet a need.
fn describe_need(need: &Need) -> String {
    let names = match need.any.as_slice() {
        [] => std::slice::from_ref(&need.name),
        any => any,
    };
    let names = names.iter().map(|name| shown(name)).collect::<Vec<_>>().join(" or ");
    let version = need.version.as_ref().map_or_else(String::new, |argument| {
        format!(", and runs it with {} for its version", shown(argument))
    });
    format!("needs {{{}}}, which is {names}{version}", need.name)
}

/// A word as a shell would need it, control characters and blanks made visible.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    gritstone_document::clean(&format!("{word:?}")).into_owned()
}
