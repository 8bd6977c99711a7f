//! Small pieces of prose: lists, plurals, dates, durations, ratios.

use gritstone_document::{Tone, listed, number};
use gritstone_model::{Better, Difference, EnvironmentScore, Id, Link, Peer, Reliability, RunView};
use std::collections::BTreeMap;

/// Amount of detail of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Estimate, interval and flags of each result.
    #[default]
    Results,
    /// Also data of the measurement.
    Columns,
    /// Also reference workloads, distributions, parts and settings.
    Everything,
}

pub(crate) fn tone(reliability: Reliability) -> Tone {
    match reliability {
        Reliability::High => Tone::Good,
        Reliability::Medium => Tone::Doubt,
        Reliability::Low => Tone::Bad,
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn join<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [head @ .., last] => {
            let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", head.join(", "), last.as_ref())
        }
    }
}

/// The same of at most `max` items: `a, b and 5 more`.
pub(crate) fn join_some<S: AsRef<str>>(items: &[S], max: usize) -> String {
    match items.len() > max {
        true => listed(items, max),
        false => join(items),
    }
}

/// `a=1 b=2`.
pub(crate) fn assigned(values: &BTreeMap<String, String>) -> String {
    let assigned: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assigned.join(" ")
}

/// "db1 (10.0.0.7): Intel Xeon Gold 6148, Linux 6.18.1; from eth0 (10000 Mbit/s, MTU 1500, ixgbe) to ens3 (MTU 1500)".
pub fn peer(peer: &Peer) -> String {
    let link = |link: &Option<Link>| {
        let Some(link) = link else {
            return "an unknown interface".to_owned();
        };
        let speed = link.speed_mbit.map(|speed| format!("{speed} Mbit/s"));
        let mtu = link.mtu.map(|mtu| format!("MTU {mtu}"));
        let parts = [speed, mtu, link.driver.clone()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => link.interface.clone(),
            false => format!("{} ({})", link.interface, parts.join(", ")),
        }
    };
    let named = match (peer.host.as_str(), peer.address.as_str()) {
        ("", _) => String::new(),
        (host, address) => format!("{host} ({address}): "),
    };
    format!(
        "{named}{}, {}; from {} to {}",
        peer.machine.name,
        peer.machine.system,
        link(&peer.near),
        link(&peer.far)
    )
}

/// The name of a fact; dots and underscores become spaces.
pub fn fact(name: &str) -> String {
    match name {
        "gritstone" => "Gritstone".to_owned(),
        "clock.resolution_ns" => "clock resolution (ns)".to_owned(),
        "dir.mount_point" => "mount point of the directory".to_owned(),
        _ => name.replace(['.', '_'], " "),
    }
}

/// `kernel 6.18.1 → 6.19.2`
pub(crate) fn difference(difference: &Difference) -> String {
    let value =
        |value: &str| if value.is_empty() { "unknown".to_owned() } else { value.to_owned() };
    let (base, other) = (value(&difference.base), value(&difference.other));
    format!("{} {base} → {other}", fact(&difference.what))
}

/// Names of the facts that differ.
pub(crate) fn facts(differ_in: &[Difference]) -> String {
    let names = differ_in.iter().map(|d| fact(&d.what));
    join(&names.collect::<Vec<_>>())
}

pub use gritstone_document::number::plural;

/// Notice that the raw samples of a run were pruned.
pub(crate) fn pruned(view: &RunView) -> Option<String> {
    let time = view.pruned.as_ref()?;
    Some(format!("raw samples pruned on {}", date(time)))
}

/// Size of raw samples: `3 runs, 90 launches, 189 KB`.
pub fn samples(runs: usize, launches: usize, bytes: u64) -> String {
    let (runs, launches) = (plural(runs, "run"), plural(launches, "launch"));
    format!("{runs}, {launches}, {}", self::bytes(bytes))
}

/// `512 B`, `189 KB`, `1.2 GB`: in steps of a thousand.
pub fn bytes(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    let mut units = ["B", "KB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if scaled < 1000.0 {
            break;
        }
        (scaled, unit) = (scaled / 1000.0, larger);
    }
    match scaled < 10.0 && unit != "B" {
        true => format!("{scaled:.1} {unit}"),
        false => format!("{scaled:.0} {unit}"),
    }
}

