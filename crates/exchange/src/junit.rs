//! A JUnit XML document of one suite.

use gritstone_document::Untrusted;
use std::fmt::Write as _;

/// Why a case did not pass.
#[derive(Clone, Copy)]
pub(crate) enum Unpassed {
    Failure,
    Error,
    Skipped,
}

#[derive(Default)]
pub(crate) struct JunitCases {
    text: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl JunitCases {
    /// Adds a case; one that did not pass has a message.
    pub fn add(&mut self, class: &str, name: &str, unpassed: Option<(Unpassed, String)>) {
        self.tests += 1;
        let [class, name] = [class, name].map(|text| Untrusted(text).markup());
        let inner = unpassed.map_or(String::new(), |(why, message)| {
            let (element, count) = match why {
                Unpassed::Failure => ("failure", &mut self.failures),
                Unpassed::Error => ("error", &mut self.errors),
                Unpassed::Skipped => ("skipped", &mut self.skipped),
            };
            *count += 1;
            format!("<{element} message=\"{}\"/>", Untrusted(&message).markup())
        });
        let _ = writeln!(
            self.text,
            "<testcase classname=\"{class}\" name=\"{name}\">{inner}</testcase>"
        );
    }

    /// Renders one suite of this name.
    pub fn suite(&self, name: &str) -> String {
        let counts = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
            self.tests, self.failures, self.errors, self.skipped
        );
        let (name, cases) = (Untrusted(name).markup(), &self.text);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{name}\" {counts}>\n{cases}</testsuite>\n</testsuites>\n"
        )
    }
}
