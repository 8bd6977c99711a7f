//! Chapters of the brief in the order of the document of 1987, in `catalogue/chapters.toml`.

use crate::error::{Error, Text};
use gritstone_model::{Benchmark, Chapter, Form, Selector};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    chapter: Vec<Spanned<Chapter>>,
}

/// # Errors
/// When a selector matches no benchmark, or a form lacks a part.
pub fn chapters(name: &str, text: &str, benchmarks: &[Benchmark]) -> Result<Vec<Chapter>, Error> {
    let text = Text { name, text };
    let file: File = toml::from_str(text.text).map_err(|fault| text.serde(&fault, 0..0))?;
    let mut chapters = vec![];
    for written in file.chapter {
        let (span, chapter) = (written.span(), written.into_inner());
        for exhibit in &chapter.exhibits {
            let place = &exhibit.place;
            for selector in &exhibit.benchmarks {
                let by = Selector::new(selector);
                let known = benchmarks.iter().any(|benchmark| by.matches(&benchmark.id));
                text.must(known, &span, || {
                    format!("{place}: no benchmark is called '{selector}'")
                })?;
            }
            let relative = matches!(exhibit.form, Form::Relative | Form::Ratios);
            text.must(!relative || exhibit.reference.is_some(), &span, || {
                format!("{place}: say to which system the ratios are: reference = \"...\"")
            })?;
            let has_text = exhibit.form != Form::Words || exhibit.text.is_some();
            text.must(has_text, &span, || format!("{place}: the text is missing"))?;
        }
        chapters.push(chapter);
    }
    Ok(chapters)
}
