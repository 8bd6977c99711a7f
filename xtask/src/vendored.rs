//! Vendored files match `SHA256SUMS` beside them.

use std::path::Path;
use std::process::Command;

const FOLDER: &str = "crates/document/src/html/uplot";

pub fn vendored(root: &Path) -> Vec<String> {
    let compare = "LC_ALL=C ls | grep -vx SHA256SUMS | xargs sha256sum | diff SHA256SUMS -";
    let compared = Command::new("sh").args(["-c", compare]).current_dir(root.join(FOLDER)).output();
    match compared {
        Ok(output) if output.status.success() => vec![],
        Ok(output) => {
            let differences = String::from_utf8_lossy(&output.stdout);
            vec![format!("{FOLDER}: not the files of SHA256SUMS:\n{}", differences.trim_end())]
        }
        Err(why) => vec![format!("{FOLDER}: {why}")],
    }
}
