//! Sparklines: numbers as block characters of eight heights.

/// Heights, and the character of a missing number.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const NONE: char = '·';
/// Maximum characters; more numbers share them.
const MAX_CHARS: usize = 60;

/// Numbers in order, scaled from their minimum to their maximum.
pub fn line(values: &[Option<f64>]) -> String {
    let known = values.iter().flatten();
    let low = known.clone().fold(f64::INFINITY, |a, b| a.min(*b));
    let high = known.fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    scaled(values, low, high)
}

/// Numbers in order, scaled from `low` to `high`. A shared character shows the greatest of its numbers.
pub fn scaled(values: &[Option<f64>], low: f64, high: f64) -> String {
    let each = values.len().div_ceil(MAX_CHARS).max(1);
    let bar = |values: &[Option<f64>]| {
        let greatest = values.iter().flatten().copied().max_by(f64::total_cmp);
        match greatest {
            None => NONE,
            Some(_) if high <= low => BARS[3],
            Some(x) => BARS[(((x - low) / (high - low) * 7.0).round() as usize).min(7)],
        }
    };
    values.chunks(each).map(bar).collect()
}

/// Histogram with `parts` equal bins between the minimum and the maximum.
pub fn distribution(values: &[f64], parts: usize) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut counts = vec![0_usize; parts];
    for value in values {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        counts[((share * parts as f64) as usize).min(parts - 1)] += 1;
    }
    let max = counts.iter().max().copied().unwrap_or(0);
    // an empty bin differs from a low one
    let counts: Vec<Option<f64>> = counts.iter().map(|&n| (n > 0).then_some(n as f64)).collect();
    scaled(&counts, 0.0, max as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_numbers() {
        assert_eq!(line(&[Some(1.0), None, Some(8.0), Some(4.5)]), "▁·█▅");
        assert_eq!(line(&[Some(2.0), Some(2.0)]), "▄▄");
        assert_eq!(line(&[]), "");
        assert_eq!(distribution(&[1.0, 1.1, 1.2, 5.0], 4), "█··▃");
        let many: Vec<Option<f64>> = (0..200).map(|i| Some(f64::from(i))).collect();
        assert_eq!(line(&many).chars().count(), 50);
    }
}
