//! The rules of the repository: each is a function from its text files to violations with their place.

use gritstone_catalogue::Catalogue;
use gritstone_model::Work;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Text files: paths from the root, with `/`, and texts.
pub type Tree = BTreeMap<String, String>;

/// File extensions that rules apply to.
const EXTENSIONS: [&str; 8] = ["rs", "toml", "c", "h", "f90", "py", "sh", "md"];
/// The page with the map: a row for each crate: folder, purpose, what it must not know, and which crates it may import.
const MAP: &str = "ARCHITECTURE.md";
const LONG_FILE: usize = 400;
const LONG_FUNCTION: usize = 60;

/// Markers of unfinished work, in pieces, so that this file does not break its own rule.
const LEFT: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!"),
    concat!("un", "implemented!"),
];
/// Ways to print that bypass the functions that remove control sequences.
const PRINTED: [&str; 11] = [
    concat!("print", "!("),
    concat!("println", "!("),
    concat!("eprint", "!("),
    concat!("eprintln", "!("),
    concat!("db", "g!("),
    concat!("stdout", "()"),
    concat!("stderr", "()"),
    concat!("/dev/std", "out"),
    concat!("/dev/std", "err"),
    concat!("/proc/self/", "fd/1"),
    concat!("/proc/self/", "fd/2"),
];
/// The only files that write to a stream, the one that answers its parent on a pipe, and the one that waits for the end of the reader.
const WRITERS: [&str; 5] = [
    "crates/cli/src/ui/output.rs",
    // passes descriptors on
    "crates/exec/src/launch/inherited.rs",
    "crates/exec/src/watchdog.rs",
    // an output file may be the descriptor of standard output
    "crates/runs/src/output_file.rs",
    "crates/session/src/signals.rs",
];

/// Crates outside the program, which may print.
const UNPUBLISHED: [&str; 2] = ["xtask/", "validation/"];

/// The text files of a repository, without build output (`target`) and hidden files.
pub fn read(root: &Path) -> Result<Tree, String> {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') || name == "target" || path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name == "Makefile" || EXTENSIONS.contains(&extension(&name)) {
                let text = String::from_utf8_lossy(&fs::read(&path).map_err(failed)?).into_owned();
                let inside = path.strip_prefix(root).unwrap_or(&path);
                tree.insert(inside.display().to_string(), text);
            }
        }
    }
    Ok(tree)
}

/// The extension of a path; empty without one.
fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Texts in backticks.
pub fn named(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let parts: Vec<&str> = text.split('`').collect();
    parts.into_iter().skip(1).step_by(2)
}

