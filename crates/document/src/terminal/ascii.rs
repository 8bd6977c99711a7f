//! ASCII replacements.

/// Replaces non-ASCII characters; `?` without a replacement.
pub fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push_str(match c {
            c if c.is_ascii() => {
                out.push(c);
                continue;
            }
            'µ' | 'μ' => "u",
            '±' => "+-",
            '×' => "x",
            '÷' => "/",
            '–' | '—' | '−' => "-",
            '…' => "..",
            '≠' => "#",
            '≥' => ">=",
            '≤' => "<=",
            '→' => "->",
            '▁' => "_",
            '▂' => ".",
            '▃' => ":",
            '▄' => "-",
            '▅' => "=",
            '▆' => "+",
            '▇' => "*",
            '█' => "#",
            '·' => ".",
            _ => "?",
        });
    }
    out
}
