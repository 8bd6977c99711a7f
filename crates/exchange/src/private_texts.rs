//! Texts without what tells who and where: homes and users in paths, the server of a file system, addresses.

use gritstone_model::Machine;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Directories whose entries are homes of users.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// The home of root.
const ROOT: &str = "/root";
const ADDRESS: &str = "ADDRESS";

/// What is private on a machine beyond what has a form.
pub struct PrivateTexts {
    home: Option<String>,
    /// Name of the user, as part of paths.
    user: Option<String>,
    /// Where the measured file system comes from, if that is another machine.
    server: Option<String>,
}

impl PrivateTexts {
    pub fn new(machine: &Machine, home: Option<&str>) -> Self {
        let home = home.map(|home| home.trim_end_matches('/'));
        let home = home.filter(|home| !home.is_empty());
        let user = home.and_then(|home| home.rsplit_once('/'));
        let user = user.map(|(_, user)| user.to_owned());
        let fact = machine.facts.get("dir.filesystem");
        let server = fact.and_then(|text| text.split_once(" from "));
        Self {
            home: home.map(str::to_owned),
            user: user.filter(|user| !user.is_empty() && user != "root"),
            server: server.map(|(_, server)| server.to_owned()),
        }
    }

    pub fn remove(&self, text: &mut String) {
        if let Some(server) = self.server.as_ref().filter(|server| !server.is_empty()) {
            *text = text.replace(server.as_str(), "SERVER");
        }
        if text.contains('/') {
            *text = self.without_paths(text);
        }
        if text.contains(['.', ':']) {
            *text = without_addresses(text);
        }
    }

    /// `~` in the place of this home, and of any other by its usual place; `USER` in that of this user.
    fn without_paths(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('/') {
            let (before, path) = rest.split_at(at);
            out.push_str(before);
            // a path begins where nothing of one is before it
            let begins = !out.ends_with(|c: char| is_name(c) || "~/".contains(c));
            let length = match begins {
                true => length_of_home(path, self.home.as_deref()),
                false => 0,
            };
            let user = self.user.as_deref().filter(|user| {
                let entry = path[1..].strip_prefix(*user);
                length == 0 && entry.is_some_and(|rest| !rest.starts_with(is_name))
            });
            match (length, user) {
                (0, None) => {
                    out.push('/');
                    rest = &path[1..];
                }
                (0, Some(user)) => {
                    out.push_str("/USER");
                    rest = &path[1 + user.len()..];
                }
                (length, _) => {
                    out.push('~');
                    rest = &path[length..];
                }
            }
        }
        out + rest
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c)
}

/// How long the home is with which a path begins; 0 where it begins with none.
fn length_of_home(path: &str, home: Option<&str>) -> usize {
    for home in home.into_iter().chain([ROOT]) {
        if path.starts_with(home) && !path[home.len()..].starts_with(is_name) {
            return home.len();
        }
    }
    for homes in HOMES {
        if let Some(rest) = path.strip_prefix(homes) {
            let user = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            if user > 0 {
                return homes.len() + user;
            }
        }
    }
    0
}

/// Addresses of networks and of interfaces, but for those that every machine has.
fn without_addresses(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_hexdigit() || ".:".contains(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_part) {
        let (before, word) = rest.split_at(at);
        let length = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(length);
        out.push_str(before);
        // part of a longer word, such as a version
        let joined = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let stands = !out.ends_with(joined) && !after.starts_with(joined);
        // a port or a path may follow, or a sentence end
        let (address, port) = split_port(word);
        match stands && is_address(address) {
            true => out.push_str(&format!("{ADDRESS}{port}")),
            false => out.push_str(word),
        }
        rest = after;
    }
    out + rest
}

/// What follows an IPv4 address, or ends a sentence.
fn split_port(word: &str) -> (&str, &str) {
    let end = word.trim_end_matches(['.', ':']).len();
    let is_quad = |text: &str| text.parse::<Ipv4Addr>().is_ok();
    match word.find(':').filter(|at| is_quad(&word[..*at])) {
        Some(at) => word.split_at(at),
        None => word.split_at(match word.parse::<Ipv6Addr>() {
            Ok(_) => word.len(),
            Err(_) => end,
        }),
    }
}

fn is_address(word: &str) -> bool {
    if let Ok(address) = word.parse::<Ipv4Addr>() {
        return !address.is_loopback() && !address.is_unspecified();
    }
    if let Ok(address) = word.parse::<Ipv6Addr>() {
        // std::bad is a name
        let is_name = !word.contains(|c: char| c.is_ascii_digit());
        return !is_name && !address.is_loopback() && !address.is_unspecified();
    }
    let mut pairs = word.split(':');
    let is_pair = |pair: &str| pair.len() == 2 && pair.chars().all(|c| c.is_ascii_hexdigit());
    pairs.clone().count() == 6 && pairs.all(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(text: &str, home: &str, server: &str) -> String {
        let mut machine = Machine::default();
        let fact = ("dir.filesystem".to_owned(), format!("nfs4 from {server}"));
        machine.facts.extend([fact]);
        let mut text = text.to_owned();
        PrivateTexts::new(&machine, Some(home)).remove(&mut text);
        text
    }

    #[test]
    fn only_home_directories_are_removed() {
        for (text, wanted) in [
            ("/home/ann/src/x.c", "~/src/x.c"),
            ("PATH=/root/bin:/usr/bin:/home/bob", "PATH=~/bin:/usr/bin:~"),
            ("cc -o '/srv/me/a b' /srv/me", "cc -o '~/a b' ~"),
            (
                "/srv/meadow /rooted /var/home/x a/home/b",
                "/srv/meadow /rooted /var/home/x a/home/b",
            ),
            ("byte/pipe MB/s /", "byte/pipe MB/s /"),
            (
                "/data/me/x tank/me /meal me",
                "/data/USER/x tank/USER /meal me",
            ),
        ] {
            assert_eq!(removed(text, "/srv/me/", ""), wanted, "{text}");
        }
        assert_eq!(removed("/a/root/b /root", "/root", ""), "/a/root/b ~");
    }

    #[test]
    fn only_addresses_are_removed() {
        for (text, wanted) in [
            (
                "addr=10.0.0.7,clientaddr=10.0.0.8",
                "addr=ADDRESS,clientaddr=ADDRESS",
            ),
            ("at 10.0.0.7:5432, 10.0.0.8.", "at ADDRESS:5432, ADDRESS."),
            ("fe80::a:1 [2001:db8::7]:22", "ADDRESS [ADDRESS]:22"),
            ("eth0 02:42:ac:11:00:02 up", "eth0 ADDRESS up"),
            ("127.0.0.1:80 ::1 0.0.0.0", "127.0.0.1:80 ::1 0.0.0.0"),
            (
                "Linux 5.15.153.1-microsoft v1.2.3.4",
                "Linux 5.15.153.1-microsoft v1.2.3.4",
            ),
            (
                "add::bed std::vec 12:30:00 1.5.",
                "add::bed std::vec 12:30:00 1.5.",
            ),
            (
                "gcc 12.2.0: ext4 on /dev/vda",
                "gcc 12.2.0: ext4 on /dev/vda",
            ),
        ] {
            assert_eq!(removed(text, "", ""), wanted, "{text}");
        }
        let nfs = "2 cores, nfs4 from files.lan:/srv, a virtual machine";
        let wanted = "2 cores, nfs4 from SERVER, a virtual machine";
        assert_eq!(removed(nfs, "", "files.lan:/srv"), wanted);
    }
}
