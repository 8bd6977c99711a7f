//! Ranking of commands: what `gritstone bench` prints. Two lines for each command, then the comparison.

mod names;
mod statistics;
mod times;
mod timing;
mod warnings;

use crate::findings::message;
use crate::words;
use gritstone_document::clean;
use gritstone_document::number::{self, fixed};
use gritstone_document::terminal::{self, unbroken};
use gritstone_model::{AbComparison, AbView, Verdict};
use gritstone_stats::interim::MIN_PAIRS;
pub use statistics::{TimeStatistics, percentile};
use std::cmp::Ordering;
use std::fmt::Write as _;
pub use times::TimeScale;
pub use timing::Timing;
use unicode_width::UnicodeWidthStr;

/// A trial of commands, and how to show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// One per side.
    pub commands: Vec<Timing>,
    /// Untimed executions of each.
    pub warm_ups: u32,
    /// `us`, `ms` or `s`; `None`: one near the first time.
    pub unit: Option<&'static str>,
    /// Whether the ranking is in the order in which commands were given.
    pub as_given: bool,
    /// Whether the setup ran before each launch.
    pub setup_varies: bool,
    /// Start-up time of a shell, already subtracted; none if no shell started a command.
    pub start_up_s: Option<f64>,
    /// The baseline that was subtracted, and its time, s.
    pub subtracted: Option<(String, f64)>,
    /// Percentiles to show, as shares.
    pub percentiles: Vec<f64>,
    /// Option that gives more pairs: `--budget`, or `--runs` if that fixes their number.
    pub more_by: &'static str,
    /// What ended the trial before its verdict or its budget: `interrupted`, `./new failed`.
    pub stopped_by: Option<String>,
    /// Total time, s; none if interrupted.
    pub elapsed_s: Option<f64>,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether names and estimates have color.
    pub color: bool,
}

/// Factor within which peak memory counts as the same, and difference in bytes: it varies by some pages.
const MEMORY_MARGIN: f64 = 1.1;
const MEMORY_DIFFERENCE: f64 = 1_048_576.0;
/// Reason for a missing ratio of pairs.
const TOO_SHORT: &str = "no ratio, since one takes less than can be measured";
/// Commands with their times, and the verdict or the ranking.
pub fn commands(view: &AbView, ranking: &Ranking) -> String {
    let Some(row) = view.rows.first() else {
        return String::new();
    };
    let mut text = times::lines(&row.figures, ranking);
    let name = |side: &str| {
        let index = view.sides.iter().position(|known| known.side == side);
        clean(index.map_or(side, |index| &ranking.commands[index].command)).into_owned()
    };
    let compared = &row.comparisons;
    match (compared.as_slice(), view.sides.len()) {
        ([], _) => {}
        ([one], 2) => {
            let verdict = match (&ranking.stopped_by, one.pairs) {
                (Some(why), 0) => format!("no verdict: {}", clean(why)),
                _ => verdict(one, &name, view) + &count(one, ranking),
            };
            let _ = writeln!(text, "\n  {verdict}");
            if let Some(ratio) = memory(one, view, ranking) {
                let (base, other) = (name(&one.base), name(&one.other));
                let _ = writeln!(text, "  peak memory of {other} is {ratio} that of {base}");
            }
        }
        (many, _) => text.push_str(&places(many, view, ranking)),
    }
    let mut remarks = warnings::remarks(&row.figures, ranking);
    for c in compared {
        let sides = format!("{} against {}", name(&c.other), name(&c.base));
        remarks.extend(c.notes.iter().map(|note| format!("{sides}: {}", message(note))));
    }
    if !remarks.is_empty() {
        let _ = writeln!(text, "\n  {}", remarks.join("\n  "));
    }
    text
}

/// Colors of the first columns, the same as hyperfine's.
const COLORS: [&str; 2] = [terminal::CYAN, terminal::GREEN];

