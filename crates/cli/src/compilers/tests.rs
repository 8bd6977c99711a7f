//! What shows a compiler.

use super::*;

#[test]
fn only_what_a_compiler_made_and_the_processor_bounds_shows_a_compiler() {
    let world = World::new(None);
    let shown = |id: &str| {
        let row = world
            .catalogue
            .benchmarks
            .iter()
            .find(|b| b.id.as_str() == id);
        compiled_speed(row.unwrap(), &own::sources(None))
    };
    assert!(shown("byte/loop") && shown("cpu/whetstone/b1"));
    assert!(!shown("byte/pipe") && !shown("byte/cc") && !shown("cpu/mwips/b1"));
}
