//! Scales and ticks.

/// Maps values to positions, linearly or logarithmically.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    log: bool,
    /// Ends of the range; logarithmic: their powers of ten.
    low: f64,
    high: f64,
    /// Positions of the ends.
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Scale {
    /// A scale of all these values between positions `from` and `to`; non-finite values, and on a logarithmic scale
    /// values not above 0, have no position.
    pub(super) fn new(values: impl Iterator<Item = f64>, log: bool, [from, to]: [f64; 2]) -> Self {
        let mut scale = Self { log, low: f64::MAX, high: f64::MIN, from, to };
        let values: Vec<f64> = values.filter_map(|value| scale.inner(value)).collect();
        for value in values {
            (scale.low, scale.high) = (scale.low.min(value), scale.high.max(value));
        }
        if scale.low > scale.high {
            let one = if log { 0.0 } else { 1.0 };
            (scale.low, scale.high) = (one, one);
        }
        scale
    }

    /// Adds room at both ends, so that no point lies on the frame; for x.
    pub(super) fn padded(mut self) -> Self {
        let whole = self.high - self.low;
        let room = if whole > 0.0 { whole * 0.04 } else { 0.5 };
        (self.low, self.high) = (self.low - room, self.high + room);
        self
    }

    /// Widens an empty range.
    pub(super) fn spread(mut self) -> Self {
        if self.high <= self.low {
            let room = (self.low.abs() * 0.01).max(f64::MIN_POSITIVE);
            (self.low, self.high) = (self.low - room, self.high + room);
        }
        self
    }

    /// Extends the ends to round numbers; a linear scale begins at 0. For y.
    pub(super) fn rounded(mut self) -> Self {
        let step = match self.log {
            true => 1.0,
            false => {
                (self.low, self.high) = (self.low.min(0.0), self.high.max(0.0));
                let whole = self.high - self.low;
                step(if whole > 0.0 { whole } else { 1.0 })
            }
        };
        self.low = (self.low / step).floor() * step;
        self.high = ((self.high / step).ceil() * step).max(self.low + step);
        self
    }

    /// Extends the ends to round numbers, wherever they lie. For y.
    pub(super) fn tight(self) -> Self {
        if self.log {
            return self.rounded();
        }
        let mut scale = self.spread();
        let step = step(scale.high - scale.low);
        scale.low = (scale.low / step).floor() * step;
        scale.high = (scale.high / step).ceil() * step;
        scale
    }

    fn inner(&self, value: f64) -> Option<f64> {
        let inner = if self.log { value.log10() } else { value };
        inner.is_finite().then_some(inner)
    }

    /// Position of a value; `None` outside the domain of a logarithm.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = (self.inner(value)? - self.low) / (self.high - self.low);
        Some(self.from + share * (self.to - self.from))
    }

    /// Round numbers in the range, with positions.
    pub(super) fn ticks(&self) -> Vec<(f64, f64)> {
        let ticks = if self.log { self.log_ticks() } else { self.plain_ticks() };
        let placed = |tick: f64| Some((tick, self.place(tick)?));
        ticks.into_iter().filter_map(placed).collect()
    }

    fn plain_ticks(&self) -> Vec<f64> {
        let step = step(self.high - self.low);
        let first = (self.low / step).ceil();
        // at most 11: a step is at least a tenth of the range
        (0..=10)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|tick| *tick <= self.high + step * 1e-9)
            .collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.low.round() as i32, self.high.round() as i32);
        let all = match last - first {
            0..=2 => (first - 1..=last)
                .flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)))
                .collect(),
            decades => (first..=last)
                .step_by(usize::try_from(decades / 9 + 1).unwrap_or(1))
                .map(|e| 10f64.powi(e))
                .collect::<Vec<_>>(),
        };
        let ends = (self.low - 0.0005)..=(self.high + 0.0005);
        let within = |tick: &f64| ends.contains(&tick.log10());
        all.into_iter().filter(within).collect()
    }
}

/// 1, 2 or 5 times a power of ten: five to ten steps per range.
fn step(whole: f64) -> f64 {
    let rough = whole / 10.0;
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= rough * 0.999_999);
    times.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_ticks_cover_all_values() {
        let tenths = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        for (values, log, wanted) in [
            (&[3.0, 18.0][..], false, &tenths.map(|t| t * 2.0)[..9 + 1]),
            (&[0.0021, 228.6], true, &[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]),
            (&[20.0, 90.0], true, &[10.0, 20.0, 50.0, 100.0]),
            (&[7.0], true, &[1.0, 2.0, 5.0, 10.0]),
            (&[], false, &tenths.map(|t| t * 0.1)),
            (&[-5.0, 5.0], false, &tenths.map(|t| t - 5.0)),
        ] {
            let scale = Scale::new(values.iter().copied(), log, [200.0, 0.0]).rounded();
            let ticks: Vec<f64> = scale.ticks().into_iter().map(|(tick, _)| tick).collect();
            assert_eq!(ticks, wanted);
        }
        let wide = Scale::new([1e-9, 1e9].into_iter(), true, [0.0, 1.0]).rounded();
        assert_eq!(wide.ticks().len(), 7);
    }

    #[test]
    fn positions_span_the_scale() {
        let scale = Scale::new([1.0, 100.0].into_iter(), true, [200.0, 0.0]).rounded();
        for (value, place) in [
            (1.0, Some(200.0)),
            (10.0, Some(100.0)),
            (100.0, Some(0.0)),
            (0.0, None),
            (-1.0, None),
            (f64::NAN, None),
        ] {
            assert_eq!(scale.place(value), place, "{value}");
        }
        let one = Scale::new([3.0].into_iter(), false, [0.0, 10.0]).padded();
        assert_eq!(one.place(3.0), Some(5.0));
    }
}