/// After a change that came little by little.
pub(crate) fn drift(is_drift: bool) -> &'static str {
    if is_drift { " (drift)" } else { "" }
}

/// Whether another program measured a benchmark: its machines are named after it.
pub(crate) fn is_imported(benchmark: &Id, machine: &str) -> bool {
    let rest = machine.strip_prefix(benchmark.family());
    rest.is_some_and(|rest| rest.starts_with('-'))
}

/// Capitalizes the first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}

/// `41 s`, `9 min 41 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "an unknown time".to_owned();
    }
    let s = seconds.round() as u64;
    let ((large, large_unit), (small, small_unit)) = match s {
        0..60 => return format!("{s} s"),
        60..3600 => ((s / 60, "min"), (s % 60, "s")),
        _ => ((s / 3600, "h"), (s % 3600 / 60, "min")),
    };
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

const MONTHS: &str =
    "January February March April May June July August September October November December";

/// `2026-01-02T03:04:05Z` as `2 January 2026, 03:04 UTC`, `1984-08` as `August 1984`; anything else as it is.
pub(crate) fn date(text: &str) -> String {
    read_date(text).unwrap_or_else(|| text.to_owned())
}

/// The part of an identifier that distinguishes runs with the same date: `cfe385a0` of `20261123-185538-cfe385a0`; another identifier as it
/// is.
pub(crate) fn short_id(id: &str) -> &str {
    let digits = |part: &str, n| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
    match id.split('-').collect::<Vec<_>>()[..] {
        [day, time, hash] if digits(day, 8) && digits(time, 6) && !hash.is_empty() => hash,
        _ => id,
    }
}

/// `2026-11-23 18:55` of a time in UTC; anything else as it is.
pub fn minute(text: &str) -> String {
    text.get(..16).unwrap_or(text).replacen('T', " ", 1)
}

fn read_date(text: &str) -> Option<String> {
    let (day, time) = text.split_once('T').map_or((text, None), |(d, t)| (d, Some(t)));
    let parts: Vec<&str> = day.split('-').collect();
    let (&[year, month], day) = parts.split_first_chunk()?;
    let day = match day {
        [] => String::new(),
        [day] => format!("{} ", day.parse::<u8>().ok()?),
        _ => return None,
    };
    let digits = |text: &str, n| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(year, 4) || !digits(month, 2) {
        return None;
    }
    let index = month.parse::<usize>().ok()?.checked_sub(1)?;
    let month = MONTHS.split(' ').nth(index)?;
    let clock = match time {
        Some(t) if t.ends_with('Z') && t.is_ascii() && t.len() >= 6 => format!(", {} UTC", &t[..5]),
        Some(t) => format!(", {t}"),
        None => String::new(),
    };
    Some(format!("{day}{month} {year}{clock}"))
}

/// The words for a ratio above and below 1, by the compared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Times and rates.
    Speed,
    /// Sizes.
    Size,
    Share,
    Count,
}

impl Sense {
    /// Sizes are in bytes, counts in instructions; all else is speed.
    pub(crate) fn for_unit(unit: &str) -> Self {
        match unit {
            "bytes" => Self::Size,
            "instructions" => Self::Count,
            _ => Self::Speed,
        }
    }

    /// Better and worse.
    pub(crate) fn words(self) -> [&'static str; 2] {
        match self {
            Self::Speed => ["faster", "slower"],
            Self::Size => ["smaller", "larger"],
            Self::Share => ["higher", "lower"],
            Self::Count => ["fewer", "more"],
        }
    }

    fn equality(self) -> &'static str {
        match self {
            Self::Speed => "as fast",
            Self::Size => "as large",
            Self::Share => "as high",
            Self::Count => "as many",
        }
    }

    fn less_is_better(self) -> bool {
        matches!(self, Self::Size | Self::Count)
    }
}

