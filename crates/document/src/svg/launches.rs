//! Drawings of the launches of one result: whisker, sparkline, and time series with histogram.

use super::scale::Scale;
use super::{Anchor, Canvas, STRONG, widest};
use crate::number;
use std::fmt::Write as _;

/// Half of a whisker's range, relative to the estimate.
const WHISKER: f64 = 0.25;
/// Maximum points of a sparkline; more launches are averaged in groups.
const POINTS: usize = 40;
const HEIGHT: f64 = 120.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 28.0;
/// Widths: of the time series and of the histogram.
const ORDER: f64 = 330.0;
const SPREAD: f64 = 110.0;
const GAP: f64 = 22.0;
const MAX_BINS: f64 = 16.0;
const MAX_TICKS: usize = 6;

/// Interval around the estimate on a relative scale common to all results; an arrow where it is wider.
pub fn whisker(value: f64, [low, high]: [f64; 2]) -> String {
    let place = |end: f64| 50.0 + 50.0 * (end / value - 1.0) / WHISKER * value.signum();
    let mut path = String::new();
    let ends = [low, high].map(place);
    if ends.iter().all(|end| end.is_finite()) {
        let [from, to] = ends.map(|end| end.clamp(1.0, 99.0));
        let _ = write!(path, "M{from:.1} 6H{to:.1}");
        for (end, inward) in [(ends[0], 5), (ends[1], -5)] {
            let _ = match (1.0..=99.0).contains(&end) {
                true => write!(path, "M{end:.1} 3v6"),
                false => write!(
                    path,
                    "M{:.1} 2l{} 4l{inward} 4",
                    end.clamp(1.0, 99.0) + f64::from(inward),
                    -inward
                ),
            };
        }
    }
    format!(
        "<svg class=\"w\" viewBox=\"0 0 100 12\" aria-hidden=\"true\"><path d=\"{path}\"/><circle cx=\"50\" cy=\"6\" r=\"2.4\"/></svg>"
    )
}

/// Launches from left to right, scaled from smallest to largest; empty for fewer than two.
pub fn sparkline(values: &[f64]) -> String {
    let group = values.len().div_ceil(POINTS).max(1);
    let mean = |chunk: &[f64]| chunk.iter().sum::<f64>() / chunk.len() as f64;
    let means: Vec<f64> = values.chunks(group).map(mean).collect();
    let y = Scale::new(means.iter().copied(), false, [17.0, 3.0]).spread();
    let step = 96.0 / means.len().saturating_sub(1).max(1) as f64;
    let point = |(index, mean): (usize, &f64)| {
        Some(format!("{:.0} {:.1}", 2.0 + index as f64 * step, y.place(*mean)?))
    };
    let points: Vec<String> = means.iter().enumerate().filter_map(point).collect();
    match points.len() {
        0 | 1 => String::new(),
        _ => format!(
            "<svg class=\"s\" viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"M{}\"/></svg>",
            points.join("L")
        ),
    }
}

