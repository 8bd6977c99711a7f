//! Undoes journals: that of this process at its end, those of dead ones at the next start.

use crate::journal_file::{
    Entry, Holder, journals, open_journal, parse, read_journal, remove_journal,
};
use crate::owned_files::{self, Dir, Identity, State};
use crate::owner;
use crate::resource::Undo;
use crate::thing::Thing;
use crate::undo_command::Command;
use gritstone_model::pluralize;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Result of undoing a journal.
#[derive(Debug)]
pub(crate) struct UndoReport {
    /// Restored settings.
    pub restored: usize,
    /// Messages for the user.
    pub messages: Vec<String>,
    /// Nothing is left for another attempt.
    pub whole: bool,
}

/// Undoes entries in reverse order. Settings only in the same boot, since a restart resets them.
pub(crate) fn undo(entries: &[Entry], same_boot: bool) -> UndoReport {
    let mut undone = UndoReport {
        restored: 0,
        messages: vec![],
        whole: true,
    };
    for (thing, identity) in recorded_things(entries).into_iter().rev() {
        match thing {
            Thing::Setting(_) if !same_boot => {}
            Thing::Command(Command { command, .. }) if !same_boot => undone.messages.push(format!(
                "the system was restarted before '{command}' could undo the changes of a run: check whether it is still needed"
            )),
            // they are gone since the restart: the same name is not ours
            Thing::Group(_) | Thing::Trace(_) | Thing::Load(_) if !same_boot => {}
            thing => undone.add(thing, identity),
        }
    }
    undone
}

/// Things made or changed, in order, with their identity if known.
fn recorded_things(entries: &[Entry]) -> Vec<(&Thing, Option<Identity>)> {
    let mut all = vec![];
    for entry in entries {
        match entry {
            Entry::Makes(thing) => all.push((thing, None)),
            Entry::Made(identity) => {
                if let Some((_, known)) = all.last_mut() {
                    *known = Some(*identity);
                }
            }
            Entry::Taken => drop(all.pop()),
            Entry::By(_) | Entry::Steadies | Entry::Measures(_) => {}
        }
    }
    all
}

impl UndoReport {
    fn add(&mut self, thing: &Thing, identity: Option<Identity>) {
        match thing.resource().undo(identity) {
            Ok(Undo::Gone | Undo::Unchanged) => {}
            Ok(Undo::Restored) => self.restored += 1,
            Ok(Undo::Left(why)) => self.messages.push(why),
            Err(why) => {
                // what is not ours will not be ours at the next attempt either
                self.whole &= owned_files::is_not_ours(&why);
                let (what, remedy) = thing.resource().remedy();
                self.messages.push(format!("{what}: {why}{remedy}"));
            }
        }
    }
}

/// Undoes the changes of this user's killed runs whose watchdogs are dead too. Returns messages for the user.
#[must_use]
pub fn recover(state: &State) -> Vec<String> {
    let dir = match state.open() {
        Ok(dir) => dir,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return vec![],
        Err(why) => {
            return vec![format!("cannot look for leftovers of killed runs: {why}")];
        }
    };
    let mut messages = vec![];
    for name in journals(&dir) {
        match open_journal(&dir, &name) {
            Ok(Holder::Dead(file)) => messages.extend(undo_dead(Some(&dir), &name, &file)),
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

/// Undoes the changes of a dead run whose journal is open, and locked by us as well.
pub(crate) fn undo_dead_run(
    state: &State,
    name: &OsStr,
    journal: &File,
) -> io::Result<Vec<String>> {
    owned_files::check_file(journal, &state.path().join(name))?;
    // the run wrote it, wherever the directory is now
    let dir = state.open().ok();
    Ok(undo_dead(dir.as_ref(), name, journal))
}

/// Undoes the changes of a dead run, and removes its journal if complete.
fn undo_dead(state: Option<&Dir>, name: &OsStr, file: &File) -> Vec<String> {
    let shown = state.map_or(PathBuf::from(name), |state| state.path().join(name));
    let text = match read_journal(file) {
        Ok(text) => text,
        Err(why) => return vec![format!("cannot read {}: {why}", shown.display())],
    };
    let (by, entries, damaged) = parse(&text);
    let mut messages = vec![];
    if damaged {
        messages.push(format!(
            "{} is damaged: what can be read of it is undone; look at the rest, then remove it",
            shown.display()
        ));
    }
    // a run that could not write its identity has done nothing
    let mut whole = true;
    if let Some(by) = by {
        let same_boot = by.boot == owner::boot();
        if !same_boot && by.host != owner::host() {
            return vec![]; // another machine's, in a home that machines share
        }
        let undone = undo(&entries, same_boot);
        if undone.restored > 0 {
            messages.push(format!(
                "process {} was killed while the system was tuned for it; restored: {}",
                by.process,
                format_args!(
                    "{} {}",
                    undone.restored,
                    pluralize(undone.restored, "setting")
                )
            ));
        }
        messages.extend(undone.messages);
        whole = undone.whole;
    }
    if let Some(state) = state.filter(|_| whole && !damaged) {
        remove_journal(state, name, file);
    }
    messages
}
