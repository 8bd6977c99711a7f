//! Frame of a served page: links to other pages, search, and a form that requests the same page with other parameters.
//! Forms work without scripts.

use super::Links;
use crate::sanitize::escape;
use crate::tree::About;
use std::fmt::Write as _;

/// Style of pages that have links.
pub(super) const STYLE: &str =
    concat!(include_str!("frame.css"), include_str!("uplot/uPlot.min.css"));

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Paths and titles of the pages that every page links.
    pub pages: Vec<[&'static str; 2]>,
    /// The search text.
    pub query: String,
    /// Path of the same page as JSON.
    pub json: String,
    /// Set for a run in progress: its progress, and the path of its events.
    pub live: Option<[String; 2]>,
    pub form: Option<Form>,
    /// Comparisons with others, and the texts of their links.
    pub comparisons: Vec<(String, About)>,
    pub triage: Option<TriageForm>,
}

/// A form with which a script sets the state of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriageForm {
    /// Path of the request.
    pub to: String,
    pub states: Vec<&'static str>,
    /// The initial choice.
    pub state: &'static str,
    pub assignee: String,
}

/// A form that requests a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Path of the page.
    pub to: String,
    /// Text of its button.
    pub button: &'static str,
    /// Hidden parameters.
    pub hidden_inputs: Vec<(&'static str, String)>,
    pub choices: Vec<Choice>,
}

/// A parameter with a list of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub name: &'static str,
    pub label: &'static str,
    /// Value, text.
    pub options: Vec<(String, String)>,
    /// The selected value.
    pub chosen: String,
}

impl Frame {
    /// Writes the content above the document. Links that only a server can answer are left out of files.
    pub(super) fn above(&self, out: &mut String, links: Links) {
        out.push_str("<header class=\"site\">\n<nav aria-label=\"Pages\">\n");
        let [query, json] = [&self.query, &self.json].map(|text| escape(text));
        for [path, title] in &self.pages {
            if let Some(to) = links.to(path) {
                let _ = write!(out, "<a href=\"{to}\">{title}</a> ");
            }
        }
        let _ = match links {
            Links::Server => write!(
                out,
                "<a href=\"/changes.atom\">Feed</a> <a href=\"{json}\">JSON</a>\n</nav>\n\
                 <form role=\"search\" aria-label=\"Store\" action=\"/search\"><label>Search \
                 <input type=\"search\" name=\"q\" value=\"{query}\" maxlength=\"200\"/></label> <button>Search</button></form>\n</header>\n"
            ),
            Links::Files(..) => write!(out, "\n</nav>\n</header>\n"),
        };
    }

    pub(super) fn comparisons(&self, out: &mut String, links: Links) {
        for (text, about) in &self.comparisons {
            if let Some(to) = links.to(&path(about)) {
                let [to, text] = [&to, text].map(|text| escape(text));
                let _ = writeln!(out, "<p><a href=\"{to}\">{text}</a></p>");
            }
        }
    }

    /// Writes progress, which the script updates.
    pub(super) fn live(&self, out: &mut String) {
        let Some([progress, path]) = &self.live else {
            return;
        };
        let (progress, path) = (escape(progress), escape(path));
        let _ = writeln!(
            out,
            "<p class=\"live\" role=\"status\" data-events=\"{path}\">{progress} Reload the page for new results.</p>"
        );
    }

    /// Writes the form of a change, which its script shows.
    pub(super) fn triage(&self, out: &mut String) {
        let Some(triage) = &self.triage else { return };
        let [to, assignee] = [&triage.to, &triage.assignee].map(|text| escape(text));
        let option = |state: &&str| {
            let chosen = match *state == triage.state {
                true => " selected=\"selected\"",
                false => "",
            };
            format!("<option value=\"{state}\"{chosen}>{state}</option>")
        };
        let options: String = triage.states.iter().map(option).collect();
        let _ = writeln!(
            out,
            "<form class=\"ask triage\" data-to=\"{to}\" hidden=\"hidden\" aria-label=\"State of the change\">\
             <label>State <select name=\"state\">{options}</select></label> \
             <label>Assigned to <input name=\"assignee\" value=\"{assignee}\" maxlength=\"100\" autocomplete=\"username\"/></label> \
             <label>Note <input name=\"note\" class=\"note\" maxlength=\"1000\"/></label> \
             <label>Token <input name=\"token\" type=\"password\" required=\"required\" autocomplete=\"current-password\"/></label> \
             <button>Save</button> <output></output></form>"
        );
    }

    /// Writes the form, below the title of the document.
    pub(super) fn form(&self, out: &mut String) {
        let Some(form) = &self.form else { return };
        let _ = write!(out, "<form class=\"ask\" action=\"{}\">", escape(&form.to));
        for (name, value) in &form.hidden_inputs {
            let value = escape(value);
            let _ = write!(out, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\"/>");
        }
        for choice in &form.choices {
            let _ =
                write!(out, "<label>{} <select name=\"{}\">", escape(choice.label), choice.name);
            for (value, words) in &choice.options {
                let chosen = match *value == choice.chosen {
                    true => " selected=\"selected\"",
                    false => "",
                };
                let (value, words) = (escape(value), escape(words));
                let _ = write!(out, "<option value=\"{value}\"{chosen}>{words}</option>");
            }
            out.push_str("</select></label> ");
        }
        let _ = writeln!(out, "<button>{}</button></form>", form.button);
    }
}

/// Path and query of a target.
pub fn path(about: &About) -> String {
    match about {
        About::Run(id) => format!("/runs/{}", encoded(id)),
        About::Trial(id) => format!("/trials/{}", encoded(id)),
        // any text of another program or host, in one part of the path
        About::System(id) => format!("/systems/{}", encoded(id).replace('/', "%2F")),
        About::Benchmark(id) => format!("/benchmarks/{}", encoded(id)),
        About::Fleet => "/fleet".to_owned(),
        About::Changes => "/changes".to_owned(),
        About::Web(address) => address.clone(),
        About::Event(id) => format!("/changes/{}", encoded(id)),
        About::Pair([base, other]) => {
            format!("/compare?base={}&run={}", encoded(base), encoded(other))
        }
    }
}

/// Percent-encodes text for a path or query; bytes of identifiers stay, except the end `.json`, which would select the form of a page.
pub fn encoded(text: &str) -> String {
    let (text, end) = match text.strip_suffix(".json") {
        Some(text) => (text, "%2Ejson"),
        None => (text, ""),
    };
    let mut out = String::with_capacity(text.len() + end.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' | b'/' | b'@' | b':' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded() {
        let run = path(&About::Run("a?b#c&d\"e<f ä".to_owned()));
        assert_eq!(run, "/runs/a%3Fb%23c%26d%22e%3Cf%20%C3%A4");
        assert_eq!(path(&About::System("a/b".to_owned())), "/systems/a%2Fb");
        let pair = path(&About::Pair(["x&y".to_owned(), "z".to_owned()]));
        assert_eq!(pair, "/compare?base=x%26y&run=z");
        let benchmark = path(&About::Benchmark("fs/rand-read/8k@cold".to_owned()));
        assert_eq!(benchmark, "/benchmarks/fs/rand-read/8k@cold");
        let benchmark = path(&About::Benchmark("parse/a.json".to_owned()));
        assert_eq!(benchmark, "/benchmarks/parse/a%2Ejson");
    }
}
