//! Parser of single lines.

use gritstone_model::{
    Batch, Check, Counter, Counts, Event, Histogram, Param, ResponsesOf, Sample, Usage,
};

/// Parses a line without its end.
pub(crate) fn parse(text: &str) -> Result<Event, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut keys = Keys { rest };
    let event = match word {
        "hello" => Event::Hello {
            protocol: keys.number("protocol")?,
            kernel: keys.word("kernel")?.to_owned(),
        },
        "param" => Event::Param(Param::new(keys.word("key")?, keys.text("value")?)),
        "warm" => Event::Warm { n: keys.number("n")?, wall: keys.number("wall")? },
        "sample" => Event::Sample(Box::new(Sample {
            n: keys.number("n")?,
            wall: keys.number("wall")?,
            cycle_probe: keys.number("pace")?,
            smt_probe: keys.number("wide")?,
            usage: usage(&mut keys)?,
        })),
        "batch" => Event::Batch(Box::new(Batch {
            n: keys.number("n")?,
            cycle_probe: keys.number("pace")?,
            smt_probe: keys.number("wide")?,
            usage: usage(&mut keys)?,
            walls: keys.list("walls", |item| item.parse().ok())?,
        })),
        "latency" => latency(&mut keys)?,
        "counters" => Event::Counters { n: keys.number("n")?, counts: keys.counts()? },
        "check" => Event::Check(Check {
            n: keys.number("n")?,
            got: keys.number("got")?,
            expected: keys.number("expected")?,
        }),
        "skip" => Event::Skip { why: keys.text("why")? },
        "fail" => Event::Fail {
            errno: keys.number("errno")?,
            call: keys.word("call")?.to_owned(),
            why: keys.text("why")?,
        },
        "bye" => Event::Bye,
        other => return Err(format!("unknown word '{}'", shorten(other))),
    };
    match keys.rest {
        "" => sound(event),
        more => Err(format!("unexpected '{}'", shorten(more))),
    }
}

/// Rejects what no workload can truthfully report.
fn sound(event: Event) -> Result<Event, String> {
    let unsound = |why: &str| Err(why.to_owned());
    match &event {
        Event::Sample(sample) if sample.n == 0 => unsound("n=0: no operation was timed"),
        Event::Sample(sample) if sample.wall == 0 => unsound("wall=0: zero is not a result"),
        Event::Batch(batch) if batch.n == 0 => unsound("n=0: no operation was timed"),
        Event::Counters { n: 0, .. } => unsound("n=0: no operation was counted"),
        Event::Batch(batch) if batch.walls.contains(&0) => {
            unsound("a batch that took no time: zero is not a result")
        }
        _ => Ok(event),
    }
}

fn usage(keys: &mut Keys) -> Result<Usage, String> {
    Ok(Usage {
        user: keys.number("user")?,
        system: keys.number("system")?,
        cpu: keys.number("cpu")?,
        vcsw: keys.number("vcsw")?,
        icsw: keys.number("icsw")?,
        minflt: keys.number("minflt")?,
        majflt: keys.number("majflt")?,
        inblock: keys.number("inblock")?,
        oublock: keys.number("oublock")?,
        migrations: keys.number("migrations")?,
    })
}

fn latency(keys: &mut Keys) -> Result<Event, String> {
    let responses = match keys.rest.starts_with("users=") {
        true => Some(Box::new(ResponsesOf {
            users: keys.number("users")?,
            kind: keys.word("kind")?.to_owned(),
        })),
        false => None,
    };
    let histogram = Histogram {
        of: responses,
        count: keys.number("count")?,
        min: keys.number("min")?,
        max: keys.number("max")?,
        sum: keys.number("sum")?,
        buckets: keys.list("buckets", |item| {
            let (bucket, events) = item.split_once(':')?;
            Some((bucket.parse().ok()?, events.parse().ok()?))
        })?,
    };
    let ascending = histogram.buckets.windows(2).all(|w| w[0].0 < w[1].0);
    let events =
        histogram.buckets.iter().try_fold(0_u64, |sum, &(_, events)| sum.checked_add(events));
    if !ascending || events != Some(histogram.count) || histogram.min > histogram.max {
        return Err("the histogram does not add up to its count".to_owned());
    }
    Ok(Event::Latency(Box::new(histogram)))
}

/// The remaining `key=value` pairs.
struct Keys<'a> {
    rest: &'a str,
}

impl<'a> Keys<'a> {
    /// The value of the next key, which must be `key`.
    fn word(&mut self, key: &str) -> Result<&'a str, String> {
        let value = self.after(key)?;
        let (value, rest) = value.split_once(' ').unwrap_or((value, ""));
        if value.is_empty() {
            return Err(format!("{key}= is empty"));
        }
        self.rest = rest;
        Ok(value)
    }

    fn number<T: std::str::FromStr>(&mut self, key: &str) -> Result<T, String> {
        let value = self.word(key)?;
        value.parse().map_err(|_| format!("{key}={} is not a number that fits", shorten(value)))
    }

    fn list<T>(&mut self, key: &str, item: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
        let value = self.word(key)?;
        value
            .split(',')
            .map(|text| item(text).ok_or_else(|| format!("'{}' in {key}=", shorten(text))))
            .collect()
    }

    /// The present counters, in order, to the end of the line.
    fn counts(&mut self) -> Result<Counts<u64>, String> {
        let mut counts = Counts::new();
        for counter in Counter::ALL {
            if self.after(counter.as_str()).is_ok() {
                counts.insert(counter, self.number(counter.as_str())?);
            }
        }
        Ok(counts)
    }

    /// The unescaped rest of the line.
    fn text(&mut self, key: &str) -> Result<String, String> {
        let value = self.after(key)?;
        self.rest = "";
        unescape(value)
    }

    fn after(&mut self, key: &str) -> Result<&'a str, String> {
        self.rest
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix('='))
            .ok_or_else(|| format!("{key}= is missing before '{}'", shorten(self.rest)))
    }
}

/// `\xHH` is a control character or a backslash.
fn unescape(text: &str) -> Result<String, String> {
    let mut parts = text.split('\\');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let code = part
            .strip_prefix('x')
            .and_then(|rest| rest.get(..2))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            .filter(u8::is_ascii)
            .ok_or_else(|| "a backslash that is not \\xHH".to_owned())?;
        out.push(char::from(code));
        out.push_str(&part[3..]);
    }
    Ok(out)
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
