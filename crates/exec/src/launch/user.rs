//! User commands, started in the user's directory and environment, which may differ between sides.

use super::{Job, Launched, Variant, inherited};
use crate::ExecError;
use crate::arguments::cpus_argument;
use gritstone_kernels::USER;
use gritstone_model::{CommandWork, Outcome, Output, Program, UserCommand, hexadecimal};
use nix::unistd::{AccessFlags, access};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Most executions of a short command per launch, unless the user gave a number.
const BATCH: u32 = 20;
/// Time after which a launch ends; longer commands are executed once.
const SAMPLE_NS: &str = "sample_ns=100000000";

impl Job<'_> {
    /// The first launch of a command begins with an untimed execution, unless its batches are counted.
    pub(super) fn user_command(
        &self,
        work: &CommandWork,
        user: &UserCommand,
    ) -> Result<Launched, ExecError> {
        let mut arguments = vec![cpus_argument(self.cpus), SAMPLE_NS.into()];
        let batch = user.batch.unwrap_or(BATCH).max(1);
        arguments.push(format!("samples={batch}").into());
        let started = (work.argv.clone(), self.variant.environment.clone());
        let warm = &self.executor.warm;
        let is_warm = user.batch.is_some() || warm.borrow().contains(&started);
        arguments.push(format!("warm={}", u8::from(!is_warm)).into());
        for (key, text) in [("prepare", &user.prepare), ("cleanup", &user.cleanup)] {
            if let Some(text) = text {
                arguments.push(format!("{key}={text}").into());
            }
        }
        arguments.extend(options(user));
        let inherited = match user.output {
            Output::Inherit => Some(inherited::output()?),
            _ => None,
        };
        if let Some([out, err]) = &inherited {
            let text = format!("inherit={},{}", out.as_raw_fd(), err.as_raw_fd());
            arguments.push(text.into());
        }
        arguments.push("--".into());
        arguments.extend(work.argv.iter().map(OsString::from));
        let environment = self.variant.environment.iter();
        let environment = environment.map(|(key, value)| (key.clone(), value.into()));
        let launched = self.start_in(
            Path::new(&user.directory),
            &environment.collect(),
            USER,
            &self.words(None, None),
            arguments,
        )?;
        if launched.outcome == Outcome::Measured {
            warm.borrow_mut().insert(started);
        }
        Ok(launched)
    }
}

/// Arguments for its files, permitted exit statuses, and start-up time.
fn options(user: &UserCommand) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![];
    if user.ignore_failure {
        arguments.push("ignore_failure=1".into());
    }
    if !user.statuses.is_empty() {
        let statuses: Vec<String> = user.statuses.iter().map(u8::to_string).collect();
        arguments.push(format!("statuses={}", statuses.join(",")).into());
    }
    if user.leave_out_failures {
        arguments.push("leave_out=1".into());
    }
    if user.allow_background {
        arguments.push("background=1".into());
    }
    let input = user.input.iter().map(|file| format!("input={file}").into());
    arguments.extend(input);
    match &user.output {
        Output::Memory | Output::Inherit => {}
        Output::Pipe => arguments.push("output=pipe".into()),
        Output::File(file) => arguments.push(format!("output={file}").into()),
    }
    for (key, ns) in [
        ("start_up_ns", user.start_up_ns),
        ("start_up_error_ns", user.start_up_error_ns),
        ("start_up_user_ns", user.start_up_user_ns),
        ("start_up_system_ns", user.start_up_system_ns),
    ] {
        arguments.extend(ns.map(|ns| format!("{key}={ns}").into()));
    }
    arguments
}

/// The program of a user command. Its hash is empty if it cannot be read, as a shell builtin.
pub(super) fn user_program(variant: &Variant, argv: &[String]) -> Option<Program> {
    let name = argv.first()?;
    let path = match name.contains('/') {
        true => Some(PathBuf::from(name)),
        false => variant.environment.get("PATH").and_then(|path| {
            let mut found = std::env::split_paths(path).map(|directory| directory.join(name));
            found.find(|file| file.is_file() && access(file, AccessFlags::X_OK).is_ok())
        }),
    };
    let bytes = path.and_then(|path| std::fs::read(path).ok());
    Some(Program {
        hash: bytes.map_or_else(String::new, |bytes| hexadecimal(Sha256::digest(bytes))),
        compiler: String::new(),
        flags: argv.join(" "),
    })
}
