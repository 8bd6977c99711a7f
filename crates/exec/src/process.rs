//! Processes under supervisors, one or several at once: start, output, deadline.

mod output;

use crate::ExecError;
use crate::limits::advice;
use gritstone_model::Event;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use output::{OutputReader, wait};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time for which a just written program may still be open for writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);
/// Time for the supervisor to clean up before it is killed itself.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

pub struct Task<'a> {
    pub supervisor: &'a Path,
    /// CPUs that the program may use, such as `0-3,7`; `-` for those of this process.
    pub cpus: &'a str,
    /// Commands for the supervisor, one per line; `-` for none.
    pub words: &'a str,
    pub program: &'a Path,
    pub arguments: Vec<OsString>,
    pub directory: &'a Path,
    pub environment: &'a BTreeMap<String, OsString>,
    pub deadline: Duration,
    pub stop: &'a AtomicBool,
}

#[derive(Debug, Default)]
pub struct Ended {
    pub events: Vec<Event>,
    /// Violation of the protocol, if any.
    pub protocol: Option<String>,
    /// It was stopped for the violation.
    pub stopped: bool,
    /// The supervisor's report, if any.
    pub end: Option<End>,
    /// Errno if the supervisor could not start a process.
    pub not_started: Option<i32>,
    pub timed_out: bool,
    pub stderr: String,
    /// CPU time of all reaped processes, ns.
    pub cpu: u64,
}

impl Ended {
    /// Why the supervisor could not start a process, if that was so.
    pub fn refusal(&self) -> Option<String> {
        let why = io::Error::from_raw_os_error(self.not_started?);
        Some(format!("{why}{}", advice(&why)))
    }
}

/// Exit of the program, and the number of processes that it left running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub signal: Option<i32>,
    pub exit: i32,
    pub left: u32,
}

/// Starts the task; returns when it and all its descendants have ended.
pub fn carry_out(task: &Task<'_>) -> Result<Ended, ExecError> {
    let nothing = || Ok(());
    let (mut ended, cpu) = carry_out_together(std::slice::from_ref(task), &nothing)?;
    let mut ended = ended.remove(0);
    ended.cpu = cpu;
    Ok(ended)
}

/// Starts all tasks, calls `first_ended` after the first end, and returns after the last, with their total CPU time,
/// which is not known per task.
pub fn carry_out_together(
    tasks: &[Task<'_>],
    first_ended: &dyn Fn() -> Result<(), ExecError>,
) -> Result<(Vec<Ended>, u64), ExecError> {
    let cpu_before = children_cpu();
    let mut started = Vec::with_capacity(tasks.len());
    let mut heard = tasks.iter().try_for_each(|task| {
        started.push(Supervised::start(task)?);
        Ok(())
    });
    if heard.is_ok() {
        heard = listen(tasks, &mut started, first_ended);
    }
    let mut ended = Vec::with_capacity(started.len());
    for one in started {
        ended.push(one.finish(heard.is_ok())?);
    }
    heard?;
    if tasks.iter().any(|task| task.stop.load(Ordering::Relaxed)) {
        return Err(ExecError::Interrupted);
    }
    Ok((ended, children_cpu().saturating_sub(cpu_before)))
}

/// A started supervisor with its output.
#[derive(Debug)]
pub struct Supervised {
    program: String,
    supervisor: Child,
    output: OutputReader,
    deadline: Instant,
    /// It was signaled to stop.
    asked: bool,
}

impl Supervised {
    pub fn start(task: &Task<'_>) -> Result<Self, ExecError> {
        let program = task.program.display().to_string();
        let failed = || ExecError::system(format!("cannot start {program}"));
        let (output, says) = std::io::pipe().map_err(failed())?;
        let (report, reports) = std::io::pipe().map_err(failed())?;
        let (complaint, complains) = std::io::pipe().map_err(failed())?;
        let mut command = Command::new(task.supervisor);
        command
            .arg(std::process::id().to_string())
            .arg(task.cpus)
            .arg(task.words)
            .arg(task.directory)
            .arg(task.program)
            .args(&task.arguments)
            .env_clear()
            .envs(task.environment)
            // the supervisor takes the program's descriptor 3 as standard output and its report as standard input,
            // and changes directory itself: so it starts without a fork of our memory, whatever the C library
            .stdin(Stdio::from(reports))
            .stdout(Stdio::from(says))
            .stderr(Stdio::from(complains))
            // so that Ctrl-C reaches only us, and the launch is ended in order
            .process_group(0);
        let supervisor = spawn(&mut command).map_err(failed())?;
        drop(command); // our copies of the writing ends go with it: else we would wait for ourselves
        Ok(Self {
            supervisor,
            output: OutputReader::new([output, report, complaint]),
            deadline: Instant::now() + task.deadline,
            asked: false,
            program,
        })
    }

    /// Reads output and enforces the deadline; false once it is finished.
    fn poll_output(&mut self, task: &Task<'_>) -> Result<bool, ExecError> {
        if !self.output.open() {
            return Ok(false);
        }
        let pid = pid_of(&self.supervisor);
        let now = Instant::now();
        let late = now >= self.deadline;
        let stop = task.stop.load(Ordering::Relaxed) || self.output.ended.stopped;
        if self.asked {
            return Ok(!late); // else the supervisor itself is stuck
        }
        if self.output.supervisor_is_gone() {
            // its children hold the other pipes open; it is not reaped yet, so the group id is its own
            let _ = killpg(pid, Signal::SIGKILL);
        } else if stop || late {
            // it may have ended long ago, if we were stopped by Ctrl-Z
            if !stop && self.output.drain()? {
                return Ok(false);
            }
            self.output.ended.timed_out = !stop;
            let _ = kill(pid, Signal::SIGTERM);
        } else {
            return Ok(true);
        }
        self.asked = true;
        self.deadline = now + GRACE_PERIOD;
        Ok(true)
    }

    /// True if it and all its descendants have ended.
    pub fn has_ended(&mut self) -> Result<bool, ExecError> {
        self.output.drain()
    }

    pub fn end(mut self) -> Result<Ended, ExecError> {
        let _ = kill(pid_of(&self.supervisor), Signal::SIGTERM);
        let end = Instant::now() + GRACE_PERIOD;
        while self.output.open() && Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            wait(&mut [&mut self.output], left)?;
        }
        self.finish(true)
    }

    /// Reaps the supervisor; kills it first unless its output is complete and it has reported.
    fn finish(mut self, heard: bool) -> Result<Ended, ExecError> {
        let ended = self.output.finish();
        if !heard || ended.end.is_none() {
            // it was killed, and its group was not. It is not reaped yet, so the group id is still its own
            let _ = killpg(pid_of(&self.supervisor), Signal::SIGKILL);
            let _ = self.supervisor.kill();
        }
        let failed = ExecError::system(format!("cannot start {}", self.program));
        self.supervisor.wait().map_err(failed)?;
        Ok(ended)
    }
}

