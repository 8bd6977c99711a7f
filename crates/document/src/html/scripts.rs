//! Scripts that pages load: charts with uPlot, and the state of a change.

use super::{Links, path};
use crate::tree::{About, Chart};
use std::fmt::Write as _;

const UPLOT: &str = include_str!("uplot/uPlot.iife.min.js");
const CHARTS: &str = include_str!("charts.js");
const TRIAGE: &str = include_str!("triage.js");
/// Path of the script of pages with charts.
pub const CHARTS_PATH: &str = "/assets/charts.js";
pub(super) const TRIAGE_PATH: &str = "/assets/triage.js";

/// The script at a path; pages load it from the server or, on a static site, from a relative path.
pub fn script(path: &str) -> Option<String> {
    match path {
        CHARTS_PATH => Some(charts()),
        TRIAGE_PATH => Some(TRIAGE.to_owned()),
        _ => None,
    }
}

/// The script of pages with charts.
pub fn charts() -> String {
    format!("{UPLOT}{CHARTS}")
}

/// Writes the elements that load the scripts of a page.
pub(super) fn load(out: &mut String, links: Links, has_charts: bool, has_triage: bool) {
    for (is_needed, path) in [(has_charts, CHARTS_PATH), (has_triage, TRIAGE_PATH)] {
        if let Some(to) = links.to(path).filter(|_| is_needed) {
            let _ = writeln!(out, "<script src=\"{to}\" defer=\"defer\"></script>");
        }
    }
}

/// A chart and the links of its points as JSON, without characters that end an element of HTML or XML.
pub(super) fn data(chart: &Chart, links: Links) -> String {
    let link = |about: &About| match links.to(&path(about)) {
        Some(to) => format!("\"{to}\""),
        None => "null".to_owned(),
    };
    let to: Vec<String> = chart.about.iter().map(link).collect();
    format!("{{\"chart\":{},\"links\":[{}]}}", chart.json, to.join(","))
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::{Files, Frame, TriageForm, filed, served};
    use crate::tree::Document;

    #[test]
    fn files_have_no_triage_form() {
        let frame = Frame { triage: Some(TriageForm::default()), ..Frame::default() };
        let document = Document::new("Change 1");
        let has_form = |page: &str| page.contains("<form class=\"ask triage\"");
        assert!(has_form(&served(&document, &frame)));
        let files = Files::default();
        assert!(!has_form(&filed(&document, &frame, &files, "/changes/1")));
    }

    #[test]
    fn data_cannot_end_its_element() {
        let chart = Chart {
            json: r#"{"readout":"</script><b>&"}"#.to_owned(),
            about: ["a", "gone"].map(|id| About::Run(id.to_owned())).into(),
        };
        let mut files = Files::default();
        files.insert(&About::Fleet);
        files.insert(&About::Run("a".to_owned()));
        let data = data(&chart, Links::Files(&files, "/fleet"));
        assert!(!data.contains(['<', '>', '&']), "{data}");
        assert!(data.ends_with(r#""links":["runs/a.html",null]}"#), "{data}");
    }
}
