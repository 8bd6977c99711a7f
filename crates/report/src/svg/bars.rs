//! Bars from 1 to a ratio, each with its interval and its number, in groups that are named at the left.
//!
//! The axis is logarithmic, so that twice as fast and half as fast are bars of one length, unless all ratios lie so close
//! to 1 that round numbers of a plain axis say more.

use super::axis::Scale;
use super::pen::STRONG;
use super::{labels, open};
use crate::clean::{clean, escape};
use crate::number;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// A figure of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Unique in its document: the beginning of every `id` in the drawing. Letters, digits and `-`.
    pub id: String,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// The same at length, numbers included.
    pub description: String,
    /// What the ratio is to.
    pub x_label: String,
    /// The name of each bar of a group; one name is not shown.
    pub names: Vec<String>,
    /// The groups, from top to bottom.
    pub groups: Vec<Group>,
}

/// Bars that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Stands at the left.
    pub name: String,
    /// As many as there are names; `None` leaves a gap.
    pub bars: Vec<Option<Bar>>,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Where it ends; above 0.
    pub ratio: f64,
    /// Low and high.
    pub interval: Option<[f64; 2]>,
    /// Its number, as it is to stand beside it.
    pub text: String,
}

/// Width of the axis.
const WIDTH: f64 = 380.0;
/// Room for the numbers behind the bars.
const NUMBERS: f64 = 70.0;
/// Height of a bar, and from one to the next.
const THICK: f64 = 9.0;
const STEP: f64 = 13.0;
/// Between two groups.
const GAP: f64 = 6.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 44.0;
/// Height of a line of names.
const NAME: f64 = 18.0;
/// Ratios that all lie within this factor have a plain axis.
const LOG_FROM: f64 = 3.0;

