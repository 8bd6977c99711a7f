//! Parameters of commands: ranges and lists of values, in all combinations.

use anyhow::{Context, Result, ensure};
use gritstone_model::fill_places;

/// One value for each name.
pub type Values = Vec<(String, String)>;

/// Limit of commands and of combinations: each two sides of a trial are compared.
pub const MAX_COMMANDS: usize = 1000;

/// All combinations of values, in order; a single empty one without parameters.
pub fn combine(all: Vec<(String, Vec<String>)>) -> Result<Vec<Values>> {
    let mut combinations: Vec<Values> = vec![vec![]];
    for (name, values) in all {
        ensure!(
            combinations[0].iter().all(|(known, _)| *known != name),
            "the parameter {name} is there twice"
        );
        let count = combinations.len() * values.len();
        ensure!(
            count <= MAX_COMMANDS,
            "the parameters have {count} combinations, and a test takes {MAX_COMMANDS} commands at most"
        );
        let with = |combination: &Values| {
            let combination = combination.clone();
            let more = |value: &String| {
                [combination.as_slice(), &[(name.clone(), value.clone())]].concat()
            };
            values.iter().map(more).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    Ok(combinations)
}

/// The values of a list; `\,` is a comma in one of them.
pub fn list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\\' if letters.peek() == Some(&',') => {
                letters.next();
                values.last_mut().expect("there is one").push(',');
            }
            ',' => values.push(String::new()),
            c => values.last_mut().expect("there is one").push(c),
        }
    }
    values
}

/// Numbers with as many decimals as the longest of the three.
pub fn range(min: &str, max: &str, step: &str) -> Result<Vec<String>> {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, after)| after.len());
    let places = [min, max, step].map(decimals).into_iter().max().unwrap_or(0);
    ensure!(places <= 18, "a number of --parameter-scan has more than 18 decimals");
    let [from, to, by] = [min, max, step].map(|text| scaled(text, places));
    let (from, to, by) = (from?, to?, by?);
    ensure!(by > 0, "the step of --parameter-scan must be above 0");
    ensure!(from <= to, "the range of --parameter-scan is empty: {min} is above {max}");
    let count = (to - from) / by + 1;
    ensure!(
        count <= MAX_COMMANDS as i128,
        "--parameter-scan has {count} values, and a test takes {MAX_COMMANDS} commands at most"
    );
    let text = |number: i128| {
        let (sign, digits) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, part) = digits.split_at(digits.len() - places);
        match part {
            "" => format!("{sign}{whole}"),
            part => format!("{sign}{whole}.{part}"),
        }
    };
    Ok((0..count).map(|i| text(from + i * by)).collect())
}

/// Fixed-point integer of a decimal number.
fn scaled(text: &str, places: usize) -> Result<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{part:0<places$}");
    let number = digits.parse().ok();
    let plain = part.bytes().all(|b| b.is_ascii_digit());
    number
        .filter(|_| plain)
        .with_context(|| format!("'{text}' is not a number for --parameter-scan"))
}

/// A text with the values in their places.
pub fn fill_in(text: &str, values: &Values) -> String {
    fill_places(text, |name| {
        let value = values.iter().find(|(known, _)| known == name);
        value.map(|(_, value)| value.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_decimals() {
        let cases: [([&str; 3], &[&str]); 5] = [
            (["1", "4", "1"], &["1", "2", "3", "4"]),
            (["0.3", "0.7", "0.2"], &["0.3", "0.5", "0.7"]),
            (["-1", "1", "1"], &["-1", "0", "1"]),
            (["-0.5", "0.5", "0.5"], &["-0.5", "0.0", "0.5"]),
            (["1", "2", "0.75"], &["1.00", "1.75"]),
        ];
        for ([min, max, step], values) in cases {
            assert_eq!(range(min, max, step).unwrap(), values);
        }
        for [min, max, step] in
            [["2", "1", "1"], ["1", "2", "0"], ["a", "2", "1"], ["1", "1001", "1"]]
        {
            assert!(range(min, max, step).is_err(), "{min} {max} {step}");
        }
    }

    #[test]
    fn combinations_have_a_limit() {
        let values = |count: i32| (0..count).map(|value| value.to_string()).collect();
        let combined =
            |one, two| combine(vec![("a".to_owned(), values(one)), ("b".to_owned(), values(two))]);
        assert_eq!(combined(20, 50).unwrap().len(), 1000);
        assert!(combined(20, 51).unwrap_err().to_string().contains("1020 combinations"));
    }

    #[test]
    fn a_comma_can_be_escaped() {
        assert_eq!(list(r"a,b\,c,"), ["a", "b,c", ""]);
    }
}
