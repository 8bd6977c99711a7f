//! Removes identifying text: hosts, homes and users in paths, servers of file systems, addresses.

use crate::import::foreign_name;
use gritstone_model::{Machine, Peer};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Parents of home directories.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// The home of root.
const ROOT: &str = "/root";
const ADDRESS: &str = "ADDRESS";
const INFINIBAND_BYTES: usize = 20;
/// A host name that identifies no machine.
const LOCALHOST: &str = "localhost";

/// Private words of a machine, apart from those with a recognizable form.
pub struct PrivateTexts {
    home: Option<String>,
    /// Name of the user, as part of absolute paths.
    user: Option<String>,
    /// Host names and sources of file systems with their replacements, longest first.
    words: Vec<(String, String)>,
}

impl PrivateTexts {
    pub fn new(machine: &Machine, peer: Option<&Peer>, home: Option<&str>) -> Self {
        let home = home.map(|home| home.trim_end_matches('/'));
        let home = home.filter(|home| !home.is_empty());
        let user = home.and_then(|home| home.rsplit_once('/'));
        let user = user.map(|(_, user)| user.to_owned());
        let mut texts = Self {
            home: home.map(str::to_owned),
            user: user.filter(|user| !user.is_empty() && user != "root"),
            words: vec![],
        };
        texts.add_machine(machine);
        if let Some(peer) = peer {
            texts.add_machine(&peer.machine);
            let (_, host) = peer.host.rsplit_once('@').unwrap_or(("", &peer.host));
            let port = host.rsplit_once(':');
            let port = port.filter(|(name, _)| !name.contains(':'));
            let name = port.map_or(host, |(name, _)| name);
            for text in [&peer.host, host, name, &peer.address] {
                texts.add(text, "HOST");
            }
        }
        let words = &mut texts.words;
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        texts
    }

    fn add_machine(&mut self, machine: &Machine) {
        let fact = |name: &str| machine.facts.get(name).map_or("", String::as_str);
        self.add(fact("host.name"), "HOST");
        self.add(foreign_name(machine).unwrap_or_default(), "HOST");
        let filesystem = fact("dir.filesystem");
        if let Some((_, source)) = filesystem.split_once(" from ") {
            let name = source.trim_start_matches('/').split([':', '/']).next();
            self.add(source, "SERVER");
            self.add(name.unwrap_or_default(), "SERVER");
        }
        // a pool may have a file system per user
        if let (Some((_, device)), Some(user)) = (filesystem.split_once(" on "), &self.user) {
            let parts = device.split('/');
            let parts: Vec<&str> = parts.map(|part| replace_user(part, user)).collect();
            self.add(device, &parts.join("/"));
        }
    }

    fn add(&mut self, word: &str, replacement: &str) {
        // a number would match everywhere
        let is_private = word.contains(char::is_alphabetic) && word != replacement;
        if is_private && word != LOCALHOST {
            self.words.push((word.to_owned(), replacement.to_owned()));
        }
    }

    pub fn remove(&self, text: &mut String) {
        // a host may have the name of a directory
        let (paths, names): (Vec<_>, Vec<_>) =
            self.words.iter().partition(|(word, _)| word.contains('/'));
        for (word, replacement) in paths {
            replace_word(text, word, replacement);
        }
        if text.contains('/') {
            *text = self.without_paths(text);
        }
        for (word, replacement) in names {
            replace_word(text, word, replacement);
        }
        if text.contains(['.', ':']) {
            *text = without_addresses(text);
        }
    }

    /// Replaces this home and any other in a usual place by `~`, and the name of the user by `USER`.
    fn without_paths(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(slash) = rest.find('/') {
            let (before, path) = rest.split_at(slash);
            out.push_str(before);
            let length = path.find(ends_path).unwrap_or(path.len());
            let (path, after) = path.split_at(length);
            match out.chars().next_back().is_none_or(ends_path) || ends_in_option(&out) {
                true => out.push_str(&self.without_names(path)),
                false => out.push_str(path),
            }
            rest = after;
        }
        out + rest
    }

    fn without_names(&self, path: &str) -> String {
        let length = length_of_home(path, self.home.as_deref());
        let tail = path[length..].split('/');
        let tail: Vec<&str> = match &self.user {
            Some(user) => tail.map(|part| replace_user(part, user)).collect(),
            None => tail.collect(),
        };
        let home = if length > 0 { "~" } else { "" };
        format!("{home}{}", tail.join("/"))
    }
}

fn replace_user<'a>(part: &'a str, user: &str) -> &'a str {
    if part == user { "USER" } else { part }
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_-".contains(c)
}

fn replace_word(text: &mut String, word: &str, replacement: &str) {
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(word) {
        let (before, after) = (&rest[..start], &rest[start + word.len()..]);
        out.push_str(before);
        let stands = !out.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(if stands { replacement } else { word });
        rest = after;
    }
    *text = out + rest;
}

fn ends_path(c: char) -> bool {
    c.is_whitespace() || "'\"`:,;=()[]{}<>|&".contains(c)
}

/// `-I`, before a directory.
fn ends_in_option(text: &str) -> bool {
    let last = text.rsplit(ends_path).next().unwrap_or_default();
    last.len() == 2 && last.starts_with('-')
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c)
}

/// Length of the home directory with which a path begins; 0 without one.
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

