//! Names at the ends of lines, moved apart so that none lies on another.
//!
//! A line that reaches the right edge leads to its name; one that ends before it has a letter at its end, and the
//! same letter before its name.

use super::pen::Pen;
use crate::clean::{clean, escape};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Height of a label.
const LINE: f64 = 16.0;
/// From the frame to the names: room for the leaders and a marker.
const GAP: f64 = 44.0;
/// Longer names are cut; the description of the figure has them whole.
const MOST_CHARS: usize = 30;
/// Width of a letter at 12 px, on the generous side.
pub(super) const CHAR: f64 = 6.9;

/// One name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    text: String,
    pen: Pen,
    strong: bool,
    end: (f64, f64),
    at_edge: bool,
    y: f64,
}

impl Label {
    pub(super) fn new(name: &str, pen: Pen, strong: bool, end: (f64, f64), at_edge: bool) -> Self {
        Self {
            text: cut(&clean(name)),
            pen,
            strong,
            end,
            at_edge,
            y: end.1,
        }
    }
}

/// Height of a plot in which so many names have room.
pub(super) fn height(names: usize) -> f64 {
    #[allow(clippy::cast_precision_loss)] // a count of lines
    let names = names as f64;
    names * LINE + LINE
}

/// Width of the column of names, with the gap before it.
pub(super) fn width(labels: &[Label]) -> f64 {
    let longest = labels.iter().map(|l| l.text.width() + 3).max().unwrap_or(0);
    #[allow(clippy::cast_precision_loss)] // at most MOST_CHARS and a few
    let longest = longest as f64;
    GAP + longest * CHAR
}

/// Moves names that are too close apart, as little as needed, in the order of their lines' ends; puts letters
/// to those that need one.
pub(super) fn spread(labels: &mut [Label], top: f64, bottom: f64) {
    labels.sort_by(|a, b| a.end.1.total_cmp(&b.end.1));
    let mut least = top;
    for label in labels.iter_mut() {
        label.y = label.y.max(least);
        least = label.y + LINE;
    }
    let mut most = bottom;
    for label in labels.iter_mut().rev() {
        label.y = label.y.min(most);
        most = label.y - LINE;
    }
    for (label, letter) in labels.iter_mut().filter(|l| !l.at_edge).zip('a'..='z') {
        label.text = format!("{letter}: {}", label.text);
    }
}

pub(super) fn draw(out: &mut String, labels: &[Label], right: f64) {
    let x = right + GAP;
    for label in labels {
        let (end, y, pen) = (label.end, label.y, &label.pen);
        let _ = write!(out, "<g class=\"name {}\">", pen.class);
        if label.at_edge {
            let _ = write!(
                out,
                "<path class=\"leader\" d=\"M{:.1} {:.1}H{:.1}L{:.1} {y:.1}\" fill=\"none\" stroke=\"#aaa\" stroke-width=\"0.8\"/>",
                end.0 + 6.0,
                end.1,
                right + 4.0,
                x - 16.0
            );
        } else {
            let letter = label.text.chars().next().unwrap_or(' ');
            let _ = write!(
                out,
                "<text class=\"ink halo\" x=\"{:.1}\" y=\"{:.1}\" fill=\"#333\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{letter}</text>",
                end.0 + 6.0,
                end.1 + 4.0
            );
        }
        let (weight, color) = if label.strong {
            (" font-weight=\"700\"", pen.color)
        } else {
            ("", "#333")
        };
        let class = if label.strong { "fill" } else { "ink" };
        let _ = writeln!(
            out,
            "{}<text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" fill=\"{color}\"{weight}>{}</text></g>",
            pen.marker(x - 9.0, y),
            y + 4.0,
            escape(&label.text)
        );
    }
}

pub(super) fn cut(text: &str) -> String {
    if text.width() <= MOST_CHARS {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > MOST_CHARS {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(y: f64) -> Label {
        let pen = Pen {
            class: String::new(),
            color: "#000",
            width: 1.0,
            dash: "",
            shape: 0,
        };
        Label::new("name", pen, false, (0.0, y), true)
    }

    #[test]
    fn names_keep_their_distance_and_stay_inside() {
        for ys in [
            vec![50.0; 15],
            vec![0.0; 15],
            vec![256.0; 15],
            vec![1.0, 2.0, 200.0],
        ] {
            let mut labels: Vec<Label> = ys.into_iter().map(label).collect();
            spread(&mut labels, 0.0, height(15));
            assert!(
                labels.windows(2).all(|w| w[1].y - w[0].y >= LINE - 1e-9),
                "{labels:?}"
            );
            assert!(labels[0].y >= 0.0 && labels[labels.len() - 1].y <= height(15));
        }
        let mut far = vec![label(10.0), label(100.0)];
        spread(&mut far, 0.0, 200.0);
        assert_eq!([far[0].y, far[1].y], [10.0, 100.0]);
    }

    #[test]
    fn long_names_are_cut_by_width() {
        assert_eq!(cut(&"x".repeat(31)), format!("{}…", "x".repeat(29)));
        assert_eq!(cut(&"東".repeat(20)).width(), 29);
        assert_eq!(cut("short"), "short");
    }
}
