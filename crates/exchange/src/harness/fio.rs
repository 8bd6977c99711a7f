//! fio: `--output-format=json`, also with other text around it, and the sequence of documents of `--status-interval`.

use super::json_text::{Field, documents, fields, json, number, parse_json, parsed, text};
use super::{Format, HarnessError, HarnessFile, Program, Shape};
use crate::foreign_run::{DistinctNames, ForeignRun, Repetition};
use crate::limits::{BENCHMARKS, Bounded};
use gritstone_model::Better;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Fio;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, rename = "fio version")]
    version: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "global options")]
    options: Field<'a>,
    #[serde(borrow)]
    jobs: Bounded<&'a RawValue, BENCHMARKS>,
}

fields! {
    struct Job {
        jobname,
        groupid,
        error,
        #[serde(rename = "job options")]
        options,
        read,
        write,
        trim,
    }

    /// Versions before 3 have `bw` in KiB/s, and `lat` and `clat` in microseconds.
    struct Direction {
        io_bytes,
        bw_bytes,
        bw,
        iops,
        runtime,
        total_ios,
        lat_ns,
        lat,
        clat_ns,
        clat,
    }

    struct Latency {
        mean,
        percentile,
    }
}

/// Options that define the work, not its place.
const OPTIONS: [&str; 9] =
    ["rw", "readwrite", "bs", "blocksize", "bsrange", "bssplit", "iodepth", "numjobs", "rwmixread"];

/// Percentiles of completion latency that are read.
const PERCENTILES: [(&str, &str); 2] = [("50.000000", "p50"), ("99.000000", "p99")];

const ONE_VALUE: &str = "The file has one value and no samples.";
const INTERVALS: &str = "All intervals are from one run of fio: differences between runs are not in the confidence interval.";
const COPIES: &str = "percentiles of several jobs cannot be joined: measure with group_reporting=1";

/// Simultaneous jobs of one name, and their total in one direction.
#[derive(Clone, Default)]
struct Total {
    jobs: usize,
    bytes: f64,
    /// Longest runtime, ms.
    runtime: f64,
    bytes_per_second: f64,
    operations_per_second: f64,
    operations: f64,
    /// Latency over all operations, ns.
    latency: f64,
    /// Completion latency of the last job, ns.
    percentiles: BTreeMap<String, f64>,
}

impl Total {
    fn add(&mut self, one: &Direction<'_>) {
        let number_or_zero = |field| number(field).unwrap_or_default();
        let kib = number(one.bw).map(|kib| kib * 1024.0);
        let (lat, ns) = match one.lat_ns {
            Some(lat) => (Some(lat), 1.0),
            None => (one.lat, 1e3),
        };
        let lat: Latency<'_> = parsed(lat).unwrap_or_default();
        let clat: Latency<'_> = parsed(one.clat_ns.or(one.clat)).unwrap_or_default();
        let percentiles: BTreeMap<String, f64> = parsed(clat.percentile).unwrap_or_default();
        let operations = number_or_zero(one.total_ios);
        self.jobs += 1;
        self.bytes += number_or_zero(one.io_bytes);
        self.runtime = self.runtime.max(number_or_zero(one.runtime));
        self.bytes_per_second += number(one.bw_bytes).or(kib).unwrap_or_default();
        self.operations_per_second += number_or_zero(one.iops);
        self.operations += operations;
        self.latency += number_or_zero(lat.mean) * ns * operations;
        self.percentiles =
            percentiles.into_iter().map(|(percentile, value)| (percentile, value * ns)).collect();
    }
}

