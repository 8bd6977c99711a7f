//! Bars from 1 to a ratio, each with its interval and its number, in groups that are named at the left.
//!
//! The axis is logarithmic, so that twice as fast and half as fast are bars of one length, unless all ratios lie so close
//! to 1 that round numbers of a plain axis say more.

use super::scale::Scale;
use super::{Anchor, Canvas, STRONG, cut, widest};
use crate::clean::escape;
use crate::number;

/// A figure of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// What the ratio is to.
    pub x_label: String,
    /// The name of each bar of a group; one name is not shown.
    pub names: Vec<String>,
    /// The groups, from top to bottom.
    pub groups: Vec<Group>,
}

/// Bars that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Stands at the left.
    pub name: String,
    /// As many as there are names; `None` leaves a gap.
    pub bars: Vec<Option<Bar>>,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Where it ends; above 0.
    pub ratio: f64,
    /// Low and high.
    pub interval: Option<[f64; 2]>,
    /// Its number, as it is to stand beside it.
    pub text: String,
}

/// Width of the axis.
const WIDTH: f64 = 380.0;
/// Room for the numbers behind the bars.
const NUMBERS: f64 = 70.0;
/// Height of a bar, and from one to the next.
const THICK: f64 = 9.0;
const STEP: f64 = 13.0;
/// Between two groups.
const GAP: f64 = 6.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 44.0;
/// Height of a line of names.
const NAME: f64 = 18.0;
/// Ratios that all lie within this factor have a plain axis.
const LOG_FROM: f64 = 3.0;

impl Bars {
    /// The drawing.
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let names: Vec<String> = self.groups.iter().map(|g| cut(&g.name)).collect();
        let left = widest(names.iter()) + 14.0;
        let legend = match self.names.len() {
            0..=1 => 0.0,
            names => names as f64 * NAME + GAP,
        };
        let top = TOP + legend;
        let group_height = self.names.len().max(1) as f64 * STEP + GAP;
        let bottom = top + self.groups.len() as f64 * group_height;
        let scale = self.scale([left, left + WIDTH]);
        let mut canvas = Canvas::new(left + WIDTH + NUMBERS, bottom + BOTTOM);
        self.legend(&mut canvas, left);
        for (tick, x) in scale.ticks() {
            canvas.rule("grid", format_args!("M{x:.1} {top:.1}V{bottom:.1}"));
            let text = number::at_most(tick, "", 4);
            canvas.text(Anchor::Middle, x, bottom + 16.0, &text);
        }
        canvas.rule("axis", format_args!("M{left:.1} {bottom:.1}h{WIDTH}"));
        let middle = left + WIDTH / 2.0;
        canvas.text(Anchor::Middle, middle, bottom + 36.0, &self.x_label);
        let one = scale.place(1.0).unwrap_or(left);
        let mut y = top + GAP / 2.0;
        for (group, name) in self.groups.iter().zip(&names) {
            let middle = y + (group_height - GAP) / 2.0;
            canvas.text(Anchor::End, left - 8.0, middle + 4.0, name);
            for (at, bar) in group.bars.iter().enumerate() {
                if let Some(bar) = bar {
                    let top = y + at as f64 * STEP + (STEP - THICK) / 2.0;
                    draw(&mut canvas, &scale, one, (at, bar), top);
                }
            }
            y += group_height;
        }
        // the line of 1 lies over the bars' ends
        canvas.rule("axis", format_args!("M{one:.1} {top:.1}V{bottom:.1}"));
        canvas
    }

    fn scale(&self, ends: [f64; 2]) -> Scale {
        let bars = self.groups.iter().flat_map(|g| &g.bars).flatten();
        let values = bars.flat_map(|bar| bar.interval.into_iter().flatten().chain([bar.ratio]));
        let values: Vec<f64> = values.chain([1.0]).filter(|v| v.is_finite()).collect();
        let positive = || values.iter().copied().filter(|v| *v > 0.0);
        let low = positive().fold(f64::MAX, f64::min);
        let log = positive().any(|value| value / low > LOG_FROM);
        Scale::new(values.into_iter(), log, ends).padded()
    }

    fn legend(&self, canvas: &mut Canvas, left: f64) {
        let shown = self.names.iter().filter(|_| self.names.len() > 1);
        for (at, name) in shown.enumerate() {
            let y = TOP + (at as f64 + 0.5) * NAME;
            body(canvas, at, left, y - THICK / 2.0, 26.0);
            canvas.text(Anchor::Start, left + 34.0, y + 4.0, &cut(name));
        }
    }
}

