//! The kernel's trace, for launches that it times: a tracefs instance of the run, so that no other tracing is
//! affected.
//!
//! One per run, made if a benchmark needs it. It is recorded in the journal before it is made, and a watchdog must be
//! there, since traced events cost every process until it is removed. Where tracefs is not mounted, it is mounted for
//! this process alone, without a path.

use crate::asks;
use crate::owned_files::{self, Dir, Identity, NotOurs, check_our_name, fresh_name};
use crate::resource::{Held, Recorder, Resource, Unavailable, Undo, retry};
use gritstone_model::Benchmark;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Parameter of catalog entries.
pub(crate) const PARAM: &str = "traced";
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Identified by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trace(pub(crate) String);

impl Resource for Trace {
    fn make(&self) -> io::Result<Option<Identity>> {
        let tracefs = Tracefs::open()?;
        Identity::of_file(Dir::make(&tracefs.instances.join(&self.0))?).map(Some)
    }

    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo> {
        check_our_name(Path::new(&self.0))?;
        if self.0.contains('/') {
            return Err(NotOurs::Name(PathBuf::from(&self.0)).into());
        }
        let tracefs = Tracefs::open()?;
        let path = tracefs.instances.join(&self.0);
        // a process that is being killed may still read it
        retry(ErrorKind::ResourceBusy, || {
            if owned_files::open_existing(&path, identity)?.is_some() {
                fs::remove_dir(&path)?;
            }
            Ok(Undo::Gone)
        })
    }

    fn remedy(&self) -> (String, &'static str) {
        (format!("cannot remove the trace {}", self.0), "")
    }
}

/// The trace of a run, removed on drop.
#[derive(Debug)]
pub(crate) struct Instance {
    _trace: Held<Trace>,
    path: PathBuf,
    _tracefs: Tracefs,
}

/// The directory of instances.
#[derive(Debug)]
struct Tracefs {
    instances: PathBuf,
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    fn open() -> io::Result<Self> {
        let mut mounted =
            MOUNTED.iter().map(|mount_point| Path::new(mount_point).join("instances"));
        if let Some(instances) = mounted.find(|instances| instances.is_dir()) {
            return Ok(Self { instances, _mount: None });
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
        // a path that other processes can follow too
        let root = format!("/proc/{}/fd/{}", std::process::id(), mount.as_raw_fd());
        Ok(Self { instances: Path::new(&root).join("instances"), _mount: Some(mount) })
    }
}

impl Instance {
    pub(crate) fn acquire(journal: &impl Recorder<Trace>) -> Result<Self, Unavailable> {
        let tracefs = Tracefs::open().map_err(|why| match why.kind() {
            ErrorKind::PermissionDenied => Unavailable::NeedsRoot,
            _ => why.into(),
        })?;
        let trace = journal.acquire(|| Ok(Trace(fresh_name("trace")?)))?;
        Ok(Self { path: tracefs.instances.join(&trace.0), _trace: trace, _tracefs: tracefs })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn is_traced(benchmark: &Benchmark) -> bool {
    asks(benchmark, PARAM)
}
