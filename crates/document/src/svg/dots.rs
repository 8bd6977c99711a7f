//! Results as dots with their intervals, one a line: panels with a logarithmic axis each, in one column or in two.

use super::scale::Scale;
use super::{Anchor, Canvas, widest};
use crate::number;

/// Lines with one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What the axis shows.
    pub label: String,
    /// Unit of its ticks; empty for none.
    pub unit: String,
    /// Where a line is drawn from top to bottom.
    pub mark: Option<f64>,
    /// From top to bottom.
    pub dots: Vec<Dot>,
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dot {
    /// Stands at the left.
    pub name: String,
    /// Its place; one that is not above 0 has none.
    pub value: f64,
    /// Low and high.
    pub interval: Option<[f64; 2]>,
    /// Drawn as a ring: the result is in doubt.
    pub doubtful: bool,
    /// Its number, which stands at the right.
    pub text: String,
}

/// Height of a line; above the lines of a panel; below them, for the axis.
const LINE: f64 = 14.0;
const HEAD: f64 = 24.0;
const FOOT: f64 = 26.0;
const AXIS: f64 = 180.0;
const RADIUS: f64 = 3.2;
/// More lines are drawn in two columns; what is around a panel takes as much room as so many.
const ONE_COLUMN: usize = 24;
const AROUND: usize = 4;
/// Fewer lines of a panel do not stand at the end of a column.
const LEAST: usize = 3;
/// Values that all lie within this factor of 1 have a plain axis.
const LOG_FROM: f64 = 3.0;

/// The panels, on one canvas or on two of about the same height.
#[must_use]
pub fn draw(panels: &[Panel]) -> Vec<Canvas> {
    let taken = |panel: &Panel| panel.dots.len() + AROUND;
    let lines: usize = panels.iter().map(taken).sum();
    let left = widest(dots(panels).map(|dot| &dot.name)) + 12.0;
    let right = widest(dots(panels).map(|dot| &dot.text)) + 12.0;
    let mut columns = vec![vec![]];
    let mut room = match lines > ONE_COLUMN {
        true => lines.div_ceil(2),
        false => usize::MAX,
    };
    for panel in panels {
        let scale = panel.scale([left, left + AXIS]);
        let mut rest = panel.dots.as_slice();
        while !rest.is_empty() {
            if room < AROUND + LEAST && columns.len() == 1 {
                columns.push(vec![]);
                room = usize::MAX;
            }
            room = room.saturating_sub(AROUND);
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
        let of = |dot: &Dot| {
            [dot.value]
                .into_iter()
                .chain(dot.interval.into_iter().flatten())
        };
        let values = self.dots.iter().flat_map(of).chain(self.mark);
        let values: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).collect();
        let far = |v: &f64| !(1.0 / LOG_FROM..LOG_FROM).contains(v);
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
        canvas.rule(
            "axis",
            format_args!("M{:.1} {below:.1}H{:.1}", scale.from, scale.to),
        );
        if let Some(x) = self.mark.and_then(|mark| scale.place(mark)) {
            canvas.rule("axis", format_args!("M{x:.1} {above:.1}V{below:.1}"));
        }
        for (dot, y) in dots
            .iter()
            .zip((0..).map(|i| above + (f64::from(i) + 0.5) * LINE))
        {
            canvas.text(Anchor::End, scale.from - 8.0, y + 4.0, &dot.name);
            canvas.text(Anchor::Start, scale.to + 8.0, y + 4.0, &dot.text);
            dot.draw(canvas, scale, y);
        }
    }

    /// Round numbers that do not touch.
    fn ticks(&self, scale: &Scale) -> Vec<(f64, String)> {
        let mut last = f64::MIN;
        let mut ticks = vec![];
        for (tick, x) in scale.ticks() {
            let text = match self.unit.as_str() {
                "" if tick >= 1e6 => number::count_of(tick, None, 1),
                unit => number::at_most(tick, unit, 4),
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
        let ends = self.interval.map(|ends| ends.map(|end| scale.place(end)));
        let line = match ends {
            // an interval that reaches 0 has no end on a logarithmic axis
            Some([low, Some(high)]) => {
                let low = low.unwrap_or(scale.from);
                format!(
                    "<path class=\"stroke\" d=\"M{low:.1} {y:.1}H{high:.1}\" stroke=\"{0}\" stroke-width=\"1.6\"/>",
                    super::STRONG[0]
                )
            }
            _ => String::new(),
        };
        let (class, fill) = match self.doubtful {
            true => ("ring", "#fff"),
            false => ("fill", super::STRONG[0]),
        };
        canvas.put(format_args!(
            "<g class=\"strong0\">{line}<circle class=\"stroke {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.4\"/></g>",
            super::STRONG[0]
        ));
    }
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
            text: format!("{value} s"),
        };
        Panel {
            mark,
            dots: values.iter().map(dot).collect(),
            ..Panel::default()
        }
    }

    #[test]
    fn every_result_has_a_dot_and_a_doubtful_one_is_a_ring() {
        let drawn = draw(&[panel(&[1.0, 10.0, 100.0], Some(1.0))]);
        let [canvas] = drawn.as_slice() else {
            panic!("one column");
        };
        let count = |what: &str| canvas.body.matches(what).count();
        assert_eq!([count("<circle"), count("stroke ring")], [3, 2]);
    }

    #[test]
    fn many_stand_in_two_columns_of_which_each_has_the_axis_of_its_panel() {
        let values: Vec<f64> = (1..=30).map(f64::from).collect();
        let drawn = draw(&[panel(&values[..20], Some(1.0)), panel(&values, None)]);
        let circles = drawn.iter().map(|c| c.body.matches("<circle").count());
        assert_eq!(circles.collect::<Vec<_>>(), [20, 30]);
    }

    #[test]
    fn values_without_a_place_leave_a_drawing() {
        let odd = panel(&[f64::NAN, -1.0, 0.0, f64::INFINITY], None);
        for canvas in draw(&[odd, Panel::default()]) {
            assert!(!canvas.body.contains("<circle"), "{}", canvas.body);
        }
        assert_eq!(draw(&[]).len(), 1);
    }
}
