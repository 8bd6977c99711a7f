//! Checks that the tests that the threat model names exist.

use crate::tidy::{Tree, named};

/// The document that names a test for each promise.
const PROMISES: &str = "docs/threat-model.md";

/// The tests in a table with the columns `promise` and `tests` exist.
pub fn check_promises(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(PROMISES) else {
        return vec![];
    };
    let tests: Vec<&str> = tree
        .iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .flat_map(|(_, text)| text.split("#[test]\n").skip(1))
        .filter_map(|after| after.split_once("fn ")?.1.split_once("()"))
        .map(|(name, _)| name)
        .collect();
    let lines = (1..).zip(page.lines());
    let rows = lines.skip_while(|(_, line)| *line != "| promise | tests |");
    let mut faults = vec![];
    for (number, line) in rows.skip(2).take_while(|(_, line)| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').collect();
        let listed: Vec<&str> = cells.get(2).copied().into_iter().flat_map(named).collect();
        if listed.is_empty() {
            faults.push(format!("{PROMISES}:{number}: a promise without a test"));
        }
        let missing = listed.iter().filter(|name| !tests.contains(name));
        faults.extend(missing.map(|name| format!("{PROMISES}:{number}: there is no test {name}")));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tests_are_named() {
        let page = "| promise | tests |\n| --- | --- |\n| a | `one`, `two`, `help` |\n| b | none |\n\n| c | `x` |\n";
        let code = "    #[test]\n    #[ignore = \"long\"]\n    fn one() {}\n#[test]\nfn twos() {}\nfn help() {}\n";
        let files = [(PROMISES, page), ("a.rs", code)];
        let tree: Tree = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let found = check_promises(&tree);
        let expected = [
            ":3: there is no test two",
            ":3: there is no test help",
            ":4: a promise without a test",
        ];
        assert_eq!(found, expected.map(|fault| format!("{PROMISES}{fault}")));
    }
}
