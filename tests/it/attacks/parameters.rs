//! Impossible parameters of workloads: the program refuses them before it makes anything.

use crate::common::{Home, reason, result};

#[test]
fn invalid_sizes_are_refused() {
    let home = Home::new();
    let row = "rt/turnaround-driver/disk";
    for size in ["18446744073709551615", "-1", "0", "x"] {
        let size = format!("size={size}");
        let dir = home.path().display();
        let line = format!("run {row} --param {size} --budget 20s --dir {dir} --format json");
        let (code, out, error) = home.run(&line);
        assert_eq!(code, 3, "{size}: {error}");
        let run: serde_json::Value = serde_json::from_str(&out).unwrap();
        let result = result(&run, row);
        assert_eq!(result["outcome"], "failed", "{size}: {result}");
        assert!(reason(result).contains(&size), "{size}: {result}");
    }
}
