//! Damaged bundles, half of them with a corrected hash, and damaged files of other programs: read, or refused with an error, without a
//! crash. A bundle that is read is written identically.

use crate::exchange::{WHEN, run};
use crate::mutation;
use gritstone_exchange::harness::HarnessFile;
use gritstone_exchange::{import, read_bundle, recognize, write_bundle};
use gritstone_model::hexadecimal;
use rand::RngExt;
use sha2::{Digest, Sha256};

/// With an end that fits.
fn sealed(body: &str) -> String {
    let launches = body.lines().count().saturating_sub(1);
    let hash = hexadecimal(Sha256::digest(body));
    format!("{body}{{\"end\":{{\"launches\":{launches},\"sha256\":\"{hash}\"}}}}\n")
}

#[test]
fn damaged_bundles_never_panic() {
    let whole = write_bundle(&run());
    let end = whole.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
    let (body, _) = whole.split_at(end);
    assert_eq!(sealed(body), whole);
    mutation::each(&[whole.as_bytes()], |bytes, random| {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        let forged = random.random();
        if forged {
            let body = text.rsplit_once("{\"end\"").map_or(&*text, |(body, _)| body);
            text = sealed(body);
        }
        if let Ok(read) = read_bundle(text.as_bytes()) {
            assert!(forged || read == run(), "another run without an error");
            let again =
                read_bundle(write_bundle(&read).as_bytes()).expect("what is written can be read");
            assert_eq!(again, read);
        }
    });
}

#[test]
fn damaged_foreign_files_never_panic() {
    let hyperfine = r#"{"results":[{"command":"sleep 0.1","mean":0.1,"stddev":0.001,"median":0.1,"user":0.01,"system":0.02,"min":0.09,"max":0.11,"times":[0.1,0.11,0.09],"exit_codes":[0,0,0]}]}"#;
    let google = r#"{"context":{"date":"2026-11-20T08:00:00+00:00","host_name":"box","num_cpus":2,"mhz_per_cpu":3000},"benchmarks":[{"name":"BM_a","run_name":"BM_a","run_type":"iteration","repetitions":2,"repetition_index":0,"iterations":1000,"real_time":12.5,"cpu_time":12.4,"time_unit":"ns"}]}"#;
    let unixbench = "   BYTE UNIX Benchmarks (Version 5.1.3)\n\n   System: box: GNU/Linux\n\nDhrystone 2 using register variables       35000000.0 lps   (10.0 s, 7 samples)\nDouble-Precision Whetstone                     4000.0 MWIPS (9.9 s, 7 samples)\n";
    let inputs = [hyperfine, google, unixbench].map(str::as_bytes);
    mutation::each(&inputs, |bytes, _| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let _ = recognize(&text);
        let path = "benchmark.json".into();
        if let Ok(run) = import(&[HarnessFile { path, text }], WHEN.parse().unwrap()) {
            let _ = serde_json::to_string(&run).expect("plain data");
        }
    });
}
