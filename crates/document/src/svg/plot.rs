//! Line plots with intervals; each line is named at its end.
//!
//! A line that reaches the right edge leads to its name; one that ends earlier is labeled by a letter at its end and
//! before its name.

use super::scale::Scale;
use super::{Anchor, CHAR, Canvas, GRAY, STRONG, cut, widest};
use crate::number;
use crate::sanitize::escape;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Quantity along x.
    pub x_label: String,
    /// Quantity along y.
    pub y_label: String,
    /// Unit of y at the ticks; may be empty.
    pub y_unit: String,
    /// Named positions along x in place of numeric ticks; empty for numeric ticks.
    pub x_names: Vec<(f64, String)>,
    pub log_x: bool,
    pub log_y: bool,
    /// The y axis covers estimates and usual intervals; ends of wider intervals are clipped and marked.
    pub clips_intervals: bool,
    /// Their names are unique.
    pub lines: Vec<Line>,
    /// Vertical lines: position, label.
    pub marks: Vec<(f64, String)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Shown at its end.
    pub name: String,
    /// Highlighted: thick and colored; others are thin and gray.
    pub strong: bool,
    /// Points are not joined.
    pub loose: bool,
    /// From left to right.
    pub points: Vec<Point>,
    /// Results that are not compared: hollow markers beside the line, at the edge where they are beyond the axis.
    pub excluded: Vec<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    /// `None` breaks the line.
    pub y: Option<f64>,
    pub interval: Option<[f64; 2]>,
}