/// Ratio of the ends of an interval from which it is meaningless.
const MAX_SPREAD: f64 = 100.0;

/// An interval of a ratio, unless it is meaningless.
pub(crate) fn meaningful(interval: Option<[f64; 2]>) -> Option<[f64; 2]> {
    interval.filter(|[low, high]| *low > 0.0 && high / low <= MAX_SPREAD)
}

/// `1.31× faster [1.28 – 1.34]`; a ratio below 1 is inverted with its interval. An interval on both sides of 1 decides no direction: `0.98×
/// as fast [0.93 – 1.03]`.
pub(crate) fn ratio(ratio: f64, interval: Option<[f64; 2]>, sense: Sense) -> String {
    let interval = meaningful(interval);
    let undecided = interval.is_some_and(|[low, high]| low < 1.0 && 1.0 < high);
    let turned = match undecided {
        true => sense.less_is_better(),
        false => ratio < 1.0,
    };
    let (ratio, interval) = match turned {
        true => (1.0 / ratio, interval.map(|[low, high]| [1.0 / high, 1.0 / low])),
        false => (ratio, interval),
    };
    let [better, worse] = sense.words();
    let word = match (undecided, turned) {
        (true, _) => sense.equality(),
        (false, true) => worse,
        (false, false) => better,
    };
    let decimals = times_decimals(ratio, interval);
    let decimals = interval.map_or(decimals, |ends| apart_from_one(ends, decimals));
    let show = |r: f64| number::fixed(r, decimals);
    let shown = show(ratio);
    let text = match !undecided && ratio - 1.0 < 0.5 * 10f64.powi(-decimals) {
        true => "the same".to_owned(),
        false => format!("{shown}× {word}"),
    };
    match interval.map(|ends| ends.map(show)) {
        Some([low, high]) if low != shown || high != shown => format!("{text} [{low} – {high}]"),
        _ => text,
    }
}

/// The change of a value that became `ratio` times as good, in percent with its interval: `+24.2%` and `[+17.1 – +31.4]`; beyond
/// ten times as a factor. A time of 125 ns against 100 ns is `+25%`.
pub fn change(better: Better, ratio: f64, interval: Option<[f64; 2]>) -> (String, Option<String>) {
    let interval = interval.map(|ends| ends.map(|end| better.value_ratio(end)));
    let interval = interval.map(|[a, b]| [a.min(b), a.max(b)]);
    percent_change(better.value_ratio(ratio), interval)
}

/// The same for a ratio of values, or of speeds of benchmarks with different units.
pub(crate) fn percent_change(ratio: f64, interval: Option<[f64; 2]>) -> (String, Option<String>) {
    let interval = meaningful(interval);
    if !(0.1..10.0).contains(&ratio) {
        return times(ratio, interval);
    }
    let ends = interval.map(|ends| ends.map(|end| end - 1.0));
    let decimals = match ends {
        Some([low, high]) if high > low => number::significant_decimals((high - low) * 50.0, 1),
        // counts are exact
        Some(_) => 2,
        None => 1,
    };
    let shown = |share: f64, decimals: i32| {
        let percent = number::fixed((share * 100.0).abs(), decimals);
        let zero = percent.bytes().all(|b| matches!(b, b'0' | b'.'));
        (percent, zero)
    };
    // an end of an interval without 0 is not shown as 0
    let excludes_zero = ends.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
    let show = |share: f64| {
        let min = decimals.clamp(0, 2);
        let more = (min..=2).find(|&decimals| !shown(share, decimals).1);
        let decimals = more.filter(|_| excludes_zero).unwrap_or(min);
        let (percent, zero) = shown(share, decimals);
        let sign = match share < 0.0 {
            _ if zero => "",
            true => "−",
            false => "+",
        };
        format!("{sign}{percent}")
    };
    let interval = ends.map(|ends| ends.map(show));
    let interval = interval.map(|[low, high]| format!("[{low} – {high}]"));
    (format!("{}%", show(ratio - 1.0)), interval)
}

