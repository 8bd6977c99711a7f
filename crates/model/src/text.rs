//! Unsafe characters of foreign text, and bytes as text.

/// Whether a character controls a terminal or the layout instead of being shown: control characters (C0, C1, DEL), the marks, embeddings,
/// overrides and isolates of the bidirectional algorithm, line separators, and code points that no document may contain.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{FDD0}'..='\u{FDEF}')
        || u32::from(c) & 0xFFFE == 0xFFFE
}

/// An equivalent JSON text in which such characters are escaped (`\u009b`), and `##[`, which the runner of GitHub obeys in a log. JSON
/// requires that only for C0.
pub fn escape_json(mut text: String) -> String {
    if text.contains("##[") {
        text = text.replace("##[", "#\\u0023[");
    }
    let obeyed = |c: char| c != '\n' && is_unprintable(c);
    if !text.contains(obeyed) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Quotes a word for a POSIX shell.
pub fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// `1, "core"` gives `core`, `2, "process"` gives `processes`.
pub fn pluralize(n: usize, noun: &str) -> String {
    let suffix = match n {
        1 => "",
        _ if noun.ends_with("ch") || noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{noun}{suffix}")
}

pub fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    let digits = bytes.as_ref().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_means_the_same() {
        let value =
            serde_json::json!({"a\u{9b}": "\u{1b}]0;\u{7f}\u{202e}\u{1ffff} \u{e4} ###[x]"});
        let text = escape_json(serde_json::to_string_pretty(&value).unwrap());
        let obeyed = |c| c != '\n' && is_unprintable(c);
        assert!(!text.contains(obeyed) && !text.contains("##["), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
