//! What a front end shows while a run is measured. It is called between launches only.

use gritstone_measure::Progress;
use gritstone_model::Measurement;

/// Shows how far the measuring is.
pub trait Observer {
    fn progress(&mut self, progress: &Progress<'_>);
    /// Whether [`Observer::result`] shows anything.
    fn shows_results(&self) -> bool;
    /// The first result of a benchmark that has an interval.
    fn result(&mut self, result: &Measurement);
    fn message(&mut self, text: &str);
    /// Removes what is drawn.
    fn finish(&mut self);
}
