//! What stands around a document on a page of a server: the way to other pages, a search, and a form that asks for the same page of
//! something else. A form is sent by its button, so that nothing of it takes script.

use crate::sanitize::escape;
use crate::tree::About;
use std::fmt::Write as _;

/// Set for pages of a server alone.
pub(super) const STYLE: &str = include_str!("frame.css");

/// What stands around a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// What was searched for.
    pub query: String,
    /// Where the same is as JSON: a path.
    pub json: String,
    /// Of a run that has not ended: how far it has come, and the path of what follows it.
    pub live: Option<[String; 2]>,
    /// Asks for another page.
    pub form: Option<Form>,
}

/// A form that leads to a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Path of the page.
    pub to: String,
    /// What its button says.
    pub button: &'static str,
    /// Parameters that stay as they are.
    pub kept: Vec<(&'static str, String)>,
    /// What can be chosen.
    pub choices: Vec<Choice>,
}

/// One of several values of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Parameter.
    pub name: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// Values, each with its words.
    pub options: Vec<(String, String)>,
    /// The value that is chosen.
    pub chosen: String,
}

impl Frame {
    /// What stands above the document.
    pub(super) fn above(&self, out: &mut String) {
        let (query, json) = (escape(&self.query), escape(&self.json));
        let _ = write!(
            out,
            "<header class=\"site\">\n<nav aria-label=\"Pages\">\n<a href=\"/\">Gritstone</a> <a href=\"/search\">Runs</a> \
             <a href=\"/changes\">Changes</a> <a href=\"/fleet\">Fleet</a> <a href=\"/changes.atom\">Feed</a> <a href=\"{json}\">JSON</a>\n</nav>\n\
             <form role=\"search\" aria-label=\"Store\" action=\"/search\"><label>Search \
             <input type=\"search\" name=\"q\" value=\"{query}\" maxlength=\"200\"/></label> <button>Search</button></form>\n</header>\n"
        );
    }

    /// What a script keeps as it is, and what is right without one.
    pub(super) fn live(&self, out: &mut String) {
        let Some([said, path]) = &self.live else {
            return;
        };
        let (said, path) = (escape(said), escape(path));
        let _ = writeln!(
            out,
            "<p class=\"live\" role=\"status\" data-events=\"{path}\">{said} Load the page again for what is new.</p>"
        );
    }

    /// The form, below the title of the document.
    pub(super) fn form(&self, out: &mut String) {
        let Some(form) = &self.form else { return };
        let _ = write!(out, "<form class=\"ask\" action=\"{}\">", escape(&form.to));
        for (name, value) in &form.kept {
            let value = escape(value);
            let _ = write!(
                out,
                "<input type=\"hidden\" name=\"{name}\" value=\"{value}\"/>"
            );
        }
        for choice in &form.choices {
            let _ = write!(
                out,
                "<label>{} <select name=\"{}\">",
                escape(choice.label),
                choice.name
            );
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

/// Where more of it is: a path, and what it asks for.
#[must_use]
pub fn path(about: &About) -> String {
    match about {
        About::Run(id) => format!("/runs/{}", encoded(id)),
        About::System(id) => format!("/systems/{}", encoded(id)),
        About::Benchmark(id) => format!("/benchmarks/{}", encoded(id)),
        About::Fleet => "/fleet".to_owned(),
        About::Event(id) => format!("/changes/{}", encoded(id)),
        About::Pair([base, other]) => {
            format!("/compare?base={}&run={}", encoded(base), encoded(other))
        }
    }
}

/// Text as it may stand in a path or a query: other bytes than those of identifiers as `%XX`.
#[must_use]
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' | b'/' | b'@' | b':' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_path_ends_neither_it_nor_an_attribute() {
        let run = path(&About::Run("a?b#c&d\"e<f ä".to_owned()));
        assert_eq!(run, "/runs/a%3Fb%23c%26d%22e%3Cf%20%C3%A4");
        let pair = path(&About::Pair(["x&y".to_owned(), "z".to_owned()]));
        assert_eq!(pair, "/compare?base=x%26y&run=z");
        let benchmark = path(&About::Benchmark("fs/rand-read/8k@cold".to_owned()));
        assert_eq!(benchmark, "/benchmarks/fs/rand-read/8k@cold");
    }
}