/// Retries on ETXTBSY: another thread that forked just after the program was written holds it open for writing until
/// its exec.
pub fn spawn(command: &mut Command) -> std::io::Result<Child> {
    let mut left = BUSY_TIMEOUT.as_millis();
    loop {
        match command.spawn() {
            Err(why) if why.kind() == std::io::ErrorKind::ExecutableFileBusy && left > 0 => {
                std::thread::sleep(Duration::from_millis(1));
                left -= 1;
            }
            other => return other,
        }
    }
}

/// /dev/null, or an empty memory file in a root without devices.
pub fn nothing() -> std::io::Result<Stdio> {
    let mut null = std::fs::OpenOptions::new();
    if let Ok(null) = null.read(true).write(true).open("/dev/null") {
        return Ok(Stdio::from(null));
    }
    Ok(Stdio::from(memfd_create("nothing", MFdFlags::MFD_CLOEXEC)?))
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}

fn children_cpu() -> u64 {
    let time =
        |t: nix::sys::time::TimeVal| t.tv_sec() as u64 * 1_000_000_000 + t.tv_usec() as u64 * 1000;
    nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)
        .map_or(0, |usage| time(usage.user_time()) + time(usage.system_time()))
}

/// Reads until all output is complete.
fn listen(
    tasks: &[Task<'_>],
    started: &mut [Supervised],
    first_ended: &dyn Fn() -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let mut all = true;
    loop {
        let mut open: Vec<&mut Supervised> = Vec::with_capacity(started.len());
        for (one, task) in started.iter_mut().zip(tasks) {
            if one.poll_output(task)? {
                open.push(one);
            }
        }
        if all && open.len() < tasks.len() {
            all = false;
            first_ended()?;
        }
        let Some(deadline) = open.iter().map(|one| one.deadline).min() else {
            return Ok(());
        };
        let mut readers: Vec<_> = open.into_iter().map(|one| &mut one.output).collect();
        let left = deadline.saturating_duration_since(Instant::now());
        wait(&mut readers, left)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// As after Ctrl-Z: the deadline has passed when we look, but the launch has ended.
    #[test]
    fn launches_ended_while_stopped_count() {
        let pipe_with = |text: &str| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(text.as_bytes()).unwrap();
            reader
        };
        let output = pipe_with("hello protocol=1 kernel=x\nbye\n");
        let report = pipe_with("exit=0 left=0\n");
        let complaint = pipe_with("");
        let mut started = [Supervised {
            program: "x".to_owned(),
            supervisor: Command::new("/bin/true").spawn().unwrap(),
            output: OutputReader::new([output, report, complaint]),
            deadline: Instant::now(),
            asked: false,
        }];
        let task = Task {
            supervisor: Path::new("/bin/true"),
            cpus: "-",
            words: "-",
            program: Path::new("x"),
            arguments: vec![],
            directory: Path::new("/"),
            environment: &BTreeMap::new(),
            deadline: Duration::ZERO,
            stop: &AtomicBool::new(false),
        };
        listen(&[task], &mut started, &|| Ok(())).unwrap();
        let [started] = started;
        let ended = started.finish(true).unwrap();
        assert!(!ended.timed_out);
        assert_eq!(ended.protocol, None);
        assert_eq!(ended.events.len(), 2);
        assert_eq!(ended.end.map(|end| end.exit), Some(0));
    }
}
