//! Undoes journals: that of this process at its end, those of dead ones at the next start.

use crate::any_resource::AnyResource;
use crate::journal_file::{
    Entry, Holder, append, journals, open_journal, parse, read_journal, remove_journal,
};
use crate::owned_files::{self, Dir, Identity, StateDir};
use crate::owner;
use crate::resource::{Resource, Undo};
use crate::undo_command::Command;
use gritstone_model::pluralize;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Result of undoing a journal.
#[derive(Debug)]
pub(crate) struct UndoReport {
    /// Restored settings.
    pub restored: usize,
    /// Messages for the user.
    pub messages: Vec<String>,
    /// Nothing is left for another attempt.
    pub complete: bool,
    /// A command failed, and is not executed again.
    pub has_failed_command: bool,
}

/// Undoes entries in reverse order. Settings only in the same boot, since a restart resets them. A command is executed
/// once, which is recorded in the journal before.
pub(crate) fn undo(entries: &[Entry], same_boot: bool, journal: &File) -> UndoReport {
    let mut undone =
        UndoReport { restored: 0, messages: vec![], complete: true, has_failed_command: false };
    for (resource, identity) in recorded_resources(entries).into_iter().rev() {
        match resource {
            AnyResource::Setting(_) if !same_boot => {}
            AnyResource::Command(Command { command, .. }) if !same_boot => undone.messages.push(format!(
                "the system was restarted before '{command}' could undo the changes of a run: check whether it is still needed"
            )),
            AnyResource::Command(command) => undone.execute(command, entries, journal),
            // they are gone since the restart: the same name is not ours
            AnyResource::Group(_) | AnyResource::Trace(_) | AnyResource::Load(_) if !same_boot => {}
            resource => undone.add(resource, identity),
        }
    }
    undone
}

/// Resources made or changed, in order, with their identity if known.
fn recorded_resources(entries: &[Entry]) -> Vec<(&AnyResource, Option<Identity>)> {
    let mut all = vec![];
    for entry in entries {
        match entry {
            Entry::Makes(resource) => all.push((resource, None)),
            Entry::Made(identity) => {
                if let Some((_, known)) = all.last_mut() {
                    *known = Some(*identity);
                }
            }
            Entry::Taken => drop(all.pop()),
            Entry::Owner(_)
            | Entry::Tunes
            | Entry::Measures(_)
            | Entry::Undoes(_)
            | Entry::Reported => {}
        }
    }
    all
}

impl UndoReport {
    fn execute(&mut self, command: &Command, entries: &[Entry], journal: &File) {
        let (what, remedy) = command.remedy();
        let mark = Entry::Undoes(command.clone());
        let done = match entries.contains(&mark) {
            true => Err(io::Error::other(
                "an earlier attempt did not end, or its message is unreadable",
            )),
            false => append(journal, &mark).and_then(|()| command.undo(None)),
        };
        match done {
            Ok(_) => self.restored += 1,
            Err(why) => {
                self.has_failed_command = true;
                self.messages.push(format!("{what}: {why}{remedy}"));
            }
        }
    }

    /// Reports once that the rest will be retried, and how to end that.
    pub(crate) fn note_retries(&mut self, path: &Path, journal: &File) {
        self.messages.push(format!(
            "each start retries and reports only success; to stop that, remove {}",
            path.display()
        ));
        if let Err(why) = append(journal, &Entry::Reported) {
            self.messages.push(format!("cannot write {}: {why}", path.display()));
        }
    }

    fn add(&mut self, resource: &AnyResource, identity: Option<Identity>) {
        match resource.as_resource().undo(identity) {
            Ok(Undo::Gone | Undo::Unchanged) => {}
            Ok(Undo::Restored) => self.restored += 1,
            Ok(Undo::Left(why)) => self.messages.push(why),
            Err(why) => {
                // what is not ours will not be ours at the next attempt either
                self.complete &= owned_files::is_not_ours(&why);
                let (what, remedy) = resource.as_resource().remedy();
                self.messages.push(format!("{what}: {why}{remedy}"));
            }
        }
    }
}

/// Undoes the changes of this user's killed runs whose watchdogs are dead too. Returns messages for the user.
pub fn recover(state: &StateDir) -> Vec<String> {
    let dir = match state.open() {
        Ok(dir) => dir,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return vec![],
        Err(why) => {
            return vec![format!("cannot search for leftovers of killed runs: {why}")];
        }
    };
    let mut messages = vec![];
    for name in journals(&dir) {
        match open_journal(&dir, &name) {
            Ok(Holder::Dead(file)) => {
                messages.extend(undo_dead(Some(&dir), &name, &file, Audience::Terminal));
            }
            Ok(Holder::Running(..) | Holder::Damaged) => {}
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) if owned_files::is_not_ours(&why) => {
                messages.push(format!("a journal is ignored: {why}"));
            }
            Err(why) => messages.push(format!(
                "cannot read {}: {why}; if the run that wrote it was killed, `gritstone doctor` as its user undoes what it changed",
                dir.path().join(&name).display()
            )),
        }
    }
    messages
}

/// Undoes the changes of a dead run whose open journal this process has locked.
pub(crate) fn undo_dead_run(
    state: &StateDir,
    name: &OsStr,
    journal: &File,
) -> io::Result<Vec<String>> {
    owned_files::check_file(journal, &state.path().join(name))?;
    // the run wrote it, wherever the directory is now
    let dir = state.open().ok();
    Ok(undo_dead(dir.as_ref(), name, journal, Audience::Perhaps))
}

/// Readers of the messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Audience {
    Terminal,
    /// The terminal of the run may be gone: the next start repeats the messages.
    Perhaps,
}

/// Undoes the changes of a dead run, and removes its journal if complete.
fn undo_dead(state: Option<&Dir>, name: &OsStr, file: &File, audience: Audience) -> Vec<String> {
    let shown = state.map_or(PathBuf::from(name), |state| state.path().join(name));
    let text = match read_journal(file) {
        Ok(text) => text,
        Err(why) => return vec![format!("cannot read {}: {why}", shown.display())],
    };
    let (owner, entries, damaged) = parse(&text);
    // a run that could not write its identity has done nothing
    let Some(owner) = owner else {
        return match state {
            _ if damaged && entries.contains(&Entry::Reported) => vec![],
            _ if damaged => {
                // where it cannot be recorded, the next start says it too
                let _ = append(file, &Entry::Reported);
                vec![damage(&shown)]
            }
            Some(state) => {
                remove_journal(state, name, file);
                vec![]
            }
            None => vec![],
        };
    };
    let same_boot = owner.boot == owner::boot();
    if !same_boot && owner.host != owner::host() {
        return vec![]; // another machine's, in a home that machines share
    }
    let mut undone = undo(&entries, same_boot, file);
    let mut messages = vec![];
    if undone.restored > 0 {
        messages.push(format!(
            "process {} was killed while the system was tuned for it; restored: {} {}",
            owner.process,
            undone.restored,
            pluralize(undone.restored, "setting")
        ));
    }
    let is_read = audience == Audience::Terminal;
    if undone.complete && !damaged {
        if let Some(state) = state.filter(|_| is_read || !undone.has_failed_command) {
            remove_journal(state, name, file);
        }
    } else if entries.contains(&Entry::Reported) {
        return messages;
    } else if is_read {
        undone.note_retries(&shown, file);
    }
    messages.extend(damaged.then(|| damage(&shown)));
    messages.extend(undone.messages);
    messages
}

fn damage(journal: &Path) -> String {
    format!(
        "{} is damaged: what can be read of it is undone; look at the rest, then remove it",
        journal.display()
    )
}
