//! How a program is linked, told from its name and its source, so that no list of programs is kept: for the build of this
//! crate and for whoever compiles the programs again.
//!
//! Must not know: compilers, which programs there are.

/// Whether a source is a whole program, with a `main` of its own; any other is linked with the runtime.
#[must_use]
pub fn stands_alone(source: &str) -> bool {
    source.lines().any(|line| line.starts_with("int main("))
}

/// Whether a program is linked dynamically, where the others are static: its name says so, or it loads libraries of the machine.
#[must_use]
pub fn is_dynamic(name: &str, source: &str) -> bool {
    name.ends_with("-dynamic") || source.contains("#include <dlfcn.h>")
}
