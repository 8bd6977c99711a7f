//! Code spans in prose: text between two backticks.

/// The pieces of a text, each with whether it is code; an unpaired backtick is literal.
pub fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let paired = text.matches('`').count().is_multiple_of(2);
    let most = if paired { usize::MAX } else { 1 };
    let pieces = text.splitn(most, '`').enumerate();
    pieces.map(|(index, piece)| (index % 2 == 1, piece))
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn paired_backticks_mark_code() {
        let all = |text| pieces(text).collect::<Vec<_>>();
        let wanted = [(false, "say "), (true, "a b"), (false, ", and")];
        assert_eq!(all("say `a b`, and"), wanted);
        assert_eq!(all("one ` alone"), [(false, "one ` alone")]);
        assert_eq!(all(""), [(false, "")]);
    }
}