/// Crates import each other only as the map has it. Dependencies for tests and for building count too: what a test may use, the next change
/// does use.
pub fn imports(tree: &Tree, root: &Path, packages: &[Value]) -> Vec<String> {
    let mut map: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in tree.get(MAP).into_iter().flat_map(|page| page.lines()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        // every crate must state what it must not know
        if let [_, folder, _, must_not_know, allowed, _] = cells[..]
            && !must_not_know.is_empty()
        {
            map.extend(named(folder).next().map(|path| (path, named(allowed).collect())));
        }
    }
    let mut faults = vec![];
    for package in packages.iter().filter(|package| package["source"].is_null()) {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let path = manifest.strip_prefix(root).unwrap_or(manifest).display().to_string();
        let Some(allowed) = map.get(path.trim_end_matches("/Cargo.toml")) else {
            faults.push(format!("{path}: the crate has no row in the map of {MAP} that says what it must not know and which crates it may import"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let name = dependency["name"].as_str().unwrap_or_default();
            let ours = name.strip_prefix("gritstone").map(|name| name.trim_start_matches('-'));
            if ours.is_some_and(|ours| !allowed.contains(&ours)) {
                faults.push(format!("{path}: {name} must not be imported here: {MAP} allows {allowed:?}; hand in what is needed from above, or move the code"));
            }
        }
    }
    faults
}

/// Every program has an entry, every entry its program, and Fortran sources belong to a program.
pub fn programs(tree: &Tree, catalogue: &Catalogue) -> Vec<String> {
    let mut needed: BTreeMap<&str, &str> = BTreeMap::new();
    for benchmark in &catalogue.benchmarks {
        let programs: Vec<&String> = match &benchmark.work {
            Work::Kernel(work) => work.uses.iter().chain([&work.program]).collect(),
            Work::Command(work) | Work::Scenario(work) => work.uses.iter().collect(),
            Work::Derived { .. } | Work::Score { .. } => vec![],
        };
        for program in programs {
            needed.entry(program).or_insert(benchmark.id.as_str());
        }
    }
    let missing =
        needed.iter().filter(|(program, _)| !tree.contains_key(&format!("kernels/{program}.c")));
    let mut faults: Vec<String> = missing
        .map(|(program, by)| format!("'{by}' needs program {program}, which is not there: write kernels/{program}.c, or name another program"))
        .collect();
    for path in tree.keys() {
        let program = path.strip_prefix("kernels/").and_then(|path| path.rsplit_once('.'));
        let Some((program, ending)) = program else {
            continue;
        };
        // folders without programs of entries, and subfolders
        if ["runtime/", "src/", "tests/"].iter().any(|no| program.starts_with(no))
            || program.split('/').count() != 2
        {
            continue;
        }
        if ending == "c" && !needed.contains_key(program) {
            faults.push(format!("{path}: no entry speaks of program {program}: name it as the `program` of an entry in catalogue/, or in the `uses` of the one that executes it, or remove it"));
        }
        if ending == "f90" && !tree.contains_key(&format!("kernels/{program}.c")) {
            faults.push(format!("{path}: Fortran without the program that it is a part of: write kernels/{program}.c, which has the hooks"));
        }
    }
    faults
}

/// Rust sources of the products: not tests, examples or files elsewhere.
pub fn modules(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let files = tree.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    files.filter(|(path, _)| {
        let parts: Vec<&str> = path.split('/').collect();
        let inside = match parts[..] {
            ["crates", _, ..] => &parts[2..],
            ["catalogue" | "kernels" | "references" | "validation" | "xtask", ..] => &parts[1..],
            _ => return false,
        };
        let source = inside == ["build.rs"] || inside[0] == "src";
        source
            && extension(path) == "rs"
            && !inside.iter().any(|part| ["tests", "tests.rs"].contains(part))
    })
}

/// Every module begins with a description.
pub fn openings(tree: &Tree) -> Vec<String> {
    let silent = modules(tree).filter(|(_, text)| !text.starts_with("//!"));
    silent
        .map(|(path, _)| format!("{path}:1: the module does not say what it is: open it with //!"))
        .collect()
}

/// Long modules and functions, as warnings.
pub fn lengths(tree: &Tree) -> Vec<String> {
    let mut remarks = vec![];
    for (path, text) in modules(tree) {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > LONG_FILE {
            let n = lines.len();
            remarks.push(format!(
                "{path}: {n} lines, where {LONG_FILE} read well: is it two modules?"
            ));
        }
        for (index, line) in lines.iter().enumerate() {
            let n = function(&lines[index..]);
            if n > LONG_FUNCTION {
                let line = line.trim();
                remarks.push(format!("{path}:{}: {n} lines in `{line}`, where {LONG_FUNCTION} read well: is it two functions?", index + 1));
            }
        }
    }
    remarks
}

/// Number of lines of the function that begins here, as rustfmt sets it: its closing brace has the indentation of its first line. 0 if none
/// begins.
fn function(lines: &[&str]) -> usize {
    let plain = |word: &str| {
        ["pub", "const", "async", "unsafe", "extern", "\"C\""].contains(&word)
            || word.starts_with("pub(")
    };
    let head = lines[0].split_once("fn ");
    if !head.is_some_and(|(before, _)| before.split_whitespace().all(plain)) {
        return 0;
    }
    let indent = &lines[0][..lines[0].len() - lines[0].trim_start().len()];
    let end = lines.iter().position(|line| {
        let rest = line.strip_prefix(indent).unwrap_or("");
        rest.starts_with('}') || (rest.ends_with(['}', ';']) && !rest.starts_with(' '))
    });
    end.map_or(0, |end| end + 1)
}

/// Sources have no markers of unfinished work, and shipped ones do not bypass the functions that remove control sequences.
pub fn words(tree: &Tree) -> Vec<String> {
    let mut faults = vec![];
    let mut add = |path: &str, text: &str, words: &[&str], what: &str| {
        for (number, line) in (1..).zip(text.lines()) {
            let found = words.iter().filter(|word| has_word(line, word));
            faults.extend(found.map(|word| format!("{path}:{number}: {word}: {what}")));
        }
    };
    for (path, text) in tree {
        if extension(path) != "md" {
            add(path, text, &LEFT, "do it, or say in an issue what is missing and why");
        }
        let test = path.contains("/tests") || path.ends_with("_tests.rs");
        let source = extension(path) == "rs"
            && path.contains("/src/")
            && !UNPUBLISHED.iter().any(|prefix| path.starts_with(prefix));
        if source && !test && !WRITERS.contains(&path.as_str()) {
            let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code: Vec<&str> =
                shipped.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            add(
                path,
                &code.join("\n"),
                &PRINTED,
                "print with `output` of the command line, which leaves no control character in foreign text",
            );
        }
    }
    faults
}

/// Whether a line has the word, not as a part of a longer name (`use_stderr`).
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        let ends = !word.ends_with(part) || !after.starts_with(part);
        ends && !(word.starts_with(part) && before.ends_with(part))
    })
}