impl Bars {
    /// The drawing, a whole `<svg>` element.
    #[must_use]
    pub fn render(&self) -> String {
        let names: Vec<String> = self
            .groups
            .iter()
            .map(|g| labels::cut(&clean(&g.name)))
            .collect();
        let widest = names.iter().map(|n| n.width()).max().unwrap_or(0);
        #[allow(clippy::cast_precision_loss)] // at most as many letters as a label may have
        let left = widest as f64 * labels::CHAR + 14.0;
        let top = TOP + self.legend_height();
        let bottom = top + self.height();
        let right = left + WIDTH;
        let scale = self.scale(left, right);
        let told = [&self.id, &self.title, &self.description];
        let mut out = open(told, right + NUMBERS, bottom + BOTTOM);
        self.legend(&mut out, left);
        self.axis(&mut out, &scale, [left, right, top, bottom]);
        let mut y = top + GAP / 2.0;
        for (group, name) in self.groups.iter().zip(&names) {
            self.group(&mut out, &scale, group, name, left, y);
            y += self.group_height();
        }
        // the line of 1 lies over the bars' ends
        let one = scale.at(1.0);
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{one:.1} {top:.1}V{bottom:.1}\" stroke=\"#555\"/>\n</svg>"
        );
        out
    }

    fn several(&self) -> bool {
        self.names.len() > 1
    }

    #[allow(clippy::cast_precision_loss)] // counts of bars
    fn group_height(&self) -> f64 {
        self.names.len().max(1) as f64 * STEP + GAP
    }

    #[allow(clippy::cast_precision_loss)] // counts of groups
    fn height(&self) -> f64 {
        self.groups.len() as f64 * self.group_height()
    }

    #[allow(clippy::cast_precision_loss)] // counts of names
    fn legend_height(&self) -> f64 {
        if self.several() {
            self.names.len() as f64 * NAME + GAP
        } else {
            0.0
        }
    }

    fn scale(&self, left: f64, right: f64) -> Scale {
        let bars = || self.groups.iter().flat_map(|g| &g.bars).flatten();
        let ends = |bar: &Bar| {
            [
                Some(bar.ratio),
                bar.interval.map(|i| i[0]),
                bar.interval.map(|i| i[1]),
            ]
        };
        let values = || bars().flat_map(ends).flatten().chain([1.0]);
        let positive = || values().filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) = (
            positive().fold(f64::MAX, f64::min),
            positive().fold(f64::MIN, f64::max),
        );
        Scale::new(values(), high / low > LOG_FROM, left, right).padded()
    }

    fn legend(&self, out: &mut String, left: f64) {
        if !self.several() {
            return;
        }
        let mut y = TOP + NAME / 2.0;
        for (at, name) in self.names.iter().enumerate() {
            let _ = writeln!(
                out,
                "<g class=\"{}\">{}<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" fill=\"#333\">{}</text></g>",
                class(at),
                mark(at, left, y - THICK / 2.0, 26.0),
                left + 34.0,
                y + 4.0,
                escape(&labels::cut(&clean(name)))
            );
            y += NAME;
        }
    }

    fn axis(&self, out: &mut String, scale: &Scale, [left, right, top, bottom]: [f64; 4]) {
        for tick in scale.ticks() {
            let x = scale.at(tick);
            let text = number::at_most(tick, "", 4);
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"#dcdcdc\"/>\
                 <text class=\"ink\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#333\">{text}</text>",
                bottom + 16.0
            );
        }
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\" stroke=\"#555\"/>\
             <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#333\">{}</text>",
            f64::midpoint(left, right),
            bottom + 36.0,
            escape(&self.x_label)
        );
    }

    fn group(
        &self,
        out: &mut String,
        scale: &Scale,
        group: &Group,
        name: &str,
        left: f64,
        top: f64,
    ) {
        let middle = top + (self.group_height() - GAP) / 2.0;
        let _ = writeln!(
            out,
            "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#333\">{}</text>",
            left - 8.0,
            middle + 4.0,
            escape(name)
        );
        let mut y = top + (STEP - THICK) / 2.0;
        for (at, bar) in group.bars.iter().enumerate() {
            if let Some((bar, end)) = bar.as_ref().and_then(|b| Some((b, scale.place(b.ratio)?))) {
                self::bar(out, scale, at, bar, end, y);
            }
            y += STEP;
        }
    }
}

fn bar(out: &mut String, scale: &Scale, at: usize, bar: &Bar, end: f64, y: f64) {
    let one = scale.at(1.0);
    let (from, wide) = (one.min(end), (end - one).abs().max(0.5));
    let middle = y + THICK / 2.0;
    let mut furthest = one.max(end);
    let _ = write!(
        out,
        "<g class=\"{}\">{}",
        class(at),
        mark(at, from, y, wide)
    );
    let whisker = bar
        .interval
        .and_then(|[low, high]| Some((scale.place(low)?, scale.place(high)?)));
    if let Some((low, high)) = whisker {
        furthest = furthest.max(high);
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{low:.1} {:.1}v6M{low:.1} {middle:.1}H{high:.1}M{high:.1} {:.1}v6\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>",
            middle - 3.0,
            middle - 3.0
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#333\">{}</text></g>",
        furthest + 6.0,
        middle + 4.0,
        escape(&bar.text)
    );
}

/// The body of a bar: colors alone do not tell bars apart, so every second is hollow.
fn mark(at: usize, x: f64, y: f64, width: f64) -> String {
    let color = STRONG[at % STRONG.len()];
    let (class, paint) = if at.is_multiple_of(2) {
        ("fill", format!("fill=\"{color}\" fill-opacity=\"0.75\""))
    } else {
        (
            "stroke",
            format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"1.4\""),
        )
    };
    format!(
        "<path class=\"{class}\" d=\"M{x:.1} {y:.1}h{width:.1}v{THICK}h{:.1}z\" {paint}/>",
        -width
    )
}

fn class(at: usize) -> String {
    format!("strong{}", at % STRONG.len())
}
