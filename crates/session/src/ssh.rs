//! Commands over OpenSSH's client, in a private directory on the other host, which is always removed.

use std::process::Command;

/// Timeout of the connection; keep-alives end a dead one after a minute; no password prompt.
const CONNECTION_OPTIONS: [&str; 4] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
];

/// `client` is the command of OpenSSH's client, with its options.
pub fn command(client: &str, host: &str, script: &str) -> Command {
    let mut client = client.split_whitespace();
    let mut command = Command::new(client.next().unwrap_or("ssh"));
    command
        .args(client)
        .args(CONNECTION_OPTIONS.iter().flat_map(|option| ["-o", *option]))
        .args(["--", host])
        .arg(script);
    command
}

/// Wraps a script so that it has a private directory, `$d`.
pub fn in_directory(purpose: &str, script: &str) -> String {
    format!(
        "set -e; umask 077; d=$(mktemp -d \"${{TMPDIR:-/var/tmp}}/gritstone-{purpose}-XXXXXXXXXX\"); \
         trap 'rm -rf \"$d\"' EXIT; trap 'exit 143' HUP INT TERM; {script}"
    )
}

/// A host name, with or without a user, becomes a word of a command and part of file names: no option, path or expansion.
pub fn is_host(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(plain)
    };
    let (user, host) = name.split_once('@').unwrap_or(("user", name));
    is_word(user) && is_word(host) && name.len() <= 200
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_hosts_are_words() {
        for name in ["n1", "root@n1.example", "a_b@c-d"] {
            assert!(is_host(name), "{name}");
        }
        for name in [
            "", "-x", "user@-x", "a@b@c", "@b", "a@", "a b", "../x", "$(id)", "a;b",
        ] {
            assert!(!is_host(name), "{name}");
        }
    }
}
