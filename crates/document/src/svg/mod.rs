//! Figures as SVG: dot plots, line plots, launches and matrices, on a linear or logarithmic axis.
//!
//! Drawn without a plotting library. The crate kuva was tried: it has intervals, logarithmic axes and legible ticks,
//! but its 95,000 lines take 43 CPU seconds of a release build (10 in development; a fresh clone has about two minutes
//! on two cores); it distinguishes lines by color in a legend, where fifteen machines need names at their ends that
//! survive black and white; and it writes colors that a page cannot change to a dark theme.
//!
//! Every color is an attribute, so that a figure stands alone in any renderer, and every element has a class, by which
//! a page gives it colors of a dark theme.

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

/// The last before the generic name is embedded in PDFs.
const FONT: &str =
    "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";
/// Colors of Okabe and Ito that are dark enough on white, for highlighted elements.
const STRONG: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#a3478a"];
/// Color of elements for comparison.
const GRAY: &str = "#6b6b6b";
/// Width of a character at 12 px, generously.
const CHAR: f64 = 6.9;
/// Drawings up to this width are scaled to a phone, where letters of wider ones would be too small.
const SCALED_WIDTH: f64 = 560.0;
/// Maximum characters of a name; the text alternative has the full name.
const MAX_CHARS: usize = 28;

#[derive(Clone, Debug)]
pub struct Canvas {
    size: [f64; 2],
    body: String,
}

/// Alignment of a text to its position.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        Self { size: [width, height], body: String::new() }
    }

    pub fn figure(self, id: &str, caption: String, alternative: String) -> Figure {
        figure(vec![self], id, caption, alternative)
    }

    fn svg(&self, id: &str, title: &str, description: &str) -> String {
        let [width, height] = self.size;
        let class = match width <= SCALED_WIDTH {
            true => "plot scaled",
            false => "plot",
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" aria-labelledby=\"{id}-title {id}-desc\" \
             font-family=\"{FONT}\" font-size=\"12\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{}</svg>\n",
            escape(title),
            escape(description),
            self.body
        )
    }

    fn put(&mut self, markup: Arguments) {
        let _ = writeln!(self.body, "{markup}");
    }

    /// A thin line of an axis or grid.
    fn rule(&mut self, class: &str, d: Arguments) {
        let color = if class == "grid" { "#dcdcdc" } else { "#555" };
        self.put(format_args!("<path class=\"{class}\" d=\"{d}\" stroke=\"{color}\"/>"));
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

/// A figure of drawings side by side, with a text alternative including the numbers. `id` is unique in the document:
/// letters, digits and `-`.
pub fn figure(drawn: Vec<Canvas>, id: &str, caption: String, alternative: String) -> Figure {
    let svg = |(index, canvas): (usize, &Canvas)| match index {
        0 => canvas.svg(id, &caption, &alternative),
        _ => canvas.svg(&format!("{id}-{index}"), &format!("{caption}, continued"), &caption),
    };
    Figure {
        svgs: drawn.iter().enumerate().map(svg).collect(),
        caption: caption.into(),
        alternative,
        chart: None,
    }
}

/// Width of the widest text at 12 px in DejaVu Sans, the widest of the usual fonts of systems.
fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> f64 {
    let of_char = |c: char| match c {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | '/' | '.' | ',' | ':' | ';' | '-' | '(' | ')' | ' ' => {
            5.0
        }
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '<' | '>' | '+' | '=' | '&' | '×' | '−' => 12.0,
        c if c.is_uppercase() => 9.4,
        c => 7.7 * c.width().unwrap_or(0) as f64,
    };
    texts.map(|text| text.chars().map(of_char).sum()).fold(0.0, f64::max)
}

/// Shortens a name to `MAX_CHARS`.
fn cut(name: &str) -> String {
    let name = clean(name);
    if name.width() <= MAX_CHARS {
        return name.into_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= MAX_CHARS
    };
    name.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_drawings_scale_to_phones() {
        let is_scaled = |width| {
            let svg = Canvas::new(width, 10.0).svg("id", "title", "description");
            svg.contains("class=\"plot scaled\"")
        };
        assert!(is_scaled(SCALED_WIDTH) && !is_scaled(SCALED_WIDTH + 1.0));
        // the longest name and number of suite standard
        let dot = dots::Dot {
            name: "memory/bandwidth/triad@all".to_owned(),
            value: 1.0,
            text: "52.78 MDhrystones/s".to_owned(),
            ..dots::Dot::default()
        };
        let panel = dots::Panel { dots: vec![dot], ..dots::Panel::default() };
        let widths = dots::draw(&[panel]).into_iter().map(|drawn| drawn.size[0]);
        assert!(widths.fold(0.0, f64::max) <= SCALED_WIDTH);
    }

    #[test]
    fn wide_letters_fit() {
        // widths in DejaVu Sans at 12 px
        for (text, width) in
            [("vm/map/64m", 79.8), ("app/ratings@mosamp2", 140.2), ("<<<@@@", 66.3)]
        {
            assert!(widest([text.to_owned()].iter()) >= width, "{text}");
        }
    }

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(cut(&"x".repeat(31)), format!("{}…", "x".repeat(27)));
        assert_eq!(cut(&"東".repeat(20)).width(), 27);
        assert_eq!(cut("short"), "short");
    }
}
