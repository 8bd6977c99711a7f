//! Names of commands, cut to the columns of a line.

use gritstone_document::shortened;
use unicode_width::UnicodeWidthStr;

/// Fewest columns of a name.
const NAME: usize = 16;

/// Columns that the other cells leave for the names, which are first.
pub(super) fn room<const N: usize>(lines: &[[String; N]], width: usize) -> usize {
    let widest = |column: usize| lines.iter().map(|cells| cells[column].width()).max();
    let others: usize = (1..N).map(|column| 2 + widest(column).unwrap_or(0)).sum();
    width.saturating_sub(2 + others).max(NAME)
}

/// Names of at most `room` characters. Those that the cut would make equal show where they differ.
pub(super) fn fitted(names: &[String], room: usize) -> Vec<String> {
    let cut: Vec<String> = names.iter().map(|name| shortened(name, room)).collect();
    let fitted = |(index, name): (usize, &String)| {
        let equal =
            (0..names.len()).filter(|&other| cut[other] == cut[index] && names[other] != *name);
        match equal.map(|other| common(name, &names[other])).max() {
            Some(common) => with_difference(name, common, room),
            None => cut[index].clone(),
        }
    };
    names.iter().enumerate().map(fitted).collect()
}

/// Characters of the common beginning.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

/// The beginning, and what follows `common` characters or the end.
fn with_difference(name: &str, common: usize, room: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    if all.len() <= room {
        return name.to_owned();
    }
    let begin = room / 3;
    let rest = room - begin - 1;
    let from = common.min(all.len().saturating_sub(rest));
    let rest = shortened(&all[from..].iter().collect::<String>(), rest);
    let begin: String = all[..begin].iter().collect();
    format!("{begin}…{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_names_show_differences() {
        let fitted = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            fitted(&names, 16)
        };
        let end = fitted(&["./compress --level=1", "./compress --level=9"]);
        assert_eq!(end, ["./com… --level=1", "./com… --level=9"]);
        let middle =
            fitted(&["./compress --level=1 the-input-file", "./compress --level=9 the-input-file"]);
        assert_eq!(middle, ["./com…1 the-inp…", "./com…9 the-inp…"]);
        let other = fitted(&["./compress --level=1", "./decompress --fast", "true"]);
        assert_eq!(other, ["./compress --le…", "./decompress --…", "true"]);
    }
}
