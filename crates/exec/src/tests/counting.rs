//! System calls of programs whose number is known, and of programs that fail.

use super::{Planted, alive, stopped};
use crate::syscalls::{Entries, Uncounted, count};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

impl Planted {
    fn count(&self, n: u64, deadline: Duration, stop: &AtomicBool) -> Result<Entries, Uncounted> {
        let command = self.traced(&["mode=count", &format!("n={n}")]);
        let counted = count(command, deadline, stop);
        assert_eq!(alive(&self.mark()), 0, "{} is left", self.name);
        counted
    }

    /// System calls per operation of the program, and of its children.
    fn per_op(&self, few: u64, many: u64) -> (f64, f64) {
        let never = AtomicBool::new(false);
        let n = (many - few) as f64;
        let [few, many] = [few, many].map(|n| self.count(n, LONG, &never).unwrap());
        let each = |many: u64, few: u64| (many - few) as f64 / n;
        (each(many.program, few.program), each(many.children, few.children))
    }
}

fn error(name: &'static str, deadline: Duration) -> Uncounted {
    let never = AtomicBool::new(false);
    Planted::new(name).count(3, deadline, &never).unwrap_err()
}

#[test]
fn cached_getpid_is_not_counted() {
    assert_eq!(Planted::new("cached").per_op(10, 1000), (0.0, 0.0));
}

#[test]
fn children_count_separately_restarts_once() {
    let (program, children) = Planted::new("parents").per_op(1, 21);
    assert_eq!(program, 3.0, "a fork, a sleep and a wait");
    assert!((11.0..20.0).contains(&children), "{children}");
}

#[test]
fn threads_count_with_program() {
    let (program, children) = Planted::new("threads").per_op(1, 11);
    assert!((12.0..30.0).contains(&program), "{program}");
    assert_eq!(children, 0.0);
}

#[test]
fn failing_programs_have_no_count() {
    for (name, why) in [
        ("wrong", "it ended with status 1; it said: planted/wrong: check: 1 instead of 3"),
        ("crashes", "it was killed by signal 11; it said: about to crash"),
    ] {
        assert_eq!(error(name, LONG), Uncounted::Ended(why.to_owned()));
    }
    let soon = Duration::from_millis(300);
    assert_eq!(error("hangs", soon), Uncounted::TimedOut(soon));
}

#[test]
fn leftover_processes_are_killed() {
    // they succeed, and `count` looks for leftovers
    let never = AtomicBool::new(false);
    Planted::new("abandons").count(1, LONG, &never).unwrap();
    // this one ends in the middle of its work
    assert_eq!(error("leaves", LONG), Uncounted::Unmarked);
}

#[test]
fn stop_requests_end_counting() {
    let planted = Planted::new("hangs");
    let counted = stopped(|stop| planted.count(1, LONG, stop));
    assert_eq!(counted, Err(Uncounted::Interrupted));
}

#[test]
fn missing_programs_are_not_refusals() {
    let never = AtomicBool::new(false);
    let error = count(Command::new("/nonexistent/program"), LONG, &never).unwrap_err();
    assert!(matches!(error, Uncounted::Start(_)), "{error:?}");
    assert!(error.to_string().contains("/nonexistent/program"));
}

/// A process that is traced already simulates a system that forbids tracing.
#[test]
#[allow(unsafe_code)]
fn forbidden_tracing_has_a_reason() {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/bin/true");
    // SAFETY: between fork and exec, the closure makes one system call only
    unsafe { command.pre_exec(|| Ok(nix::sys::ptrace::traceme()?)) };
    let never = AtomicBool::new(false);
    let error = count(command, LONG, &never).unwrap_err();
    assert_eq!(error, Uncounted::Forbidden(nix::errno::Errno::EPERM));
    let text = error.to_string();
    let hints = ["SYS_PTRACE", "ptrace_scope"];
    assert!(hints.iter().all(|word| text.contains(word)), "{text}");
}
