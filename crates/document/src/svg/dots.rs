//! Dot plots: results with intervals, one per line, in panels with a logarithmic axis each, in one or two columns.

use super::scale::Scale;
use super::{Anchor, CHAR, Canvas, widest};
use crate::number;

/// Lines with a common axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Quantity of the axis.
    pub label: String,
    /// Unit of its ticks; may be empty.
    pub unit: String,
    /// A vertical line.
    pub mark: Option<f64>,
    /// From top to bottom.
    pub dots: Vec<Dot>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dot {
    /// Shown at the left.
    pub name: String,
    /// Position; not drawn unless above 0.
    pub value: f64,
    pub interval: Option<[f64; 2]>,
    /// In doubt: drawn as a ring.
    pub doubtful: bool,
    /// Another system, for comparison: drawn in gray.
    pub other: bool,
    /// Formatted value, shown at the right.
    pub text: String,
}

/// Heights: of a line, above the lines of a panel, below them (axis).
const LINE: f64 = 14.0;
const HEAD: f64 = 24.0;
const FOOT: f64 = 26.0;
const AXIS: f64 = 180.0;
const RADIUS: f64 = 3.2;
/// More lines are drawn in two columns; a panel's frame counts as `FRAME_LINES`.
const MAX_ONE_COLUMN: usize = 24;
const FRAME_LINES: usize = 4;
/// Minimum lines of a panel at the end of a column.
const MIN_LINES: usize = 3;
/// Values within this factor of 1 get a linear axis.
const LOG_FACTOR: f64 = 3.0;
/// An end of an interval farther than this factor from its value is not on the axis: an arrow leads there.
const MAX_REACH: f64 = 3.0;

/// Draws the panels on one canvas, or on two of similar height.
pub fn draw(panels: &[Panel]) -> Vec<Canvas> {
    let taken = |panel: &Panel| panel.dots.len() + FRAME_LINES;
    let lines: usize = panels.iter().map(taken).sum();
    let left = widest(dots(panels).map(|dot| &dot.name)) + 12.0;
    // a percent sign is wider than a digit
    let right = widest(dots(panels).map(|dot| &dot.text)) + 12.0 + CHAR;
    let mut columns = vec![vec![]];
    let mut room = match lines > MAX_ONE_COLUMN {
        true => lines.div_ceil(2),
        false => usize::MAX,
    };
    for panel in panels {
        let scale = panel.scale([left, left + AXIS]);
        let mut rest = panel.dots.as_slice();
        while !rest.is_empty() {
            if room < FRAME_LINES + MIN_LINES && columns.len() == 1 {
                columns.push(vec![]);
                room = usize::MAX;
            }
            room = room.saturating_sub(FRAME_LINES);
            let (here, next) = rest.split_at(rest.len().min(room));
            room -= here.len();
            rest = next;
            let column = columns.last_mut().expect("one at least");
            column.push((panel, scale.clone(), here));
        }
    }
    let width = left + AXIS + right;
    let drawn = columns.into_iter().map(|parts| {
        let height = |dots: &[Dot]| HEAD + dots.len() as f64 * LINE + FOOT;
        let all: f64 = parts.iter().map(|(_, _, dots)| height(dots)).sum();
        let mut canvas = Canvas::new(width, all);
        let mut top = 0.0;
        for (panel, scale, dots) in parts {
            panel.draw(&mut canvas, &scale, dots, top);
            top += height(dots);
        }
        canvas
    });
    drawn.collect()
}

fn dots(panels: &[Panel]) -> impl Iterator<Item = &Dot> {
    panels.iter().flat_map(|panel| &panel.dots)
}

impl Panel {
    fn scale(&self, ends: [f64; 2]) -> Scale {
        let near_values = |dot: &Dot| {
            let value = dot.value;
            let near = move |end: &f64| (value / MAX_REACH..=value * MAX_REACH).contains(end);
            let ends = dot.interval.into_iter().flatten().filter(near);
            std::iter::once(value).chain(ends)
        };
        let values = self.dots.iter().flat_map(near_values).chain(self.mark);
        let values: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).collect();
        let far = |v: &f64| !(1.0 / LOG_FACTOR..LOG_FACTOR).contains(v);
        let log = self.mark.is_none() || values.iter().any(far);
        Scale::new(values.into_iter(), log, ends).padded()
    }

    fn draw(&self, canvas: &mut Canvas, scale: &Scale, dots: &[Dot], top: f64) {
        let (above, below) = (top + HEAD, top + HEAD + dots.len() as f64 * LINE);
        canvas.text(Anchor::Start, scale.from, top + 14.0, &self.label);
        for (x, text) in self.ticks(scale) {
            canvas.rule("grid", format_args!("M{x:.1} {above:.1}V{below:.1}"));
            canvas.text(Anchor::Middle, x, below + 14.0, &text);
        }
        canvas.rule("axis", format_args!("M{:.1} {below:.1}H{:.1}", scale.from, scale.to));
        if let Some(x) = self.mark.and_then(|mark| scale.place(mark)) {
            canvas.rule("axis", format_args!("M{x:.1} {above:.1}V{below:.1}"));
        }
        for (dot, y) in dots.iter().zip((0..).map(|i| above + (f64::from(i) + 0.5) * LINE)) {
            canvas.text(Anchor::End, scale.from - 8.0, y + 4.0, &dot.name);
            canvas.text(Anchor::Start, scale.to + 8.0, y + 4.0, &dot.text);
            dot.draw(canvas, scale, y);
        }
    }

    /// Round numbers whose labels do not overlap.
    fn ticks(&self, scale: &Scale) -> Vec<(f64, String)> {
        let mut last = f64::MIN;
        let mut ticks = vec![];
        for (tick, x) in scale.ticks() {
            let text = match self.unit.as_str() {
                "" if tick >= 1e6 => number::count_of(tick, None, 1),
                unit => number::at_most(tick, unit, 10),
            };
            let half = widest(std::iter::once(&text)) / 2.0;
            if x - half > last + 6.0 {
                last = x + half;
                ticks.push((x, text));
            }
        }
        ticks
    }
}