/// Widths at the left: for the label of y; the minimum for its ticks.
const NAME: f64 = 26.0;
const MIN_TICK: f64 = 40.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 52.0;
const PLOT_WIDTH: f64 = 500.0;
const MIN_HEIGHT: f64 = 360.0;
/// Heights: of a name; between frame and names, for leaders and a marker.
const ROW: f64 = 16.0;
const GAP: f64 = 44.0;
/// Number of points from which intervals are a band: bars would touch.
const BAND_FROM: usize = 13;
/// Four dashes and five markers distinguish twenty gray lines.
const DASHES: [&str; 4] = [
    "",
    " stroke-dasharray=\"6 3\"",
    " stroke-dasharray=\"2 2.5\"",
    " stroke-dasharray=\"9 3 2 3\"",
];
/// Corners of the markers, in units of their radius; the first is a circle.
const SHAPES: [&[[f64; 2]]; 5] = [
    &[],
    &[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
    &[[0.0, -1.2], [1.2, 1.0], [-1.2, 1.0]],
    &[[0.0, -1.4], [1.4, 0.0], [0.0, 1.4], [-1.4, 0.0]],
    &[[0.0, 1.2], [-1.2, -1.0], [1.2, -1.0]],
];

/// Style of a line, distinct in color and in black and white.
#[derive(Clone, Copy, Debug)]
struct Pen {
    strong: bool,
    /// Number among lines of its kind.
    number: usize,
}

struct Area {
    x: Scale,
    y: Scale,
}

/// Name at the end of a line.
struct Label {
    text: String,
    pen: Pen,
    end: (f64, f64),
    at_edge: bool,
    y: f64,
}

impl Plot {
    /// Values without a position on a logarithmic axis are left out.
    pub fn draw(&self) -> Canvas {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let names = self.lines.len() as f64 * ROW + ROW;
        let bottom = TOP + MIN_HEIGHT.max(names);
        let y = self.scale(bottom);
        let tick = |(tick, y)| (number::at_most(tick, &self.y_unit, 10), y);
        let ticks: Vec<(String, f64)> = y.ticks().into_iter().map(tick).collect();
        let left = NAME + widest(ticks.iter().map(|(text, _)| text)).max(MIN_TICK) + 8.0;
        let right = left + PLOT_WIDTH;
        let x = Scale::new(points().map(|p| p.x), self.log_x, [left, right]).padded();
        let area = Area { x, y };
        let pens = pens(&self.lines);
        let labels = self.labels(&area, &pens);
        let longest = widest(labels.iter().map(|label| &label.text));
        let width = right + GAP + longest + 3.0 * CHAR;
        let mut canvas = Canvas::new(width, bottom + BOTTOM);
        for (text, y) in &ticks {
            canvas.rule("grid", format_args!("M{left:.1} {y:.1}H{right:.1}"));
            canvas.text(Anchor::End, left - 8.0, y + 4.0, text);
        }
        for (x, text) in self.x_ticks(&area.x) {
            canvas.rule("axis", format_args!("M{x:.1} {bottom}v5"));
            canvas.text(Anchor::Middle, x, bottom + 19.0, &text);
        }
        canvas.rule("axis", format_args!("M{left:.1} {bottom}H{right:.1}"));
        let middle = left + PLOT_WIDTH / 2.0;
        canvas.text(Anchor::Middle, middle, bottom + 42.0, &self.x_label);
        canvas.put(format_args!(
            "<g transform=\"translate(14 {:.1}) rotate(-90)\">",
            f64::midpoint(TOP, bottom)
        ));
        canvas.text(Anchor::Middle, 0.0, 0.0, &self.y_label);
        canvas.put(format_args!("</g>"));
        for (x, label) in &self.marks {
            if let Some(x) = area.x.place(*x) {
                canvas.put(format_args!(
                    "<path class=\"axis\" d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#555\" stroke-dasharray=\"4 3\"/>"
                ));
                canvas.text(Anchor::Middle, x, TOP - 3.0, label);
            }
        }
        for (line, pen) in self.lines.iter().zip(pens) {
            area.draw(&mut canvas, line, pen);
        }
        for label in &labels {
            label.draw(&mut canvas, right);
        }
        canvas
    }

    fn scale(&self, bottom: f64) -> Scale {
        if let Some(ends) = self.ends().filter(|_| self.clips_intervals) {
            return Scale::new(ends.into_iter(), self.log_y, [bottom, TOP]).tight();
        }
        let points = self.lines.iter().flat_map(|line| &line.points);
        let ys = points.flat_map(|p| p.y.into_iter().chain(p.interval.into_iter().flatten()));
        Scale::new(ys, self.log_y, [bottom, TOP]).rounded()
    }

    /// The range of the estimates, extended by half a usual interval; that of excluded results if there are no others.
    fn ends(&self) -> Option<[f64; 2]> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let mut ys: Vec<f64> = points().filter_map(|p| p.y).collect();
        ys.retain(|y| y.is_finite());
        if ys.is_empty() {
            let excluded = self.lines.iter().flat_map(|line| &line.excluded);
            ys.extend(excluded.map(|[_, y]| *y).filter(|y| y.is_finite()));
        }
        let low = ys.iter().copied().min_by(f64::total_cmp)?;
        let high = ys.into_iter().max_by(f64::total_cmp)?;
        let halves = points().filter_map(|p| p.interval).map(|[low, high]| (high - low) / 2.0);
        let mut halves: Vec<f64> = halves.filter(|half| half.is_finite()).collect();
        halves.sort_by(f64::total_cmp);
        let half = halves.get(halves.len() / 2).copied().unwrap_or(0.0);
        Some([low - half, high + half])
    }

    /// The positions of measurements if few, else round numbers.
    fn x_ticks(&self, x: &Scale) -> Vec<(f64, String)> {
        let mut xs: Vec<f64> = self.lines.iter().flat_map(|l| &l.points).map(|p| p.x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let named = |tick: f64| (tick, number::at_most(tick, "", 6));
        let ticks: Vec<(f64, String)> = match xs.len() {
            _ if !self.x_names.is_empty() => self.x_names.clone(),
            0..=12 => xs.into_iter().map(named).collect(),
            _ => x.ticks().into_iter().map(|(tick, _)| named(tick)).collect(),
        };
        let placed = |(tick, text)| Some((x.place(tick)?, text));
        ticks.into_iter().filter_map(placed).collect()
    }

    /// Labels of the lines that have points.
    fn labels(&self, area: &Area, pens: &[Pen]) -> Vec<Label> {
        let xs = self.lines.iter().flat_map(|l| &l.points).map(|p| p.x);
        let right = xs.fold(f64::MIN, f64::max);
        let label = |(line, pen): (_, &Pen)| {
            let line: &Line = line;
            let mut placed = line.points.iter().filter_map(|p| Some((p.x, area.place(p)?)));
            let (x, end) = placed.next_back()?;
            Some(Label { text: cut(&line.name), pen: *pen, end, at_edge: x >= right, y: end.1 })
        };
        let mut labels: Vec<Label> = self.lines.iter().zip(pens).filter_map(label).collect();
        spread(&mut labels, [TOP, area.y.from]);
        for (label, letter) in labels.iter_mut().filter(|l| !l.at_edge).zip('a'..='z') {
            label.text = format!("{letter}: {}", label.text);
        }
        labels
    }
}

impl Area {
    fn place(&self, point: &Point) -> Option<(f64, f64)> {
        Some((self.x.place(point.x)?, self.y.place(point.y?)?))
    }

    /// Position along x, and vertical positions of the ends of its interval.
    fn interval(&self, point: &Point) -> Option<[f64; 3]> {
        let [low, high] = point.interval?;
        let ends = [self.y.place(low)?, self.y.place(high)?];
        let [low, high] = ends.map(|end| end.clamp(self.y.to, self.y.from));
        Some([self.x.place(point.x)?, low, high])
    }

    /// A triangle at each end of an interval beyond the axis.
    fn mark_clipped(&self, canvas: &mut Canvas, point: &Point, color: &str) {
        let Some(x) = self.x.place(point.x) else {
            return;
        };
        let ends = point.interval.into_iter().flatten();
        for end in ends.filter_map(|end| self.y.place(end)) {
            let (edge, foot) = match end {
                end if end < self.y.to - 0.5 => (self.y.to, 7.0),
                end if end > self.y.from + 0.5 => (self.y.from, -7.0),
                _ => continue,
            };
            canvas.put(format_args!(
                "<path class=\"fill clipped\" d=\"M{x:.1} {edge:.1}l-4 {foot}h8z\" fill=\"{color}\"/>"
            ));
        }
    }

    fn draw(&self, canvas: &mut Canvas, line: &Line, pen: Pen) {
        let (class, color) = pen.paint();
        let stroke = match (pen.strong, DASHES[pen.number % DASHES.len()]) {
            (true, _) => "stroke-width=\"2.75\"".to_owned(),
            (_, dash) => format!("stroke-width=\"1.2\"{dash}"),
        };
        canvas.put(format_args!("<g class=\"line {class}\">"));
        let intervals = line.points.iter().filter_map(|p| self.interval(p));
        let few = line.points.len() < BAND_FROM;
        if few {
            for [x, low, high] in intervals {
                canvas.put(format_args!(
                    "<path class=\"stroke\" d=\"M{:.1} {low:.1}h8m-4 0V{high:.1}m-4 0h8\" fill=\"none\" stroke=\"{color}\"/>",
                    x - 4.0
                ));
            }
        } else {
            let ends: Vec<[f64; 3]> = intervals.collect();
            let low = ends.iter().map(|[x, low, _]| format!("{x:.1} {low:.1}"));
            let high = ends.iter().map(|[x, _, high]| format!("{x:.1} {high:.1}"));
            let around: Vec<String> = low.chain(high.rev()).collect();
            if !around.is_empty() {
                canvas.put(format_args!(
                    "<path class=\"fill band\" d=\"M{}z\" fill=\"{color}\" fill-opacity=\"0.2\"/>",
                    around.join("L")
                ));
            }
        }
        let places = || line.points.iter().map(|point| self.place(point));
        if !line.loose {
            let runs: Vec<_> = places().collect();
            let runs = runs.split(Option::is_none).filter(|run| !run.is_empty());
            let corner = |(x, y): &(f64, f64)| format!("{x:.1} {y:.1}");
            let path = |run: &[_]| run.iter().flatten().map(corner).collect::<Vec<_>>().join("L");
            let path: String = runs.map(|run| format!("M{}", path(run))).collect();
            canvas.put(format_args!(
                "<path class=\"stroke\" d=\"{path}\" fill=\"none\" stroke=\"{color}\" {stroke} stroke-linejoin=\"round\"/>"
            ));
        }
        for point in &line.points {
            self.mark_clipped(canvas, point, color);
        }
        for place in places().flatten().filter(|_| few || line.loose) {
            pen.mark(canvas, place);
        }
        for [x, y] in &line.excluded {
            if let Some((x, y)) = self.x.place(*x).zip(self.y.place(*y)) {
                let y = y.clamp(self.y.to, self.y.from);
                canvas.put(format_args!(
                    "<circle class=\"stroke excluded\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"none\" stroke=\"{color}\"/>"
                ));
            }
        }
        canvas.put(format_args!("</g>"));
    }
}

fn pens(lines: &[Line]) -> Vec<Pen> {
    let mut counts = [0; 2];
    let pen = |line: &Line| {
        let strong = line.strong;
        let count = &mut counts[usize::from(strong)];
        let number = std::mem::replace(count, *count + 1);
        Pen { strong, number }
    };
    lines.iter().map(pen).collect()
}

impl Pen {
    /// Class and color.
    fn paint(self) -> (String, &'static str) {
        let number = self.number % STRONG.len();
        match self.strong {
            true => (format!("strong{number}"), STRONG[number]),
            false => ("other".to_owned(), GRAY),
        }
    }

    /// A filled marker.
    fn mark(self, canvas: &mut Canvas, (x, y): (f64, f64)) {
        let (_, color) = self.paint();
        let radius = if self.strong { 4.0 } else { 2.8 };
        let corner = |[across, down]: &[f64; 2]| {
            format!("{:.1} {:.1}", x + across * radius, y + down * radius)
        };
        let corners = SHAPES[self.number % SHAPES.len()].iter().map(corner);
        let shape = match corners.collect::<Vec<_>>().as_slice() {
            [] => format!("circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\""),
            corners => format!("path d=\"M{}z\"", corners.join("L")),
        };
        canvas.put(format_args!("<{shape} class=\"fill\" fill=\"{color}\"/>"));
    }
}

impl Label {
    fn draw(&self, canvas: &mut Canvas, right: f64) {
        let Self { end, y, pen, .. } = self;
        let x = right + GAP;
        let (class, color) = pen.paint();
        canvas.put(format_args!("<g class=\"name {class}\">"));
        if self.at_edge {
            canvas.put(format_args!(
                "<path class=\"leader\" d=\"M{:.1} {:.1}H{:.1}L{:.1} {y:.1}\" fill=\"none\" stroke=\"#aaa\" stroke-width=\"0.8\"/>",
                end.0 + 6.0,
                end.1,
                right + 4.0,
                x - 16.0
            ));
        } else {
            canvas.put(format_args!(
                "<text class=\"ink halo\" x=\"{:.1}\" y=\"{:.1}\" fill=\"#333\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
                end.0 + 6.0,
                end.1 + 4.0,
                escape(&format!("{:.1}", self.text))
            ));
        }
        pen.mark(canvas, (x - 9.0, *y));
        let (class, color, weight) = match pen.strong {
            true => ("fill", color, " font-weight=\"700\""),
            false => ("ink", "#333", ""),
        };
        canvas.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" fill=\"{color}\"{weight}>{}</text></g>",
            y + 4.0,
            escape(&self.text)
        ));
    }
}

