//! What is measured together, and under which names.

use super::*;
use gritstone_model::{Footnote, FootnoteKind, Skip};

fn way(world: &World, selectors: &[&str]) -> Way {
    let selectors: Vec<String> = selectors.iter().map(ToString::to_string).collect();
    let rows = select(&world.catalogue.benchmarks, &selectors).unwrap();
    let steps = rows.iter().map(|row| Step {
        id: row.id.clone(),
        cpus: vec![1],
        copies: 1,
    });
    Way {
        name: "cc -O1".to_owned(),
        toolchain: Toolchain {
            name: "cc".to_owned(),
            c: "/usr/bin/cc".into(),
            fortran: None,
        },
        flags: "-O1".to_owned(),
        plan: Plan {
            steps: steps.collect(),
            benchmarks: rows,
            skips: vec![],
        },
        programs: BTreeMap::new(),
        refused: BTreeMap::new(),
        run: String::new(),
    }
}

#[test]
fn rows_of_all_compilers_are_told_apart_and_keep_their_variants() {
    let world = World::new(None);
    let mut ways = [
        way(&world, &["byte/loop", "vm/fft/128@double"]),
        way(&world, &["byte/loop", "vm/fft/128@double"]),
    ];
    // the second compiler refused one of them
    ways[1].plan.steps.remove(0);
    ways[1].plan.skips.push(Skip {
        id: Id::parse("byte/loop").unwrap(),
        footnote: Footnote::new(FootnoteKind::NotRun, "It does not compile."),
    });
    let (plan, rows) = together(&ways).unwrap();
    let ids: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(
        ids,
        ["1-byte/loop", "1-vm/fft/128@double", "2-vm/fft/128@double"]
    );
    for step in &plan.steps {
        let (_, row) = &rows[&step.id];
        assert!(step.id.as_str().ends_with(row.id.as_str()));
    }
}

#[test]
fn only_what_a_compiler_made_and_the_processor_bounds_shows_a_compiler() {
    let world = World::new(None);
    let shown = |id: &str| {
        let row = world
            .catalogue
            .benchmarks
            .iter()
            .find(|b| b.id.as_str() == id);
        compiled_speed(row.unwrap(), &compiler::sources())
    };
    assert!(shown("byte/loop") && shown("cpu/whetstone/b1"));
    assert!(!shown("byte/pipe") && !shown("byte/cc") && !shown("cpu/mwips/b1"));
}
