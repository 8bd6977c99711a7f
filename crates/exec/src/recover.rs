//! Undoes what journals speak of: that of this process at its end, those of dead ones at the next start.
//!
//! Must not know: why a run died, a terminal.

use crate::journal::{By, ENDING, Entry, Journal};
use crate::places::remove;
use crate::settings::{Back, put_back};
use crate::{group, load, owner, swap, trace, volume};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Of what a command says when it fails, so many bytes are told on.
const MOST_SAID: u64 = 2000;

/// What came of undoing a journal.
#[derive(Debug)]
pub(crate) struct Undone {
    /// Settings that were put back.
    pub put_back: usize,
    /// What a person must know of the rest.
    pub said: Vec<String>,
    /// Nothing is left that another try could undo.
    pub whole: bool,
}

/// Undoes entries, the last first; settings only if asked to.
pub(crate) fn undo(entries: &[Entry], root: &Path, settings: bool) -> Undone {
    let mut undone = Undone {
        put_back: 0,
        said: vec![],
        whole: true,
    };
    for entry in entries.iter().rev() {
        match entry {
            Entry::By(_) | Entry::Steadies | Entry::Measures(_) => {}
            Entry::Sets { path, old, new } if settings => undone.setting(root, path, old, new),
            Entry::Sets { .. } => {}
            Entry::Undo { command, directory } if settings => undone.command(command, directory),
            Entry::Undo { command, .. } => undone.said.push(format!(
                "the machine was restarted before '{command}' could undo what a run had changed: see whether it is still needed"
            )),
            made => {
                if let Err(why) = take_down(made) {
                    undone.cannot(&why);
                }
            }
        }
    }
    undone
}

/// Removes what a run has made; what cannot be removed in a sentence.
fn take_down(made: &Entry) -> Result<(), String> {
    let named = |path: &Path| path.display().to_string();
    let (done, what, by_hand) = match made {
        Entry::Makes(at) => (remove(at), named(at), ""),
        Entry::Confines(group) => (group::remove(group), named(group), ""),
        Entry::Starts(mark) => (load::end(mark), format!("the load {mark}"), ""),
        Entry::Traces(name) => (trace::remove(name), format!("the trace {name}"), ""),
        Entry::Mounts(at) => (
            volume::remove(at),
            format!("the file system in {}", named(at)),
            "; umount it, then remove the directory",
        ),
        Entry::Swaps(at) => (
            swap::remove(at),
            format!("the swap file in {}", named(at)),
            "; swapoff it, then remove the directory",
        ),
        Entry::By(_)
        | Entry::Steadies
        | Entry::Measures(_)
        | Entry::Sets { .. }
        | Entry::Undo { .. } => return Ok(()),
    };
    done.map_err(|why| format!("cannot remove {what}: {why}{by_hand}"))
}

impl Undone {
    /// What is to be tried again.
    fn cannot(&mut self, why: &str) {
        self.whole = false;
        self.said.push(why.to_owned());
    }

    fn setting(&mut self, root: &Path, path: &str, old: &str, new: &str) {
        match put_back(root, path, old, new) {
            Back::Done => self.put_back += 1,
            Back::Unchanged => {}
            Back::Foreign(now) => self.said.push(format!(
                "{path} is left as it is: it was '{old}', the run made it '{new}', and somebody has made it '{now}' since"
            )),
            Back::Failed(why) => self.cannot(&format!(
                "{path} cannot be put back to '{old}': {why}; do it by hand"
            )),
        }
    }

    fn command(&mut self, command: &str, directory: &Path) {
        match shell(command, directory) {
            Ok(()) => self.put_back += 1,
            Err(why) => self.cannot(&format!(
                "the command that undoes what the run has changed, '{command}', failed: {why}; do it by hand"
            )),
        }
    }
}

/// Gives a command of the user's to the shell, and waits for it, not for what it leaves behind in the background.
///
/// # Errors
/// What became of it, when it failed, and what it said.
pub fn shell(command: &str, directory: &Path) -> Result<(), String> {
    let start = || -> io::Result<(ExitStatus, String)> {
        // not a pipe: that would end with the last process that holds it
        let mut said = File::from(memfd_create("said", MFdFlags::MFD_CLOEXEC)?);
        let status = Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.try_clone()?)
            .status()?;
        let mut bytes = vec![];
        said.rewind()?;
        said.take(MOST_SAID).read_to_end(&mut bytes)?;
        Ok((status, String::from_utf8_lossy(&bytes).trim().to_owned()))
    };
    let (status, said) = start().map_err(|why| why.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{status}; it said: {said}")),
    }
}