/// Moves overlapping labels as little as needed, in the order of line ends.
fn spread(labels: &mut [Label], [mut top, mut bottom]: [f64; 2]) {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    for label in labels.iter_mut() {
        label.y = label.y.max(top);
        top = label.y + ROW;
    }
    for label in labels.iter_mut().rev() {
        label.y = label.y.min(bottom);
        bottom = label.y - ROW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, ys: &[f64], interval: Option<[f64; 2]>) -> Line {
        let point = |(x, y): (u32, &f64)| Point { x: f64::from(x), y: Some(*y), interval };
        Line { name: name.into(), points: (1..).zip(ys).map(point).collect(), ..Line::default() }
    }

    fn drawn(lines: Vec<Line>) -> String {
        let plot = Plot { log_y: true, lines, ..Plot::default() };
        plot.draw().body
    }

    #[test]
    fn early_ends_are_lettered() {
        let lines = [("long", &[1.0, 2.0, 3.0][..]), ("short", &[3.0])];
        let svg = drawn(lines.map(|(name, ys)| line(name, ys, None)).into());
        for text in [">a</text>", ">a: short</text>", ">long</text>"] {
            assert!(svg.contains(text), "{svg}");
        }
    }

    #[test]
    fn loose_points_are_marked() {
        let ys: Vec<f64> = (1..=30).map(f64::from).collect();
        let loose = Line { loose: true, ..line("loose", &ys, None) };
        let marks = drawn(vec![loose]).matches("<circle").count();
        // and one before the name
        assert!(marks >= 30, "{marks}");
    }

    #[test]
    fn missing_values_break_the_line() {
        let mut broken = line("broken", &[1.0, 2.0, 3.0, 0.0, 5.0], None);
        broken.points[1].y = None;
        let svg = drawn(vec![broken]);
        let path = svg.split("class=\"stroke\" d=\"").nth(1).unwrap();
        let (path, _) = path.split_once('"').unwrap();
        assert_eq!([path.matches('M').count(), path.matches('L').count()], [3, 0]);
    }

    #[test]
    fn many_intervals_form_a_band() {
        for (points, wanted) in [(6, [6, 0]), (20, [0, 1])] {
            let svg = drawn(vec![line("line", &vec![1.0; points], Some([0.9, 1.1]))]);
            let counts = [svg.matches("h8m").count(), svg.matches("band").count()];
            assert_eq!(counts, wanted);
        }
    }

    #[test]
    fn wide_intervals_are_clipped() {
        let mut wide = line("wide", &[105.0, 130.0, 110.0], Some([104.0, 131.0]));
        wide.points[1].interval = Some([0.0, 500.0]);
        let plot = Plot { clips_intervals: true, lines: vec![wide], ..Plot::default() };
        let svg = plot.draw().body;
        assert_eq!(svg.matches("clipped").count(), 2, "{svg}");
        assert!(svg.contains(">100</text>") && !svg.contains(">0</text>"), "{svg}");
        assert!(!svg.contains(">500</text>"));
    }

    #[test]
    fn excluded_results_keep_the_axis() {
        let plot = |excluded: Vec<[f64; 2]>| {
            let plot = Plot {
                clips_intervals: true,
                lines: vec![Line { excluded, ..line("line", &[105.0, 104.0, 106.0], None) }],
                ..Plot::default()
            };
            plot.draw().body
        };
        let (with, without) = (plot(vec![[2.0, 900.0]]), plot(vec![]));
        let hollow = with.split_inclusive('\n').filter(|element| element.contains("excluded"));
        assert_eq!(hollow.count(), 1, "{with}");
        let others = |svg: &str| svg.matches("<text").count() + svg.matches("<path").count();
        assert_eq!(others(&with), others(&without));
        assert!(with.contains(&format!("cy=\"{TOP:.1}\"")), "{with}");
        // alone they have an axis
        let mut alone = line("alone", &[1.0], None);
        alone.points[0].y = None;
        alone.excluded = vec![[1.0, 900.0]];
        let lines = vec![alone];
        let plot = Plot { clips_intervals: true, lines, ..Plot::default() };
        assert!(plot.draw().body.contains(">900</text>"));
    }

    #[test]
    fn impossible_values_leave_a_drawing() {
        for odd in [&[][..], &[f64::NAN, f64::INFINITY, -1.0]] {
            let svg = drawn(vec![line("odd", odd, None)]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn labels_do_not_overlap() {
        let crowded: Vec<f64> = (0..15).map(|i| 20.0 + f64::from(i) * ROW).collect();
        for (ys, wanted) in [
            (vec![50.0; 3], &[50.0, 66.0, 82.0][..]),
            (vec![100.0, 10.0], &[10.0, 100.0]),
            (vec![256.0; 15], &crowded),
        ] {
            let label = |y: &f64| Label {
                text: String::new(),
                pen: pens(&[Line::default()])[0],
                end: (0.0, *y),
                at_edge: true,
                y: *y,
            };
            let mut labels: Vec<Label> = ys.iter().map(label).collect();
            spread(&mut labels, [0.0, 20.0 + 14.0 * ROW]);
            assert!(labels.iter().map(|label| &label.y).eq(wanted));
        }
    }
}