type Totals = Vec<((String, &'static str), Total)>;

/// Group and name, which simultaneous jobs share.
fn key(number_of: usize, job: &Job<'_>, global: Field<'_>) -> (String, String) {
    let name = text(job.jobname).unwrap_or_else(|| format!("jobs[{number_of}]"));
    let name = format!("{name}{}", options(job.options, global));
    (text(job.groupid).unwrap_or_default(), name)
}

/// The options of a job, which override the global ones.
fn options<'a>(job: Field<'a>, global: Field<'a>) -> String {
    let mut all: BTreeMap<String, Option<&'a RawValue>> = parsed(global).unwrap_or_default();
    all.extend(parsed::<BTreeMap<String, Option<&'a RawValue>>>(job).unwrap_or_default());
    let pair = |name: &&str| Some(format!("{name}={}", text(*all.get(*name)?)?));
    let pairs: Vec<String> = OPTIONS.iter().filter_map(pair).collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!(" ({})", pairs.join(", ")),
    }
}

fn totals(run: &mut ForeignRun, document: &Document<'_>) -> Totals {
    let jobs = document.jobs.0.iter().enumerate();
    let jobs: Vec<_> = jobs
        .map(|(number_of, raw)| {
            let job: Job<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
            (key(number_of, &job, document.options), job)
        })
        .collect();
    // the other jobs of such a group did not do the work alone
    let mut failed = BTreeSet::new();
    for (key, job) in &jobs {
        if let Some(error) = number(job.error).filter(|error| *error != 0.0) {
            run.leave_out(&key.1, format!("it failed with error {error}"));
            failed.insert(key);
        }
    }
    let mut totals: Totals = vec![];
    for (key, job) in jobs.iter().filter(|(key, _)| !failed.contains(key)) {
        let (group, name) = key;
        for (direction, field) in [("read", job.read), ("write", job.write), ("trim", job.trim)] {
            let one: Direction<'_> = parsed(field).unwrap_or_default();
            if number(one.total_ios).is_none_or(|operations| operations == 0.0) {
                continue;
            }
            let key = (format!("{group}:{name}"), direction);
            let index = totals.iter().position(|(known, _)| *known == key);
            let index = index.unwrap_or_else(|| {
                totals.push((key, Total::default()));
                totals.len() - 1
            });
            totals[index].1.add(&one);
        }
    }
    totals
}

/// Work of each document minus that of the document before.
fn intervals(documents: &[Totals], key: &(String, &'static str)) -> Vec<Total> {
    let mut before = Total::default();
    let mut all = vec![];
    for document in documents {
        let Some((_, now)) = document.iter().find(|(known, _)| known == key) else {
            continue;
        };
        let ms = now.runtime - before.runtime;
        if ms > 0.0 && now.bytes > before.bytes {
            all.push(Total {
                bytes_per_second: (now.bytes - before.bytes) / ms * 1e3,
                operations_per_second: (now.operations - before.operations) / ms * 1e3,
                ..Total::default()
            });
            before = now.clone();
        }
    }
    all
}

fn add(run: &mut ForeignRun, documents: &[Totals]) {
    let Some(last) = documents.last() else { return };
    let mut names: BTreeMap<&str, DistinctNames> = BTreeMap::new();
    for (key, total) in last {
        let (job, direction) = key;
        let job = job.split_once(':').map_or(job.as_str(), |(_, job)| job);
        // jobs of one name in different groups were not simultaneous
        let job = names.entry(direction).or_default().next(job.to_owned());
        let name = |what: &str| match job.split_once(" (") {
            Some((job, options)) => format!("{job} {direction} {what} ({options}"),
            None => format!("{job} {direction} {what}"),
        };
        let several = match documents.len() {
            1 => vec![],
            _ => intervals(documents, key),
        };
        let (rates, remark) = match several.len() {
            0 | 1 => (vec![total.clone()], ONE_VALUE),
            _ => (several, INTERVALS),
        };
        for rate in rates {
            let (bytes, operations) = (rate.bytes_per_second / 1e6, rate.operations_per_second);
            for (what, unit, value) in [("throughput", "MB/s", bytes), ("IOPS", "IO/s", operations)]
            {
                let one = vec![Repetition::new(value)];
                run.add(&name(what), (unit, Better::Higher), one, String::new);
                run.named(&name(what)).remarks.insert(remark);
            }
        }
        latencies(run, total, &name);
    }
}

fn latencies(run: &mut ForeignRun, total: &Total, name: &dyn Fn(&str) -> String) {
    let mut values = vec![("mean latency".to_owned(), total.latency / total.operations)];
    for (percentile, short) in PERCENTILES {
        let what = format!("{short} completion latency");
        match total.percentiles.get(percentile) {
            Some(value) if total.jobs == 1 => values.push((what, *value)),
            Some(_) => run.leave_out(&name(&what), COPIES),
            None => {}
        }
    }
    for (what, value) in values.into_iter().filter(|(_, value)| *value > 0.0) {
        let one = vec![Repetition::new(value)];
        run.add(&name(&what), ("ns", Better::Lower), one, String::new);
        run.named(&name(&what)).remarks.insert(ONE_VALUE);
    }
}

impl Format for Fio {
    fn program(&self) -> Program {
        Program { name: "fio", title: "fio" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.has(&["fio version", "jobs"])
    }

    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let texts = documents(&json);
        if texts.is_empty() {
            parse_json::<Document<'_>>(file, &json, self.title())?;
        }
        let mut documents = vec![];
        for text in texts {
            documents.push(parse_json::<Document<'_>>(file, text.get(), self.title())?);
        }
        if let Some(last) = documents.last() {
            let version = text(last.version).unwrap_or_default();
            run.version = version.trim_start_matches("fio-").to_owned();
            let seconds = number(last.timestamp).map(|seconds| seconds as i64);
            run.started = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        }
        let totals: Vec<Totals> = documents.iter().map(|one| totals(run, one)).collect();
        add(run, &totals);
        Ok(())
    }
}
