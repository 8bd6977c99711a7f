//! OpenSSH's client as the user has configured it, and what its commands have in common: a private directory on the other host, which is
//! removed however they end.

use std::process::Command;

/// A connection is tried for so long, and given up when nothing was heard for four times 15 s. Nobody is asked for a password.
const PATIENCE: [&str; 4] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
];

/// What executes a script on a host: `client` is the command of OpenSSH's client, with its options.
pub fn command(client: &str, host: &str, script: &str) -> Command {
    let mut client = client.split_whitespace();
    let mut command = Command::new(client.next().unwrap_or("ssh"));
    command
        .args(client)
        .args(PATIENCE.iter().flat_map(|option| ["-o", *option]))
        .args(["--", host])
        .arg(script);
    command
}

/// A script of the shell that begins in a private directory, `$d`, for a purpose.
pub fn in_directory(purpose: &str, script: &str) -> String {
    format!(
        "set -e; umask 077; d=$(mktemp -d \"${{TMPDIR:-/var/tmp}}/gritstone-{purpose}-XXXXXXXXXX\"); \
         trap 'rm -rf \"$d\"' EXIT; trap 'exit 143' HUP INT TERM; {script}"
    )
}

/// Whether a host, with a user perhaps, may be named so: it is a word of a command and names files, and nothing in it is an option, a
/// path or an expansion.
pub fn is_host(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.len() <= 200
}
