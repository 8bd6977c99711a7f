//! Parameters of requests, parsed by the list of their route; errors name the parameter.

use jiff::civil::Date;
use percent_encoding::percent_decode_str;

/// A parameter of a route.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
}

/// Type of a parameter. Query parameters are optional, except [`Kind::Needed`] and [`Kind::Several`].
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A part of the path.
    Path,
    /// At most this number of characters.
    Text(usize),
    /// A required text.
    Needed,
    /// A year, month or day: 2026-11.
    Date,
    Number {
        min: u32,
        max: u32,
        otherwise: u32,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// From one to this number of texts.
    Several(usize),
}

/// Parameters of a request, as declared by its route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(Vec<(&'static str, String)>);

impl Params {
    /// Parses the parts of a path, which are decoded, and a query, which is not. Undeclared parameters are ignored.
    ///
    /// # Errors
    /// Names the invalid parameter and the valid values.
    pub fn parse<'a>(
        declared: &'static [Parameter],
        path: impl Iterator<Item = (&'a str, &'a str)>,
        query: &str,
    ) -> Result<Self, String> {
        let path: Vec<(&str, &str)> = path.collect();
        let query = pairs(query)?;
        let mut params = Self::default();
        for parameter in declared {
            let name = parameter.name;
            let given: Vec<&str> = match parameter.kind {
                Kind::Path => values_named(path.iter().copied(), name).collect(),
                // forms send fields without a choice as empty
                _ => values_named(query.iter().map(|(n, v)| (&**n, &**v)), name)
                    .filter(|value| !value.is_empty())
                    .collect(),
            };
            if given.iter().any(|value| value.contains(char::is_control)) {
                return Err(format!("{name} has a control character."));
            }
            params.add(parameter, &given)?;
        }
        Ok(params)
    }

    fn add(&mut self, parameter: &Parameter, given: &[&str]) -> Result<(), String> {
        let name = parameter.name;
        let first = given.first().copied().unwrap_or_default();
        let wrong = |what: &str| Err(format!("{name} must be {what}, not '{first}'."));
        match parameter.kind {
            Kind::Path | Kind::Needed if first.is_empty() => {
                return Err(format!("{name} is missing."));
            }
            Kind::Text(max) if first.chars().count() > max => {
                return Err(format!("{name} has more than {max} characters."));
            }
            Kind::Date if !is_date(first) => {
                return wrong("a year, a month or a day, such as 2026-11");
            }
            Kind::Word(words) if !first.is_empty() && !words.contains(&first) => {
                return wrong(&format!("one of {}", words.join(", ")));
            }
            Kind::Number { min, max, otherwise } => {
                let number = match first {
                    "" => Some(otherwise),
                    text => text.parse().ok().filter(|n| (min..=max).contains(n)),
                };
                let Some(number) = number else {
                    return wrong(&format!("a whole number from {min} to {max}"));
                };
                self.0.push((name, number.to_string()));
            }
            Kind::Several(max) if !(1..=max).contains(&given.len()) => {
                let count = given.len();
                return Err(format!("{name} must be given 1 to {max} times, not {count}."));
            }
            Kind::Several(_) => {
                self.0.extend(given.iter().map(|value| (name, (*value).to_owned())));
            }
            Kind::Path | Kind::Text(_) | Kind::Needed | Kind::Date | Kind::Word(_) => {
                self.0.push((name, first.to_owned()));
            }
        }
        Ok(())
    }

    /// The text of a parameter; empty if absent.
    pub fn text(&self, name: &str) -> &str {
        self.texts(name).next().unwrap_or_default()
    }

    /// All texts of a parameter.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(known, _)| *known == name);
        named.map(|(_, text)| text.as_str())
    }

    /// The number of a parameter, or its default.
    pub fn number(&self, name: &str) -> u32 {
        self.text(name).parse().unwrap_or_default()
    }
}

