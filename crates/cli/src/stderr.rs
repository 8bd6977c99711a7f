//! Standard error: the one way to it, with nothing in it that a terminal would obey but our own.
//!
//! Where it cannot be written, a terminal or a reader gone, a disk full, nobody is there to be told.
//!
//! Must not know: what is said.

use std::io::{self, IsTerminal, Write};

/// Takes a line of a terminal away.
const CLEAR: &str = "\r\x1b[2K";

/// Says something.
pub fn say(text: &str) {
    write(text, &[]);
}

/// Takes the line of a terminal away.
pub fn clear_line() {
    write(CLEAR, &[CLEAR]);
}

/// Writes another line in place of the present one of a terminal.
pub fn redraw(line: &str) {
    let line = gritstone_report::clean(line);
    write(&format!("{CLEAR}{line}"), &[CLEAR]);
}

/// Whether people look at it.
pub fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Columns of the terminal, if it is one.
pub fn columns() -> Option<u16> {
    terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0)
}

fn write(text: &str, styles: &[&str]) {
    let text = gritstone_report::printable(text, styles);
    let mut to = io::stderr();
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}
