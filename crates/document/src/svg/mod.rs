//! Figures as SVG: dots and lines with intervals, launches, and squares of numbers, over a plain or a logarithmic axis.
//!
//! Drawn here and not by a plotting library. The crate kuva was tried: it has intervals, log axes and legible
//! ticks, but it is 95,000 lines that take 43 CPU seconds of a release build (10 in development; a fresh clone has
//! about two minutes on two cores), tells lines apart by color in a legend beside the plot, where fifteen
//! machines need names at the lines' ends that survive black and white, and writes colors that a page cannot
//! turn dark. What a brief needs is in these few hundred lines; nobody outside this module sees how it is done.
//!
//! Every color is an attribute, so that a figure stands by itself in any renderer, and every element has a
//! class, by which a page may give it other colors in the dark.

pub mod dots;
pub mod heat;
pub mod launches;
pub mod matrix;
pub mod plot;

mod scale;

use crate::sanitize::{clean, escape};
use crate::tree::Figure;
use std::fmt::{Arguments, Write as _};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The last before the general name is the one that a PDF has inside.
const FONT: &str =
    "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";
/// Okabe and Ito's colors that are dark enough on white, for what is to be found.
const STRONG: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#a3478a"];
/// Width of a letter at 12 px, on the generous side.
const CHAR: f64 = 6.9;
/// Longer names are cut; the words of the figure have them whole.
const MOST_CHARS: usize = 28;

/// A drawing.
#[derive(Clone, Debug)]
pub struct Canvas {
    size: [f64; 2],
    body: String,
}

/// On which side of its place a text stands.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        Self {
            size: [width, height],
            body: String::new(),
        }
    }

    /// The drawing as a figure.
    #[must_use]
    pub fn figure(self, id: &str, caption: String, alternative: String) -> Figure {
        figure(vec![self], id, caption, alternative)
    }

    fn svg(&self, id: &str, title: &str, description: &str) -> String {
        let [width, height] = self.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" aria-labelledby=\"{id}-title {id}-desc\" \
             font-family=\"{FONT}\" font-size=\"12\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{}</svg>\n",
            escape(title),
            escape(description),
            self.body
        )
    }

    /// Adds markup.
    fn put(&mut self, markup: Arguments) {
        let _ = writeln!(self.body, "{markup}");
    }

    /// A thin line of an axis, or of the grid behind.
    fn rule(&mut self, class: &str, d: Arguments) {
        let color = if class == "grid" { "#dcdcdc" } else { "#555" };
        self.put(format_args!(
            "<path class=\"{class}\" d=\"{d}\" stroke=\"{color}\"/>"
        ));
    }

    fn text(&mut self, anchor: Anchor, x: f64, y: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.put(format_args!(
            "<text class=\"ink\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#333\">{}</text>",
            escape(text)
        ));
    }
}

/// Drawings beside each other as one figure, in words for those who cannot see it, numbers included. Its identifier is unique in its
/// document: letters, digits and `-`.
#[must_use]
pub fn figure(drawn: Vec<Canvas>, id: &str, caption: String, alternative: String) -> Figure {
    let svg = |(at, canvas): (usize, &Canvas)| match at {
        0 => canvas.svg(id, &caption, &alternative),
        at => canvas.svg(
            &format!("{id}-{at}"),
            &format!("{caption}, continued"),
            &caption,
        ),
    };
    Figure {
        svgs: drawn.iter().enumerate().map(svg).collect(),
        caption: caption.into(),
        alternative,
    }
}

/// Room that the widest of these takes.
fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> f64 {
    texts.map(|text| text.width()).max().unwrap_or(0) as f64 * CHAR
}

/// A name that has room beside a drawing.
fn cut(name: &str) -> String {
    let name = clean(name);
    if name.width() <= MOST_CHARS {
        return name.into_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= MOST_CHARS
    };
    name.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_by_width() {
        assert_eq!(cut(&"x".repeat(31)), format!("{}…", "x".repeat(27)));
        assert_eq!(cut(&"東".repeat(20)).width(), 27);
        assert_eq!(cut("short"), "short");
    }
}
