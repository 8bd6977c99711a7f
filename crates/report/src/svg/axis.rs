//! Scales and ticks.

/// From values to places, plain or logarithmic.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale on which all these values have a place between `from` and `to`; values that are not finite, or on
    /// a logarithmic scale not above 0, have none.
    pub(super) fn new(values: impl Iterator<Item = f64>, log: bool, from: f64, to: f64) -> Self {
        let ok = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let (low, high) = values
            .filter(ok)
            .fold((f64::MAX, f64::MIN), |(low, high), v| {
                (low.min(v), high.max(v))
            });
        let (low, high) = if low > high { (1.0, 1.0) } else { (low, high) };
        Self {
            log,
            low,
            high,
            from,
            to,
        }
    }

    /// A little room at both ends, so that no point lies on the frame; for x.
    pub(super) fn padded(mut self) -> Self {
        let (low, high) = (self.inner(self.low), self.inner(self.high));
        let room = if high > low { (high - low) * 0.04 } else { 0.5 };
        (self.low, self.high) = (self.outer(low - room), self.outer(high + room));
        self
    }

    /// Ends at round numbers; a plain scale begins at 0. For y.
    pub(super) fn rounded(mut self) -> Self {
        if self.log {
            self.low = 10f64.powf(self.low.log10().floor());
            let top = 10f64.powf(self.high.log10().ceil());
            self.high = if top > self.low { top } else { self.low * 10.0 };
            return self;
        }
        let (low, high) = (self.low.min(0.0), self.high.max(0.0));
        let step = step(if high > low { high - low } else { 1.0 });
        self.low = (low / step).floor() * step;
        self.high = ((high / step).ceil() * step).max(self.low + step);
        self
    }

    fn inner(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    fn outer(&self, value: f64) -> f64 {
        if self.log { 10f64.powf(value) } else { value }
    }

    /// Where a value lies.
    pub(super) fn at(&self, value: f64) -> f64 {
        let (low, high) = (self.inner(self.low), self.inner(self.high));
        self.from + (self.inner(value) - low) / (high - low) * (self.to - self.from)
    }

    /// Whether a value has a place here.
    pub(super) fn has(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// Where a value lies, if it has a place here.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        self.has(value).then(|| self.at(value))
    }

    /// Round numbers from one end to the other.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.log {
            self.log_ticks()
        } else {
            self.plain_ticks()
        }
    }

    fn plain_ticks(&self) -> Vec<f64> {
        let step = step(self.high - self.low);
        let first = (self.low / step).ceil();
        // at most 11, whatever the numbers: a step is at least a tenth of the whole
        (0..=10)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|tick| *tick <= self.high + step * 1e-9)
            .collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decade = |v: f64| {
            #[allow(clippy::cast_possible_truncation)] // the exponent of a double
            let e = v.log10().round() as i32;
            e
        };
        let (first, last) = (decade(self.low), decade(self.high));
        let every = usize::try_from((last - first) / 9 + 1).unwrap_or(1);
        let within = |tick: &f64| *tick >= self.low * 0.999 && *tick <= self.high * 1.001;
        let decades: Vec<f64> = (first..=last)
            .step_by(every)
            .map(|e| 10f64.powi(e))
            .filter(within)
            .collect();
        if last - first > 2 {
            return decades;
        }
        (first - 1..=last)
            .flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)))
            .filter(within)
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, five to ten of which make the whole.
fn step(whole: f64) -> f64 {
    let rough = whole / 10.0;
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|m| m * power >= rough * 0.999_999);
    times.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64], log: bool) -> Vec<f64> {
        Scale::new(values.iter().copied(), log, 0.0, 1.0)
            .rounded()
            .ticks()
    }

    #[test]
    fn ticks_are_round_and_hold_everything() {
        assert_eq!(
            ticks(&[3.0, 18.0], false),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0]
        );
        assert_eq!(
            ticks(&[0.0021, 228.6], true),
            [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
        );
        assert_eq!(ticks(&[20.0, 90.0], true), [10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(&[7.0], true), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(&[1e-9, 1e9], true).len(), 7);
        assert_eq!(
            ticks(&[], false),
            [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
                .map(|t: f64| (t * 10.0).round() * 0.1)
        );
        assert!(ticks(&[-5.0, 5.0], false).contains(&0.0));
    }

    #[test]
    fn places_run_from_one_end_to_the_other() {
        let scale = Scale::new([1.0, 100.0].into_iter(), true, 200.0, 0.0).rounded();
        assert_eq!(
            [scale.at(1.0), scale.at(10.0), scale.at(100.0)],
            [200.0, 100.0, 0.0]
        );
        assert_eq!(
            [scale.place(0.0), scale.place(-1.0), scale.place(f64::NAN)],
            [None; 3]
        );
        let one = Scale::new([3.0].into_iter(), false, 0.0, 10.0).padded();
        assert!((one.at(3.0) - 5.0).abs() < 1e-9);
    }
}