fn draw(canvas: &mut Canvas, scale: &Scale, one: f64, (at, bar): (usize, &Bar), y: f64) {
    let Some(end) = scale.place(bar.ratio) else {
        return;
    };
    body(canvas, at, one.min(end), y, (end - one).abs().max(0.5));
    let middle = y + THICK / 2.0;
    let mut furthest = one.max(end);
    let interval = bar.interval.map(|ends| ends.map(|end| scale.place(end)));
    if let Some([Some(low), Some(high)]) = interval {
        furthest = furthest.max(high);
        canvas.put(format_args!(
            "<path class=\"axis\" d=\"M{low:.1} {:.1}v6M{low:.1} {middle:.1}H{high:.1}m0 -3v6\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>",
            middle - 3.0
        ));
    }
    canvas.put(format_args!(
        "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#333\">{}</text>",
        furthest + 6.0,
        middle + 4.0,
        escape(&bar.text)
    ));
}

/// The body of a bar: colors alone do not tell bars apart, so every second is hollow.
fn body(canvas: &mut Canvas, at: usize, x: f64, y: f64, width: f64) {
    let number = at % STRONG.len();
    let color = STRONG[number];
    let (class, paint) = match at.is_multiple_of(2) {
        true => ("fill", format!("fill=\"{color}\" fill-opacity=\"0.75\"")),
        false => (
            "stroke",
            format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"1.4\""),
        ),
    };
    canvas.put(format_args!(
        "<g class=\"strong{number}\"><path class=\"{class}\" d=\"M{x:.1} {y:.1}h{width:.1}v{THICK}h-{width:.1}z\" {paint}/></g>"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(names: &[&str], ratios: &[f64]) -> String {
        let bar = |ratio: &f64| Bar {
            ratio: *ratio,
            interval: (*ratio == 2.5).then_some([2.0, 3.0]),
            text: ratio.to_string(),
        };
        let group = |ratio| Group {
            name: "row".to_owned(),
            bars: vec![Some(bar(ratio)), None],
        };
        let bars = Bars {
            x_label: "Ratio".into(),
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            groups: ratios.iter().map(group).collect(),
        };
        bars.draw().body
    }

    #[test]
    fn bars_have_their_number_and_names_only_where_there_are_several() {
        let one = drawing(&["only"], &[2.5, 0.5]);
        assert!(one.contains(">2.5</text>") && one.contains(">0.5</text>"));
        assert!(!one.contains("only"));
        // one interval, one thin line
        assert_eq!(one.matches("stroke-width=\"1.2\"").count(), 1);
        let two = drawing(&["a", "b"], &[2.0]);
        assert!(two.contains(">a</text>") && two.contains(">b</text>"));
    }

    #[test]
    fn bars_begin_at_one_and_lie_inside() {
        for ratio in [1e-9, 0.99, 1.0, 1.01, 1e9] {
            let svg = drawing(&["a"], &[ratio]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        // twice as fast and half as fast are bars of one length on either side of 1
        let both = drawing(&["a"], &[4.0, 0.25]);
        let number = |text: &str, end: char| text.split(end).next().unwrap().parse::<f64>();
        let ends = both.split("class=\"fill\" d=\"M").skip(1).map(|path| {
            let start = number(path, ' ').unwrap();
            (start, number(path.split_once('h').unwrap().1, 'v').unwrap())
        });
        let [(one, up), (start, down)] = ends.collect::<Vec<_>>()[..] else {
            panic!("{both}");
        };
        assert!((start + down - one).abs() < 0.2 && (up - down).abs() < 0.2);
    }
}
