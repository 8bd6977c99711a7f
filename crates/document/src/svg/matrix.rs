//! Matrix of numbers per pair: the larger, the darker. Cells contain their number, so that nothing is lost without
//! color.

use super::{Anchor, Canvas};
use crate::number;
use crate::sanitize::escape;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Kind of rows and columns.
    pub label: String,
    /// Names of rows and columns.
    pub names: Vec<String>,
    /// Square; `None` leaves a cell empty.
    pub rows: Vec<Vec<Option<f64>>>,
}

const WIDTH: f64 = 46.0;
const HEIGHT: f64 = 26.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const MARGIN: f64 = 10.0;
/// Gray of the smallest and largest value. Black text on the first and white on the second have a contrast above 7 to
/// 1, and the better of the two is at least 4.5 on every gray between.
const LIGHT: f64 = 245.0;
const DARK: f64 = 60.0;
/// Text is white below this gray: both colors have equal contrast there.
const WHITE_BELOW: f64 = 118.0;
/// Values within this factor are drawn alike, and light.
const ALIKE: f64 = 1.1;

impl Matrix {
    pub fn draw(&self) -> Canvas {
        let (right, bottom) = place(self.names.len(), self.names.len());
        let mut canvas = Canvas::new(right + MARGIN, bottom + MARGIN);
        canvas.text(Anchor::End, LEFT - 8.0, 16.0, &self.label);
        for (index, name) in self.names.iter().enumerate() {
            let (x, y) = place(index, index);
            canvas.text(Anchor::Middle, x + WIDTH / 2.0, TOP - 8.0, name);
            canvas.text(Anchor::End, LEFT - 8.0, y + HEIGHT / 2.0 + 4.0, name);
        }
        let values = || self.rows.iter().flatten().flatten().copied();
        let range = [values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max)];
        for (down, row) in self.rows.iter().enumerate() {
            for (across, value) in row.iter().enumerate() {
                if let Some(value) = value {
                    cell(&mut canvas, *value, range, place(across, down));
                }
            }
        }
        canvas
    }
}

/// Corner of a cell.
fn place(across: usize, down: usize) -> (f64, f64) {
    (LEFT + across as f64 * WIDTH, TOP + down as f64 * HEIGHT)
}

fn cell(canvas: &mut Canvas, value: f64, [low, high]: [f64; 2], (x, y): (f64, f64)) {
    let share = match low > 0.0 && high > low * ALIKE {
        true => (value / low).ln() / (high / low).ln(),
        false => 0.0,
    };
    let gray = LIGHT + (DARK - LIGHT) * share;
    let ink = if gray < WHITE_BELOW { "#ffffff" } else { "#000000" };
    canvas.put(format_args!(
        "<rect class=\"cell\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"rgb({gray:.0},{gray:.0},{gray:.0})\" stroke=\"#ffffff\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>",
        x + WIDTH / 2.0,
        y + HEIGHT / 2.0 + 4.0,
        escape(&number::significant(value, 3))
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_their_numbers() {
        let matrix = Matrix {
            label: "CPU".to_owned(),
            names: (0..3).map(|n| n.to_string()).collect(),
            rows: vec![
                vec![None, Some(20.25), Some(101.0)],
                vec![Some(20.25), None, None],
                vec![Some(101.0), None, None],
            ],
        };
        let svg = matrix.draw().body;
        assert_eq!(svg.matches("<rect").count(), 4);
        // smallest value: lightest, black text; largest: darkest, white text
        assert_eq!(svg.matches("rgb(245,245,245)").count(), 2);
        assert_eq!(svg.matches("fill=\"#000000\">20.2<").count(), 2);
        assert_eq!(svg.matches("rgb(60,60,60)").count(), 2);
        assert_eq!(svg.matches("fill=\"#ffffff\">101<").count(), 2);
    }

    #[test]
    fn text_contrasts_with_every_gray() {
        for gray in 60..=245 {
            // relative luminance and contrast by WCAG 2
            let c = f64::from(gray) / 255.0;
            let luminance = match c <= 0.040_45 {
                true => c / 12.92,
                false => ((c + 0.055) / 1.055).powf(2.4),
            };
            let contrast = match f64::from(gray) < WHITE_BELOW {
                true => 1.05 / (luminance + 0.05),
                false => (luminance + 0.05) / 0.05,
            };
            assert!(contrast >= 4.5, "{gray}: {contrast}");
        }
    }
}
