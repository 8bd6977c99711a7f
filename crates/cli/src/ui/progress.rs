//! Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing on standard output.
//!
//! Drawn between launches only, so that nothing of Gritstone runs during a sample. A stopped terminal blocks there.

use crate::ui::ab_progress;
use crate::ui::output::{self, remark};
use gritstone_document::clean;
use gritstone_measure::{Progress, Standing};
use gritstone_model::Measurement;
use gritstone_session::observer::Observer;
use std::time::{Duration, Instant};

/// Interval of lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(15);
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// Least interval as a multiple of the time that a line takes to compute: many commands have many pairs.
const TIMES_ITS_COST: u32 = 20;
/// Runs that take longer show first results before their table.
const SHORT_RUN: Duration = Duration::from_secs(60);
const BAR_COLUMNS: usize = 20;
/// Columns of a terminal of unknown width.
pub const DEFAULT_COLUMNS: usize = 80;

#[derive(Debug)]
pub struct Display {
    terminal: bool,
    /// Time before which nothing is drawn.
    next: Option<Instant>,
    quiet: bool,
    first_results: bool,
    /// Names of the sides; empty if they have letters.
    names: Vec<String>,
}

impl Display {
    pub fn new() -> Self {
        let plain = Self::without_terminal(false);
        match output::is_terminal() && !output::is_dumb() && output::shows_progress() {
            true => Self { terminal: true, next: None, first_results: true, ..plain },
            false => plain,
        }
    }

    pub fn without_terminal(quiet: bool) -> Self {
        Self {
            terminal: false,
            // the first line of a log follows after an interval
            next: Some(Instant::now() + LINE_INTERVAL),
            quiet,
            first_results: false,
            names: vec![],
        }
    }

    /// With names of the sides.
    pub fn named(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// Without first results if the table follows soon.
    pub fn expecting(self, time: Duration) -> Self {
        let first_results = self.first_results && time > SHORT_RUN;
        Self { first_results, ..self }
    }

    fn name(&self, side: usize) -> String {
        let letter = || char::from(b'a' + side as u8).to_string();
        self.names.get(side).cloned().unwrap_or_else(letter)
    }

    pub fn step(&self, done: usize, total: usize, what: &str) {
        if self.terminal {
            let text = format!("{} of {total}: {what}", done + 1);
            draw(done as f64 / total.max(1) as f64, &text);
        }
    }

    pub fn clear(&self) {
        if self.terminal {
            output::clear_line();
        }
    }
}

impl Observer for Display {
    fn progress(&mut self, progress: &Progress<'_>) {
        if !output::shows_progress() {
            return;
        }
        let begun = Instant::now();
        if self.quiet || self.next.is_some_and(|next| begun < next) {
            return;
        }
        let (elapsed, id) = (progress.elapsed, &progress.benchmark.id);
        let (end, text) = match progress.standing {
            Standing::Rounds { rounds, end } => {
                let round = format!("round {} of {rounds}", progress.slot.round + 1);
                let what = match self.names.as_slice() {
                    [] => id.to_string(),
                    [name, ..] => clean(name).into_owned(),
                };
                let text = match self.terminal {
                    true => format!("{} left, {round}: {what}", remaining(elapsed, end)),
                    false => format!("{round}, {} of at most {}", clock(elapsed), clock(end)),
                };
                (end, text)
            }
            Standing::Turns { times, margin, rounds, end } => {
                let name = |side| self.name(side);
                let standing = ab_progress::words(times, margin, rounds, progress.slot.side, &name);
                // last, where a narrow terminal cuts
                let benchmark = match progress.steps {
                    1 => String::new(),
                    _ => format!(", {id}"),
                };
                (end, format!("{standing}; {} left{benchmark}", remaining(elapsed, end)))
            }
        };
        match self.terminal {
            true => draw(elapsed.as_secs_f64() / end.as_secs_f64().max(1e-9), &text),
            false => remark(&text),
        }
        let every = if self.terminal { REDRAW_INTERVAL } else { LINE_INTERVAL };
        self.next = Some(Instant::now() + every.max(begun.elapsed() * TIMES_ITS_COST));
    }

    fn shows_results(&self) -> bool {
        self.first_results
    }

    fn result(&mut self, result: &Measurement) {
        let width = output::columns().unwrap_or(DEFAULT_COLUMNS);
        if let Some(line) = gritstone_report::line(result, width) {
            self.message(&line);
        }
    }

    fn message(&mut self, text: &str) {
        self.clear();
        remark(text);
    }

    fn finish(&mut self) {
        self.clear();
    }
}

/// Cuts the line at the edge of the terminal.
fn draw(part: f64, text: &str) {
    let width = output::columns().unwrap_or(DEFAULT_COLUMNS);
    let line: String = line(part, text).chars().take(width - 1).collect();
    output::redraw(&line);
}

/// `=====>               28% 1:05 left`.
fn line(part: f64, text: &str) -> String {
    let part = part.clamp(0.0, 1.0);
    let done = "=".repeat((part * BAR_COLUMNS as f64) as usize);
    let bar = format!("{done}>");
    format!("{bar:BAR_COLUMNS$.BAR_COLUMNS$} {:>3.0}% {text}", (100.0 * part).floor())
}

fn remaining(elapsed: Duration, end: Duration) -> String {
    clock(end.saturating_sub(elapsed))
}

/// `1:05`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fill_from_the_left() {
        assert_eq!(line(0.0, "x"), ">                      0% x");
        assert_eq!(line(0.289, "x"), "=====>                28% x");
        assert_eq!(line(1.0, "x"), "==================== 100% x");
        assert_eq!(line(7.0, "x"), line(1.0, "x"));
        assert_eq!(clock(Duration::from_secs(65)), "1:05");
    }
}
