//! Compiles every workload, and embeds the programs and their sources.
//!
//! Each `<family>/<name>.c` is one program, found by a glob, and linked with the runtime and with `<family>/<name>.f90` if that exists. A
//! source with a `main` is a helper that another program executes; it is linked without the runtime. `linking` decides between static,
//! dynamic and bare. Without a Fortran compiler, programs that need one are left out.
//!
//! The `cc` crate only finds the compiler: its default flags (-fPIC, -march, -ffunction-sections) would change benchmarks.

#[path = "src/linking.rs"]
mod linking;

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};
use zstd::bulk::Compressor;
use zstd::dict::EncoderDictionary;

const FLAGS: &[&str] = &[linking::LANGUAGE, "-O2"];
const FORTRAN_FLAGS: &[&str] = &["-O2"];
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic"];
/// Environment variable: if set and not empty, warnings are errors.
const WERROR: &str = "GRITSTONE_WERROR";
/// zstd level: higher ones save kilobytes, and take seconds of every build.
const COMPRESSION_LEVEL: i32 = 12;

struct Toolchain {
    compiler: PathBuf,
    version: String,
    linkage: &'static [&'static str],
    /// Whether it can link dynamically.
    dynamic: bool,
    /// Fortran compiler with its version, if any.
    fortran: Option<(PathBuf, String)>,
}

struct Linked {
    name: String,
    compilers: String,
    flags: String,
    bytes: Vec<u8>,
}

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed=.");
    println!("cargo:rerun-if-env-changed={WERROR}");
    let toolchain = toolchain(&out);
    let mut names = programs(&here);
    names.retain(|name| {
        let text =
            fs::read_to_string(here.join(format!("{name}.c"))).expect("a source can be read");
        toolchain.dynamic || !linking::is_dynamic(name, &text)
    });
    let runtime: Vec<PathBuf> = runtime_objects(&here, &out, &toolchain);
    let half = names.len().div_ceil(2).max(1);
    let programs: Vec<Linked> = thread::scope(|scope| {
        let (here, out, toolchain, runtime) = (&here, &out, &toolchain, &runtime);
        let workers: Vec<_> = names
            .chunks(half)
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .filter_map(|name| build(here, out, toolchain, runtime, name))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|w| w.join().expect("a kernel did not compile; see above"))
            .collect()
    });
    let flags = [FLAGS, toolchain.linkage].concat().join(" ");
    let mut text = String::new();
    writeln!(text, "/// The compiler of all programs, with its version.").unwrap();
    writeln!(text, "pub const COMPILER: &str = {:?};", toolchain.version).unwrap();
    writeln!(text, "/// Its flags for all but those that are linked dynamically.").unwrap();
    writeln!(text, "pub const FLAGS: &str = {flags:?};").unwrap();
    text += &embed(&out, &programs);
    writeln!(text, "static SOURCES: &[Source] = &[").unwrap();
    text.extend(sources(&here));
    writeln!(text, "];").unwrap();
    fs::write(out.join("programs.rs"), text).expect("OUT_DIR is writable");
}

