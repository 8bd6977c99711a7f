//! Standard output: documents for people, JSON for programs; standard error: remarks.

use crate::args::Format;
use crate::signals;
use anyhow::{Context, Result};
use gritstone_model::escape_json;
use gritstone_report::{Document, terminal};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;

/// Width where there is no terminal to ask.
const WIDTH: usize = 100;

/// Takes a line of a terminal away.
const CLEAR: &str = "\r\x1b[2K";

/// Says something on standard error.
pub fn remark(text: &str) {
    say(&format!("{text}\n"));
}

/// Says something on standard error, without the end of a line.
pub fn say(text: &str) {
    complain(text, &[]);
}

/// Whether people look at standard error.
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
    let line = gritstone_report::clean(line);
    complain(&format!("{CLEAR}{line}"), &[CLEAR]);
}

/// The one way to standard error. Where it cannot be written, a terminal or a reader gone, a disk full, nobody is there to be told.
fn complain(text: &str, styles: &[&str]) {
    let text = gritstone_report::printable(text, styles);
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

/// Writes a document for the terminal: its width, and bold only there.
///
/// # Errors
/// When standard output cannot be written.
pub fn text(document: &Document) -> Result<()> {
    let color = color();
    let text = terminal::render(document, width(), color);
    print(&text, if color { &terminal::STYLES } else { &[] })
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

/// Whether standard output is a terminal that knows styles, and the user wants them.
fn color() -> bool {
    let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    std::io::stdout().is_terminal() && !dumb() && !asked_not_to
}

/// Whether the terminal, if there is one, does nothing but print.
pub fn dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb")
}

/// Writes text after what was remarked before, with nothing in it that a terminal would obey.
///
/// # Errors
/// When standard output cannot be written.
pub fn plain(text: &str) -> Result<()> {
    print(text, &[])
}

/// The one way to standard output: nothing that a terminal would obey but these styles.
fn print(text: &str, styles: &[&str]) -> Result<()> {
    let text = gritstone_report::printable(text, styles);
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() == ErrorKind::BrokenPipe => signals::die_of_a_closed_pipe(),
        written => written.context("cannot write to standard output"),
    }
}

/// Columns of the terminal; `COLUMNS` overrides.
fn width() -> usize {
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
