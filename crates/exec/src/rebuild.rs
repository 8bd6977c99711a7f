//! Compiles workloads from the embedded sources with compilers of this system: C, and Fortran for programs that have
//! a part in it.
//!
//! Compilers run under the supervisor: they end with us, and have a deadline. The runtime is compiled with the same
//! flags, since link-time optimizers must see everything.

use crate::arguments::environment_in;
use crate::process::{Task, carry_out};
use crate::setup::Setup;
use crate::{ExecError, elf, version};
use gritstone_kernels::linking;
use gritstone_model::{Program, hexadecimal};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Limit for compiling one program.
const DEADLINE: Duration = Duration::from_secs(120);
/// Bytes of a compiler's message that are passed on.
const MAX_COMPLAINT: usize = 600;

/// A program compiled here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    pub path: PathBuf,
    pub program: Program,
    /// Compile time of its own sources; without the runtime and linking.
    pub took: Duration,
    /// Text, data and bss of its objects; 0 with link-time optimization.
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    pub path: PathBuf,
    /// Without the flags that all workloads need.
    pub flags: Vec<String>,
}

/// A compiler with its version, empty if unknown.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) compiler: Compiler,
    pub(crate) version: String,
    /// Flags of the language, before all others.
    pub(crate) language: &'static [&'static str],
}

impl Tool {
    pub(crate) fn c(compiler: Compiler, version: String) -> Self {
        Self { compiler, version, language: &[linking::LANGUAGE] }
    }

    pub(crate) fn fortran(compiler: Compiler, version: String) -> Self {
        Self { compiler, version, language: &[] }
    }

    fn flags(&self) -> impl Iterator<Item = &str> {
        let compiler_flags = self.compiler.flags.iter().map(String::as_str);
        self.language.iter().copied().chain(compiler_flags)
    }
}

/// Compilers with a working directory.
#[derive(Debug)]
pub struct Workshop {
    pub(crate) directory: PathBuf,
    pub(crate) supervisor: PathBuf,
    pub(crate) cpus: String,
    pub(crate) environment: BTreeMap<String, OsString>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) c: Tool,
    pub(crate) fortran: Option<Tool>,
}

/// By program: the build, or the compiler's message.
pub type Builds = BTreeMap<String, Result<Rebuilt, String>>;

#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The compiler cannot make the shortest program with these flags.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl Setup {
    /// A directory in which these compilers build, removed with the setup. Without a Fortran compiler, programs with
    /// a part in it are refused.
    pub fn workshop(&self, c: Compiler, fortran: Option<Compiler>) -> Result<Workshop, ExecError> {
        let directory = self.work_dirs.fresh(false)?;
        let version =
            |compiler: &Compiler| version::query(&compiler.path, "--version", &self.environment);
        let mut environment = environment_in(&self.environment, &directory);
        // -g records the directory: the same name makes the same program
        environment.insert("PWD".to_owned(), "/proc/self/cwd".into());
        Ok(Workshop {
            environment,
            directory,
            supervisor: self.supervisor()?,
            cpus: self.cpus.clone(),
            stop: Arc::clone(&self.stop),
            c: Tool::c(c.clone(), version(&c)),
            fortran: fortran.map(|f| Tool::fortran(f.clone(), version(&f))),
        })
    }
}

impl Workshop {
    /// Version of the C compiler; empty if unknown.
    pub fn version(&self) -> &str {
        &self.c.version
    }

    /// Compiles `programs` (`family/name`) from `sources`, pairs of path (`family/name.c`) and text that include the
    /// runtime. Links as this binary's build does: statically if possible and the program allows it, with the runtime
    /// unless it stands alone. Fails only if nothing can be compiled with these flags; a refused program is in the
    /// result.
    pub fn build(
        &self,
        sources: &[(&str, &str)],
        programs: &[&str],
    ) -> Result<Builds, RebuildError> {
        for (path, text) in sources {
            self.write(path, text)?;
        }
        let linkage = self.linkage()?;
        let mut objects = vec![];
        let parts = sources.iter().filter_map(|(path, _)| path.strip_suffix(".c"));
        for part in parts.filter(|part| !linking::is_program(part)) {
            let (path, object) = (format!("{part}.c"), format!("{}.o", part.replace('/', "_")));
            self.compile(&self.c, &["-c", "-o", &object, &path])?.map_err(RebuildError::Refused)?;
            objects.push(object);
        }
        let mut builds = Builds::new();
        for name in programs {
            let build = self.program(name, sources, linkage, &objects)?;
            builds.insert((*name).to_owned(), build);
        }
        Ok(builds)
    }

