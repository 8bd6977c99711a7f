//! How a program is linked, derived from its name and its source. Shared by the build script and by rebuilds.

/// Starts a workload, and kills all of its processes at the end.
pub const SUPERVISOR: &str = "runtime/supervisor";
/// Times a program of the system, as a process.
pub const COMMAND: &str = "runtime/command";
/// Times a command of the user, as a process.
pub const USER: &str = "runtime/user";
/// Counts the instructions of a program of the system.
pub const COUNT: &str = "runtime/count";

/// C standard of the sources: GNU C11.
pub const LANGUAGE: &str = "-std=gnu11";
/// Libraries of every program. `dl` and `pthread` are part of the C library since glibc 2.34, and in musl.
pub const LIBRARIES: [&str; 3] = ["-lm", "-ldl", "-lpthread"];

/// Flags for programs without a C library.
pub const BARE: &[&str] = &["-nostdlib", "-static"];

/// Whether `family/name` is a program. Of the runtime only those above are; the rest is linked with workloads.
pub fn is_program(name: &str) -> bool {
    !name.starts_with("runtime/") || [SUPERVISOR, COMMAND, USER, COUNT].contains(&name)
}

/// Whether a source has a `main`; any other is linked with the runtime.
pub fn stands_alone(source: &str) -> bool {
    source.lines().any(|line| line.starts_with("int main("))
}

/// Whether a program is linked dynamically: by its name, or since it loads libraries of the system.
pub fn is_dynamic(name: &str, source: &str) -> bool {
    name.ends_with("-dynamic") || source.contains("#include <dlfcn.h>")
}

/// Whether a program is linked without the C library: it has its own start-up code, for the architectures of `kernel/crt0.h`.
pub fn is_bare(source: &str) -> bool {
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"));
    known && source.contains("#include \"crt0.h\"")
}