/// Removes network and interface addresses, except those that every machine has. A version of four numbers that stands alone counts as an
/// address.
fn without_addresses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        let length = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(length);
        out.push_str(before);
        // part of a longer word, such as a version; a range has two addresses
        let begins = !out.ends_with(is_word) || out.ends_with(&format!("{ADDRESS}-"));
        let range = after.strip_prefix('-').map(|after| {
            let length = after.find(|c| !is_part(c)).unwrap_or(after.len());
            is_address(split_port(&after[..length]).0)
        });
        let ends = range.unwrap_or_else(|| !after.starts_with(is_word));
        let address = starts(word, begins).find(|start| is_address(split_port(&word[*start..]).0));
        match address.filter(|_| ends) {
            Some(start) => {
                let (_, port) = split_port(&word[start..]);
                out.push_str(&format!("{}{ADDRESS}{port}", &word[..start]));
            }
            None => out.push_str(word),
        }
        rest = after;
    }
    out + rest
}

fn is_part(c: char) -> bool {
    c.is_ascii_hexdigit() || ".:".contains(c)
}

/// Positions where an address can begin: the start of the word, and after a colon, as in `tcp:10.0.0.7`.
fn starts(word: &str, begins: bool) -> impl Iterator<Item = usize> {
    let colons = word.match_indices(':').map(|(colon, _)| colon);
    let single = colons
        .filter(|colon| !word[colon + 1..].starts_with(':') && !word[..*colon].ends_with(':'));
    begins.then_some(0).into_iter().chain(single.map(|colon| colon + 1))
}

/// Splits off the port of an IPv4 address, or the end of a sentence.
fn split_port(word: &str) -> (&str, &str) {
    let end = word.trim_end_matches(['.', ':']).len();
    let is_quad = |text: &str| text.parse::<Ipv4Addr>().is_ok();
    match word.find(':').filter(|colon| is_quad(&word[..*colon])) {
        Some(colon) => word.split_at(colon),
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
    [6, INFINIBAND_BYTES].contains(&pairs.clone().count()) && pairs.all(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(text: &str, home: &str, server: &str) -> String {
        let mut machine = Machine::default();
        let fact = ("dir.filesystem".to_owned(), format!("nfs4 from {server}"));
        machine.facts.extend([fact]);
        let mut text = text.to_owned();
        PrivateTexts::new(&machine, None, Some(home)).remove(&mut text);
        text
    }

    #[test]
    fn host_names_are_removed() {
        let facts = |host: &str, filesystem: &str| Machine {
            facts: [("host.name", host), ("dir.filesystem", filesystem)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..Machine::default()
        };
        let machine = facts("home", "zfs on tank/ann");
        let peer = Peer {
            host: "bob@db1.lan:2222".to_owned(),
            address: "10.0.0.7".to_owned(),
            machine: facts("db1", "cifs from //files/x"),
            ..Peer::default()
        };
        let texts = PrivateTexts::new(&machine, Some(&peer), Some("/home/ann"));
        for (text, wanted) in [
            ("on home: homes at-home", "on HOST: homes at-home"),
            ("/home/bob/x", "~/x"),
            ("zfs on tank/ann, byte/ann", "zfs on tank/USER, byte/ann"),
            ("bob@db1.lan:2222: no", "HOST: no"),
            ("db1.lan, db1 and db12", "HOST, HOST and db12"),
            ("from //files/x: files is away", "from SERVER: SERVER is away"),
        ] {
            let mut removed = text.to_owned();
            texts.remove(&mut removed);
            assert_eq!(removed, wanted);
        }
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
            ("/data/me/x tank/me /meal me -I/home/bob/x", "/data/USER/x tank/me /meal me -I~/x"),
        ] {
            assert_eq!(removed(text, "/srv/me/", ""), wanted, "{text}");
        }
        assert_eq!(removed("/a/root/b /root", "/root", ""), "/a/root/b ~");
    }

    #[test]
    fn only_addresses_are_removed() {
        for (text, wanted) in [
            ("addr=10.0.0.7,clientaddr=10.0.0.8", "addr=ADDRESS,clientaddr=ADDRESS"),
            ("at 10.0.0.7:5432, 10.0.0.8.", "at ADDRESS:5432, ADDRESS."),
            ("fe80::a:1 [2001:db8::7]:22", "ADDRESS [ADDRESS]:22"),
            ("eth0 02:42:ac:11:00:02 up", "eth0 ADDRESS up"),
            ("peer:10.0.0.7 tcp:10.0.0.7:80", "peer:ADDRESS tcp:ADDRESS:80"),
            ("inet6:fe80::1", "inet6:ADDRESS"),
            ("10.0.0.7-10.0.0.9, 10.0.0.7-x", "ADDRESS-ADDRESS, 10.0.0.7-x"),
            ("80:00:00:68:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1", "ADDRESS"),
            ("driver 5.0.12.1", "driver ADDRESS"),
            ("127.0.0.1:80 ::1 0.0.0.0", "127.0.0.1:80 ::1 0.0.0.0"),
            ("Linux 5.15.153.1-microsoft v1.2.3.4", "Linux 5.15.153.1-microsoft v1.2.3.4"),
            ("add::bed std::vec 12:30:00 1.5.", "add::bed std::vec 12:30:00 1.5."),
            ("gcc 12.2.0: ext4 on /dev/vda", "gcc 12.2.0: ext4 on /dev/vda"),
        ] {
            assert_eq!(removed(text, "", ""), wanted, "{text}");
        }
        let nfs = "2 cores, nfs4 from files.lan:/srv, a virtual machine";
        let wanted = "2 cores, nfs4 from SERVER, a virtual machine";
        assert_eq!(removed(nfs, "", "files.lan:/srv"), wanted);
    }
}
