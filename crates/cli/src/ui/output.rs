//! Standard output: documents for people, JSON for programs; standard error: remarks.

use crate::ui::display::{DisplayArgs, Format, When};
use crate::ui::warnings::Warnings;
use anyhow::{Context, Result};
use gritstone_document::Document;
use gritstone_document::terminal::{self, Look};
use gritstone_model::escape_json;
use gritstone_report::Detail;
use gritstone_session::signals;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Instant;

/// Width without a terminal.
const DEFAULT_WIDTH: usize = 100;

/// Erases the line of a terminal.
const CLEAR_LINE: &str = "\r\x1b[2K";

/// Whether a line of progress is on the terminal.
static HAS_PROGRESS: AtomicBool = AtomicBool::new(false);

static WARNINGS: LazyLock<Warnings> = LazyLock::new(Warnings::default);

/// Options of display, and whether the command is read-only; defaults before the command line is parsed.
static DISPLAY: OnceLock<(DisplayArgs, bool)> = OnceLock::new();

/// Called once. The output of read-only commands may go to a pager. Warnings of the libraries become remarks.
pub fn configure(display: DisplayArgs, is_read_only: bool) {
    let _ = DISPLAY.set((display, is_read_only));
    if log::set_logger(&Remarks).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}

/// Prints log messages of the crates of Gritstone.
struct Remarks;

impl log::Log for Remarks {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("gritstone")
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        let line = match record.level() {
            log::Level::Warn => WARNINGS.line(text, Instant::now()),
            _ => Some(text),
        };
        if let Some(line) = line {
            remark(&line);
        }
    }

    fn flush(&self) {}
}

/// Sets O_APPEND for output to files, to which other processes may append, too.
pub fn append() {
    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    for file in [stdout.as_fd(), stderr.as_fd()] {
        // a closed descriptor or a pipe has nothing to overwrite
        if let Ok(flags) = fcntl(file, FcntlArg::F_GETFL) {
            let flags = OFlag::from_bits_retain(flags) | OFlag::O_APPEND;
            let _ = fcntl(file, FcntlArg::F_SETFL(flags));
        }
    }
}

fn display() -> DisplayArgs {
    DISPLAY.get().map_or_else(DisplayArgs::default, |(args, _)| *args)
}

pub fn detail() -> Detail {
    match display().verbose {
        0 => Detail::Results,
        1 => Detail::Columns,
        _ => Detail::Everything,
    }
}

/// Prints a line on standard error, unless `--quiet`.
pub fn remark(text: &str) {
    if !display().quiet {
        say(&format!("{}\n", wrap_lines(text, columns())));
    }
}

/// Wraps long lines at spaces, with a hanging indent.
fn wrap_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let wrap_lines = |line: &str| {
        // colored lines fit already; escape sequences would be counted
        if line.chars().count() <= width || line.contains('\x1b') {
            return line.to_owned();
        }
        let indent = " ".repeat(line.len() - line.trim_start().len());
        let room = width.saturating_sub(indent.len() + 2).max(1);
        indent.clone() + &terminal::wrap(line, room).join(&format!("\n{indent}  "))
    };
    text.split('\n').map(wrap_lines).collect::<Vec<_>>().join("\n")
}

pub fn error(text: &str) {
    say(&format!("{}\n", wrap_lines(text, columns())));
}

/// Prints on standard error, without a line end.
pub fn say(text: &str) {
    clear_line();
    write_stderr(text, &[]);
}

pub fn shows_progress() -> bool {
    !display().quiet
}

pub fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Columns of the terminal behind standard error.
pub fn columns() -> Option<usize> {
    columns_of(std::io::stderr())
}

/// Erases the line of progress, if there is one.
pub fn clear_line() {
    if HAS_PROGRESS.swap(false, Ordering::Relaxed) {
        write_stderr(CLEAR_LINE, &[CLEAR_LINE]);
    }
}

pub fn redraw(line: &str) {
    let line = gritstone_document::clean(line);
    HAS_PROGRESS.store(true, Ordering::Relaxed);
    write_stderr(&format!("{CLEAR_LINE}{line}"), &[CLEAR_LINE]);
}

