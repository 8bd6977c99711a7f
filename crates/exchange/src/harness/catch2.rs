//! Catch2: `--reporter xml`.

use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Output, Program, Shape,
    argv, malformed, place,
};
use crate::foreign_run::{DistinctNames, ForeignRun, Repetition};
use gritstone_model::Better;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeSet;

pub(super) struct Catch2;

const ONLY_MEAN: &str = "The file has only the mean, no samples.";
const CASE_FAILED: &str = "its test case failed";

/// Samples of a benchmark, each of some 100 µs.
const SAMPLES: u32 = 20;

/// Position of the reader.
#[derive(Default)]
struct Path {
    /// Test case, then sections.
    within: Vec<String>,
    /// Whole name of the benchmark.
    benchmark: Option<String>,
    /// Benchmarks of the test case.
    of_case: BTreeSet<String>,
    case_failed: bool,
    /// A generator repeats the sections and benchmarks of a test case.
    names: DistinctNames,
}

impl Path {
    fn opened(&mut self, run: &mut ForeignRun, tag: &BytesStart<'_>, location: &str) {
        match tag.name().as_ref() {
            b"Catch2TestRun" => run.version = attribute(tag, "catch2-version").unwrap_or_default(),
            b"TestCase" | b"Section" => {
                let name = attribute(tag, "name").unwrap_or_default();
                self.within.push(name.trim().to_owned());
            }
            b"BenchmarkResults" => {
                let benchmark = attribute(tag, "name").unwrap_or_default();
                let name = [self.within.join("/"), benchmark].join("/");
                let name = self.names.next(name);
                run.named(&name).remarks.insert(ONLY_MEAN);
                self.of_case.insert(name.clone());
                self.benchmark = Some(name);
            }
            b"mean" => self.add(run, tag, location),
            b"failed" => {
                let why = attribute(tag, "message").unwrap_or_default();
                if let Some(name) = &self.benchmark {
                    run.named(name).failures.push(why);
                }
            }
            b"OverallResult" => {
                self.case_failed |= attribute(tag, "success").is_some_and(|value| value == "false");
            }
            _ => {}
        }
    }

    fn add(&self, run: &mut ForeignRun, tag: &BytesStart<'_>, location: &str) {
        let Some(name) = &self.benchmark else { return };
        let value = attribute(tag, "value").and_then(|text| text.parse().ok());
        let one = Repetition::new(value.unwrap_or(f64::NAN));
        run.add(name, ("ns", Better::Lower), vec![one], || location.to_owned());
    }

    fn closed(&mut self, run: &mut ForeignRun, tag: &[u8]) {
        match tag {
            b"BenchmarkResults" => self.benchmark = None,
            b"Section" => {
                self.within.pop();
            }
            b"TestCase" => {
                self.within.pop();
                let of_case = std::mem::take(&mut self.of_case);
                if std::mem::take(&mut self.case_failed) {
                    for name in of_case {
                        run.leave_out(&name, CASE_FAILED);
                    }
                }
            }
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    let value = found
        .decoded_and_normalized_value(quick_xml::XmlVersion::Implicit1_0, tag.decoder())
        .ok()?;
    Some(value.into_owned())
}

impl Format for Catch2 {
    fn program(&self) -> Program {
        Program { name: "catch2", title: "Catch2" }
    }

    fn recognizes(&self, shape: &Shape<'_>) -> bool {
        shape.text.contains("<Catch2TestRun ") || shape.text.contains("<Catch name=")
    }

    /// Names consist of the test case, its sections and the benchmark.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let mut reader = Reader::from_str(&file.text);
        let mut path = Path::default();
        loop {
            let location = place(file, &format!("byte {}", reader.buffer_position()));
            match reader.read_event() {
                Err(why) => return Err(malformed(location, why)),
                Ok(Event::Eof) if !path.within.is_empty() => {
                    return Err(malformed(location, "the file is truncated"));
                }
                Ok(Event::Eof) => break,
                Ok(Event::Start(tag)) => path.opened(run, &tag, &location),
                Ok(Event::Empty(tag)) => {
                    path.opened(run, &tag, &location);
                    path.closed(run, tag.name().as_ref());
                }
                Ok(Event::End(tag)) => path.closed(run, tag.name().as_ref()),
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

impl Harness for Catch2 {
    /// Catch2 has no filter of benchmarks.
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        let out = execution.directory.join("catch2.xml");
        let more = [
            "--reporter".to_owned(),
            "xml".to_owned(),
            "--out".to_owned(),
            out.display().to_string(),
            "--benchmark-no-analysis".to_owned(),
            "--benchmark-samples".to_owned(),
            SAMPLES.to_string(),
            "--benchmark-warmup-time".to_owned(),
            execution.time.as_millis().to_string(),
        ];
        Invocation::new(argv(execution.command, more), Output::File(out))
    }
}