fn values_named<'a>(
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
    name: &str,
) -> impl Iterator<Item = &'a str> {
    pairs.filter(move |(known, _)| *known == name).map(|(_, value)| value)
}

/// Whether it is a year, a month, a day, or empty.
fn is_date(text: &str) -> bool {
    [0, 4, 7, 10].contains(&text.len())
        && format!("{text}{}", &"2000-01-01"[text.len()..]).parse::<Date>().is_ok()
}

/// Decodes the names and values of a query as forms encode them.
fn pairs(query: &str) -> Result<Vec<(String, String)>, String> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        let text = percent_decode_str(&text).decode_utf8();
        text.map(|text| text.into_owned()).map_err(|_| "The query is not UTF-8.".to_owned())
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn parameter(name: &'static str, kind: Kind) -> Parameter {
        Parameter { name, kind, about: "" }
    }

    const DECLARED: &[Parameter] = &[
        parameter("id", Kind::Path),
        parameter("q", Kind::Text(5)),
        parameter("from", Kind::Date),
        parameter("runs", Kind::Number { min: 1, max: 1000, otherwise: 100 }),
        parameter("verdict", Kind::Word(&["slower", "faster"])),
    ];
    const SIDES: &[Parameter] =
        &[parameter("base", Kind::Needed), parameter("run", Kind::Several(2))];

    fn parse(query: &str) -> Result<Params, String> {
        Params::parse(DECLARED, [("id", "a b")].into_iter(), query)
    }

    #[test]
    fn parameters_that_fit_are_parsed() {
        let params = parse("q=%2B+x&from=2026-11&runs=7&verdict=slower&other=1").unwrap();
        assert_eq!(params.text("id"), "a b");
        assert_eq!(params.text("q"), "+ x");
        assert_eq!(params.text("from"), "2026-11");
        assert_eq!(params.number("runs"), 7);
        assert_eq!(params.text("verdict"), "slower");
        let params = parse("runs=&q=").unwrap();
        assert_eq!((params.number("runs"), params.text("q")), (100, ""));
        let sides = Params::parse(SIDES, std::iter::empty(), "base=a&run=b&run=&run=c").unwrap();
        assert_eq!(sides.texts("run").collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn refusals_name_the_parameter() {
        for (query, why) in [
            ("q=123456", "q has more than 5 characters."),
            ("q=%1b", "q has a control character."),
            ("q=%ff", "The query is not UTF-8."),
            ("from=x", "from must be a year, a month or a day, such as 2026-11, not 'x'."),
            ("runs=0", "runs must be a whole number from 1 to 1000, not '0'."),
            ("runs=x", "runs must be a whole number from 1 to 1000, not 'x'."),
            ("verdict=x", "verdict must be one of slower, faster, not 'x'."),
        ] {
            assert_eq!(parse(query).unwrap_err(), why, "{query}");
        }
        for date in
            ["20261", "2026-1", "2026-13", "2026-99-99", "2026-02-30", "-----", "2026-11-251"]
        {
            let why = parse(&format!("from={date}")).unwrap_err();
            assert!(why.starts_with("from must be a year"), "{date}: {why}");
        }
        for date in ["2026", "2026-11", "2026-11-25"] {
            assert_eq!(parse(&format!("from={date}")).unwrap().text("from"), date);
        }
        for (query, why) in [
            ("run=a", "base is missing."),
            ("base=a&run=", "run must be given 1 to 2 times, not 0."),
            ("base=a&run=1&run=2&run=3", "run must be given 1 to 2 times, not 3."),
        ] {
            let refused = Params::parse(SIDES, std::iter::empty(), query);
            assert_eq!(refused.unwrap_err(), why, "{query}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_queries_never_panic(query in "((q|from|runs|verdict|[a-z]{1,8})=?(%|[ -~]|\\PC){0,20}&?){0,6}") {
            if let Ok(params) = parse(&query) {
                prop_assert!(params.text("q").chars().count() <= 5);
                prop_assert!((1..=1000).contains(&params.number("runs")));
            }
        }
    }
}
