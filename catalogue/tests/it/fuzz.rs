//! Damaged files of the catalog: read, or refused with an error that has its place, and never a crash.

use crate::mutation;

const DEMO: &str = include_str!("../demo.toml");

/// What begins every entry.
const ENTRY: &str = "[[benchmark]]";

/// The entries of these kinds with their family; what they would need beside them is left out.
fn only(kinds: &[&str]) -> String {
    let (head, _) = DEMO.split_once("[needs]").expect("a head, then needs");
    let entries = DEMO.split(ENTRY).skip(1).filter(|entry| {
        let is = |kind: &&str| entry.contains(&format!("kind = \"{kind}\""));
        kinds.iter().any(is)
    });
    let is_needed = |line: &&str| !line.starts_with("load =") && !line.starts_with("curve =");
    let text: String = entries.map(|entry| format!("{ENTRY}{entry}")).collect();
    let lines: Vec<&str> = text.lines().filter(is_needed).collect();
    format!("{head}{}\n", lines.join("\n"))
}

#[test]
fn damaged_files_never_panic() {
    // short ones too: a reader that ends at the first fault gets further in them, and sooner
    let (times, scores) = (only(&["kernel"]), only(&["kernel", "derived", "rating"]));
    let inputs = [times.as_str(), &scores, DEMO];
    for good in inputs {
        let read = gritstone_catalogue::load(&[("demo.toml", good)]);
        read.expect("what is damaged is good at first");
    }
    mutation::each(&inputs.map(str::as_bytes), |bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        if let Err(error) = gritstone_catalogue::load(&[("demo.toml", &text)]) {
            assert!(error.to_string().starts_with("demo.toml"), "{error}");
        }
    });
}
