//! Parsers of the kernel's text formats, and amounts for people.

use gritstone_model::{CpuSet, pluralize};

/// Characters of a name that a machine gives itself.
const MAX_NAME: usize = 200;

/// Makes a value fit to be shown and stored: one line, no control characters, bounded. `None` if nothing is left.
pub(crate) fn clean(value: &str) -> Option<String> {
    let cleaned: String =
        value.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME).collect();
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The value of the first line `key: value` (or `key value` if `separator` is a blank).
pub(crate) fn field<'a>(text: &'a str, key: &str, separator: char) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// `Key:   123 kB` of /proc/meminfo, in bytes.
pub(crate) fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = field(text, key, ':')?;
    let number: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// The choice in brackets: `always [madvise] never` is `madvise`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    let (choice, _) = rest.split_once(']')?;
    Some(choice)
}

/// A value of a shell-like `KEY="value"` line, as in /etc/os-release.
pub(crate) fn assignment(text: &str, key: &str) -> Option<String> {
    let value = field(text, key, '=')?;
    clean(value.trim_matches(['"', '\'']))
}

/// `512 MiB`, `23.5 GiB`.
pub(crate) fn bytes(amount: u64) -> String {
    const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut size = amount as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let rounded = format!("{size:.1}");
    let shown = rounded.strip_suffix(".0").unwrap_or(&rounded);
    format!("{shown} {}", UNITS[unit])
}

/// The list if short, else the number of CPUs and their range.
pub(crate) fn cpus(set: &CpuSet) -> String {
    const SHORT: usize = 40;
    let list = set.to_string();
    match (set.iter().next(), set.iter().last()) {
        (Some(first), Some(last)) if list.len() > SHORT => {
            format!("{} CPUs between {first} and {last}", set.len())
        }
        _ => format!("CPUs {list}"),
    }
}

/// `1 core`, `2 cores`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {}", pluralize(number, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_one_bounded_line() {
        assert_eq!(clean("a\t\u{1b}[31mred\n").as_deref(), Some("a [31mred"));
        assert_eq!(clean("\n \t"), None);
        assert_eq!(clean(&"x".repeat(5000)).unwrap().len(), MAX_NAME);
        assert_eq!(kilobytes("A: 18446744073709551615 kB", "A"), None);
        assert_eq!(chosen("always ]madvise["), None);
    }

    #[test]
    fn amounts_for_people() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(24_684_092 * 1024), "23.5 GiB");
        assert_eq!(bytes(u64::MAX), "16384 PiB");
    }
}
