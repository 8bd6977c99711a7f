//! iperf3: `-J`.

use super::json_text::{Field, fields, json, number, parse_json, parsed, text};
use super::{Format, HarnessError, HarnessFile, Program, Shape, malformed, place};
use crate::foreign_run::{ForeignRun, Repetition};
use crate::limits::{Bounded, LAUNCHES};
use gritstone_model::Better;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) struct Iperf3;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    start: Start<'a>,
    #[serde(borrow, default)]
    intervals: Bounded<&'a RawValue, LAUNCHES>,
    #[serde(borrow, default)]
    end: End<'a>,
    #[serde(borrow)]
    error: Field<'a>,
}

fields! {
    struct Start {
        version,
        system_info,
        timestamp,
        test_start,
    }

    struct Time {
        timesecs,
    }

    struct Test {
        protocol,
        num_streams,
        reverse,
        target_bitrate,
    }

    struct Interval {
        streams,
        sum,
        sum_bidir_reverse,
    }

    struct End {
        sum,
        sum_sent,
        sum_received,
        sum_received_bidir_reverse,
    }

    /// Amount of one stream or of all.
    struct Amount {
        bytes,
        seconds,
        bits_per_second,
        rtt,
        jitter_ms,
        omitted,
    }
}

impl Amount<'_> {
    /// The rate, bits per second.
    fn rate(&self) -> Repetition {
        Repetition {
            operations: number(self.bytes).map(|bytes| (bytes * 8.0) as u64),
            ..Repetition::new(number(self.bits_per_second).unwrap_or(f64::NAN))
        }
    }

    fn is_counted(&self) -> bool {
        text(self.omitted).is_none_or(|omitted| omitted != "true")
    }
}

impl Test<'_> {
    /// Quantity and protocol, with the user's parameters.
    fn name(&self, what: &str) -> String {
        let protocol = text(self.protocol).unwrap_or_else(|| "TCP".to_owned());
        let streams = text(self.num_streams).unwrap_or_else(|| "1".to_owned());
        let bitrate = number(self.target_bitrate).filter(|bits| *bits > 0.0);
        let bitrate = bitrate.map_or_else(String::new, |bits| format!(", bitrate={bits}"));
        format!("{protocol} {what} (streams={streams}{bitrate})")
    }

    fn is_reverse(&self) -> bool {
        number(self.reverse).is_some_and(|reverse| reverse > 0.0)
    }
}

/// Intervals below this part of the median length are the rest of a test, without data or with a few packets.
const REST: f64 = 0.5;

const STALLED: &str = "One of its intervals is without data: its value is the total.";
const NO_INTERVALS: &str = "The file has only the total, no intervals.";
const LINK: &str = "All intervals are from one connection: differences between connections are not in the confidence interval.";

/// Removes intervals that are much shorter than most.
fn drop_rests(intervals: &mut Vec<Interval<'_>>) {
    let length = |interval: &Interval<'_>| {
        let sum: Amount<'_> = parsed(interval.sum)?;
        number(sum.seconds)
    };
    let mut lengths: Vec<f64> = intervals.iter().filter_map(length).collect();
    lengths.sort_by(f64::total_cmp);
    let Some(median) = lengths.get(lengths.len() / 2) else {
        return;
    };
    intervals.retain(|interval| length(interval).is_none_or(|s| s >= REST * median));
}

/// The rate of each interval, or the total if an interval has none.
fn throughput(run: &mut ForeignRun, name: &str, intervals: &[Amount<'_>], total: Field<'_>) {
    let rates: Vec<Repetition> = intervals.iter().map(Amount::rate).collect();
    let (rates, remark) = match rates.iter().all(|rate| rate.value > 0.0) {
        true if !rates.is_empty() => (rates, LINK),
        complete => {
            let total: Amount<'_> = parsed(total).unwrap_or_default();
            (vec![total.rate()], if complete { NO_INTERVALS } else { STALLED })
        }
    };
    for rate in rates {
        run.add(name, ("bits/s", Better::Higher), vec![rate], || "end".to_owned());
    }
    run.named(name).remarks.insert(remark);
}

impl Format for Iperf3 {
    fn program(&self) -> Program {
        Program { name: "iperf3", title: "iperf3" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["start", "intervals"])
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: File<'_> = parse_json(file, &json, self.title())?;
        if let Some(error) = text(document.error) {
            return Err(malformed(place(file, ""), format!("iperf3 failed: {error}")));
        }
        let version = text(document.start.version).unwrap_or_default();
        run.version = version.trim_start_matches("iperf ").to_owned();
        let time: Time<'_> = parsed(document.start.timestamp).unwrap_or_default();
        let seconds = number(time.timesecs).map(|seconds| seconds as i64);
        run.started = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        let system = text(document.start.system_info).unwrap_or_default();
        run.machine = system.split_whitespace().nth(1).map(str::to_owned);
        add(run, &document);
        Ok(())
    }
}

fn add<'a>(run: &mut ForeignRun, document: &'a File<'a>) {
    let test: Test<'_> = parsed(document.start.test_start).unwrap_or_default();
    let mut intervals: Vec<Interval<'a>> = (document.intervals.0.iter())
        .filter_map(|raw| serde_json::from_str(raw.get()).ok())
        .collect();
    drop_rests(&mut intervals);
    let amounts = |field: fn(&Interval<'a>) -> Field<'a>| -> Vec<Amount<'a>> {
        let amounts = intervals.iter().filter_map(|interval| parsed(field(interval)));
        amounts.filter(Amount::is_counted).collect()
    };
    let end = &document.end;
    let (direction, total) = match test.is_reverse() {
        true => ("throughput, received", end.sum_received),
        false => ("throughput, sent", end.sum_sent),
    };
    let total = total.or(end.sum);
    throughput(run, &test.name(direction), &amounts(|one| one.sum), total);
    let back = amounts(|one| one.sum_bidir_reverse);
    if !back.is_empty() {
        let name = test.name("throughput, received");
        throughput(run, &name, &back, end.sum_received_bidir_reverse);
    }
    for interval in &intervals {
        let streams: Vec<Amount<'_>> = parsed(interval.streams).unwrap_or_default();
        let trips = streams.iter().filter(|stream| stream.is_counted());
        let trips = trips.filter_map(|stream| number(stream.rtt));
        let trips: Vec<Repetition> = trips.filter(|us| *us > 0.0).map(Repetition::new).collect();
        if !trips.is_empty() {
            let name = test.name("round-trip time");
            run.add(&name, ("us", Better::Lower), trips, String::new);
            run.named(&name).remarks.insert(LINK);
        }
    }
    let sum: Amount<'_> = parsed(end.sum).unwrap_or_default();
    if let Some(jitter) = number(sum.jitter_ms).filter(|jitter| *jitter > 0.0) {
        let name = test.name("jitter");
        run.add(&name, ("ms", Better::Lower), vec![Repetition::new(jitter)], String::new);
        run.named(&name).remarks.insert(NO_INTERVALS);
    }
}
