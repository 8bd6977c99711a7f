//! Compiles kernels again, from the sources in this binary, with a compiler that is here.
//!
//! The compiler works under the keeper as everything else does that we start: it ends with us, and has a deadline. The
//! runtime is compiled with the same flags as the kernel, and as whole-program optimisers want it: they are to see all.
//! Must not know: which programs there are, what they do, why anyone wants them again.

use crate::process::{Task, carry_out};
use crate::{ExecError, Executor, launch, version};
use gritstone_kernels::{KEEPER, linking};
use gritstone_model::Program;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What the language of the kernels asks for; all else is whoever's flags they are.
const LANGUAGE: &str = "-std=gnu11";
/// Programs of the runtime that stand alone, and so are no part of other programs.
const PROGRAMS: [&str; 3] = ["runtime/keeper.c", "runtime/command.c", "runtime/user.c"];
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
}

/// One compiler with one set of flags, and a directory to work in.
#[derive(Debug)]
pub struct Workshop {
    pub(crate) directory: PathBuf,
    pub(crate) keeper: PathBuf,
    pub(crate) cpus: String,
    pub(crate) environment: BTreeMap<String, OsString>,
    pub(crate) stop: Arc<AtomicBool>,
    /// The compiler.
    pub compiler: PathBuf,
    /// What it says that it is; empty when it will not say.
    pub version: String,
    /// Its flags, without those that the kernels need whatever happens.
    pub flags: Vec<String>,
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

impl Executor {
    /// From now on these programs take the place of those of the same name in this binary, and no others do. Returns those
    /// that did before.
    pub fn use_builds(&mut self, builds: BTreeMap<String, Rebuilt>) -> BTreeMap<String, Rebuilt> {
        std::mem::replace(&mut self.builds, builds)
    }

    /// A directory in which `compiler` can make programs with these flags; it goes with the executor's others.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn workshop(&mut self, compiler: &Path, flags: Vec<String>) -> Result<Workshop, ExecError> {
        let directory = self.setup.places.fresh(false)?;
        let keeper = self.path_of(KEEPER)?;
        Ok(Workshop {
            environment: self.environment(&directory),
            directory,
            keeper,
            cpus: self.setup.cpus.clone(),
            stop: Arc::clone(&self.setup.stop),
            compiler: compiler.to_path_buf(),
            version: version::of(compiler, &self.setup.environment),
            flags,
        })
    }
}

impl Workshop {
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
        for (path, _) in sources.iter().filter(|(path, _)| part_of_all(path)) {
            let object = path.replace('/', "_").replace(".c", ".o");
            self.compile(&["-c", "-o", &object, path])?
                .map_err(RebuildError::Refused)?;
            objects.push(object);
        }
        let mut builds = Builds::new();
        for name in programs {
            let (output, source) = (name.replace('/', "_"), format!("{name}.c"));
            let linkage = linkage.filter(|_| !linking::is_dynamic(name));
            let alone = sources
                .iter()
                .any(|(path, text)| *path == source && linking::stands_alone(text));
            let mut arguments: Vec<&str> = linkage.iter().copied().collect();
            arguments.extend(["-o", &output, &source]);
            if !alone {
                arguments.extend(objects.iter().map(String::as_str));
            }
            let built = match self.compile(&arguments)? {
                Ok(()) => self.finished(&output, linkage),
                Err(why) => Err(why),
            };
            builds.insert((*name).to_owned(), built);
        }
        Ok(builds)
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
            .compile(&[&["-static"], probe.as_slice()].concat())?
            .is_ok()
        {
            return Ok(Some("-static"));
        }
        self.compile(&probe)?.map_err(RebuildError::Refused)?;
        Ok(None)
    }

    /// Starts the compiler; the inner result is what it thinks of its task.
    fn compile(&self, arguments: &[&str]) -> Result<Result<(), String>, ExecError> {
        let flags = self.flags.iter().map(String::as_str);
        let all = [LANGUAGE].into_iter().chain(flags);
        let ended = carry_out(&Task {
            keeper: &self.keeper,
            cpus: &self.cpus,
            steady: "-",
            program: &self.compiler,
            arguments: all
                .chain(arguments.iter().copied())
                .map(OsString::from)
                .collect(),
            directory: &self.directory,
            environment: &self.environment,
            deadline: DEADLINE,
            stop: &self.stop,
        })?;
        let compiler = self.compiler.display();
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

    fn finished(&self, output: &str, linkage: Option<&str>) -> Result<Rebuilt, String> {
        let path = self.directory.join(output);
        let bytes =
            fs::read(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        let flags = self.flags.iter().map(String::as_str);
        let flags: Vec<&str> = [LANGUAGE].into_iter().chain(flags).chain(linkage).collect();
        Ok(Rebuilt {
            path,
            program: Program {
                hash: launch::hexadecimal(&Sha256::digest(bytes)),
                compiler: self.version.clone(),
                flags: flags.join(" "),
            },
        })
    }
}

/// Whether a source is linked to every program.
fn part_of_all(path: &str) -> bool {
    let file = Path::new(path);
    file.starts_with("runtime")
        && file.extension().is_some_and(|e| e == "c")
        && !PROGRAMS.contains(&path)
}

/// The beginning of a text, at most so many bytes of it.
fn shortened(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}
