//! Standard output: documents for people, JSON for programs; standard error: remarks.

use crate::ui::display::{DisplayArgs, Format, When};
use anyhow::{Context, Result};
use gritstone_document::Document;
use gritstone_document::terminal::{self, Look};
use gritstone_model::escape_json;
use gritstone_report::Detail;
use gritstone_session::signals;
use serde::Serialize;
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Width where there is no terminal to ask.
const WIDTH: usize = 100;

/// Takes a line of a terminal away.
const CLEAR: &str = "\r\x1b[2K";

/// What the command line says of the output of this process; before that is known, the defaults.
static DISPLAY: OnceLock<(DisplayArgs, bool)> = OnceLock::new();

/// Sets how results are printed, once, and whether this command only looks, so that a pager may show what it says. Warnings of the
/// libraries are remarks.
pub fn configure(display: DisplayArgs, looks: bool) {
    let _ = DISPLAY.set((display, looks));
    if log::set_logger(&Remarks).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}

/// Prints the messages of our own crates.
struct Remarks;

impl log::Log for Remarks {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("gritstone")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            remark(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

fn display() -> DisplayArgs {
    DISPLAY
        .get()
        .map_or_else(DisplayArgs::default, |(args, _)| *args)
}

/// How much is asked for.
pub fn detail() -> Detail {
    match display().verbose {
        0 => Detail::Results,
        1 => Detail::Columns,
        _ => Detail::Everything,
    }
}

/// Says something on standard error, unless the user wants results only.
pub fn remark(text: &str) {
    if !display().quiet {
        say(&format!("{}\n", fitted(text, columns())));
    }
}

/// Lines that are too long for a terminal are broken at spaces, and go on with a deeper indent.
fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let fitted = |line: &str| {
        // an escape sequence is no letter: lines with colors are made to fit
        if line.chars().count() <= width || line.contains('\x1b') {
            return line.to_owned();
        }
        let indent = " ".repeat(line.len() - line.trim_start().len());
        let room = width.saturating_sub(indent.len() + 2).max(1);
        indent.clone() + &terminal::wrap(line, room).join(&format!("\n{indent}  "))
    };
    text.split('\n').map(fitted).collect::<Vec<_>>().join("\n")
}

/// Says on standard error what went wrong.
pub fn error(text: &str) {
    say(&format!("{}\n", fitted(text, columns())));
}

/// Says something on standard error, without the end of a line.
pub fn say(text: &str) {
    complain(text, &[]);
}

/// Whether people look at standard error, and want to see how far it is.
pub fn shows_progress() -> bool {
    !display().quiet
}

/// Whether standard error is a terminal.
pub fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Columns of the terminal behind standard error.
pub fn columns() -> Option<usize> {
    columns_of(std::io::stderr())
}

/// Takes the line of a terminal away.
pub fn clear_line() {
    complain(CLEAR, &[CLEAR]);
}

/// Writes another line in place of the present one of a terminal.
pub fn redraw(line: &str) {
    let line = gritstone_document::clean(line);
    complain(&format!("{CLEAR}{line}"), &[CLEAR]);
}

/// The one way to standard error. Where it cannot be written, a terminal or a reader gone, a disk full, nobody is there to be told.
fn complain(text: &str, styles: &[&str]) {
    let text = gritstone_document::printable(text, styles);
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

/// Writes a document for the terminal: its width, and colors only there or where they are asked for.
///
/// # Errors
/// When standard output cannot be written.
pub fn text(document: &Document) -> Result<()> {
    let look = Look {
        width: width(),
        color: color(),
        ascii: display().ascii,
        notes: detail() == Detail::Everything,
    };
    let text = terminal::render(document, look);
    let styles: &[&str] = if look.color { &terminal::STYLES } else { &[] };
    match pager(&text) {
        Some(pager) => paged(&pager, &text, styles),
        None => print(&text, styles),
    }
}

/// Writes what the command line has to say: help and the version to standard output, what is wrong to standard error, with the user's
/// words in it.
///
/// # Errors
/// When standard output cannot be written.
pub fn usage(said: &clap::Error) -> Result<()> {
    let text = said.render();
    if said.use_stderr() {
        say(&text.to_string());
        Ok(())
    } else if color() {
        print(&text.ansi().to_string(), &["\x1b[1m", "\x1b[4m", "\x1b[0m"])
    } else {
        plain(&text.to_string())
    }
}

/// A variable of the environment; as everywhere, one that is empty is not set.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether there is color: as asked for, else as NO_COLOR and CLICOLOR_FORCE say, else on a terminal that knows styles.
pub fn color() -> bool {
    match display().color {
        When::Always => true,
        When::Never => false,
        When::Auto if variable("NO_COLOR").is_some() => false,
        When::Auto if variable("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
        When::Auto => std::io::stdout().is_terminal() && !dumb(),
    }
}

/// Whether the terminal, if there is one, does nothing but print.
pub fn dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb")
}

/// What shows a text that is longer than the terminal, of a command that only looks.
fn pager(text: &str) -> Option<OsString> {
    let looks = DISPLAY
        .get()
        .is_some_and(|(args, looks)| *looks && !args.no_pager);
    let out = std::io::stdout();
    if !looks || !out.is_terminal() || dumb() {
        return None;
    }
    let (_, height) = terminal_size::terminal_size_of(out)?;
    let long = text.lines().count() >= usize::from(height.0);
    long.then(|| variable("PAGER").unwrap_or_else(|| "less".into()))
}

/// Hands a text to a pager, by the shell as PAGER may have arguments; where none can be started, it is written.
fn paged(pager: &OsString, text: &str, styles: &[&str]) -> Result<()> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if variable("LESS").is_none() {
        // ends where all fits, obeys colors, leaves the text on the screen
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return print(text, styles);
    };
    if let Some(mut to) = child.stdin.take() {
        // a reader who leaves early has seen enough
        let _ = to.write_all(gritstone_document::printable(text, styles).as_bytes());
    }
    match child.wait().context("cannot wait for the pager")?.code() {
        // the shell found no such program
        Some(126 | 127) => print(text, styles),
        _ => Ok(()),
    }
}

/// Writes lines for people, which may have colors, fitted to the terminal if there is one.
///
/// # Errors
/// When standard output cannot be written.
pub fn lines(text: &str) -> Result<()> {
    print(
        &fitted(text, columns_of(std::io::stdout())),
        &terminal::STYLES,
    )
}

/// Writes text after what was remarked before, with nothing in it that a terminal would obey.
///
/// # Errors
/// When standard output cannot be written.
pub fn plain(text: &str) -> Result<()> {
    print(text, &[])
}

/// Bytes for a program that has started this one, and no terminal.
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

/// The one way to a terminal: nothing that a terminal would obey but these styles.
fn print(text: &str, styles: &[&str]) -> Result<()> {
    let text = gritstone_document::printable(text, styles);
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() == ErrorKind::BrokenPipe => signals::exit_by_sigpipe(),
        written => written.context("cannot write to standard output"),
    }
}

/// Columns of the terminal; `COLUMNS` overrides.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    asked
        .or_else(|| columns_of(std::io::stdout()))
        .map_or(WIDTH, |width| width.clamp(40, 400))
}

/// Columns of a terminal, where it says how many it has.
fn columns_of(terminal: impl AsFd) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(terminal)?;
    (width.0 > 0).then_some(usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn long_lines_are_broken_at_words_and_short_ones_are_as_they_were() {
        assert_eq!(fitted("a  b", Some(4)), "a  b");
        assert_eq!(fitted("one two three", Some(9)), "one two\n  three");
        assert_eq!(fitted("  one two\nx", Some(8)), "  one\n    two\nx");
        assert_eq!(fitted("one two three", None), "one two three");
    }
}
