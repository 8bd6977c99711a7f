//! The kernel's trace, for launches that are timed by it: an instance of tracefs that is the run's own, so that nobody else's
//! tracing is touched.
//!
//! One a run, made when a row of the run asks for it. It stands in the journal before it is made, and a watchdog stands by, since
//! events that are traced cost everyone until it is removed. Where tracefs is mounted nowhere it is mounted for this process
//! alone, at no path, and goes with it.
//!
//! Must not know: which events are traced, which rows there are.

use crate::journal::written_down;
use crate::places::{fresh_name, must_be_ours};
use crate::{Executor, Journal, asks};
use gritstone_model::{Benchmark, KernelWork};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Moment};

/// The parameter of an entry that is carried out here, where its value is `yes`.
const TRACED: &str = "traced";
/// Where tracefs may be mounted.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// How long those who read the trace may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// The trace of a run; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    path: PathBuf,
    _tracefs: Tracefs,
}

/// What the launches of a run can be timed by: an instance, or why there is none.
pub(crate) type Tracing = Result<Instance, String>;

/// The directory of instances, for as long as this lives.
#[derive(Debug)]
struct Tracefs {
    instances: PathBuf,
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    fn open() -> io::Result<Self> {
        let mut mounted = MOUNTED.iter().map(|at| Path::new(at).join("instances"));
        if let Some(instances) = mounted.find(|instances| instances.is_dir()) {
            return Ok(Self {
                instances,
                _mount: None,
            });
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let mount = fsmount(
            &context,
            FsMountFlags::FSMOUNT_CLOEXEC,
            MountAttrFlags::empty(),
        )?;
        // a path that other processes can follow as well
        let root = format!("/proc/{}/fd/{}", std::process::id(), mount.as_raw_fd());
        Ok(Self {
            instances: Path::new(&root).join("instances"),
            _mount: Some(mount),
        })
    }
}

impl Instance {
    pub(crate) fn make(journal: &mut Journal) -> io::Result<Self> {
        let tracefs = Tracefs::open()?;
        let name = fresh_name("trace");
        let path = tracefs.instances.join(&name);
        journal.traces(&name)?;
        fs::create_dir(&path)?;
        Ok(Self {
            path,
            _tracefs: tracefs,
        })
    }

    #[cfg(test)]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // what cannot be removed now stays in the journal, which tries again
        let _ = remove_at(&self.path);
    }
}

/// Removes an instance of ours by its name, if it is there.
pub(crate) fn remove(name: &str) -> io::Result<()> {
    if name.contains('/') {
        return Err(io::Error::other("it is a path, and no name"));
    }
    must_be_ours(Path::new(name))?;
    remove_at(&Tracefs::open()?.instances.join(name))
}

fn remove_at(path: &Path) -> io::Result<()> {
    let end = Moment::now() + GRACE;
    loop {
        match fs::remove_dir(path) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
            // somebody whose end is near reads it
            Err(why) if why.kind() == ErrorKind::ResourceBusy && Moment::now() < end => {}
            done => return done,
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a row asks to be timed by the kernel's trace.
#[must_use]
pub fn is_traced(benchmark: &Benchmark) -> bool {
    asks(benchmark, TRACED)
}

impl Executor {
    /// From now on, rows that ask for it have a trace of the run's own. Where none can be made, their launches say so and why.
    pub fn trace(&mut self, journal: Option<&mut Journal>) {
        self.tracing = written_down(journal, |journal| {
            Instance::make(journal).map_err(|why| match why.kind() {
                ErrorKind::PermissionDenied => format!("{why}: it takes root"),
                _ => why.to_string(),
            })
        });
    }

    /// What a kernel is told of the trace; nothing for a row that asks for none.
    pub(crate) fn told_of_trace(&self, work: &KernelWork) -> Option<OsString> {
        if !work.asks(TRACED) {
            return None;
        }
        let mut told = OsString::new();
        match &self.tracing {
            Ok(instance) => {
                told.push("trace=");
                told.push(&instance.path);
            }
            Err(why) => told.push(format!("untraced={why}")),
        }
        Some(told)
    }
}
