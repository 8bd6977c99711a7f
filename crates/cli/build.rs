//! Packs the licenses that are embedded in the binary.

use std::path::Path;
use std::{env, fs};

/// High compression; unpacking is as fast.
const LEVEL: i32 = 19;

fn main() {
    println!("cargo:rerun-if-changed=licenses.txt");
    let text = fs::read("licenses.txt").expect("licenses.txt is there: cargo xtask licenses");
    let packed = zstd::bulk::compress(&text, LEVEL).expect("it needs only memory");
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("licenses.zst"), packed).expect("cargo's folder takes it");
}
