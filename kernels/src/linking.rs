//! How a program is made, told from its name and its source, so that no list of programs is kept: for the build of this
//! crate and for whoever compiles the programs again.

/// Keeps a program: whatever it starts ends with it.
pub const SUPERVISOR: &str = "runtime/supervisor";
/// Times someone else's program as a process.
pub const COMMAND: &str = "runtime/command";
/// Times a command of the user's as a process.
pub const USER: &str = "runtime/user";
/// Counts the instructions of someone else's program.
pub const COUNT: &str = "runtime/count";

/// What the language of the kernels asks of a compiler of C.
pub const LANGUAGE: &str = "-std=gnu11";
/// What every program may call: the mathematical library, and threads and the loader of libraries where they are by themselves.
pub const LIBRARIES: [&str; 3] = ["-lm", "-ldl", "-lpthread"];

/// How a program is linked that is bare.
pub const BARE: &[&str] = &["-nostdlib", "-static"];

/// Whether `family/name` is a program, and not a part of others: of the runtime only those above are.
pub fn is_program(name: &str) -> bool {
    !name.starts_with("runtime/") || [SUPERVISOR, COMMAND, USER, COUNT].contains(&name)
}

/// Whether a source is a whole program, with a `main` of its own; any other is linked with the runtime.
pub fn stands_alone(source: &str) -> bool {
    source.lines().any(|line| line.starts_with("int main("))
}

/// Whether a program is linked dynamically, where the others are static: its name says so, or it loads libraries of the machine.
pub fn is_dynamic(name: &str, source: &str) -> bool {
    name.ends_with("-dynamic") || source.contains("#include <dlfcn.h>")
}

/// Whether a program is linked without the C library and its startup: it brings its own, for the processors that
/// `kernel/crt0.h` knows.
pub fn is_bare(source: &str) -> bool {
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"));
    known && source.contains("#include \"crt0.h\"")
}
