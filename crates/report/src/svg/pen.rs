//! How each line of a plot is told from the others: in color and in black and white.

use super::Line;

/// Okabe and Ito's colors that are dark enough on white, for lines that are to be found.
pub(super) const STRONG: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#a3478a"];
const GREY: &str = "#6b6b6b";
/// Four dashes and five shapes: twenty gray lines can be told apart.
const DASHES: [&str; 4] = ["", "6 3", "2 2.5", "9 3 2 3"];

/// How a line is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pen {
    pub class: String,
    pub color: &'static str,
    pub width: f64,
    pub dash: &'static str,
    pub shape: usize,
}

impl Pen {
    /// Of the line at `index` among these.
    pub(super) fn of(lines: &[Line], index: usize) -> Self {
        let strong = lines[index].strong;
        let among = lines[..index].iter().filter(|l| l.strong == strong).count();
        let shape = among % 5;
        if strong {
            let class = format!("strong{}", among % STRONG.len());
            return Self {
                class,
                color: STRONG[among % STRONG.len()],
                width: 2.75,
                dash: "",
                shape,
            };
        }
        Self {
            class: "other".to_owned(),
            color: GREY,
            width: 1.2,
            dash: DASHES[among % DASHES.len()],
            shape,
        }
    }

    /// As an attribute.
    pub(super) fn dash(&self) -> String {
        if self.dash.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{}\"", self.dash)
        }
    }

    /// A filled shape around a point.
    pub(super) fn marker(&self, x: f64, y: f64) -> String {
        let r = if self.width > 2.0 { 4.0 } else { 2.8 };
        let d = match self.shape {
            0 => format!(
                "M{:.1} {y:.1}a{r} {r} 0 1 0 {:.1} 0a{r} {r} 0 1 0 {:.1} 0z",
                x - r,
                2.0 * r,
                -2.0 * r
            ),
            1 => format!(
                "M{:.1} {:.1}h{:.1}v{:.1}h{:.1}z",
                x - r,
                y - r,
                2.0 * r,
                2.0 * r,
                -2.0 * r
            ),
            2 => format!(
                "M{x:.1} {:.1}l{:.1} {:.1}h{:.1}z",
                y - r * 1.2,
                r * 1.2,
                r * 2.2,
                -r * 2.4
            ),
            3 => format!(
                "M{x:.1} {:.1}l{:.1} {:.1}l{:.1} {:.1}l{:.1} {:.1}z",
                y - r * 1.4,
                r * 1.4,
                r * 1.4,
                -r * 1.4,
                r * 1.4,
                -r * 1.4,
                -r * 1.4
            ),
            _ => format!(
                "M{x:.1} {:.1}l{:.1} {:.1}h{:.1}z",
                y + r * 1.2,
                -r * 1.2,
                -r * 2.2,
                r * 2.4
            ),
        };
        format!("<path class=\"fill\" d=\"{d}\" fill=\"{}\"/>", self.color)
    }
}
