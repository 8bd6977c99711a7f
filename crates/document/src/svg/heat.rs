//! Heat map of deviations from 0: orange below, blue above, pale within chance. Cells contain their number, so that
//! nothing is lost without color.

use super::{Anchor, CHAR, Canvas, cut, widest};
use crate::sanitize::escape;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// Names.
    pub columns: Vec<String>,
    /// Name and cells of each row.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Deviation from 0, relative.
    pub value: f64,
    pub text: String,
    /// Significant.
    pub certain: bool,
    /// Values in the order of time, drawn below the text; may be empty.
    pub sparkline: Vec<f64>,
}

const HEIGHT: f64 = 22.0;
/// Height of the sparkline, and the range of values that takes all of it at least.
const SPARKLINE_HEIGHT: f64 = 18.0;
const MIN_RANGE: f64 = 0.05;
const MIN_WIDTH: f64 = 58.0;
const TOP: f64 = 30.0;
const MARGIN: f64 = 10.0;
/// Deviation with full color.
const FULL: f64 = 0.1;
/// Full colors below and above 0; black text has a contrast above 7 to 1.
const BELOW_ZERO: [f64; 3] = [240.0, 160.0, 80.0];
const ABOVE_ZERO: [f64; 3] = [130.0, 190.0, 235.0];

impl Heat {
    pub fn draw(&self) -> Canvas {
        let names: Vec<String> = self.rows.iter().map(|(name, _)| cut(name)).collect();
        let left = widest(names.iter()) + MARGIN + CHAR;
        let width = (widest(self.columns.iter()) + CHAR).max(MIN_WIDTH);
        let drawn =
            |cell: &Option<Cell>| cell.as_ref().is_some_and(|cell| !cell.sparkline.is_empty());
        let has_sparklines = self.rows.iter().any(|(_, cells)| cells.iter().any(drawn));
        let height = HEIGHT + if has_sparklines { SPARKLINE_HEIGHT } else { 0.0 };
        let right = left + width * self.columns.len() as f64 + MARGIN;
        let mut canvas = Canvas::new(right, TOP + height * self.rows.len() as f64 + MARGIN);
        for (across, name) in self.columns.iter().enumerate() {
            let x = left + width * (across as f64 + 0.5);
            canvas.text(Anchor::Middle, x, TOP - 8.0, name);
        }
        for (down, (name, (_, cells))) in names.iter().zip(&self.rows).enumerate() {
            let y = TOP + height * down as f64;
            canvas.text(Anchor::End, left - 6.0, y + height / 2.0 + 4.0, name);
            for (across, cell) in cells.iter().enumerate() {
                if let Some(cell) = cell {
                    draw(&mut canvas, cell, [left + width * across as f64, y, width, height]);
                }
            }
        }
        canvas
    }
}

fn draw(canvas: &mut Canvas, cell: &Cell, [x, y, width, height]: [f64; 4]) {
    // what did not change stands on the page itself, whatever its color
    let is_unchanged = !cell.certain && !cell.sparkline.is_empty();
    let full = if cell.value < 0.0 { BELOW_ZERO } else { ABOVE_ZERO };
    let share = (cell.value.abs() / FULL).min(1.0);
    let share = if cell.certain { 0.3 + 0.7 * share } else { 0.2 * share };
    let [r, g, b] = full.map(|full| 255.0 + (full - 255.0) * share);
    if !is_unchanged {
        canvas.put(format_args!(
            "<rect class=\"cell\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"rgb({r:.0},{g:.0},{b:.0})\" stroke=\"#ffffff\"/>"
        ));
    }
    let weight = match (cell.certain, is_unchanged) {
        (true, _) => " font-weight=\"bold\"",
        (_, true) => " class=\"ink\"",
        _ => "",
    };
    canvas.put(format_args!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#000000\"{weight}>{}</text>",
        x + width / 2.0,
        y + HEIGHT / 2.0 + 4.0,
        escape(&cell.text)
    ));
    let class = if is_unchanged { "sparkline unchanged" } else { "sparkline" };
    sparkline(canvas, &cell.sparkline, class, [x + 5.0, y + HEIGHT, width - 10.0]);
}

fn sparkline(canvas: &mut Canvas, values: &[f64], class: &str, [x, y, width]: [f64; 3]) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.len() < 2 || !(high - low).is_finite() {
        return;
    }
    let range = (high - low).max(MIN_RANGE);
    let (middle, tall) = (f64::midpoint(low, high), SPARKLINE_HEIGHT - 5.0);
    let corner = |(index, value): (usize, &f64)| {
        let across = x + width * index as f64 / (values.len() - 1) as f64;
        let down = y + tall * (0.5 - (value - middle) / range);
        format!("{across:.1} {down:.1}")
    };
    let corners: Vec<String> = values.iter().enumerate().map(corner).collect();
    canvas.put(format_args!(
        "<path class=\"{class}\" d=\"M{}\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.2\"/>",
        corners.join("L")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_cells_stand_out() {
        let cell = |value, certain| {
            Some(Cell { value, text: format!("{value}"), certain, sparkline: vec![] })
        };
        let heat = Heat {
            columns: vec!["memory".to_owned(), "disk".to_owned(), "net".to_owned()],
            rows: vec![("node-1".to_owned(), vec![cell(-0.2, true), cell(-0.01, false), None])],
        };
        let svg = heat.draw().body;
        assert_eq!(svg.matches("<rect").count(), 2);
        assert_eq!(svg.matches("font-weight").count(), 1);
        assert!(svg.contains("rgb(240,160,80)") && svg.contains("rgb(255,253,252)"), "{svg}");
    }

    #[test]
    fn calm_courses_have_no_color() {
        let cell = |certain| {
            Some(Cell { value: 0.0, text: "=".to_owned(), certain, sparkline: vec![1.0, 1.0, 0.8] })
        };
        let heat = Heat {
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![("node-1".to_owned(), vec![cell(true), cell(false)])],
        };
        let svg = heat.draw().body;
        let counts = ["<rect", "class=\"sparkline\"", "sparkline unchanged"]
            .map(|pattern| svg.matches(pattern).count());
        assert_eq!(counts, [1, 1, 1], "{svg}");
    }
}
