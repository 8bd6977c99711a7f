//! A square of numbers, one for each pair: the larger, the darker. The number stands in its cell, so that nothing is
//! lost without color.

use super::open;
use crate::clean::escape;
use crate::number;
use std::fmt::Write as _;

/// A figure of pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Unique in its document: the beginning of every `id` in the drawing. Letters, digits and `-`.
    pub id: String,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The same at length, numbers included.
    pub description: String,
    /// What rows and columns are.
    pub label: String,
    /// The name of each row and column.
    pub names: Vec<String>,
    /// As many rows as names, with as many values each; `None` leaves a cell empty.
    pub rows: Vec<Vec<Option<f64>>>,
}

const WIDTH: f64 = 46.0;
const HEIGHT: f64 = 26.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const MARGIN: f64 = 10.0;
/// Gray of the smallest and of the largest value: black letters on the one and white on the other have a contrast of more
/// than 7 to 1, and at no gray between is the better of the two below 4.5.
const LIGHT: f64 = 245.0;
const DARK: f64 = 60.0;
/// From this gray down letters are white: both colors have the same contrast there.
const WHITE_BELOW: f64 = 118.0;
/// Values that all lie within this factor are alike, and light.
const ALIKE: f64 = 1.1;

impl Matrix {
    /// The drawing, a whole `<svg>` element.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = self.begin();
        for (at, name) in self.names.iter().enumerate() {
            let (x, y) = (middle(LEFT, WIDTH, at), middle(TOP, HEIGHT, at));
            let name = escape(name);
            let _ = writeln!(
                out,
                "<text class=\"ink\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#333\">{name}</text>\
                 <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#333\">{name}</text>",
                TOP - 8.0,
                LEFT - 8.0,
                y + 4.0
            );
        }
        let range = self.range();
        for (down, row) in self.rows.iter().enumerate() {
            for (across, value) in row.iter().enumerate() {
                if let Some(value) = value {
                    cell(&mut out, *value, range, across, down);
                }
            }
        }
        out.push_str("</svg>\n");
        out
    }

    fn begin(&self) -> String {
        let names = [&self.id, &self.title, &self.description];
        let width = edge(LEFT, WIDTH, self.names.len()) + MARGIN;
        let height = edge(TOP, HEIGHT, self.names.len()) + MARGIN;
        format!(
            "{}<text class=\"ink\" x=\"{:.1}\" y=\"16\" text-anchor=\"end\" fill=\"#333\">{}</text>\n",
            open(names, width, height),
            LEFT - 8.0,
            escape(&self.label)
        )
    }

    /// The smallest and the largest value.
    fn range(&self) -> (f64, f64) {
        let values = self.rows.iter().flatten().flatten();
        values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    }
}

fn cell(out: &mut String, value: f64, (low, high): (f64, f64), across: usize, down: usize) {
    let share = if low > 0.0 && high > low * ALIKE {
        (value / low).ln() / (high / low).ln()
    } else {
        0.0
    };
    let gray = LIGHT + (DARK - LIGHT) * share;
    let ink = if gray < WHITE_BELOW {
        "#ffffff"
    } else {
        "#000000"
    };
    let _ = writeln!(
        out,
        "<rect class=\"cell\" x=\"{:.1}\" y=\"{:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"rgb({gray:.0},{gray:.0},{gray:.0})\" stroke=\"#ffffff\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>",
        edge(LEFT, WIDTH, across),
        edge(TOP, HEIGHT, down),
        middle(LEFT, WIDTH, across),
        middle(TOP, HEIGHT, down) + 4.0,
        escape(&number::significant(value, 3))
    );
}

/// Where a row or column begins.
#[allow(clippy::cast_precision_loss)] // counts of rows
fn edge(start: f64, size: f64, at: usize) -> f64 {
    start + at as f64 * size
}

fn middle(start: f64, size: f64, at: usize) -> f64 {
    edge(start, size, at) + size / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: Vec<Vec<Option<f64>>>) -> String {
        let matrix = Matrix {
            id: "figure-1".to_owned(),
            title: "Pairs".to_owned(),
            description: "0 and 1: 20 ns.".to_owned(),
            label: "CPU".to_owned(),
            names: (0..rows.len()).map(|n| n.to_string()).collect(),
            rows,
        };
        matrix.render()
    }

    #[test]
    fn every_number_stands_in_its_cell() {
        let svg = drawn(vec![
            vec![None, Some(20.25), Some(101.0)],
            vec![Some(20.25), None, None],
            vec![Some(101.0), None, None],
        ]);
        assert_eq!(svg.matches("<rect").count(), 4);
        assert_eq!(
            svg.matches(">20.3<").count() + svg.matches(">20.2<").count(),
            2
        );
        assert_eq!(svg.matches(">101<").count(), 2);
        assert!(svg.contains("<desc id=\"figure-1-desc\">0 and 1: 20 ns.</desc>"));
        // the smallest is the lightest with black letters, the largest the darkest with white ones
        assert!(svg.contains("rgb(245,245,245)") && svg.contains("rgb(60,60,60)"));
        assert_eq!(svg.matches("fill=\"#ffffff\">101<").count(), 2);
    }

    #[test]
    fn letters_can_be_read_on_every_grey() {
        // relative luminance and contrast as WCAG 2 has them
        let luminance = |gray: f64| {
            let c = gray / 255.0;
            if c <= 0.040_45 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        for gray in 60..=245 {
            let gray = f64::from(gray);
            let l = luminance(gray);
            let contrast = if gray < WHITE_BELOW {
                1.05 / (l + 0.05)
            } else {
                (l + 0.05) / 0.05
            };
            assert!(contrast >= 4.5, "{gray}: {contrast}");
        }
    }
}
