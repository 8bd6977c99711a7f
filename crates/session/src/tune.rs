//! `--tune`: governor, turbo, interrupts, memory layout and priority during a run.

use crate::bounds::Bounds;
use crate::host_context::HostContext;
use crate::undo;
use gritstone_exec::{Journal, Setup, Tuning};
use gritstone_host::tunables::{Setting, real_time, tunables};
use std::collections::BTreeMap;

pub const NO_JOURNAL: &str = "no undo journal can be written";

#[derive(Debug, Default)]
pub struct TuningOutcome {
    /// Applied settings, in the words that are stored with the run.
    pub applied: Vec<String>,
    /// Failed settings with reasons.
    pub remarks: Vec<String>,
    pub tuning: Tuning,
}

impl TuningOutcome {
    fn add(&mut self, name: &str, done: Result<(), String>) {
        match done {
            Ok(()) => self.applied.push(name.to_owned()),
            Err(why) => self.remarks.push(format!("not tuned: {name}: {why}")),
        }
    }

    /// Settings that cannot be changed are listed as exceptions.
    fn add_settings(
        &mut self,
        name: &str,
        settings: &[Setting],
        mut set: impl FnMut(&Setting) -> Result<(), String>,
    ) {
        let mut excepted = vec![];
        let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for setting in settings {
            if let Err(why) = set(setting) {
                reasons.entry(why).or_default().push(&setting.owner);
                excepted.push(setting.owner.as_str());
            }
        }
        for (why, owners) in &reasons {
            let prefix = match owners.as_slice() {
                all if all.len() == settings.len() => String::new(),
                some => format!("{}: ", some.join(", ")),
            };
            self.remarks.push(format!("not tuned: {name}: {prefix}{why}"));
        }
        if excepted.is_empty() {
            self.applied.push(name.to_owned());
        } else if excepted.len() < settings.len() {
            let excepted = excepted.join(", ");
            self.applied.push(format!("{name}, all but {excepted}"));
        }
    }
}

/// Tunes the host until `journal` is dropped, if that is asked for and permitted.
pub fn apply(
    bounds: Bounds,
    journal: Option<&Journal>,
    host: &HostContext,
    setup: &Setup,
) -> TuningOutcome {
    let root = undo::settings_root();
    let mut outcome = TuningOutcome::default();
    if !bounds.tune {
        return outcome;
    }
    if bounds.permits.nothing {
        outcome.remarks.push("nothing is tuned: --no-privileged".to_owned());
        return outcome;
    }
    let settings = journal
        .ok_or_else(|| NO_JOURNAL.to_owned())
        .and_then(|journal| journal.lock_settings().map_err(|why| why.to_string()));
    for tunable in tunables(&root, &host.cpu.online, &host.chosen) {
        match (tunable.settings, &settings) {
            (Err(why), _) => outcome.add(&tunable.name, Err(why)),
            (_, Err(why)) => outcome.add(&tunable.name, Err(why.clone())),
            (Ok(wanted), Ok(settings)) => {
                outcome.add_settings(&tunable.name, &wanted, |one| {
                    let set = settings.set(&one.path, &one.value);
                    set.map_err(|why| why.to_string())
                });
            }
        }
    }
    let layout = setup.may_fix_layout();
    let fair = real_time(&root, &host.chosen);
    let fair = fair.and_then(|()| setup.may_use_real_time());
    outcome.tuning = Tuning { fixed_layout: layout.is_ok(), real_time: fair.is_ok() };
    outcome.add("one layout of memory", layout);
    outcome.add("real-time priority for processor-bound benchmarks", fair);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Vec<Setting> {
        let names = ["interrupt 1 (a)", "interrupt 2 (b)"];
        let setting = |owner: &str| Setting {
            owner: owner.to_owned(),
            path: format!("/{owner}"),
            value: "0".to_owned(),
        };
        names.map(setting).into()
    }

    #[test]
    fn failed_settings_are_named() {
        let mut outcome = TuningOutcome::default();
        let refuse = |which: &'static str| {
            move |setting: &Setting| match setting.owner.contains(which) {
                true => Err("managed".to_owned()),
                false => Ok(()),
            }
        };
        outcome.add_settings("all", &settings(), refuse("none of them"));
        outcome.add_settings("some", &settings(), refuse("(b)"));
        outcome.add_settings("none", &settings(), refuse("interrupt"));
        outcome.add_settings("nothing to do", &[], refuse(""));
        assert_eq!(outcome.applied, ["all", "some, all but interrupt 2 (b)", "nothing to do"]);
        assert_eq!(
            outcome.remarks,
            ["not tuned: some: interrupt 2 (b): managed", "not tuned: none: managed",]
        );
    }
}