/// Time series of the launches with the interval of the estimate, and their histogram.
pub fn draw(values: &[f64], unit: &str, estimate: f64, interval: Option<[f64; 2]>) -> Canvas {
    let bottom = TOP + HEIGHT;
    let all = values.iter().copied().chain(interval.into_iter().flatten());
    let y = Scale::new(all, false, [bottom, TOP]).spread().padded();
    let ticks = y.ticks();
    let every = ticks.len().div_ceil(MAX_TICKS);
    let named = |(tick, y): (f64, f64)| (number::at_most(tick, unit, 10), y);
    let ticks: Vec<(String, f64)> = ticks.into_iter().step_by(every.max(1)).map(named).collect();
    let left = widest(ticks.iter().map(|(text, _)| text)) + 14.0;
    let (right, second) = (left + ORDER, left + ORDER + GAP);
    let mut canvas = Canvas::new(second + SPREAD + 6.0, bottom + BOTTOM);
    for (text, y) in &ticks {
        canvas
            .rule("grid", format_args!("M{left:.1} {y:.1}H{right:.1}M{second:.1} {y:.1}h{SPREAD}"));
        canvas.text(Anchor::End, left - 8.0, y + 4.0, text);
    }
    canvas.put(format_args!("<g class=\"strong0\">"));
    if let Some([Some(low), Some(high)]) = interval.map(|ends| ends.map(|end| y.place(end))) {
        canvas.put(format_args!(
            "<path class=\"fill band\" d=\"M{left:.1} {high:.1}H{right:.1}V{low:.1}H{left:.1}z\" fill=\"{}\" fill-opacity=\"0.16\"/>",
            STRONG[0]
        ));
    }
    if let Some(level) = y.place(estimate) {
        canvas.put(format_args!(
            "<path class=\"stroke\" d=\"M{left:.1} {level:.1}H{right:.1}\" stroke=\"{}\"/>",
            STRONG[0]
        ));
    }
    let step = (ORDER - 12.0) / values.len().saturating_sub(1).max(1) as f64;
    let dot = |(index, value): (usize, &f64)| {
        Some(format!("M{:.1} {:.1}h.1", left + 6.0 + index as f64 * step, y.place(*value)?))
    };
    let dots: String = values.iter().enumerate().filter_map(dot).collect();
    canvas.put(format_args!(
        "<path class=\"stroke\" d=\"{dots}\" stroke=\"{}\" stroke-width=\"5\" stroke-linecap=\"round\" fill=\"none\"/>",
        STRONG[0]
    ));
    let bins = (values.len() as f64).sqrt().ceil().clamp(1.0, MAX_BINS);
    let high = HEIGHT / bins;
    let mut counts = vec![0u32; bins as usize];
    for place in values.iter().filter_map(|value| y.place(*value)) {
        let bin = ((place - TOP) / high) as usize;
        counts[bin.min(bins as usize - 1)] += 1;
    }
    let max = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |(index, count): (usize, &u32)| {
        let (top, wide) = (TOP + index as f64 * high, SPREAD * f64::from(*count) / f64::from(max));
        format!("M{second:.1} {:.1}h{wide:.1}v{:.1}h-{wide:.1}z", top + 0.5, high - 1.0)
    };
    let bars: String = counts.iter().enumerate().filter(|(_, n)| **n > 0).map(bar).collect();
    canvas.put(format_args!("<path class=\"fill\" d=\"{bars}\" fill=\"{}\"/></g>", STRONG[0]));
    canvas.rule(
        "axis",
        format_args!("M{left:.1} {bottom:.1}H{right:.1}M{second:.1} {bottom:.1}h{SPREAD}"),
    );
    canvas.text(Anchor::Start, left, bottom + 18.0, "first launch");
    canvas.text(Anchor::End, right, bottom + 18.0, "last launch");
    canvas.text(Anchor::Start, second, bottom + 18.0, "distribution");
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_intervals_end_in_arrows() {
        let within = whisker(100.0, [90.0, 105.0]);
        assert!(within.contains("M30.0 6H60.0M30.0 3v6M60.0 3v6"), "{within}");
        let wide = whisker(100.0, [50.0, 300.0]);
        assert!(wide.contains("M1.0 6H99.0") && wide.matches('l').count() >= 4, "{wide}");
        assert!(!whisker(0.0, [0.0, 0.0]).contains("NaN"));
    }

    #[test]
    fn sparklines_span_their_width() {
        let line = sparkline(&[1.0, 3.0, 2.0]);
        assert!(line.contains("M2 17.0L50 3.0L98 10.0"), "{line}");
        assert_eq!(sparkline(&[1.0]), "");
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(sparkline(&many).matches('L').count(), 39);
    }

    #[test]
    fn all_launches_are_drawn() {
        let drawn = draw(&[1.0, 1.1, 1.2, 5.0], "ms", 1.1, Some([1.0, 1.2])).body;
        assert_eq!(drawn.matches("h.1").count(), 4);
        for odd in [&[][..], &[f64::NAN, 1.0], &[2.0, 2.0]] {
            let drawn = draw(odd, "ms", 2.0, None).body;
            assert!(!drawn.contains("NaN"), "{drawn}");
        }
    }
}
