//! The kernel's running counters, read from bytes without allocating, so that reading them costs little and always
//! the same.

pub(crate) mod pressure;
pub(crate) mod schedstat;
pub(crate) mod stat;
pub(crate) mod usage;

/// A decimal number and nothing else.
pub(crate) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |sum, &digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Words between blanks and line ends.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// Whole lines; a last one that was cut off is left out, since its last number may be cut too.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = text.iter().rposition(|&c| c == b'\n').unwrap_or(0);
    text[..whole].split(|&c| c == b'\n')
}

/// The number after `key` at the start of a line, as in cpu.stat and memory.events.
pub(crate) fn keyed(text: &[u8], key: &[u8]) -> Option<u64> {
    lines(text).find_map(|line| {
        let mut words = words(line);
        (words.next()? == key).then(|| number(words.next()?))?
    })
}

/// Sums what `each` says of the CPUs in `cpus`, each of which must be met exactly once; all that are met where
/// `cpus` is empty.
pub(crate) fn sum<const N: usize>(
    met: impl Iterator<Item = (u32, [u64; N])>,
    cpus: &[u32],
) -> Option<[u64; N]> {
    let mut total = [0_u64; N];
    let mut count = 0;
    for (cpu, values) in met {
        if cpus.is_empty() || cpus.contains(&cpu) {
            count += 1;
            for (sum, value) in total.iter_mut().zip(values) {
                *sum = sum.checked_add(value)?;
            }
        }
    }
    let complete = if cpus.is_empty() {
        count > 0
    } else {
        count == cpus.len()
    };
    complete.then_some(total)
}

/// `cpu17` is 17.
pub(crate) fn cpu_name(word: &[u8]) -> Option<u32> {
    number(word.strip_prefix(b"cpu")?).and_then(|cpu| u32::try_from(cpu).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(number(b"0042"), Some(42));
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for bad in [&b""[..], b"18446744073709551616", b"-1", b"1.5", b"x"] {
            assert_eq!(number(bad), None);
        }
    }

    #[test]
    fn keys_are_whole_words_of_whole_lines() {
        let text = b"usage_usec 5\nthrottled_usec 1234\nempty\nthrottled_us";
        assert_eq!(keyed(text, b"throttled_usec"), Some(1234));
        assert_eq!(keyed(text, b"throttled_us"), None);
        assert_eq!(keyed(text, b"empty"), None);
    }

    #[test]
    fn sums_need_every_cpu() {
        let met = || [(0, [1, 10]), (1, [2, 20]), (7, [4, 40])].into_iter();
        assert_eq!(sum(met(), &[1, 7]), Some([6, 60]));
        assert_eq!(sum(met(), &[]), Some([7, 70]));
        assert_eq!(sum(met(), &[1, 2]), None);
        assert_eq!(sum([(0, [u64::MAX]), (1, [1])].into_iter(), &[]), None);
    }
}
