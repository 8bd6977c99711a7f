//! Commands over OpenSSH's client, in a private directory on the other host, which is always removed.
//!
//! The client has its own process group, so that Ctrl-C reaches only this process, which ends the group with [`end_group`].

use anyhow::{Context, Result};
use gritstone_model::{quote_word, split_words};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpid, getppid};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::net::Ipv6Addr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::str::FromStr;

/// Timeout of the connection; keep-alives end a dead one after a minute; no password prompt.
const CONNECTION_OPTIONS: [&str; 4] =
    ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=4"];

/// Begins the output of a script; the login shell may print something before.
const SIGN: &str = "gritstone begins";
/// Lines that a login shell may print before.
const MAX_BANNER_LINES: usize = 1000;
/// Longest line of a banner, bytes.
const MAX_LINE: u64 = 1 << 16;

/// Executes a script of `sh` on a host with any login shell. `client` is the command of OpenSSH's client with its options, in shell syntax.
///
/// # Errors
/// When `client` is not a valid command.
pub fn command(client: &str, host: &Host, script: &str) -> Result<Command> {
    let mut client = split_words(client)?.into_iter();
    let mut command = Command::new(client.next().context("the command of ssh is empty")?);
    command.args(client).args(CONNECTION_OPTIONS.iter().flat_map(|option| ["-o", *option]));
    if let Some(port) = host.port {
        command.args(["-p", &port.to_string()]);
    }
    let script = format!("echo '{SIGN}'; {script}");
    command.args(["--", &host.destination()]).arg(format!("exec sh -c {}", quote_word(&script)));
    command.process_group(0);
    end_with_parent(&mut command);
    Ok(command)
}

/// Ends the group of a leader. Harmless after its end until it is reaped.
pub fn end_group(leader: &Child, signal: Signal) {
    let _ = killpg(Pid::from_raw(leader.id().cast_signed()), signal);
}

/// Sends SIGTERM to the child when the thread that started it ends, even by `kill -9` of the process: start it from a thread that outlives
/// it. Descendants of the child get no signal.
#[allow(unsafe_code)]
pub fn end_with_parent(command: &mut Command) {
    let parent = getpid();
    let prepare = move || {
        set_pdeathsig(Signal::SIGTERM)?;
        match getppid() == parent {
            true => Ok(()),
            // the parent was killed before
            false => Err(io::ErrorKind::NotFound.into()),
        }
    };
    // SAFETY: two system calls, and no allocation
    unsafe { command.pre_exec(prepare) };
}

/// Skips what the login shell printed before the script of [`command`].
///
/// # Errors
/// When the output ends first, or the script does not begin in time.
pub fn skip_banner(output: &mut impl BufRead) -> io::Result<()> {
    for _ in 0..MAX_BANNER_LINES {
        let mut line = vec![];
        output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        // a banner may end without an end of line
        if line.trim_ascii_end().ends_with(SIGN.as_bytes()) {
            return Ok(());
        }
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Err(io::Error::other(format!(
        "its login shell prints more than {MAX_BANNER_LINES} lines, and does not execute commands"
    )))
}

/// Wraps a script so that it has a private directory, `$d`.
pub fn in_directory(purpose: &str, script: &str) -> String {
    format!(
        "set -e; umask 077; d=$(mktemp -d \"${{TMPDIR:-/var/tmp}}/gritstone-{purpose}-XXXXXXXXXX\"); \
         trap 'rm -rf \"$d\"' EXIT; trap 'exit 143' HUP INT TERM; {script}"
    )
}

/// A host as OpenSSH reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    user: Option<String>,
    /// Name or address, without brackets.
    name: String,
    port: Option<u16>,
}

/// Forms of a host, for messages.
pub const HOST_FORMS: &str =
    "HOST, USER@HOST, HOST:PORT, an IPv6 address ([::1]:PORT with a port) or ssh://USER@HOST:PORT";

impl Host {
    /// What OpenSSH takes after `--`.
    fn destination(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("{user}@"));
        format!("{}{}", user.unwrap_or_default(), self.name)
    }
}

/// One spelling for each host: it is an argument of commands and part of file names.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.port {
            None => f.write_str(&self.name),
            Some(port) if self.name.contains(':') => write!(f, "[{}]:{port}", self.name),
            Some(port) => write!(f, "{}:{port}", self.name),
        }
    }
}

impl FromStr for Host {
    type Err = anyhow::Error;