/// Columns as wide as their cells, two spaces apart; those marked `right` are flush right.
fn aligned<const N: usize>(lines: &[[String; N]], right: [bool; N], color: bool) -> String {
    let width = |column: usize| lines.iter().map(|cells| cells[column].width()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for cells in lines {
        let mut line = String::new();
        for (column, ((cell, width), right)) in cells.iter().zip(widths).zip(right).enumerate() {
            let [on, off] = match COLORS.get(column).filter(|_| color) {
                Some(on) => [*on, terminal::PLAIN],
                None => [""; 2],
            };
            let blank = " ".repeat(width - cell.width());
            let (before, after) = if right { (blank.as_str(), "") } else { ("", blank.as_str()) };
            let _ = write!(line, "  {before}{on}{cell}{off}{after}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A ratio above 1 with its interval: `1.94×  [1.93 - 1.95]`.
struct Times {
    ratio: f64,
    text: String,
}

impl Times {
    /// The ratio of a comparison, inverted if that makes it at least 1.
    fn new(c: &AbComparison, turned: bool) -> Option<Self> {
        let ratio = c.ratio?;
        let (ratio, interval) = match turned {
            true => (1.0 / ratio, c.interval.map(|[low, high]| [1.0 / high, 1.0 / low])),
            false => (ratio, c.interval),
        };
        let interval = words::meaningful(interval);
        let near = |x: f64| if (x - 1.0).abs() < 0.1 { 3 } else { 2 };
        let places = interval.map_or(near(ratio), |[low, high]| {
            words::apart_from_one([low, high], near(low).max(near(high)))
        });
        let interval = interval.map_or(String::new(), |[low, high]| {
            let interval = format!("[{} – {}]", fixed(low, places), fixed(high, places));
            format!("  {}", unbroken(&interval))
        });
        let text = format!("{}×{interval}", fixed(ratio, places));
        Some(Self { ratio, text })
    }

    /// The same with a word after the number: `1.94× faster  [1.93 - 1.95]`.
    fn with(&self, word: &str) -> String {
        self.text.replacen('×', &format!("× {word}"), 1)
    }
}

/// The verdict of two commands.
fn verdict(c: &AbComparison, name: &dyn Fn(&str) -> String, view: &AbView) -> String {
    let (base, other) = (name(&c.base), name(&c.other));
    let turned = c.ratio.is_some_and(|ratio| ratio < 1.0);
    let Some(times) = Times::new(c, turned) else {
        return without_ratio(c, &base, &other);
    };
    let (fast, slow) = if turned { (&base, &other) } else { (&other, &base) };
    match c.verdict {
        Verdict::Faster | Verdict::Slower => {
            let than = format!("faster than {slow}");
            format!("{fast} is {}", times.with(&than))
        }
        Verdict::Same => format!(
            "same: {fast} and {slow} differ by less than {}: {}",
            number::percent_option(view.margin),
            times.text
        ),
        Verdict::Inconclusive => {
            format!("inconclusive: {fast} is {}", times.with(&format!("as fast as {slow}")))
        }
    }
}

/// A verdict without a ratio: no pair, or a time too short to be measured.
fn without_ratio(c: &AbComparison, base: &str, other: &str) -> String {
    match c.verdict {
        _ if c.pairs == 0 => format!("inconclusive: no pair of {base} and {other}"),
        Verdict::Faster => format!("{other} is faster than {base}: {TOO_SHORT}"),
        Verdict::Slower => format!("{base} is faster than {other}: {TOO_SHORT}"),
        Verdict::Same | Verdict::Inconclusive => format!("inconclusive: {TOO_SHORT}"),
    }
}

/// Certainty and cost of the verdict; for an inconclusive one, what would decide it.
fn count(c: &AbComparison, ranking: &Ranking) -> String {
    let took = took(ranking).map_or(String::new(), |took| format!(", {took}"));
    let pairs = words::plural(c.pairs, "interleaved pair");
    if c.verdict != Verdict::Inconclusive {
        let p = match c.p_adjusted {
            Some(p) if p >= 0.01 => unbroken(&format!("p = {p:.2},")) + " ",
            Some(_) => unbroken("p < 0.01,") + " ",
            None => String::new(),
        };
        return format!("  {p}{pairs}{took}");
    }
    format!("\n  {pairs}{took}; {}", undecided(c, ranking))
}

/// Why a comparison is inconclusive, and what would decide it.
fn undecided(c: &AbComparison, ranking: &Ranking) -> String {
    let more_by = ranking.more_by;
    match (&ranking.stopped_by, c.smallest) {
        (Some(why), _) => clean(why).into_owned(),
        (None, _) if c.pairs < MIN_PAIRS => {
            format!("a verdict takes {MIN_PAIRS} pairs: raise {more_by}")
        }
        (None, Some(smallest)) => {
            format!("minimum detectable effect {}: raise {more_by}", number::percent(smallest))
        }
        (None, None) => format!("raise {more_by}"),
    }
}

fn took(ranking: &Ranking) -> Option<String> {
    ranking.elapsed_s.map(|s| unbroken(&number::seconds(s, None)))
}

/// Peak memory of the other side as a multiple of the base's, if it differs.
fn memory(c: &AbComparison, view: &AbView, ranking: &Ranking) -> Option<String> {
    let peak = |side: &str| {
        let index = view.sides.iter().position(|known| known.side == side)?;
        Some(*ranking.commands[index].memory.iter().max()? as f64)
    };
    let (base, other) = (peak(&c.base).filter(|bytes| *bytes > 0.0)?, peak(&c.other)?);
    let ratio = other / base;
    let differs = !(1.0 / MEMORY_MARGIN..MEMORY_MARGIN).contains(&ratio)
        && (other - base).abs() > MEMORY_DIFFERENCE;
    differs.then(|| format!("{}×", fixed(ratio, number::significant_decimals(ratio, 3))))
}

/// Ranks of three or more: the best or the reference, then all others against it.
fn places(all: &[AbComparison], view: &AbView, ranking: &Ranking) -> String {
    let position = |side: &str| view.sides.iter().position(|known| known.side == side);
    let mut order: Vec<&AbComparison> = all.iter().collect();
    if ranking.as_given {
        order.sort_by_key(|c| position(&c.other));
    } else {
        order.sort_by(|a, b| b.ratio.partial_cmp(&a.ratio).unwrap_or(Ordering::Equal));
    }
    let line = |c: &&AbComparison| {
        let turned = c.ratio.is_some_and(|ratio| ratio < 1.0);
        let times = Times::new(c, turned);
        let far = times.as_ref().is_some_and(|times| times.ratio.is_finite());
        let word = match (c.verdict, turned) {
            (Verdict::Same, _) => "same",
            (Verdict::Inconclusive, true) => "as slow",
            (Verdict::Inconclusive, false) => "as fast",
            (_, true) => "slower",
            (_, false) => "faster",
        };
        let without = match c.pairs {
            0 => "no pair",
            _ => TOO_SHORT,
        };
        let ratio = times.filter(|_| far).map_or(without.to_owned(), |times| times.with(word));
        let open = if c.verdict == Verdict::Inconclusive { "inconclusive" } else { "" };
        let memory = memory(c, view, ranking);
        [
            String::new(),
            ratio,
            open.to_owned(),
            words::plural(c.pairs, "pair"),
            memory.map_or(String::new(), |ratio| format!("{ratio} memory")),
        ]
    };
    let mut lines: Vec<[String; 5]> = order.iter().map(line).collect();
    let names: Vec<String> =
        ranking.commands.iter().map(|timing| clean(&timing.command).into_owned()).collect();
    let names = names::fitted(&names, names::room(&lines, ranking.width));
    let name = |side: &str| position(side).map_or(side, |index| &names[index]).to_owned();
    for (line, c) in lines.iter_mut().zip(&order) {
        line[0] = name(&c.other);
    }
    let took =
        ranking.elapsed_s.map_or(String::new(), |s| format!(" ({})", number::seconds(s, None)));
    let base = name(&all[0].base);
    let lines = aligned(&lines, [false, false, false, true, true], false);
    let too_short = |c: &AbComparison| c.pairs > 0 && c.ratio.is_none();
    let open = all.iter().filter(|c| c.verdict == Verdict::Inconclusive && !too_short(c));
    let worst = open.max_by(|a, b| {
        let smallest = |c: &AbComparison| c.smallest.unwrap_or(f64::INFINITY);
        smallest(a).total_cmp(&smallest(b))
    });
    let why = worst.map(|c| format!("  inconclusive: {}\n", undecided(c, ranking)));
    format!("\n  {base}, and against it{took}:\n{lines}{}", why.unwrap_or_default())
}

#[cfg(test)]
mod tests;
