//! Numbers as the sentences of footnotes say them.
//!
//! Must not know: what is measured.

/// A number with three significant digits, without an exponent where a person would write none.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !size.is_finite() || !(1e-4..1e7).contains(&size) {
        format!("{x:.2e}")
    } else if size >= 100.0 {
        format!("{x:.0}")
    } else {
        // digits after the point so that three remain: 2 for 1.23, 5 for 0.00123
        let places = (2 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.places$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    }
}

/// A share as percent: 0.1234 is "12.3 %".
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// "1 launch", "3 launches": the plural ends in `s`, or in `es` after `ch`.
pub(crate) fn count(n: usize, thing: &str) -> String {
    match (n, thing.ends_with("ch")) {
        (1, _) => format!("1 {thing}"),
        (_, true) => format!("{n} {thing}es"),
        (_, false) => format!("{n} {thing}s"),
    }
}

/// "3 of 8 launches".
pub(crate) fn of(part: usize, whole: usize, thing: &str) -> String {
    format!("{part} of {}", count(whole, thing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (1.2345, "1.23"),
            (12.345, "12.3"),
            (123.45, "123"),
            (123_456.0, "123456"),
            (0.001_234, "0.00123"),
            (-0.5, "-0.5"),
            (1e9, "1.00e9"),
            (1e-7, "1.00e-7"),
        ] {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn shares_and_counts() {
        assert_eq!(percent(0.1234), "12.3 %");
        assert_eq!(percent(1.5), "150 %");
        assert_eq!(count(1, "launch"), "1 launch");
        assert_eq!(of(3, 8, "launch"), "3 of 8 launches");
        assert_eq!(of(0, 1, "round"), "0 of 1 round");
    }
}
