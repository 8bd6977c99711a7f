//! Applications: their output is verified, so that a program with any fault gives no result.

use crate::common::workload::{built, workload_output};
use crate::common::{self, Home, flagged, make_script, result, traces};

/// Parameters of small work, in a launch of three operations.
const SMALL: &str = "growth=0 target_ns=1000 samples=1";

/// The last check of a program: its value, and the right one.
fn checked(name: &str, faults: &[(&str, &str, &str)], small: &str) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let workload = built(name, folder.path(), faults);
    let output = workload_output(&workload, folder.path(), &format!("{SMALL} {small}"));
    let last = output.lines().rfind(|line| line.starts_with("check n=1 "));
    let last = last.unwrap_or_else(|| panic!("{name} {faults:?}: {output}"));
    assert!(output.ends_with("bye\n"), "{output}");
    let number = |key: &str| {
        let word = last.split(' ').find_map(|word| word.strip_prefix(key));
        word.unwrap().parse().unwrap()
    };
    (number("got="), number("expected="))
}

/// The work is right, and each of these faults is detected.
fn faults_are_seen(name: &str, small: &str, faults: &[(&str, &str, &str)]) {
    let (got, expected) = checked(name, &[], small);
    assert_eq!(got, expected, "{name}");
    for fault in faults {
        let (got, expected) = checked(name, &[*fault], small);
        assert_ne!(got, expected, "{name}: {fault:?}");
    }
}

/// Events of the kernel stand for instructions, which not every machine can count.
#[test]
fn long_steps_count_in_warmup() {
    let folder = tempfile::tempdir().unwrap();
    let events = (
        "runtime/counters.c",
        "{NULL, \"user_instructions\", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0}",
        "{NULL, \"user_instructions\", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0}",
    );
    let of_all = (
        "runtime/counters.c",
        "{\"instructions\", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0}",
        "{\"instructions\", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0}",
    );
    let workload = built("runtime/command", folder.path(), &[events, of_all]);
    let output = workload_output(&workload, folder.path(), "samples=2 -- /bin/sleep 0.1");
    let counts: Vec<usize> = (output.lines().enumerate())
        .filter(|(_, line)| line.starts_with("counters n=1 ") && line.contains("instructions="))
        .map(|(index, _)| index)
        .collect();
    let samples = output.lines().filter(|line| line.starts_with("sample ")).count();
    let first = output.lines().position(|line| line.starts_with("sample "));
    assert!(output.ends_with("bye\n") && samples == 2, "{output}");
    // some systems permit no counters to unprivileged users
    let refused = counts.is_empty() && !nix::unistd::geteuid().is_root();
    assert!(refused || (counts.len() == 1 && Some(counts[0]) < first), "{output}");
}

#[test]
#[ignore = "measures: make test-full"]
fn wrong_gates_are_seen() {
    let circuit = "app/multiplier.h";
    let simulator = "app/csim.c";
    faults_are_seen(
        "app/csim",
        "products=20",
        &[
            (circuit, "{nor(b, make, stop)}", "{nor(b, make, make)}"),
            (circuit, "enhancement(b, z, any, ground);", ""),
            // a load that is missing in every inverter
            (circuit, "\tload(b, out);\n\tenhancement(b, in", "\tenhancement(b, in"),
            // nodes without charge; a load as strong as a transistor; events that get lost
            (simulator, "n->state != never ? CHARGE", "n->state != never ? NONE"),
            ("app/circuit.h", "? STRONG : WEAK}", "? STRONG : STRONG}"),
            ("app/circuit.h", "\t\t\tschedule(d->end[1]);\n", ""),
        ],
    );
}

#[test]
#[ignore = "measures: make test-full"]
fn wrong_array_terms_are_seen() {
    let minimizer = "app/minimize.h";
    faults_are_seen(
        "app/plagen",
        "",
        &[
            (minimizer, "selected_count = remaining;", "selected_count = remaining - 1;"),
            (minimizer, "if (!is_irredundant(selected[i])) {", "if (i == selected_count) {"),
            (minimizer, "q->outputs & other->outputs : 0", "q->outputs | other->outputs : 0"),
            // the lowest operator of the language taken for another
            (
                "app/formula.h",
                "evaluate_tree(t->left) != evaluate_tree(t->right)",
                "evaluate_tree(t->left) | evaluate_tree(t->right)",
            ),
        ],
    );
}

#[test]
#[ignore = "measures: make test-full"]
fn early_routers_are_seen() {
    let router = "app/router.c";
    faults_are_seen(
        "app/router",
        "nets=10",
        &[
            (router, "return cost;", "return cost - 1;"),
            // in the word of the target, and perhaps some cells before it
            (router, "index == target && (cells & target_cell)", "index == target"),
            (router, "~blocked[index] & part(word", "part(word"),
            // no step from word to word
            (router, "reach(cost + in_row, index + 1, cells >> 63);", ""),
        ],
    );
}

/// A compiler that plants one fault in each.
#[test]
#[ignore = "measures: make test-full"]
fn wrong_programs_give_no_result() {
    let home = Home::new();
    let gcc = common::program(&["gcc"]);
    let script = format!(
        "plant() {{ [ ! -f \"$1\" ] || sed -i \"$2\" \"$1\"; }}\n\
         plant app/multiplier.h 's/{{nor(b, make, stop)}}/{{nor(b, make, make)}}/'\n\
         plant app/minimize.h 's/selected_count = remaining;/selected_count = remaining - 1;/'\n\
         plant app/router.c 's/return cost;/return cost - 1;/'\n\
         exec {} \"$@\"",
        gcc.display()
    );
    let compiler = make_script(home.path().join("planting-cc"), &script);
    let programs = ["app/csim", "app/plagen", "app/router"];
    let line = format!("run {} --quick --cc {}", programs.join(" "), compiler.display());
    let run = home.json(&line);
    for id in programs {
        assert!(flagged(result(&run, id), "invalid"), "{run}");
    }
    assert!(traces(&home).is_empty());
}
