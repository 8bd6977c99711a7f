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
}

const HEIGHT: f64 = 22.0;
const LEAST_WIDTH: f64 = 58.0;
const TOP: f64 = 30.0;
const MARGIN: f64 = 10.0;
/// Deviation with full color.
const FULL: f64 = 0.1;
/// Full colors below and above 0; black text has a contrast above 7 to 1.
const BELOW: [f64; 3] = [240.0, 160.0, 80.0];
const ABOVE: [f64; 3] = [130.0, 190.0, 235.0];

impl Heat {
    #[must_use]
    pub fn draw(&self) -> Canvas {
        let names: Vec<String> = self.rows.iter().map(|(name, _)| cut(name)).collect();
        let left = widest(names.iter()) + MARGIN;
        let width = (widest(self.columns.iter()) + CHAR).max(LEAST_WIDTH);
        let right = left + width * self.columns.len() as f64 + MARGIN;
        let mut canvas = Canvas::new(right, TOP + HEIGHT * self.rows.len() as f64 + MARGIN);
        for (across, name) in self.columns.iter().enumerate() {
            let x = left + width * (across as f64 + 0.5);
            canvas.text(Anchor::Middle, x, TOP - 8.0, name);
        }
        for (down, (name, (_, cells))) in names.iter().zip(&self.rows).enumerate() {
            let y = TOP + HEIGHT * down as f64;
            canvas.text(Anchor::End, left - 6.0, y + HEIGHT / 2.0 + 4.0, name);
            for (across, cell) in cells.iter().enumerate() {
                if let Some(cell) = cell {
                    draw(&mut canvas, cell, [left + width * across as f64, y, width]);
                }
            }
        }
        canvas
    }
}

fn draw(canvas: &mut Canvas, cell: &Cell, [x, y, width]: [f64; 3]) {
    let full = if cell.value < 0.0 { BELOW } else { ABOVE };
    let share = (cell.value.abs() / FULL).min(1.0);
    let share = if cell.certain {
        0.3 + 0.7 * share
    } else {
        0.2 * share
    };
    let [r, g, b] = full.map(|full| 255.0 + (full - 255.0) * share);
    let weight = if cell.certain {
        " font-weight=\"bold\""
    } else {
        ""
    };
    canvas.put(format_args!(
        "<rect class=\"cell\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"rgb({r:.0},{g:.0},{b:.0})\" stroke=\"#ffffff\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#000000\"{weight}>{}</text>",
        x + width / 2.0,
        y + HEIGHT / 2.0 + 4.0,
        escape(&cell.text)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_cells_stand_out() {
        let cell = |value, certain| {
            Some(Cell {
                value,
                text: format!("{value}"),
                certain,
            })
        };
        let heat = Heat {
            columns: vec!["memory".to_owned(), "disk".to_owned(), "net".to_owned()],
            rows: vec![(
                "node-1".to_owned(),
                vec![cell(-0.2, true), cell(-0.01, false), None],
            )],
        };
        let svg = heat.draw().body;
        assert_eq!(svg.matches("<rect").count(), 2);
        assert_eq!(svg.matches("font-weight").count(), 1);
        assert!(
            svg.contains("rgb(240,160,80)") && svg.contains("rgb(255,253,252)"),
            "{svg}"
        );
    }
}
