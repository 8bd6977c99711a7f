//! Whole programs: that what they write is verified, so that one that is wrong anywhere on its way gives no result.

use crate::common::workload::{built, said};

/// Parameters of small work, in a launch of three operations.
const SMALL: &str = "growth=0 target_ns=1000 samples=1";

/// What a program says of its last operation: what came out, and what is right.
fn checked(name: &str, faults: &[(&str, &str, &str)], small: &str) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let workload = built(name, folder.path(), faults);
    let said = said(&workload, folder.path(), &format!("{SMALL} {small}"));
    let last = said.lines().rfind(|line| line.starts_with("check n=1 "));
    let last = last.unwrap_or_else(|| panic!("{name} {faults:?}: {said}"));
    assert!(said.ends_with("bye\n"), "{said}");
    let number = |key: &str| {
        let word = last.split(' ').find_map(|word| word.strip_prefix(key));
        word.unwrap().parse().unwrap()
    };
    (number("got="), number("expected="))
}

/// The work is right, and with any of these faults in it, it is seen to be wrong.
fn faults_are_seen(name: &str, small: &str, faults: &[(&str, &str, &str)]) {
    let (got, expected) = checked(name, &[], small);
    assert_eq!(got, expected, "{name}");
    for fault in faults {
        let (got, expected) = checked(name, &[*fault], small);
        assert_ne!(got, expected, "{name}: {fault:?}");
    }
}

#[test]
fn a_circuit_with_a_wrong_gate_and_a_wrong_simulator_are_seen() {
    let circuit = "app/multiplier.h";
    let simulator = "app/csim.c";
    faults_are_seen(
        "app/csim",
        "products=20",
        &[
            (circuit, "{nor(b, make, stop)}", "{nor(b, make, make)}"),
            (circuit, "enhancement(b, z, any, ground);", ""),
            // a load that is missing in every inverter
            (
                circuit,
                "\tload(b, out);\n\tenhancement(b, in",
                "\tenhancement(b, in",
            ),
            // nodes without charge; a load as strong as a transistor; events that get lost
            (
                simulator,
                "n->state != never ? CHARGE",
                "n->state != never ? NONE",
            ),
            ("app/circuit.h", "? STRONG : WEAK}", "? STRONG : STRONG}"),
            ("app/circuit.h", "\t\t\tset_event(d->end[1]);\n", ""),
        ],
    );
}

#[test]
fn an_array_that_lacks_a_term_or_has_one_too_many_is_seen() {
    let minimizer = "app/minimize.h";
    faults_are_seen(
        "app/plagen",
        "",
        &[
            (minimizer, "taken_count = kept;", "taken_count = kept - 1;"),
            (
                minimizer,
                "if (!is_needed(taken[i])) {",
                "if (i == taken_count) {",
            ),
            (
                minimizer,
                "q->outputs & other->outputs : 0",
                "q->outputs | other->outputs : 0",
            ),
            // the lowest operator of the language taken for another
            (
                "app/formula.h",
                "value_of(t->left) != value_of(t->right)",
                "value_of(t->left) | value_of(t->right)",
            ),
        ],
    );
}
