//! Circuits simulated by programs of the machine: their output is checked independently, so that a simulator that does not simulate, or
//! does it wrong, gives no result.

use crate::common::workload::{built, workload_output};
use crate::common::{self, Home, make_script, result, traces};
use std::path::{Path, PathBuf};

/// Three samples of one operation each.
const SMALL: &str = "warm=0 samples=3 sample_ns=60000000000";

/// A simulator: the parameter that has its path, and a circuit that it simulates in a moment.
struct Simulator {
    workload: &'static str,
    name: &'static str,
    circuit: &'static str,
}

const SIMULATORS: [Simulator; 3] = [
    Simulator { workload: "app/spice", name: "ngspice", circuit: "mosamp2" },
    Simulator { workload: "app/spice", name: "gnucap", circuit: "mosamp2" },
    Simulator { workload: "app/hilo", name: "vvp", circuit: "isor" },
];

impl Simulator {
    fn real(&self) -> PathBuf {
        common::program(&[self.name])
    }

    /// Output of the workload with this program instead of the simulator.
    fn output(&self, workload: &Path, folder: &Path, program: &Path, rest: &str) -> String {
        let (name, circuit, program) = (self.name, self.circuit, program.display());
        let line = format!("{SMALL} circuit={circuit} {name}={program} {rest}");
        workload_output(workload, folder, &line)
    }
}

/// A shell script instead of a program; `$real` is that program.
fn script(folder: &Path, real: &Path, text: &str) -> PathBuf {
    make_script(folder.join("script"), &format!("real={}\n{text}", real.display()))
}

/// Repeats its first output.
const OLD: &str = "[ -s ../old ] || $real \"$@\" > ../old 2> /dev/null; cat ../old";
/// Does nothing, and reports success.
const NOTHING: &str = "exit 0";
/// The voltages of one settled time, the 110th row, are wrong by 5%; or one digit of a checksum differs.
const CHANGED: &str = "$real \"$@\" 2> /dev/null | awk '\
    /^checksum/ { sub(/0$/, \"x\") || sub(/.$/, \"0\") } /^ *#Time/ { head = NR } \
    $1 == \"109\" { for (i = 3; i <= NF; i++) $i *= 1.05 } \
    head && NR == head + 110 { for (i = 2; i <= NF; i++) $i *= 1.05 } { print }'";
/// The simulation ends early.
const SHORTER: &str =
    "$real \"$@\" > all 2> /dev/null; head -n $(($(wc -l < all) * 9 / 10)) all; rm all";
/// Leaves the work to a background process.
const BEHIND: &str = "sleep 5 & exec $real \"$@\"";
/// Fails, though its output is right.
const FAILING: &str = "$real \"$@\"; echo 'no licence' >&2; exit 3";

#[test]
#[ignore = "measures: make test-full"]
fn idle_simulators_give_no_result() {
    let folder = tempfile::tempdir().unwrap();
    for simulator in &SIMULATORS {
        let workload = built(simulator.workload, folder.path(), &[]);
        let real = simulator.real();
        let fine = simulator.output(&workload, folder.path(), &real, "");
        assert!(fine.ends_with("bye\n"), "{}: {fine}", simulator.name);
        assert_eq!(fine.matches("sample n=1").count(), 3, "{fine}");
        for (fault, why) in [
            (OLD, "call=output"),
            (NOTHING, "call=output"),
            (CHANGED, "call=output"),
            (SHORTER, "call=output"),
            (BEHIND, "call=simulator"),
            (FAILING, "no licence"),
        ] {
            let faulty = script(folder.path(), &real, fault);
            let printed = simulator.output(&workload, folder.path(), &faulty, "");
            let name = simulator.name;
            assert!(printed.contains("fail errno="), "{name}, {fault}: {printed}");
            assert!(printed.contains(why), "{name}, {fault}: {printed}");
            assert!(!printed.ends_with("bye\n"), "{name}, {fault}: {printed}");
        }
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn every_circuit_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let [ngspice, _, vvp] = &SIMULATORS;
    for (simulator, circuits) in [
        (ngspice, ["ua741", "greycode"].as_slice()),
        (vvp, ["mc6800", "resource", "wcs"].as_slice()),
    ] {
        let workload = built(simulator.workload, folder.path(), &[]);
        for circuit in circuits {
            let line = format!(
                "warm=0 samples=1 users=2 circuit={circuit} {}={}",
                simulator.name,
                simulator.real().display()
            );
            let printed = workload_output(&workload, folder.path(), &line);
            assert!(printed.ends_with("bye\n"), "{circuit}: {printed}");
        }
        let idle = "[ \"${PWD##*/}\" = 2 ] || exec $real \"$@\"";
        let idle = script(folder.path(), &simulator.real(), idle);
        let printed = simulator.output(&workload, folder.path(), &idle, "users=3");
        assert!(printed.contains("call=output"), "{printed}");
    }
}

/// Another gate, transistor and instruction: the check is independent of the circuit.
#[test]
#[ignore = "measures: make test-full"]
fn faulty_circuits_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    for (workload, circuit, file, right, wrong) in [
        ("app/hilo", "isor", "app/isor.h", "xnor (q", "xor (q"),
        ("app/spice", "mosamp2", "app/mosamp2.h", "rb b2 b3 90k", "rb b2 b3 91k"),
        ("app/spice", "ua741", "app/ua741.h", "r4 w vee 5k", "r4 w vee 6k"),
        (
            "app/spice",
            "greycode",
            "app/greycode.h",
            "\"g%d\", i);\n\t\tgreycode_flip_flop(f, bit, gray >> i & 1)",
            "\"g%d\", i);\n\t\tgreycode_flip_flop(f, bit, s >> i & 1 ^ (i == 5))",
        ),
    ] {
        let faulty = built(workload, folder.path(), &[(file, right, wrong)]);
        let line = format!("warm=0 samples=1 circuit={circuit}");
        let printed = workload_output(&faulty, folder.path(), &line);
        assert!(printed.contains("call=output"), "{circuit}: {printed}");
    }
}

/// Fake programs before the real ones on PATH.
#[test]
#[ignore = "measures: make test-full"]
fn replayed_output_gives_no_result() {
    let home = Home::new();
    let folder = home.path().join("programs");
    std::fs::create_dir(&folder).unwrap();
    for name in ["ngspice", "vvp"] {
        let real = common::program(&[name]);
        std::fs::rename(script(&folder, &real, OLD), folder.join(name)).unwrap();
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let ids = ["app/spice/mosamp2", "app/hilo/isor"];
    let line = format!("run {} --quick --format json", ids.join(" "));
    let mut command = home.gritstone(&line);
    let (_, out, error) = common::ended(command.env("PATH", path));
    let run = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out} {error}"));
    for id in ids {
        let result = result(&run, id);
        assert_eq!(result["outcome"], "failed", "{run}");
        assert!(result["estimate"].is_null(), "{run}");
    }
    assert!(traces(&home).is_empty());
}
