//! The licenses embedded in the binary.

use crate::common::Home;

#[test]
fn binary_shows_all_licenses() {
    let (code, out, error) = Home::new().run("--licenses");
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out == include_str!("../../crates/cli/licenses.txt"), "whole, and as it was made");
}
