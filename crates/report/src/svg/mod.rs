//! Figures as SVG: lines with intervals over a plain or a logarithmic axis, each line named at its end.
//!
//! Drawn here and not by a plotting library. The crate kuva was tried: it has intervals, log axes and legible
//! ticks, but it is 95,000 lines that take 43 CPU seconds of a release build (10 in development; a fresh clone has
//! about two minutes on two cores), tells lines apart by color in a legend beside the plot, where fifteen
//! machines need names at the lines' ends that survive black and white, and writes colors that a page cannot
//! turn dark. What a brief needs is in these few hundred lines; nobody outside this module sees how it is done.
//!
//! Every color is an attribute, so that a figure stands by itself in any renderer, and every element has a
//! class, by which a page may give it other colors in the dark.

pub mod bars;
pub mod matrix;

mod axis;
mod labels;
mod pen;

use crate::clean::escape;
use crate::number;
use axis::Scale;
use labels::Label;
use pen::Pen;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// A figure of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Unique in its document: the beginning of every `id` in the drawing. Letters, digits and `-`.
    pub id: String,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The same at length, numbers included.
    pub description: String,
    /// What is counted along x.
    pub x_label: String,
    /// What is counted along y.
    pub y_label: String,
    /// Unit of y, as it is to stand at the ticks; empty for none.
    pub y_unit: String,
    /// Places along x that have names, instead of numbers at its ticks; empty for numbers.
    pub x_names: Vec<(f64, String)>,
    /// Whether x is logarithmic.
    pub log_x: bool,
    /// Whether y is logarithmic.
    pub log_y: bool,
    /// The lines, each with a name of its own.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name, which stands at its end.
    pub name: String,
    /// The line that the reader looks for: thick and colored; the others are thin and gray.
    pub strong: bool,
    /// Its points are not joined: another line goes through them.
    pub loose: bool,
    /// Its points from left to right.
    pub points: Vec<Point>,
}

/// One point of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Where along x.
    pub x: f64,
    /// How high; `None` breaks the line.
    pub y: Option<f64>,
    /// Low and high.
    pub interval: Option<[f64; 2]>,
}

/// Room at the left for the name of y, and for its ticks: this much at least.
const NAME: f64 = 26.0;
const LEAST_TICK: f64 = 40.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 52.0;
const PLOT_WIDTH: f64 = 500.0;
const LEAST_HEIGHT: f64 = 360.0;
/// From here on intervals are drawn as a band: bars would touch.
const BAND_FROM: usize = 13;
/// The last before the general name is the one that a PDF has inside.
const FONT: &str =
    "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";

/// How every drawing begins: with its identifier, its title and its description.
fn open([id, title, description]: [&String; 3], width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" aria-labelledby=\"{id}-title {id}-desc\" \
         font-family=\"{FONT}\" font-size=\"12\">\n\
         <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n",
        escape(title),
        escape(description)
    )
}

impl Plot {
    /// The drawing, a whole `<svg>` element. Values that have no place on a logarithmic axis are left out.
    #[must_use]
    pub fn render(&self) -> String {
        let height = LEAST_HEIGHT.max(labels::height(self.lines.len()));
        let y = Scale::new(
            self.values(|p| [p.y, p.interval.map(|i| i[0]), p.interval.map(|i| i[1])]),
            self.log_y,
            TOP + height,
            TOP,
        )
        .rounded();
        let ticks = y.ticks().into_iter().map(|tick| self.tick(tick).width());
        #[allow(clippy::cast_precision_loss)] // a few letters
        let widest = ticks.max().unwrap_or(0) as f64 * labels::CHAR;
        let left = NAME + widest.max(LEAST_TICK) + 8.0;
        let right = left + PLOT_WIDTH;
        let x = self.values(|p| [Some(p.x); 3]);
        let area = Area {
            x: Scale::new(x, self.log_x, left, right).padded(),
            y,
            left,
            bottom: TOP + height,
        };
        let labels = self.labels(&area);
        let width = right + labels::width(&labels);
        let names = [&self.id, &self.title, &self.description];
        let mut out = open(names, width, TOP + height + BOTTOM);
        self.axes(&mut out, &area);
        for (index, line) in self.lines.iter().enumerate() {
            self.line(&mut out, &area, index, line);
        }
        labels::draw(&mut out, &labels, right);
        out.push_str("</svg>\n");
        out
    }