impl Dot {
    fn draw(&self, canvas: &mut Canvas, scale: &Scale, y: f64) {
        let Some(x) = scale.place(self.value) else {
            return;
        };
        let (group, color) = match self.other {
            true => ("other", super::GRAY),
            false => ("strong0", super::STRONG[0]),
        };
        let line =
            self.interval.map_or_else(String::new, |interval| line(interval, scale, y, color));
        let (class, fill) = match self.doubtful {
            true => ("ring", "#fff"),
            false => ("fill", color),
        };
        canvas.put(format_args!(
            "<g class=\"{group}\">{line}<circle class=\"stroke {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{fill}\" stroke=\"{color}\" stroke-width=\"1.4\"/></g>"
        ));
    }
}

/// An interval, as far as the axis reaches, with an arrow at an end beyond it.
fn line([low, high]: [f64; 2], scale: &Scale, y: f64, color: &str) -> String {
    // 0 and infinity have no position on a logarithmic axis
    let low = scale.place(low).unwrap_or(f64::MIN);
    let high = scale.place(high).unwrap_or(f64::MAX);
    let [from, to] = [low, high].map(|end| end.clamp(scale.from, scale.to));
    let mut path = format!("M{from:.1} {y:.1}H{to:.1}");
    if low < scale.from {
        path += &format!("M{:.1} {:.1}l-4 3l4 3", from + 4.0, y - 3.0);
    }
    if high > scale.to {
        path += &format!("M{:.1} {:.1}l4 3l-4 3", to - 4.0, y - 3.0);
    }
    format!(
        "<path class=\"stroke\" d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(values: &[f64], mark: Option<f64>) -> Panel {
        let dot = |value: &f64| Dot {
            name: format!("byte/{value}"),
            value: *value,
            interval: Some([value * 0.9, value * 1.1]),
            doubtful: *value > 5.0,
            other: *value > 50.0,
            text: format!("{value} s"),
        };
        Panel { mark, dots: values.iter().map(dot).collect(), ..Panel::default() }
    }

    #[test]
    fn doubtful_dots_are_rings() {
        let drawn = draw(&[panel(&[1.0, 10.0, 100.0], Some(1.0))]);
        let [canvas] = drawn.as_slice() else {
            panic!("one column");
        };
        let count = |what: &str| canvas.body.matches(what).count();
        assert_eq!([count("<circle"), count("stroke ring")], [3, 2]);
        assert_eq!([count("strong0"), count("\"other\"")], [2, 1]);
    }

    #[test]
    fn many_dots_take_two_columns() {
        let values: Vec<f64> = (1..=30).map(f64::from).collect();
        let drawn = draw(&[panel(&values[..20], Some(1.0)), panel(&values, None)]);
        let circles = drawn.iter().map(|c| c.body.matches("<circle").count());
        assert_eq!(circles.collect::<Vec<_>>(), [20, 30]);
    }

    #[test]
    fn wide_intervals_end_in_arrows() {
        let mut panel = panel(&[1.0, 2.0], Some(1.0));
        panel.dots[1].interval = Some([1e-15, 1e10]);
        let scale = panel.scale([0.0, 100.0]);
        assert!(scale.place(2.0).unwrap() - scale.place(1.0).unwrap() > 50.0);
        let body = &draw(&[panel])[0].body;
        let arrows = ["l-4 3l4 3", "l4 3l-4 3"].map(|arrow| body.matches(arrow).count());
        assert_eq!(arrows, [1, 1], "{body}");
    }

    #[test]
    fn impossible_values_leave_a_drawing() {
        let odd = panel(&[f64::NAN, -1.0, 0.0, f64::INFINITY], None);
        for canvas in draw(&[odd, Panel::default()]) {
            assert!(!canvas.body.contains("<circle"), "{}", canvas.body);
        }
        assert_eq!(draw(&[]).len(), 1);
    }
}
