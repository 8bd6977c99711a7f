//! Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing on standard output.
//!
//! It is drawn between launches only, so that nothing of ours runs during a sample, and whoever reads it slowly or not at all
//! does not make the next launch wait.
//!
//! Must not know: what is measured.

use crate::session::Progress;
use crate::{output, stderr};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(15);
/// How often a bar is drawn, in times a second.
const BAR_EVERY: u8 = 5;

/// Draws progress.
pub enum Display {
    /// On a terminal.
    Bar(ProgressBar),
    /// Elsewhere: when the last line was printed.
    Lines(Option<Duration>),
}

impl Display {
    /// As standard error demands.
    pub fn new() -> Self {
        if !stderr::is_terminal() || output::dumb() {
            return Self::Lines(None);
        }
        let terminal = Box::new(Terminal::default());
        let target = ProgressDrawTarget::term_like_with_hz(terminal, BAR_EVERY);
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        // one line, whatever is said: a long message is cut
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3}% {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self::Bar(bar)
    }

    /// Shows where the session is.
    pub fn show(&mut self, progress: &Progress<'_>) {
        let left = progress.end.saturating_sub(progress.elapsed);
        match self {
            Self::Bar(bar) => {
                let part = progress.elapsed.as_secs_f64() / progress.end.as_secs_f64().max(1e-9);
                bar.set_position((part * 1000.0).min(1000.0) as u64);
                bar.set_message(format!(
                    "{} left, round {} of {}: {}",
                    clock(left),
                    progress.round + 1,
                    progress.rounds,
                    progress.id
                ));
            }
            Self::Lines(last) => {
                let due = last.is_none_or(|last| progress.elapsed >= last + LINE_EVERY);
                if due {
                    stderr::mention(&format!(
                        "round {} of {}, {} of at most {}\n",
                        progress.round + 1,
                        progress.rounds,
                        clock(progress.elapsed),
                        clock(progress.end)
                    ));
                    *last = Some(progress.elapsed);
                }
            }
        }
    }

    /// Shows how a trial stands, and what of its time is left; the row comes last, where a narrow terminal cuts.
    pub fn standing(&mut self, elapsed: Duration, budget: Duration, text: &str, row: &str) {
        let left = clock(budget.saturating_sub(elapsed));
        let text = format!("{text}; {left} left{row}");
        match self {
            Self::Bar(bar) => {
                let part = elapsed.as_secs_f64() / budget.as_secs_f64().max(1e-9);
                bar.set_position((part * 1000.0).min(1000.0) as u64);
                bar.set_message(text);
            }
            Self::Lines(last) => {
                if last.is_none_or(|last| elapsed >= last + LINE_EVERY) {
                    stderr::mention(&format!("{text}\n"));
                    *last = Some(elapsed);
                }
            }
        }
    }

    /// Shows that so many of all steps are done, and which comes now.
    pub fn step(&self, done: usize, of: usize, what: &str) {
        if let Self::Bar(bar) = self {
            bar.set_position((done * 1000 / of.max(1)) as u64);
            bar.set_message(format!("{} of {of}: {what}", done + 1));
        }
    }

    /// Says something in between; the bar comes back when it is drawn next.
    pub fn remark(&self, text: &str) {
        if let Self::Bar(_) = self {
            stderr::clear_line();
        }
        stderr::say_without_waiting(&format!("{text}\n"));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
            stderr::clear_line();
        }
    }
}

/// What a bar is drawn on: the line as it is to be, until it is whole.
#[derive(Debug, Default)]
struct Terminal(Mutex<String>);

impl Terminal {
    fn line(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bar is one line, so the cursor stays in it.
impl TermLike for Terminal {
    fn width(&self) -> u16 {
        stderr::columns().unwrap_or(80)
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.line().push_str(text);
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.line().push_str(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.line().clear();
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        stderr::redraw(&std::mem::take(&mut *self.line()));
        Ok(())
    }
}

/// `1:05`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