    fn values<'a>(
        &'a self,
        of: impl Fn(&Point) -> [Option<f64>; 3] + 'a,
    ) -> impl Iterator<Item = f64> + 'a {
        self.lines
            .iter()
            .flat_map(|l| &l.points)
            .flat_map(of)
            .flatten()
    }

    fn tick(&self, y: f64) -> String {
        number::at_most(y, &self.y_unit, 4)
    }

    fn axes(&self, out: &mut String, area: &Area) {
        let (left, bottom) = (area.left, area.bottom);
        let right = left + PLOT_WIDTH;
        for tick in area.y.ticks() {
            let y = area.y.at(tick);
            let text = escape(&self.tick(tick));
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"#dcdcdc\"/>\
                 <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#333\">{text}</text>",
                left - 8.0,
                y + 4.0
            );
        }
        for (tick, text) in self.x_ticks(area) {
            let x = area.x.at(tick);
            let text = escape(&text);
            let _ = writeln!(
                out,
                "<path class=\"axis\" d=\"M{x:.1} {bottom}v5\" stroke=\"#555\"/>\
                 <text class=\"ink\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#333\">{text}</text>",
                bottom + 19.0
            );
        }
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {bottom}H{right:.1}\" stroke=\"#555\"/>\
             <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#333\">{}</text>\
             <text class=\"ink\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#333\">{}</text>",
            left + PLOT_WIDTH / 2.0,
            bottom + 42.0,
            escape(&self.x_label),
            f64::midpoint(TOP, bottom),
            escape(&self.y_label)
        );
    }

    /// The places where something was measured, when they are few; otherwise round numbers.
    fn x_ticks(&self, area: &Area) -> Vec<(f64, String)> {
        if !self.x_names.is_empty() {
            return self.x_names.clone();
        }
        let mut xs: Vec<f64> = self
            .values(|p| [Some(p.x), None, None])
            .filter(|x| area.x.has(*x))
            .collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let ticks = if xs.len() <= 12 { xs } else { area.x.ticks() };
        let named = |tick: f64| (tick, number::at_most(tick, "", 6));
        ticks.into_iter().map(named).collect()
    }

    fn line(&self, out: &mut String, area: &Area, index: usize, line: &Line) {
        let pen = Pen::of(&self.lines, index);
        let place = |p: &Point| Some((area.x.place(p.x)?, area.y.place(p.y?)?));
        let _ = writeln!(out, "<g class=\"line {}\">", pen.class);
        if line.points.len() >= BAND_FROM {
            band(out, area, line, &pen);
        } else {
            bars(out, area, line, &pen);
        }
        let mut path = String::new();
        let mut pen_down = false;
        for point in &line.points {
            let at = place(point);
            if let Some((x, y)) = at {
                let _ = write!(path, "{}{x:.1} {y:.1}", if pen_down { 'L' } else { 'M' });
            }
            pen_down = at.is_some();
        }
        if !line.loose {
            let _ = writeln!(
                out,
                "<path class=\"stroke\" d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{}/>",
                pen.color,
                pen.width,
                pen.dash()
            );
        }
        if line.points.len() < BAND_FROM {
            for (x, y) in line.points.iter().filter_map(place) {
                out.push_str(&pen.marker(x, y));
            }
        }
        out.push_str("</g>\n");
    }

    fn labels(&self, area: &Area) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::new();
        let right = self
            .values(|p| [Some(p.x), None, None])
            .fold(f64::MIN, f64::max);
        for (index, line) in self.lines.iter().enumerate() {
            let last = line
                .points
                .iter()
                .rev()
                .find_map(|p| Some((p.x, area.x.place(p.x)?, area.y.place(p.y?)?)));
            if let Some((value, x, y)) = last {
                labels.push(Label::new(
                    &line.name,
                    Pen::of(&self.lines, index),
                    line.strong,
                    (x, y),
                    value >= right,
                ));
            }
        }
        labels::spread(&mut labels, TOP, area.bottom);
        labels
    }
}

struct Area {
    x: Scale,
    y: Scale,
    left: f64,
    bottom: f64,
}

fn bars(out: &mut String, area: &Area, line: &Line, pen: &Pen) {
    for point in &line.points {
        let Some((x, [low, high])) = area.x.place(point.x).zip(point.interval) else {
            continue;
        };
        let (Some(low), Some(high)) = (area.y.place(low), area.y.place(high)) else {
            continue;
        };
        let _ = writeln!(
            out,
            "<path class=\"stroke\" d=\"M{:.1} {low:.1}h8M{x:.1} {low:.1}V{high:.1}M{:.1} {high:.1}h8\" fill=\"none\" stroke=\"{}\"/>",
            x - 4.0,
            x - 4.0,
            pen.color
        );
    }
}

fn band(out: &mut String, area: &Area, line: &Line, pen: &Pen) {
    let edge = |which: usize| {
        line.points.iter().filter_map(move |p| {
            let bounds = p.interval?;
            // a band is drawn only where it has both edges
            area.y.place(bounds[1 - which])?;
            Some(format!(
                "{:.1} {:.1}",
                area.x.place(p.x)?,
                area.y.place(bounds[which])?
            ))
        })
    };
    let mut points: Vec<String> = edge(0).collect();
    let back: Vec<String> = edge(1).collect();
    points.extend(back.into_iter().rev());
    if !points.is_empty() {
        let _ = writeln!(
            out,
            "<path class=\"fill band\" d=\"M{}z\" fill=\"{}\" fill-opacity=\"0.2\"/>",
            points.join("L"),
            pen.color
        );
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