/// Quoted files are exact: a code block after a line that names a file in backticks and ends with a colon is that file or a part of it.
pub fn quotes(tree: &Tree) -> Vec<String> {
    let mut faults = vec![];
    for (path, text) in tree.iter().filter(|(path, _)| extension(path) == "md") {
        let mut shown: Option<&str> = None;
        let mut lines = (1..).zip(text.lines());
        while let Some((number, line)) = lines.next() {
            if line.starts_with("```") {
                let block = lines.by_ref().map(|(_, line)| line);
                let code: Vec<&str> = block.take_while(|line| !line.starts_with("```")).collect();
                let code = code.join("\n") + "\n";
                if let Some(file) = shown.take().filter(|file| !tree[*file].contains(&code)) {
                    faults.push(format!(
                        "{path}:{number}: this is not what stands in {file}: show the file as it is"
                    ));
                }
            } else if !line.trim().is_empty() {
                let named = line.trim_end().strip_suffix(':').map(named);
                shown = named.and_then(|mut names| names.rfind(|name| tree.contains_key(*name)));
            }
        }
    }
    faults
}

/// The anchor of a heading, as GitHub and mkdocs make it.
fn anchor(heading: &str) -> String {
    let letter = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    };
    heading.trim().chars().filter_map(letter).collect()
}

/// Links between documents lead to an existing file, and heading.
pub fn links(tree: &Tree, root: &Path) -> Vec<String> {
    let mut faults = vec![];
    for (path, text) in tree.iter().filter(|(path, _)| extension(path) == "md") {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        let mut code = false;
        for (number, line) in (1..).zip(text.lines()) {
            code ^= line.starts_with("```");
            let targets = line.split("](").skip(1).filter(|_| !code);
            for target in targets.filter_map(|rest| rest.split(')').next()) {
                if target.contains("://") {
                    continue;
                }
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let place = match file {
                    "" => root.join(path),
                    file => root.join(folder).join(file),
                };
                let headed = |text: String| {
                    let mut heads = text.lines().filter(|line| line.starts_with('#'));
                    heads.any(|line| anchor(line.trim_start_matches('#')) == heading)
                };
                let exists = match heading {
                    "" => place.exists(),
                    _ => fs::read_to_string(&place).is_ok_and(headed),
                };
                if !exists {
                    faults.push(format!("{path}:{number}: this link leads nowhere: {target}"));
                }
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests;