/// A ratio as a factor and its interval, `1,690 ×` and `[1,680 – 1,700]`; far below 1 as a divisor, `÷ 1,690`.
pub(crate) fn times(ratio: f64, interval: Option<[f64; 2]>) -> (String, Option<String>) {
    if ratio > 0.0 && ratio < 0.1 {
        let ends = interval.map(|[low, high]| [1.0 / high, 1.0 / low]);
        let (times, ends) = times(1.0 / ratio, ends);
        return (format!("÷ {}", times.trim_end_matches(" ×")), ends);
    }
    let decimals = times_decimals(ratio, interval);
    let show = |r: f64| number::fixed(r, decimals);
    let ends = interval.map(|ends| ends.map(show));
    let interval = ends.map(|[low, high]| format!("[{low} – {high}]"));
    (format!("{} ×", show(ratio)), interval)
}

/// A ratio as a bare number, and its interval: `1,690`, `[1,680 – 1,700]`. An interval whose ends are equal in three digits is left out.
pub fn bare_ratio(ratio: f64, interval: Option<[f64; 2]>) -> (String, String) {
    let interval = meaningful(interval);
    let decimals = times_decimals(ratio, interval);
    let show = |r: f64| number::fixed(r, decimals);
    let shown = show(ratio);
    let bounds = match interval.map(|ends| ends.map(show)) {
        Some([low, high]) if low != shown || high != shown => format!("[{low} – {high}]"),
        _ => String::new(),
    };
    (shown, bounds)
}

/// As many decimals, or more, four at most, as show that an end is not 1.
pub(crate) fn apart_from_one(ends: [f64; 2], decimals: i32) -> i32 {
    let is_apart = |decimals: &i32| {
        let is_one = |end: f64| (end - 1.0).abs() < 0.5 * 10f64.powi(-decimals);
        ends.iter().all(|end| *end == 1.0 || !is_one(*end))
    };
    let excludes = ends.iter().all(|end| *end > 1.0) || ends.iter().all(|end| *end < 1.0);
    (decimals..=4).find(is_apart).filter(|_| excludes).unwrap_or(decimals)
}

/// Three digits; near 1 the decimals up to the first uncertain digit, from two to four.
fn times_decimals(ratio: f64, interval: Option<[f64; 2]>) -> i32 {
    match interval {
        Some([low, high]) if (0.1..10.0).contains(&ratio) => {
            number::significant_decimals((high - low) / 2.0, 1).clamp(2, 4)
        }
        _ => number::significant_decimals(ratio, 3),
    }
}

/// `6.93 [6.90 – 6.96]`, or why there is none.
pub(crate) fn score(score: &EnvironmentScore) -> String {
    match (score.score, &score.withheld) {
        (Some(value), _) => match bare_ratio(value, score.interval) {
            (value, interval) if interval.is_empty() => value,
            (value, interval) => format!("{value} {interval}"),
        },
        (None, Some(_)) => "not computed".to_owned(),
        (None, None) => "no score: the base has none of the benchmarks".to_owned(),
    }
}

/// A number of things, whose plural ends in s: `2 users`.
pub(crate) fn things(number: &str, things: &str) -> String {
    match number {
        "1" => format!("1 {}", things.trim_end_matches('s')),
        _ => format!("{number} {things}"),
    }
}

