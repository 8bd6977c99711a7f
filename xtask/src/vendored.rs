//! Vendored files match `SHA256SUMS` beside them.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FOLDERS: [&str; 1] = ["crates/document/src/html/uplot"];
/// In the format of sha256sum(1).
const SUMS: &str = "SHA256SUMS";

pub fn vendored(root: &Path) -> Vec<String> {
    let faults = FOLDERS.map(|folder| match differences(&root.join(folder)) {
        Ok(faults) => faults.into_iter().map(|fault| format!("{folder}/{fault}")).collect(),
        Err(why) => vec![format!("{folder}: {why}")],
    });
    faults.concat()
}

fn differences(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != SUMS {
            let sum: String = Sha256::digest(fs::read(entry.path())?)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            found.insert(name, sum);
        }
    }
    let mut faults = vec![];
    for line in fs::read_to_string(folder.join(SUMS))?.lines() {
        let (sum, name) = line.split_once("  ").unwrap_or((line, ""));
        match found.remove(name) {
            Some(found) if found == sum => {}
            Some(_) => faults.push(format!("{name}: not the file of {SUMS}")),
            None => faults.push(format!("{SUMS}: there is no {name}")),
        }
    }
    let others = found.into_keys();
    faults.extend(others.map(|name| format!("{name}: not in {SUMS}")));
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        write("a.js", "abc");
        write(SUMS, &format!("{sum}  a.js\n"));
        assert_eq!(differences(folder.path()).unwrap(), [""; 0]);
        write("a.js", "abd");
        write("b.js", "abc");
        write(SUMS, &format!("{sum}  a.js\n{sum}  c.js\n"));
        let faults = differences(folder.path()).unwrap();
        assert_eq!(faults.len(), 3, "{faults:?}");
    }
}
