//! Progress of a run, reported between launches only.

use gritstone_measure::Progress;
use gritstone_model::Measurement;

pub trait Observer {
    fn progress(&mut self, progress: &Progress<'_>);
    fn shows_results(&self) -> bool;
    /// The first result of a benchmark that has an interval.
    fn result(&mut self, result: &Measurement);
    fn message(&mut self, text: &str);
    /// Erases the progress bar.
    fn finish(&mut self);
}
