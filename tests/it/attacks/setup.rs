//! `scripts/setup` in a world of recorders: no file of a name that others can compute, nothing installed unasked.

use crate::common::{entries, make_script, output_texts};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SETUP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/setup");

/// A folder that is the whole PATH: what the script itself needs, and recorders for the rest.
struct World(TempDir);

impl World {
    /// `user` is what id(1) says; `headers` whether the compiler finds any.
    fn new(user: u32, headers: bool) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(world.path("bin")).unwrap();
        fs::create_dir_all(world.path("tmp")).unwrap();
        for tool in ["env", "mktemp", "rm", "sh", "stat"] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            let found = found.iter().find(|path| path.exists()).unwrap();
            symlink(found, world.path("bin").join(tool)).unwrap();
        }
        world.program("id", &format!("echo {user}"));
        world.program("cargo", "");
        let (log, compiles) = (world.path("log"), u8::from(!headers));
        let look = "stat -c 'cc in %a' \"${2%/*}\"";
        world.program("cc", &format!("{look} >>{}\nexit {compiles}", log.display()));
        for tool in ["apt-get", "sudo"] {
            world.program(tool, &format!("echo {tool} \"$@\" >>{}", log.display()));
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str, text: &str) {
        make_script(self.path("bin").join(name), text);
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null());
        command
    }

    /// The script without a terminal: its exit code, and what it said.
    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
        let mut command = self.command(SETUP, arguments);
        ended(command.envs(environment.iter().copied()))
    }

    /// The script on a terminal, where this is typed.
    fn on_a_terminal(&self, typed: &str) -> (i32, String) {
        let script = format!("printf '{typed}\\n' | script -qec '{SETUP} run' /dev/null");
        let mut command = self.command("/bin/sh", &["-c", &script]);
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        ended(command.env("PATH", path).env("SHELL", "/bin/sh"))
    }

    /// What the recorders were asked to do, but for compiling.
    fn recorded_calls(&self) -> String {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        let lines = log.lines().filter(|line| !line.starts_with("cc in "));
        lines.map(|line| format!("{line}\n")).collect()
    }
}

fn ended(command: &mut Command) -> (i32, String) {
    let (code, out, error) = output_texts(command.output().unwrap());
    (code, out + &error)
}

const INSTALLED: &str = "apt-get update -qq\napt-get install -y -qq libc6-dev\n";

#[test]
fn planted_links_are_not_followed() {
    let world = World::new(0, true);
    let victim = world.path("victim");
    fs::write(&victim, "precious").unwrap();
    // exec keeps the process, so the name that the script computed before is exactly known
    let plant = format!(
        "ln -s {victim} {tmp}/gritstone-setup-$$.c && ln -s {victim} {tmp}/gritstone-setup-$$ && exec {SETUP} run",
        victim = victim.display(),
        tmp = world.path("tmp").display(),
    );
    symlink("/bin/ln", world.path("bin/ln")).unwrap();
    let (code, printed) = ended(&mut world.command("/bin/sh", &["-c", &plant]));
    assert_eq!(code, 0, "{printed}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    let log = fs::read_to_string(world.path("log")).unwrap();
    assert_eq!(log, "cc in 700\n");
    let left = entries(&world.path("tmp"));
    assert_eq!(left.len(), 2, "the two links alone: {left:?}");
}

#[test]
fn setup_installs_only_as_root() {
    let root = World::new(0, false);
    let (code, printed) = root.run(&["run"], &[]);
    assert_eq!(code, 0, "{printed}");
    let needed = "run needs these packages: libc6-dev";
    assert!(printed.contains(needed), "{printed}");
    assert_eq!(root.recorded_calls(), INSTALLED);

    for (arguments, environment) in
        [(&["run"][..], &[][..]), (&["run"], &[("CI", "true")]), (&["--yes", "run"], &[])]
    {
        let user = World::new(1000, false);
        let (code, printed) = user.run(arguments, environment);
        assert_eq!(code, 1, "{printed}");
        assert!(printed.contains("sudo apt-get install libc6-dev"), "{printed}");
        assert_eq!(user.recorded_calls(), "", "sudo without a password is not consent");
    }
}

#[test]
fn on_a_terminal_it_asks() {
    for user in [0, 1000] {
        let world = World::new(user, false);
        let (code, printed) = world.on_a_terminal("n");
        assert_eq!(code, 1, "{printed}");
        assert!(printed.contains("[y/N]"), "{printed}");
        assert_eq!(world.recorded_calls(), "");
    }
    let world = World::new(0, false);
    let (code, printed) = world.on_a_terminal("y");
    assert_eq!(code, 0, "{printed}");
    assert_eq!(world.recorded_calls(), INSTALLED);
}

#[test]
fn building_needs_compiler_and_headers() {
    let world = World::new(0, true);
    let (code, printed) = world.run(&["run"], &[]);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("no gfortran"), "{printed}");
    assert_eq!(world.recorded_calls(), "");
}