    /// Objects of one program, linked with those of the runtime.
    fn program(
        &self,
        name: &str,
        sources: &[(&str, &str)],
        linkage: Option<&str>,
        runtime: &[String],
    ) -> Result<Result<Rebuilt, String>, ExecError> {
        let output = name.replace('/', "_");
        let source = |ending: &str| {
            let path = format!("{name}.{ending}");
            let text = sources.iter().find(|source| source.0 == path)?.1;
            Some((path, text))
        };
        let text = source("c").map_or("", |(_, text)| text);
        let bare = linking::is_bare(text);
        let linkage = linkage.filter(|_| !linking::is_dynamic(name, text));
        let linkage = if bare { linking::BARE } else { linkage.as_slice() };
        let mut parts = vec![(&self.c, format!("{name}.c"), format!("{output}.c.o"))];
        if let Some((path, _)) = source("f90") {
            let Some(fortran) = &self.fortran else {
                return Ok(Err(format!(
                    "{path} needs a Fortran compiler, and PATH has none: apt-get install gfortran"
                )));
            };
            parts.push((fortran, path, format!("{output}.f90.o")));
        }
        let begin = Instant::now();
        for (tool, path, object) in &parts {
            if let Err(why) = self.compile(tool, &["-c", "-o", object, path])? {
                return Ok(Err(why));
            }
        }
        let took = begin.elapsed();
        let mut arguments = linkage.to_vec();
        arguments.extend(["-o", &output]);
        arguments.extend(parts.iter().map(|part| part.2.as_str()));
        if !linking::stands_alone(text) {
            arguments.extend(runtime.iter().map(String::as_str));
        }
        if !bare {
            arguments.extend(linking::LIBRARIES);
        }
        if let Err(why) = self.compile(&self.c, &arguments)? {
            return Ok(Err(why));
        }
        let tools: Vec<&Tool> = parts.iter().map(|part| part.0).collect();
        Ok(self.finished(&output, &tools, linkage).and_then(|(path, program)| {
            let sizes = parts.iter().map(|part| elf::size(&self.directory.join(&part.2)));
            Ok(Rebuilt { path, program, took, size: sizes.sum::<Result<u64, String>>()? })
        }))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), ExecError> {
        let file = self.directory.join(path);
        file.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&file, text))
            .map_err(ExecError::system(format!("cannot write {}", file.display())))
    }

    /// `-static` if the shortest program can be linked so.
    fn linkage(&self) -> Result<Option<&'static str>, RebuildError> {
        self.write("probe.c", "int main(void) { return 0; }\n")?;
        let probe = ["-o", "probe", "probe.c"];
        if self.compile(&self.c, &[&["-static"], probe.as_slice()].concat())?.is_ok() {
            return Ok(Some("-static"));
        }
        self.compile(&self.c, &probe)?.map_err(RebuildError::Refused)?;
        Ok(None)
    }

    /// The inner error is the compiler's message.
    fn compile(&self, tool: &Tool, arguments: &[&str]) -> Result<Result<(), String>, ExecError> {
        let ended = carry_out(&Task {
            supervisor: &self.supervisor,
            cpus: &self.cpus,
            words: "-",
            program: &tool.compiler.path,
            arguments: tool.flags().chain(arguments.iter().copied()).map(OsString::from).collect(),
            directory: &self.directory,
            environment: &self.environment,
            deadline: DEADLINE,
            stop: &self.stop,
        })?;
        let compiler = tool.compiler.path.display();
        Ok(match ended.end {
            _ if ended.timed_out => {
                Err(format!("{compiler} did not end within {} s", DEADLINE.as_secs()))
            }
            Some(end) if end.signal.is_none() && end.exit == 0 => Ok(()),
            _ => {
                let why = ended.refusal().unwrap_or(ended.stderr);
                Err(format!("{compiler} failed: {}", shortened(&why, MAX_COMPLAINT)))
            }
        })
    }

    /// Path and stored description of a linked program, in the terms of this binary's build.
    fn finished(
        &self,
        output: &str,
        tools: &[&Tool],
        linkage: &[&str],
    ) -> Result<(PathBuf, Program), String> {
        let path = self.directory.join(output);
        let bytes =
            fs::read(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        let flags: Vec<&str> = self.c.flags().chain(linkage.iter().copied()).collect();
        let mut program = Program {
            hash: hexadecimal(Sha256::digest(bytes)),
            compiler: self.c.version.clone(),
            flags: flags.join(" "),
        };
        for fortran in tools.iter().filter(|tool| tool.language.is_empty()) {
            let flags: Vec<&str> = fortran.flags().collect();
            let _ = write!(program.compiler, "; {}", fortran.version);
            let _ = write!(program.flags, "; Fortran: {}", flags.join(" "));
        }
        Ok((path, program))
    }
}

/// At most `max` bytes.
fn shortened(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rfind(|&index| text.is_char_boundary(index));
    &text[..end.unwrap_or(0)]
}