/// A sentence on a run that has not ended.
pub(crate) fn unfinished(machine: &gritstone_model::ScoredSystem) -> &'static str {
    match machine.unfinished {
        true => " The run did not end: it was interrupted, or is still measuring.",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_read_in_both_directions() {
        #[rustfmt::skip] // a row each
        let table = [
            (1.31, Some([1.28, 1.34]), "1.31× faster [1.28 – 1.34]"),
            (1.3102, Some([1.3071, 1.3133]), "1.310× faster [1.307 – 1.313]"),
            (1.31, Some([1.11, 1.51]), "1.31× faster [1.11 – 1.51]"),
            (0.5, Some([0.4, 0.625]), "2.00× slower [1.60 – 2.50]"),
            (1.02, Some([0.97, 1.07]), "1.02× as fast [0.97 – 1.07]"),
            (0.98, Some([0.93, 1.03]), "0.98× as fast [0.93 – 1.03]"),
            (1.0001, Some([0.99, 1.01]), "1.00× as fast [0.99 – 1.01]"),
            (1.0, Some([1.0, 1.0]), "the same"),
            (12_345.6, None, "12,300× faster"),
            (12_345.6, Some([12_300.0, 12_390.0]), "12,300× faster [12,300 – 12,400]"),
            (12_345.6, Some([12_340.0, 12_349.0]), "12,300× faster"),
            (1.0 / 1690.0, None, "1,690× slower"),
            (23.44, None, "23.4× faster"),
            (1.001, None, "the same"),
            (1.31, Some([2e-9, 9.41e15]), "1.31× faster"),
            (1.31, Some([0.0, 2.0]), "1.31× faster"),
        ];
        for (r, interval, text) in table {
            assert_eq!(ratio(r, interval, Sense::Speed), text);
        }
        for (r, interval, text) in [
            (1690.4, Some([1680.0, 1702.0]), ["1,690", "[1,680 – 1,700]"]),
            (0.53, Some([0.51, 0.55]), ["0.53", "[0.51 – 0.55]"]),
            (0.000_592, None, ["0.000592", ""]),
        ] {
            assert_eq!(<[String; 2]>::from(bare_ratio(r, interval)), text);
        }
        for (r, interval, is, bounds) in [
            (1.242, Some([1.171, 1.314]), "+24%", Some("[+17 – +31]")),
            (0.871, Some([0.868, 0.875]), "−12.9%", Some("[−13.2 – −12.5]")),
            (1.0, Some([0.999, 1.001]), "0.0%", Some("[−0.1 – +0.1]")),
            (0.02, None, "÷ 50.0", None),
            (1.242, Some([1e-16, 9.41e15]), "+24.2%", None),
        ] {
            assert_eq!(
                change(Better::Higher, r, interval),
                (is.to_owned(), bounds.map(str::to_owned))
            );
        }
        let slower = change(Better::Lower, 0.8, Some([0.78, 0.82]));
        assert_eq!(slower, ("+25%".to_owned(), Some("[+22 – +28]".to_owned())));
        let wide = change(Better::Lower, 1.0 / 1.49, Some([1.0 / 2.4, 1.0 / 1.004]));
        let wanted = ("+49%".to_owned(), Some("[+0.4 – +140]".to_owned()));
        assert_eq!(wide, wanted);
        let near = ratio(1.01, Some([1.0001, 1.0199]), Sense::Speed);
        assert_eq!(near, "1.0100× faster [1.0001 – 1.0199]");
        let size = [2.0, 0.5].map(|r| ratio(r, None, Sense::for_unit("bytes")));
        assert_eq!(size, ["2.00× smaller", "2.00× larger"]);
    }

    #[test]
    fn dates_and_durations() {
        for (text, read) in [
            ("2026-01-02T03:04:05Z", "2 January 2026, 03:04 UTC"),
            ("2026-01-02T03:04:05+02:00", "2 January 2026, 03:04:05+02:00"),
            ("1984-08", "August 1984"),
            ("1984-11-16", "16 November 1984"),
        ] {
            assert_eq!(date(text), read);
        }
        for odd in ["1984", "", "yesterday", "1984-13", "T", "1984-08-xx", "1-2-3-4", "éé-08Té"]
        {
            assert_eq!(date(odd), odd);
        }
        let durations = [41.2, 581.0, 600.0, 7500.0, f64::NAN].map(duration);
        let words = ["41 s", "9 min 41 s", "10 min", "2 h 5 min", "an unknown time"];
        assert_eq!(durations, words);
    }

    #[test]
    fn lists_and_plurals() {
        assert_eq!(join(&["a", "b", "c"]), "a, b and c");
        assert_eq!(join::<&str>(&[]), "");
        assert_eq!(plural(10, "launch"), "10 launches");
        assert_eq!(capital("élan"), "Élan");
        let short = ["20261123-185538-cfe385a0", "run-11", "a-b-c"].map(short_id);
        assert_eq!(short, ["cfe385a0", "run-11", "a-b-c"]);
    }
}
