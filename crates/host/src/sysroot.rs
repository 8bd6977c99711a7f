//! Root of the files of a machine: the live system, or a recorded tree.

use crate::text;
use gritstone_model::CpuSet;
use nix::time::{ClockId, clock_getres};
use nix::unistd::{SysconfVar, sysconf};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Bytes read of a file: /proc/cpuinfo of 8,192 CPUs is shorter.
const MAX_FILE: u64 = 16 << 20;

/// Facts that only system calls give. `None` if the call failed or was not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyscallResults {
    /// `sched_getaffinity(2)`.
    pub allowed: Option<CpuSet>,
    /// Resolution of `CLOCK_MONOTONIC_RAW`, ns.
    pub resolution: Option<u64>,
    /// Tick of the scheduler, ns: the resolution of `CLOCK_MONOTONIC_COARSE`.
    pub tick: Option<u64>,
    /// Ticks per second in /proc/stat (`USER_HZ`); 100 if unknown.
    pub user_hz: Option<u64>,
}

/// Files of a machine below a directory, with recorded results of system calls.
#[derive(Clone, Debug)]
pub struct Root {
    directory: PathBuf,
    syscall_results: SyscallResults,
}

impl Root {
    /// This machine.
    pub fn live() -> Self {
        let resolution = |clock| {
            let time = clock_getres(clock).ok()?;
            let seconds = u64::try_from(time.tv_sec()).ok()?;
            let rest = u64::try_from(time.tv_nsec()).ok()?;
            Some(seconds * 1_000_000_000 + rest)
        };
        Self {
            directory: PathBuf::from("/"),
            syscall_results: SyscallResults {
                allowed: affinity(),
                resolution: resolution(ClockId::CLOCK_MONOTONIC_RAW),
                tick: resolution(ClockId::CLOCK_MONOTONIC_COARSE),
                user_hz: sysconf(SysconfVar::CLK_TCK)
                    .ok()
                    .flatten()
                    .and_then(|hz| u64::try_from(hz).ok()),
            },
        }
    }

    /// A machine with files below `directory` (`directory/proc/cpuinfo`, ...).
    pub fn recorded(directory: &Path, syscall_results: SyscallResults) -> Self {
        Self { directory: directory.to_owned(), syscall_results }
    }

    pub fn syscall_results(&self) -> &SyscallResults {
        &self.syscall_results
    }

    /// Location of an absolute path of the machine.
    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.directory.join(path.trim_start_matches('/'))
    }

    /// Whole file, if it exists and is readable. Invalid UTF-8 is replaced.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes(path)?).into_owned())
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        // nearly every file is shorter, and read in one call
        let mut bytes = Vec::with_capacity(4096);
        File::open(self.join(path)).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The first `length` bytes from the first occurrence of `needle` on, or as many as there are.
    pub(crate) fn find(&self, path: &str, needle: &[u8], length: usize) -> Option<Vec<u8>> {
        let bytes = self.bytes(path)?;
        let found = &bytes[memchr::memmem::find(&bytes, needle)?..];
        Some(found[..found.len().min(length)].to_owned())
    }

    /// A file with one value, cleaned; `None` if it is empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        text::clean(&self.text(path)?)
    }

    /// A file with one number.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.trim().parse().ok()
    }

    /// A file with a CPU list.
    pub(crate) fn cpus(&self, path: &str) -> Option<CpuSet> {
        CpuSet::parse(&self.text(path)?)
    }

    /// Pids in order; none without /proc.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(self.join("/proc"));
        let mut numbers: Vec<u32> = (entries.into_iter().flatten().flatten())
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let target = std::fs::read_link(self.join(path)).ok()?;
        text::clean(target.to_str()?)
    }

    /// Sorted; empty if it cannot be read.
    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.join(directory))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.join(path).exists()
    }
}

/// `sched_getaffinity(2)` with a mask that grows until the kernel accepts it: kernels for more CPUs refuse the 1,024
/// bits of `cpu_set_t` (`EINVAL`).
fn affinity() -> Option<CpuSet> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut words = 1024 / BITS;
    while words * BITS <= 65_536 {
        let mut mask: Vec<libc::c_ulong> = vec![0; words];
        // SAFETY: the kernel writes at most the given number of bytes, all of which `mask` owns
        #[allow(unsafe_code)]
        let done = unsafe {
            libc::sched_getaffinity(
                0,
                std::mem::size_of_val(mask.as_slice()),
                mask.as_mut_ptr().cast(),
            )
        };
        if done == 0 {
            let set = mask.iter().enumerate().flat_map(|(word, &bits)| {
                (0..BITS)
                    .filter(move |bit| bits >> bit & 1 == 1)
                    .map(move |bit| (word * BITS + bit) as u32)
            });
            return Some(set.collect());
        }
        words *= 2;
    }
    None
}

#[cfg(test)]
pub(crate) use tests::recorded_files;

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with these files, and its directory.
    pub(crate) fn recorded_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::recorded(directory.path(), SyscallResults::default());
        for (path, content) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        (directory, root)
    }

    #[test]
    fn live_results_equal_files() {
        let root = Root::live();
        let allowed = root.syscall_results().allowed.clone().expect("sched_getaffinity");
        let status = root.text("/proc/thread-self/status").expect("/proc");
        let listed = text::field(&status, "Cpus_allowed_list", ':').unwrap();
        assert_eq!(allowed.to_string(), listed);
        assert!(root.syscall_results().resolution.unwrap() > 0);
        assert!(root.syscall_results().tick.unwrap() >= 100_000);
    }
}
