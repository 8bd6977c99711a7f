//! Compilers against each other as a terminal prints them.

use crate::sample;
use gritstone_model::{CompilerView, CompilersView};
use gritstone_report::{compilers, terminal};

#[test]
fn two_compilers_of_which_one_refused_a_program() {
    let compiler = |name: &str, bytes: Option<u64>| CompilerView {
        name: name.to_owned(),
        version: format!("{name} 12.2.0"),
        run: format!("run-{name}"),
        compile_s: 12.3456,
        bytes,
        programs: 1_204,
        refused: [].into(),
    };
    let mut other = compiler("clang", None);
    let why = "no plugin for the linker.".to_owned();
    other.refused = [("byte_pipe".to_owned(), why)].into();
    let mut base = sample::run();
    let compared = ["byte/syscall", "byte/cc", "byte/multi/1"];
    base.results.retain(|r| compared.contains(&r.id.as_str()));
    let view = CompilersView {
        schema: String::new(),
        compilers: vec![compiler("gcc", Some(778_216)), other],
        base,
        comparisons: vec![sample::compare()],
    };
    insta::assert_snapshot!(terminal::render(
        &compilers(&view),
        terminal::Look::plain(100)
    ));
}