/// `family/file` of every file with one of these extensions, sorted. The runtime counts as a family.
fn files(here: &Path, extensions: &[&str]) -> Vec<String> {
    let mut found = vec![];
    for family in fs::read_dir(here).expect("the crate's folder can be read") {
        let family = family.expect("the crate's folder can be read").path();
        let folder = family.file_name().unwrap().to_string_lossy().into_owned();
        if !family.is_dir() || folder == "src" || folder == "target" {
            continue;
        }
        for file in fs::read_dir(&family).expect("a family's folder can be read") {
            let file = file.expect("a family's folder can be read").path();
            if file.extension().is_some_and(|e| extensions.iter().any(|extension| e == *extension))
            {
                let name = file.file_name().unwrap().to_string_lossy();
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found.sort();
    found
}

/// `family/name` of every program, sorted.
fn programs(here: &Path) -> Vec<String> {
    files(here, &["c"])
        .iter()
        .filter_map(|file| file.strip_suffix(".c"))
        .filter(|name| linking::is_program(name))
        .map(str::to_owned)
        .collect()
}

/// Rust code for the table of sources.
fn sources(here: &Path) -> impl Iterator<Item = String> {
    files(here, &["c", "h", "f90", "inc"]).into_iter().map(|path| {
        let file = here.join(&path);
        let bytes = fs::read(&file).expect("a source can be read");
        let hash = hexadecimal(&Sha256::digest(bytes));
        format!("    Source {{ path: {path:?}, hash: {hash:?}, text: include_str!({file:?}) }},\n")
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn toolchain(out: &Path) -> Toolchain {
    let compiler = cc::Build::new().get_compiler().path().to_path_buf();
    let output = Command::new(&compiler).arg("--version").output().unwrap_or_else(|e| {
        panic!(
            "no C compiler: {} cannot be started ({e}); install one (apt-get install gcc) or set CC",
            compiler.display()
        )
    });
    let version = first_line(&output.stdout);
    let probe = out.join("probe.c");
    fs::write(&probe, "int main(void) { return 0; }\n").expect("OUT_DIR is writable");
    let links = |linkage: &[&str]| {
        let mut command = Command::new(&compiler);
        let command = command.args(linkage).arg("-o").arg(out.join("probe")).arg(&probe);
        command.output().is_ok_and(|o| o.status.success())
    };
    let (is_static, dynamic) = (links(&["-static"]), links(&[]));
    if !is_static {
        println!(
            "cargo:warning=no static C library: workloads are linked dynamically, and say so in every result"
        );
    }
    if !dynamic {
        println!(
            "cargo:warning=no shared C library: benchmarks of dynamically linked programs cannot run"
        );
    }
    Toolchain {
        version,
        linkage: if is_static { &["-static"] } else { &[] },
        dynamic,
        compiler,
        fortran: fortran(),
    }
}

fn first_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().next().unwrap_or("unknown compiler").to_owned()
}

/// The compiler that FC names, else gfortran.
fn fortran() -> Option<(PathBuf, String)> {
    println!("cargo:rerun-if-env-changed=FC");
    println!("cargo:rerun-if-env-changed=PATH");
    let compiler = PathBuf::from(env::var_os("FC").unwrap_or_else(|| "gfortran".into()));
    match Command::new(&compiler).arg("--version").output() {
        Ok(output) if output.status.success() => Some((compiler, first_line(&output.stdout))),
        _ => {
            println!(
                "cargo:warning=no Fortran compiler ({}): what is written in Fortran is left out, and says so; apt-get install gfortran",
                compiler.display()
            );
            None
        }
    }
}

fn warnings_as_errors() -> Option<&'static str> {
    let wanted = env::var_os(WERROR).is_some_and(|value| !value.is_empty());
    wanted.then_some("-Werror")
}

fn run(command: &mut Command) {
    let output = command.output().expect("the compiler has been started before");
    assert!(
        output.status.success(),
        "{:?} {:?} failed:\n{}",
        command.get_program(),
        command.get_args().collect::<Vec<_>>(),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn runtime_objects(here: &Path, out: &Path, toolchain: &Toolchain) -> Vec<PathBuf> {
    let parts = files(here, &["c"])
        .into_iter()
        .filter(|file| !linking::is_program(file.trim_end_matches(".c")));
    let compiled = |file: String| {
        let object = out.join(file.replace('/', "_")).with_extension("o");
        run(Command::new(&toolchain.compiler)
            .args(FLAGS)
            .args(WARNINGS)
            .args(warnings_as_errors())
            .arg("-c")
            .arg("-o")
            .arg(&object)
            .arg(here.join(&file)));
        object
    };
    parts.map(compiled).collect()
}

/// Compiles the Fortran source of a program. It does not use the Fortran runtime, so that the C compiler can link it.
fn fortran_object(out: &Path, compiler: &Path, name: &str, source: &Path) -> PathBuf {
    // the compiler writes module files to its directory, and programs may share names of modules
    let directory = out.join(format!("{}.fortran", name.replace('/', "_")));
    fs::create_dir_all(&directory).expect("OUT_DIR is writable");
    let object = directory.join("object.o");
    run(Command::new(compiler)
        .current_dir(&directory)
        .args(FORTRAN_FLAGS)
        .args(["-Wall", "-c", "-o"])
        .arg(&object)
        .arg(source));
    object
}

/// Compiles a program; `None` without a Fortran compiler that it needs.
fn build(
    here: &Path,
    out: &Path,
    toolchain: &Toolchain,
    runtime: &[PathBuf],
    name: &str,
) -> Option<Linked> {
    let program = out.join(name.replace('/', "_"));
    let source = here.join(format!("{name}.c"));
    let text = fs::read_to_string(&source).expect("a source can be read");
    let bare = linking::is_bare(&text);
    let linkage = match linking::is_dynamic(name, &text) {
        true => &[],
        false if bare => linking::BARE,
        false => toolchain.linkage,
    };
    let mut command = Command::new(&toolchain.compiler);
    command
        .args(FLAGS)
        .args(WARNINGS)
        .args(warnings_as_errors())
        .args(linkage)
        .arg("-o")
        .arg(&program)
        .arg(&source);
    if !linking::stands_alone(&text) {
        command.args(runtime);
    }
    let mut compilers = toolchain.version.clone();
    let mut flags = [FLAGS, linkage].concat().join(" ");
    let fortran = here.join(format!("{name}.f90"));
    if fortran.exists() {
        let (compiler, version) = toolchain.fortran.as_ref()?;
        command.arg(fortran_object(out, compiler, name, &fortran));
        write!(compilers, "; {version}").unwrap();
        write!(flags, "; Fortran: {}", FORTRAN_FLAGS.join(" ")).unwrap();
    }
    if !bare {
        command.args(linking::LIBRARIES);
    }
    run(&mut command);
    Some(Linked {
        name: name.to_owned(),
        compilers,
        flags,
        bytes: fs::read(&program).expect("the compiler has just written it"),
    })
}

/// Rust code for the table of programs. Each is compressed alone, so that a run decompresses only what it needs, with the programs of the
/// runtime as a dictionary, since they contain the C library. Together they take a seventh of the size without a dictionary.
fn embed(out: &Path, programs: &[Linked]) -> String {
    let is_runtime = |program: &&Linked| program.name.starts_with("runtime/");
    let parts: Vec<&[u8]> = programs.iter().filter(is_runtime).map(|p| &p.bytes[..]).collect();
    let common = parts.concat();
    let write = |name: &str, bytes: &[u8]| {
        let path = out.join(format!("{}.zst", name.replace('/', "_")));
        fs::write(&path, bytes).expect("OUT_DIR is writable");
        path
    };
    let path = write("common", &zstd::bulk::compress(&common, COMPRESSION_LEVEL).expect("memory"));
    let mut text = format!(
        "static COMMON: Packed = Packed {{ size: {}, bytes: include_bytes!({path:?}) }};\nstatic PROGRAMS: &[Embedded] = &[\n",
        common.len()
    );
    let dictionary = EncoderDictionary::copy(&common, COMPRESSION_LEVEL);
    let mut packer = Compressor::with_prepared_dictionary(&dictionary).expect("memory");
    for Linked { name, compilers, flags, bytes } in programs {
        let hash = hexadecimal(&Sha256::digest(bytes));
        let path = write(name, &packer.compress(bytes).expect("memory"));
        writeln!(
            text,
            "    Embedded {{ name: {name:?}, hash: {hash:?}, compiler: {compilers:?}, flags: {flags:?}, packed: Packed {{ size: {}, bytes: include_bytes!({path:?}) }} }},",
            bytes.len()
        )
        .unwrap();
    }
    text + "];\n"
}
