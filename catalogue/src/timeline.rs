//! Timelines: benchmarks of one capability over the years, in `catalogue/timelines.toml`.

use crate::error::{Error, Text};
use gritstone_model::{Benchmark, Timeline};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    timeline: Vec<Spanned<Timeline>>,
}

/// # Errors
/// When a benchmark is not in the catalog.
pub fn timelines(name: &str, text: &str, benchmarks: &[Benchmark]) -> Result<Vec<Timeline>, Error> {
    let text = Text { name, text };
    let file: File = toml::from_str(text.text).map_err(|fault| text.serde(&fault, 0..0))?;
    let mut timelines = vec![];
    for written in file.timeline {
        let (span, timeline) = (written.span(), written.into_inner());
        for id in &timeline.benchmarks {
            let known = benchmarks.iter().any(|benchmark| benchmark.id == *id);
            text.must(known, &span, || format!("no benchmark is called '{id}'"))?;
        }
        timelines.push(timeline);
    }
    Ok(timelines)
}
