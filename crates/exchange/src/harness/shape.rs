//! Features of a file by which formats recognize it, even if damaged.

use super::json_text::{end_of_string, json_part};
use std::collections::HashSet;

/// Features of a file by which formats recognize it.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// The complete text.
    pub text: &'a str,
    /// Keys of its JSON object, or of the objects in its JSON array; none if it is not JSON.
    keys: Vec<&'a str>,
}

impl<'a> Shape<'a> {
    /// Scans the text once.
    pub fn new(text: &'a str) -> Self {
        Self { text, keys: keys(json_part(text)) }
    }

    /// Whether it has all these keys.
    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.keys.contains(key))
    }

    /// Describes the apparent type, if no format matches.
    pub fn describe(&self) -> String {
        let text = self.text.trim();
        if text.is_empty() {
            return "an empty file".to_owned();
        }
        if text.starts_with(['{', '[']) {
            return self.describe_json(text);
        }
        let line = text.lines().next().unwrap_or_default();
        if text.starts_with('<') {
            return format!("XML or HTML that begins with '{}'", shortened(line));
        }
        match line.split(',').count() {
            1 | 2 => format!("text that begins with '{}'", shortened(line)),
            columns => format!("a table of {columns} columns: {}", shortened(line)),
        }
    }

    fn describe_json(&self, text: &str) -> String {
        let keys = match self.keys.as_slice() {
            [] => "without keys".to_owned(),
            keys => {
                let keys: Vec<&str> = keys.iter().take(8).copied().collect();
                format!("with {}", shortened(&keys.join(", ")))
            }
        };
        match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => format!("JSON {keys}"),
            Err(why) if why.is_eof() => format!("JSON {keys} that is truncated: {why}"),
            Err(why) => format!("damaged JSON {keys}: {why}"),
        }
    }
}

fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Keys of the outermost object, or of the objects in the outermost array, each once, up to the end of a truncated text.
fn keys(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let opening = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let wanted = match opening {
        Some(b'{') => 1,
        Some(b'[') => 2,
        _ => return vec![],
    };
    let (mut keys, mut seen) = (vec![], HashSet::new());
    let (mut depth, mut position) = (0_usize, 0);
    while position < bytes.len() {
        match bytes[position] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_string(bytes, position);
                let after = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace());
                let key = text.get(position + 1..end - 1).unwrap_or_default();
                if depth == wanted && after == Some(&b':') && seen.insert(key) {
                    keys.push(key);
                }
                position = end;
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_keep_their_keys() {
        let keys = |text| Shape::new(text).keys;
        assert_eq!(keys(r#"{"a": {"b": "c:"}, "d": [{"e": 1}]}"#), ["a", "d"]);
        assert_eq!(keys(r#" [{"a": 1}, {"a": 2, "b": NaN"#), ["a", "b"]);
        assert_eq!(keys(r#"{"a": "unclosed"#), ["a"]);
        assert_eq!(keys("a: 1"), Vec::<&str>::new());
    }

    #[test]
    fn descriptions_say_what_is_wrong() {
        for (text, words) in [
            (" \n", "an empty file"),
            ("hello\nthere", "text that begins with 'hello'"),
            ("command,mean,stddev\n", "a table of 3 columns: command,mean,stddev"),
            ("<a>\n</a>", "XML or HTML that begins with '<a>'"),
            (r#"{"a": 1, "b": 2}"#, "JSON with a, b"),
            ("[1]", "JSON without keys"),
        ] {
            assert_eq!(Shape::new(text).describe(), words);
        }
        let cut = Shape::new(r#"{"a": [1,"#).describe();
        assert!(cut.starts_with("JSON with a that is truncated: "), "{cut}");
        let damaged = Shape::new(r#"{"a": x}"#).describe();
        assert!(damaged.starts_with("damaged JSON with a: "), "{damaged}");
    }
}
