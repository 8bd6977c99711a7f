//! Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing on standard output.
//!
//! It is drawn between launches only, so that nothing of ours runs during a sample.
//!
//! Must not know: what is measured.

use crate::output::remark;
use crate::session::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(15);

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
        if !std::io::stderr().is_terminal() {
            return Self::Lines(None);
        }
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent:>3}% {msg}") {
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
                    remark(&format!(
                        "round {} of {}, {} of at most {}",
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
                    remark(&text);
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

    /// Says something in between.
    pub fn remark(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.suspend(|| remark(text)),
            Self::Lines(_) => remark(text),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// `1:05`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