/// Finishes the business of this user's runs that were killed, and their watchdogs with them. What is to be said of it.
#[must_use]
pub fn recover(state: &Path) -> Vec<String> {
    let mut said = vec![];
    for path in journals(state) {
        match look(&path) {
            Ok(Held::ByNobody(file)) => said.extend(settle(&path, file)),
            Ok(Held::ByTheLiving(..) | Held::Foreign) => {}
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => said.push(format!(
                "cannot read {}: {why}; if the run that wrote it was killed, `gritstone doctor` as its user undoes what it changed",
                path.display()
            )),
        }
    }
    said
}

/// Waits until the run of this journal is dead, and finishes its business. What is to be said of it.
pub(crate) fn outlive(path: &Path) -> io::Result<Vec<String>> {
    let file = match open(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        opened => opened?,
    };
    match Flock::lock(file, FlockArg::LockExclusive) {
        Ok(file) if is_at(&file, path) => Ok(settle(path, file)),
        Ok(_) => Ok(vec![]),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// The runs that other processes of this user measure at this moment, by identifier, with the process: all but that of our own journal.
#[must_use]
pub fn measuring(state: &Path, own: Option<&Journal>) -> BTreeMap<String, u32> {
    let own = own.map_or(Path::new(""), Journal::path);
    let journals = living(state, own).into_iter();
    let runs = journals.flat_map(|(by, entries)| {
        entries.into_iter().filter_map(move |entry| match entry {
            Entry::Measures(run) => Some((run, by.process)),
            _ => None,
        })
    });
    runs.collect()
}

/// The journals of the runs that are at work, but for our own.
pub(crate) fn living(state: &Path, own: &Path) -> Vec<(By, Vec<Entry>)> {
    let others = journals(state).into_iter().filter(|path| path != own);
    others
        .filter_map(|path| match look(&path) {
            Ok(Held::ByTheLiving(by, entries)) => Some((by, entries)),
            _ => None,
        })
        .collect()
}

/// Whether the path still leads to this file.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

/// A journal, by who holds it.
enum Held {
    /// A run that is at work, and what it has written so far.
    ByTheLiving(By, Vec<Entry>),
    /// Nobody: it is locked by us now.
    ByNobody(Flock<File>),
    /// What it says is not to be followed: somebody else could have written it.
    Foreign,
}

fn look(path: &Path) -> io::Result<Held> {
    let mut file = open(path)?;
    let meta = file.metadata()?;
    if meta.uid() != nix::unistd::geteuid().as_raw() || meta.mode() & 0o022 != 0 {
        return Ok(Held::Foreign);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) if is_at(&file, path) => Ok(Held::ByNobody(file)),
        Ok(_) => Err(io::ErrorKind::NotFound.into()),
        Err((_, Errno::EWOULDBLOCK)) => Ok(match parse(&text) {
            (Some(by), entries, _) => Held::ByTheLiving(by, entries),
            (None, ..) => Held::Foreign,
        }),
        Err((_, errno)) => Err(errno.into()),
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)
}

/// Undoes what a dead run has written.
fn settle(path: &Path, mut file: Flock<File>) -> Vec<String> {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    if let Err(why) = read {
        return vec![format!("cannot read {}: {why}", path.display())];
    }
    let (by, entries, damaged) = parse(&text);
    let mut said = vec![];
    if damaged {
        said.push(format!(
            "{} is damaged: what can be read of it is undone; look at the rest, then remove it",
            path.display()
        ));
    }
    // a run that could not yet write who it is has done nothing
    let mut whole = true;
    if let Some(by) = by {
        let same_boot = by.boot == owner::boot();
        if !same_boot && by.host != owner::host() {
            return vec![]; // another machine's, in a home that machines share
        }
        // a restart has put the settings back
        let undone = undo(&entries, &by.root, same_boot);
        if undone.put_back > 0 {
            said.push(format!(
                "process {} was killed while the machine was steadied for it; put back what it had changed: {}",
                by.process,
                match undone.put_back {
                    1 => "1 setting".to_owned(),
                    n => format!("{n} settings"),
                }
            ));
        }
        said.extend(undone.said);
        whole = undone.whole;
    }
    if whole && !damaged {
        let _ = fs::remove_file(path);
    }
    said
}

/// Who wrote, all entries, and whether there is a line that is none. A line without an end is not counted: the run was
/// killed while it wrote it, so that what it speaks of has not happened.
fn parse(text: &str) -> (Option<By>, Vec<Entry>, bool) {
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let read: Vec<Option<Entry>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    let damaged = read.contains(&None);
    let entries: Vec<Entry> = read.into_iter().flatten().collect();
    let by = match entries.first() {
        Some(Entry::By(by)) => Some(by.clone()),
        _ => None,
    };
    (by, entries, damaged)
}

fn journals(state: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(state)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .collect();
    found.sort();
    found
}
