//! Parsers of times, ages, labels, shares and pairs.

use clap::builder::{
    IntoResettable, PossibleValue, PossibleValuesParser, StyledStr, TypedValueParser,
};
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp, Unit};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// `90s`, `10m`, `1h`, `1.5m`; a bare number is seconds.
///
/// # Errors
/// When the text is none of these, or the time is not positive.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().or_else(|_| {
        let time: SignedDuration = text.parse()?;
        Ok::<_, jiff::Error>(time.as_secs_f64())
    });
    match seconds {
        Ok(s) if s > 0.0 && s < 1e7 => Ok(Duration::from_secs_f64(s)),
        _ => {
            Err("a time is a positive number, of seconds or with a unit, such as 50ms, 90s or 10m"
                .to_owned())
        }
    }
}

/// `90d`, `12w`, `36h`: how long ago; a day has 24 hours.
///
/// # Errors
/// When the text is none of these, or the time is not positive.
pub fn age(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse::<Span>()
        .and_then(|span| span.total((Unit::Second, SpanRelativeTo::days_are_24_hours())));
    match seconds {
        Ok(s) if s > 0.0 => Ok(Duration::from_secs_f64(s)),
        _ => Err("an age is a positive number with a unit, such as 90d, 12w or 36h".to_owned()),
    }
}

/// `2026-11-20`, `2026-11-20T09:30:12`, `2026-11-20T09:30:12+02:00`: without a time zone, UTC.
///
/// # Errors
/// When the text is none of these.
pub fn time(text: &str) -> Result<Timestamp, String> {
    let time = gritstone_exchange::parse_time(text);
    time.ok_or_else(|| "a time is 2026-11-20 or 2026-11-20T09:30:12Z".to_owned())
}

/// A label that a run may have.
///
/// # Errors
/// When no run may have it.
pub fn label(text: &str) -> Result<String, String> {
    gritstone_model::check_label(text)?;
    Ok(text.to_owned())
}

/// Parses a value by its name; each value has a help text.
pub fn named<T: Copy + Send + Sync + 'static>(
    name: fn(T) -> &'static str,
    all: impl IntoIterator<Item = (T, impl IntoResettable<StyledStr>)>,
) -> impl TypedValueParser<Value = T> {
    let named = |(value, help)| (value, PossibleValue::new(name(value)).help(help));
    let (values, possible): (Vec<T>, Vec<PossibleValue>) = all.into_iter().map(named).unzip();
    PossibleValuesParser::new(possible).map(move |text| {
        let found = values.iter().copied().find(|value| name(*value) == text);
        found.expect("clap accepts possible values only")
    })
}

/// `NAME=VALUE`.
///
/// # Errors
/// When there is no name, or no value.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a name and a value are expected, as NAME=VALUE".to_owned()),
    }
}

/// A whole number in a range.
pub fn whole<T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (min, max) = (range.start(), range.end());
            format!("a whole number from {min} to {max} is expected")
        })
    }
}

/// `1%`, `0.5%`, or `0.01`.
///
/// # Errors
/// When the text is neither, or not above 0 and below 1.
pub fn share(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(number) => number.trim().parse::<f64>().map(|n| n / 100.0),
        None => text.parse::<f64>(),
    };
    match value {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("a share is a percentage above 0% and below 100%, such as 1% or 0.5%".to_owned()),
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "m", "-1s", "0s", "10x", "1e99h", "nan", "inf"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pairs() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        for bad in ["tty", "=x", ""] {
            assert!(pair(bad).unwrap_err().contains("NAME=VALUE"), "{bad}");
        }
    }

    #[test]
    fn whole_numbers() {
        let parse = whole(1..=256_u32);
        assert_eq!((parse("1"), parse("256")), (Ok(1), Ok(256)));
        for bad in ["", "0", "257", "-1", "1.5", "x"] {
            let error = parse(bad).unwrap_err();
            assert_eq!(error, "a whole number from 1 to 256 is expected", "{bad}");
        }
    }

    #[test]
    fn shares() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.5"), Ok(0.5));
        for bad in ["", "%", "0%", "100%", "-1%", "nan", "five"] {
            assert!(share(bad).unwrap_err().contains("below 100%"), "{bad}");
        }
    }
}
