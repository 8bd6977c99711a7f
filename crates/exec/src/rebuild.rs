//! Compiles kernels again, from the sources in this binary, with compilers that are here: of C, and of Fortran for programs
//! that have a half in it.
//!
//! The compiler works under the supervisor as everything else does that we start: it ends with us, and has a deadline. The
//! runtime is compiled with the same flags as the kernel, and as whole-program optimizers want it: they are to see all.

use crate::process::{Task, carry_out};
use crate::setup::{Setup, environment_in};
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

/// How long a compiler may take for one program.
const DEADLINE: Duration = Duration::from_secs(120);
/// How much of what a compiler complains is passed on.
const MAX_COMPLAINT: usize = 600;

/// A program that was compiled here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// Where it is.
    pub path: PathBuf,
    /// What belongs to figures that it makes.
    pub program: Program,
    /// How long its own sources took to be compiled; not the runtime, not linking.
    pub took: Duration,
    /// Text, data and bss that became of them; nothing before linking where the linker optimizes.
    pub size: u64,
}

/// A compiler with its flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// Where it is.
    pub path: PathBuf,
    /// Its flags, without those that the kernels need whatever happens.
    pub flags: Vec<String>,
}

/// A compiler at work: what it says that it is, empty when it will not say, is known too.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) compiler: Compiler,
    pub(crate) version: String,
    /// What the language of the kernels asks for, before all flags.
    pub(crate) language: &'static [&'static str],
}

impl Tool {
    pub(crate) fn c(compiler: Compiler, version: String) -> Self {
        Self {
            compiler,
            version,
            language: &[linking::LANGUAGE],
        }
    }

    pub(crate) fn fortran(compiler: Compiler, version: String) -> Self {
        Self {
            compiler,
            version,
            language: &[],
        }
    }

    fn flags(&self) -> impl Iterator<Item = &str> {
        let own = self.compiler.flags.iter().map(String::as_str);
        self.language.iter().copied().chain(own)
    }
}

/// One set of compilers, and a directory to work in.
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

/// Every program that was asked for, or what the compiler had to say against it.
pub type Builds = BTreeMap<String, Result<Rebuilt, String>>;

/// Why nothing can be compiled.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The compiler cannot make the shortest program with these flags.
    #[error("{0}")]
    Refused(String),
    /// Compilers cannot be started any more, or the user asked to stop.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl Setup {
    /// A directory in which these compilers can make programs; it goes with the others of the setup. Without a compiler of
    /// Fortran, programs that have a half in it are refused.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn workshop(&self, c: Compiler, fortran: Option<Compiler>) -> Result<Workshop, ExecError> {
        let directory = self.places.fresh(false)?;
        let version =
            |compiler: &Compiler| version::of(&compiler.path, "--version", &self.environment);
        let mut environment = environment_in(&self.environment, &directory);
        // what -g writes down of the directory is the same in every one: so are the programs
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
    /// What the C compiler says that it is; empty when it will not say.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.c.version
    }

    /// Compiles `programs` (`family/name`) from `sources`, which are pairs of path (`family/name.c`) and text and hold the
    /// runtime. Linked as the programs in this binary are: statically where that is possible and the name asks for no other,
    /// with the runtime unless they are whole without it.
    ///
    /// # Errors
    /// When nothing can be compiled with this compiler and these flags at all; a program that it refuses is in the result.
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
        let parts = sources
            .iter()
            .filter_map(|(path, _)| path.strip_suffix(".c"));
        for part in parts.filter(|part| !linking::is_program(part)) {
            let (path, object) = (format!("{part}.c"), format!("{}.o", part.replace('/', "_")));
            self.compile(&self.c, &["-c", "-o", &object, &path])?
                .map_err(RebuildError::Refused)?;
            objects.push(object);
        }
        let mut builds = Builds::new();
        for name in programs {
            let built = self.program(name, sources, linkage, &objects)?;
            builds.insert((*name).to_owned(), built);
        }
        Ok(builds)
    }

    /// One program: its objects, then linked with those of the runtime.
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
        let linkage = if bare {
            linking::BARE
        } else {
            linkage.as_slice()
        };
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
        Ok(self
            .finished(&output, &tools, linkage)
            .and_then(|(path, program)| {
                let sizes = parts
                    .iter()
                    .map(|part| elf::size(&self.directory.join(&part.2)));
                Ok(Rebuilt {
                    path,
                    program,
                    took,
                    size: sizes.sum::<Result<u64, String>>()?,
                })
            }))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), ExecError> {
        let file = self.directory.join(path);
        file.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&file, text))
            .map_err(ExecError::system(format!(
                "cannot write {}",
                file.display()
            )))
    }

    /// `-static` where the shortest program can be linked so, nothing where only without it.
    fn linkage(&self) -> Result<Option<&'static str>, RebuildError> {
        self.write("probe.c", "int main(void) { return 0; }\n")?;
        let probe = ["-o", "probe", "probe.c"];
        if self
            .compile(&self.c, &[&["-static"], probe.as_slice()].concat())?
            .is_ok()
        {
            return Ok(Some("-static"));
        }
        self.compile(&self.c, &probe)?
            .map_err(RebuildError::Refused)?;
        Ok(None)
    }

    /// Starts the compiler; the inner result is what it thinks of its task.
    fn compile(&self, tool: &Tool, arguments: &[&str]) -> Result<Result<(), String>, ExecError> {
        let ended = carry_out(&Task {
            supervisor: &self.supervisor,
            cpus: &self.cpus,
            words: "-",
            program: &tool.compiler.path,
            arguments: tool
                .flags()
                .chain(arguments.iter().copied())
                .map(OsString::from)
                .collect(),
            directory: &self.directory,
            environment: &self.environment,
            deadline: DEADLINE,
            stop: &self.stop,
        })?;
        let compiler = tool.compiler.path.display();
        Ok(match ended.end {
            _ if ended.timed_out => Err(format!(
                "{compiler} did not end within {} s",
                DEADLINE.as_secs()
            )),
            Some(end) if end.signal.is_none() && end.exit == 0 => Ok(()),
            _ => Err(format!(
                "{compiler} failed: {}",
                shortened(&ended.stderr, MAX_COMPLAINT)
            )),
        })
    }

    /// Where a linked program is, and what belongs to its figures: in the words of the build that made this binary.
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

/// The beginning of a text, at most so many bytes of it.
fn shortened(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}