    /// Rejects options, paths and shell expansions.
    fn from_str(text: &str) -> Result<Self> {
        parse_host(text)
            .filter(|_| text.len() <= 200)
            .with_context(|| format!("'{text}' is not a host: write {HOST_FORMS}"))
    }
}

fn parse_host(text: &str) -> Option<Host> {
    let text = match text.strip_prefix("ssh://") {
        Some(rest) => rest.strip_suffix('/').unwrap_or(rest),
        None => text,
    };
    let (user, rest) = match text.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, text),
    };
    let (name, port) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').filter(|(name, _)| is_ipv6(name))?;
            let no_port = port.is_empty().then_some("");
            (name, port.strip_prefix(':').or(no_port)?)
        }
        None if is_ipv6(rest) => (rest, ""),
        None => rest.split_once(':').unwrap_or((rest, "")),
    };
    let has_port = !port.is_empty() || rest.ends_with(':');
    let port = match has_port {
        true => Some(port.parse().ok().filter(|port| *port > 0)?),
        false => None,
    };
    let is_good = user.is_none_or(is_host_name) && (is_ipv6(name) || is_host_name(name));
    is_good.then(|| Host { user: user.map(str::to_owned), name: name.to_owned(), port })
}

/// An IPv6 address, with a zone where it needs one: `fe80::1%eth0`.
fn is_ipv6(text: &str) -> bool {
    let (address, zone) = text.split_once('%').unwrap_or((text, "eth0"));
    address.parse::<Ipv6Addr>().is_ok() && is_host_name(zone)
}

/// True for a plain word that names a host or a user.
pub fn is_host_name(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_spelling() {
        for (text, shown) in [
            ("n1", "n1"),
            ("root@n1.example", "root@n1.example"),
            ("a_b@c-d", "a_b@c-d"),
            ("n1:2222", "n1:2222"),
            ("ssh://root@n1:22/", "root@n1:22"),
            ("ssh://n1", "n1"),
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("root@[fe80::1%eth0]:22", "root@[fe80::1%eth0]:22"),
            ("ssh://[2001:db8::7]:22", "[2001:db8::7]:22"),
            ("root@2001:db8::7", "root@2001:db8::7"),
            ("10.0.0.7:22", "10.0.0.7:22"),
        ] {
            let host: Host = text.parse().unwrap();
            assert_eq!(host.to_string(), shown, "{text}");
            assert_eq!(shown.parse::<Host>().unwrap(), host);
        }
        for text in [
            "",
            "-x",
            "user@-x",
            "a@b@c",
            "@b",
            "a@",
            "a b",
            "../x",
            "$(id)",
            "a;b",
            "n1:",
            "n1:0",
            "n1:70000",
            "n1:x",
            "[n1]:22",
            "[::1",
            "[::1]x",
            "::1%$(id)",
            "::1%",
            "ssh://",
            "http://n1",
            "ssh://n1/x",
            "::g",
            "-oProxyCommand=x",
        ] {
            assert!(text.parse::<Host>().is_err(), "{text}");
        }
    }

    fn words(client: &str, host: &str) -> Vec<String> {
        let command = command(client, &host.parse().unwrap(), "it's").unwrap();
        let words = [command.get_program()].into_iter().chain(command.get_args());
        words.map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn clients_are_shell_words() {
        let all = words("my\\ ssh -o 'A=b c'", "u@[::1]:22");
        assert_eq!(all[..3], ["my ssh", "-o", "A=b c"]);
        let rest = ["-p", "22", "--", "u@::1"];
        assert!(all.windows(4).any(|some| some == rest), "{all:?}");
        assert!(all[all.len() - 1].starts_with("exec sh -c '"), "{all:?}");
        assert!(!words("ssh", "n1").contains(&"-p".to_owned()));
        let host = "n1".parse().unwrap();
        assert!(command("ssh 'a", &host, "").is_err() && command(" ", &host, "").is_err());
    }

    #[test]
    fn banners_are_skipped() {
        for banner in ["", "Welcome\n\n", "no end of line", "\x1b[1mx\n"] {
            let mut output = io::Cursor::new(format!("{banner}{SIGN}\nbundle"));
            skip_banner(&mut output).unwrap();
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "bundle", "{banner:?}");
        }
        assert!(skip_banner(&mut io::Cursor::new("Welcome\n")).is_err());
        let endless = "x\n".repeat(MAX_BANNER_LINES + 1);
        assert!(skip_banner(&mut io::Cursor::new(endless)).is_err());
    }
}
