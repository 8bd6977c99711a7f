//! The rule that every module opens with what it is; and remarks on modules and functions that have grown long.

use crate::tidy::Fault;
use crate::tree::{Tree, extension};

const LONG_FILE: usize = 400;
const LONG_FUNCTION: usize = 60;

/// Folders at the root that are crates; so are those in `crates/`.
const CRATES: &[&str] = &["catalogue", "kernels", "references", "xtask"];

pub fn faults(tree: &Tree) -> Vec<Fault> {
    let modules = tree.files().filter(|(path, _)| is_module(path));
    let silent = modules.filter(|(_, text)| !text.starts_with("//!"));
    silent
        .map(|(path, _)| {
            Fault::at(
                path,
                1,
                "the module does not say what it is: open it with //!",
            )
        })
        .collect()
}

pub fn remarks(tree: &Tree) -> Vec<Fault> {
    let mut remarks = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| is_module(path)) {
        let lines = text.lines().count();
        if lines > LONG_FILE {
            let what = format!("{lines} lines, where {LONG_FILE} read well: is it two modules?");
            remarks.push(Fault::of(path, what));
        }
        for (line, name, lines) in functions(text) {
            if lines > LONG_FUNCTION {
                let what = format!(
                    "fn {name} has {lines} lines, where {LONG_FUNCTION} read well: is it two functions?"
                );
                remarks.push(Fault::at(path, line, what));
            }
        }
    }
    remarks
}

/// Rust that is built into something: not tests, examples or what lies elsewhere.
fn is_module(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let inside = match parts[..] {
        ["crates", _, ..] => &parts[2..],
        [first, ..] if CRATES.contains(&first) => &parts[1..],
        _ => return false,
    };
    extension(path) == "rs"
        && match inside {
            ["build.rs"] => true,
            ["src", rest @ ..] => !rest.contains(&"tests") && !rest.contains(&"tests.rs"),
            _ => false,
        }
}

/// Line, name and length of every function with a body, as rustfmt sets them: the brace that ends a function stands
/// below the letter that begins it.
fn functions(text: &str) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = lines[start..].iter().position(|line| {
            let rest = line.strip_prefix(indent).unwrap_or("");
            rest.starts_with('}') || (rest.ends_with(['}', ';']) && !rest.starts_with(' '))
        });
        if let Some(end) = end {
            found.push((start + 1, name, end + 1));
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let qualifiers = ["pub", "const", "async", "unsafe", "extern", "\"C\""];
    let plain = |word: &str| qualifiers.contains(&word) || word.starts_with("pub(");
    if !before.split_whitespace().all(plain) {
        return None;
    }
    after.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, text: &str) -> Vec<String> {
        faults(&Tree::of(&[(path, text)]))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn modules_say_what_they_are() {
        let paths = [
            "crates/stats/src/lib.rs",
            "crates/cli/src/main.rs",
            "crates/report/src/html/table.rs",
            "crates/report/build.rs",
            "catalogue/src/lib.rs",
            "kernels/src/lib.rs",
            "xtask/src/main.rs",
        ];
        for path in paths {
            assert_eq!(told(path, "//! What it is.\n"), Vec::<String>::new());
            for bare in ["", "use std::io;\n//! What it is.\n", "// What it is.\n"] {
                let expected = [format!(
                    "{path}:1: the module does not say what it is: open it with //!"
                )];
                assert_eq!(told(path, bare), expected);
            }
        }
    }

    #[test]
    fn tests_and_what_is_not_rust_need_not() {
        for path in [
            "crates/stats/tests/coverage.rs",
            "crates/stats/src/tests.rs",
            "crates/stats/src/rank/tests/exact.rs",
            "crates/stats/examples/x.rs",
            "tests/run.rs",
            "crates/stats/src/table.c",
        ] {
            assert_eq!(told(path, ""), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn long_files_and_functions_are_remarked_on() {
        let body = "        let x = if y { 1 } else { 2 };\n".repeat(59);
        let text = |body: &str| {
            format!(
                "impl X {{\n    pub(crate) const fn long<T>(\n        x: T,\n    ) {{\n{body}    }}\n\n    fn short() {{}}\n    fn told(x: u8);\n}}\n"
            )
        };
        let remarks = |text: &str| remarks(&Tree::of(&[("crates/x/src/y.rs", text)]));
        let found = remarks(&text(&body));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].to_string(),
            "crates/x/src/y.rs:2: fn long has 63 lines, where 60 read well: is it two functions?"
        );
        assert_eq!(remarks(&text(&body[..body.len() / 2])), []);
        assert_eq!(remarks(&"\n".repeat(400)), []);
        assert_eq!(remarks(&"\n".repeat(401)).len(), 1);
    }

    #[test]
    fn functions_are_measured_to_their_brace() {
        let text = "fn a() {\n    b();\n}\n\nfn one() {}\n\ntrait T {\n    fn sign(\n        x: u8,\n    ) -> u8;\n    unsafe extern \"C\" fn c() {\n        let f: fn (u8) = x;\n    }\n}\n";
        assert_eq!(
            functions(text),
            [(1, "a", 3), (5, "one", 1), (8, "sign", 3), (11, "c", 3)]
        );
    }
}
