//! Compilers against each other as a terminal prints them.
//!
//! Must not know: how documents are made, how anything is compiled.

mod sample;

use gritstone_model::{CompilerView, CompilersView, SCHEMA_COMPILERS};
use gritstone_report::{compilers, terminal};

fn compiler(name: &str, version: &str, run: &str, compile_s: f64) -> CompilerView {
    CompilerView {
        name: name.to_owned(),
        version: version.to_owned(),
        run: run.to_owned(),
        compile_s,
        bytes: Some(21_844),
        programs: 4,
        refused: [].into(),
    }
}

#[test]
fn three_compilers_at_120_columns() {
    let mut base = sample::run();
    let shown = ["byte/syscall", "byte/sieve", "byte/cc"];
    base.results.retain(|row| shown.contains(&row.id.as_str()));
    let (mut second, third) = (sample::compare(), sample::compare());
    // one that it refused is no row of it
    second.rows.retain(|row| row.id.as_str() != "byte/cc");
    let gcc = "gcc (Debian 12.2.0-14) 12.2.0";
    let mut made = vec![
        compiler("gcc -O2", gcc, "20260102-030405-5f3a0001", 0.4321),
        compiler("gcc -O3 -flto", gcc, "20260102-030405-5f3a0002", 0.5678),
        compiler(
            "clang -O2",
            "Debian clang version 14.0.6; GNU Fortran (Debian 12.2.0-14) 12.2.0",
            "20260102-030405-5f3a0003",
            1.25,
        ),
    ];
    made[1].bytes = None;
    made[1].refused = [(
        "byte/cc".to_owned(),
        "gcc failed: it cannot be done".to_owned(),
    )]
    .into();
    let view = CompilersView {
        schema: SCHEMA_COMPILERS.to_owned(),
        compilers: made,
        base,
        comparisons: vec![second, third],
    };
    insta::assert_snapshot!(terminal::render(&compilers(&view), 120, false));
}