/// The only write to standard error. Its failures cannot be reported.
fn write_stderr(text: &str, styles: &[&str]) {
    let text = gritstone_document::printable(text, styles);
    let text = gritstone_document::without_commands(&text);
    let mut to = std::io::stderr();
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

/// Writes a document, or the value behind it as JSON.
///
/// # Errors
/// When standard output cannot be written.
pub fn write<T: Serialize>(
    format: Format,
    value: &T,
    document: impl FnOnce() -> Document,
) -> Result<()> {
    match format {
        Format::Json => json(value),
        Format::Text => text(&document()),
    }
}

/// Writes one JSON value and a line end.
///
/// # Errors
/// When standard output cannot be written.
pub fn json<T: Serialize>(value: &T) -> Result<()> {
    let value = gritstone_report::json(value).context("cannot write JSON")?;
    plain(&(escape_json(format!("{value:#}")) + "\n"))
}

/// Writes a document, through a pager if it is longer than the terminal.
///
/// # Errors
/// When standard output cannot be written.
pub fn text(document: &Document) -> Result<()> {
    texts(&[document])
}

/// The same of several, with blank lines between.
///
/// # Errors
/// When standard output cannot be written.
pub fn texts(documents: &[&Document]) -> Result<()> {
    let look = Look {
        width: width(),
        color: color(),
        ascii: display().ascii,
        notes: detail() == Detail::Everything,
    };
    let texts: Vec<String> = documents.iter().map(|d| terminal::render(d, look)).collect();
    let text = texts.join("\n");
    let styles: &[&str] = if look.color { &terminal::STYLES } else { &[] };
    match pager(&text) {
        Some(pager) => page(&pager, &text, styles),
        None => print(&text, styles),
    }
}

/// Help and the version go to standard output, errors to standard error.
///
/// # Errors
/// When standard output cannot be written.
pub fn usage(error: &clap::Error) -> Result<()> {
    let text = error.render();
    if error.use_stderr() {
        // as all other errors begin
        say(&text.to_string().replacen("error: ", "gritstone: ", 1));
        Ok(())
    } else if color() {
        let text = format!("{}\n", text.ansi().to_string().trim_end());
        print(&text, &["\x1b[1m", "\x1b[4m", "\x1b[0m"])
    } else {
        plain(&format!("{}\n", text.to_string().trim_end()))
    }
}

/// An empty variable counts as unset.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// `--color`, then NO_COLOR and CLICOLOR_FORCE, then whether standard output is a terminal with styles.
pub fn color() -> bool {
    match display().color {
        When::Always => true,
        When::Never => false,
        When::Auto if variable("NO_COLOR").is_some() => false,
        When::Auto if variable("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
        When::Auto => std::io::stdout().is_terminal() && !is_dumb(),
    }
}

pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb")
}

/// The pager, for output of read-only commands that is longer than the terminal.
fn pager(text: &str) -> Option<OsString> {
    let is_read_only =
        DISPLAY.get().is_some_and(|(args, is_read_only)| *is_read_only && !args.no_pager);
    let out = std::io::stdout();
    if !is_read_only || !out.is_terminal() || is_dumb() {
        return None;
    }
    let (_, height) = terminal_size::terminal_size_of(out)?;
    let long = text.lines().count() >= usize::from(height.0);
    long.then(|| variable("PAGER").unwrap_or_else(|| "less".into()))
}

/// Starts the pager by the shell, since PAGER may have arguments; prints the text if that fails.
fn page(pager: &OsString, text: &str, styles: &[&str]) -> Result<()> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if variable("LESS").is_none() {
        // quit if all fits, keep colors, keep the screen
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return print(text, styles);
    };
    if let Some(mut to) = child.stdin.take() {
        // the user may quit early
        let _ = to.write_all(gritstone_document::printable(text, styles).as_bytes());
    }
    match child.wait().context("cannot wait for the pager")?.code() {
        // the shell found no such program
        Some(126 | 127) => print(text, styles),
        _ => Ok(()),
    }
}

/// Writes styled lines, wrapped at the width of a terminal.
///
/// # Errors
/// When standard output cannot be written.
pub fn lines(text: &str) -> Result<()> {
    let text = wrap_lines(text, columns_of(std::io::stdout()));
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    let text = lines.join("\n").replace(terminal::NO_BREAK, " ");
    let text = if display().ascii { terminal::to_ascii(&text) } else { text };
    print(&text, &terminal::STYLES)
}

/// Writes the source of a manual page, which `man` formats for a terminal.
///
/// # Errors
/// When standard output cannot be written.
pub fn manual_page(source: &str) -> Result<()> {
    match std::io::stdout().is_terminal() && !is_dumb() {
        true => page(&"man -l -".into(), source, &[]),
        false => plain(source),
    }
}

/// Writes text with control characters escaped.
///
/// # Errors
/// When standard output cannot be written.
pub fn plain(text: &str) -> Result<()> {
    print(text, &[])
}

/// Writes workflow commands for GitHub, whose parts are escaped.
///
/// # Errors
/// When standard output cannot be written.
pub fn workflow_commands(text: &str) -> Result<()> {
    write_stdout(&gritstone_document::printable(text, &[]))
}

/// Writes bytes for another program.
///
/// # Errors
/// When standard output is a terminal, or cannot be written.
pub fn bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(ErrorKind::InvalidInput.into());
    }
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Escapes control characters except `styles`, and workflow commands.
fn print(text: &str, styles: &[&str]) -> Result<()> {
    let text = gritstone_document::printable(text, styles);
    write_stdout(&gritstone_document::without_commands(&text))
}

/// The only write of text to standard output.
fn write_stdout(text: &str) -> Result<()> {
    clear_line();
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() == ErrorKind::BrokenPipe => signals::exit_by_sigpipe(),
        written => written.context("cannot write to standard output"),
    }
}

/// Columns of the terminal; `COLUMNS` overrides.
pub fn width() -> usize {
    let override_width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    override_width
        .or_else(|| columns_of(std::io::stdout()))
        .map_or(DEFAULT_WIDTH, |width| width.clamp(20, 400))
}

fn columns_of(terminal: impl AsFd) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(terminal)?;
    (width.0 > 0).then_some(usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::wrap_lines;

    #[test]
    fn long_lines_wrap_at_words() {
        assert_eq!(wrap_lines("a  b", Some(4)), "a  b");
        assert_eq!(wrap_lines("one two three", Some(9)), "one two\n  three");
        assert_eq!(wrap_lines("  one two\nx", Some(8)), "  one\n    two\nx");
        let joined = "one p\u{a0}< 0.01";
        assert_eq!(wrap_lines(joined, Some(7)), "one\n  p\u{a0}<\n  0.01");
        assert_eq!(wrap_lines("one two three", None), "one two three");
    }
}
