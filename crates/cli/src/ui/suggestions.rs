//! Suggestions for words of other programs, which the edit distance of clap misses.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use gritstone_model::is_unprintable;

/// Names of other programs, with ours.
const NAMES: [(&str, &str); 3] =
    [("--no-shell", "-N"), ("--export-md", "--export-markdown"), ("hyperfine", "bench")];
/// Options of `bench` that `ab` lacks.
const BENCH_OPTIONS: [&str; 7] = ["-r", "--runs", "-w", "--warmup", "-m", "--min-runs", "-N"];

/// `command` is the first word of the command line.
pub fn add(error: &mut Error, command: Option<&str>) {
    // clap removes escape sequences
    if let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue)
        && value.contains(is_unprintable)
    {
        let escaped = value.escape_debug().to_string();
        error.insert(ContextKind::InvalidValue, ContextValue::String(escaped));
    }
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => return,
    };
    // clap reports an unknown option as a value
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(word)) = error.get(kind) else {
        return;
    };
    let word = word.clone();
    let ours = NAMES.iter().find(|(theirs, _)| *theirs == word);
    if let Some((_, ours)) = ours {
        let (kind, value) = match kind {
            ContextKind::InvalidArg => {
                (ContextKind::SuggestedArg, ContextValue::String((*ours).to_owned()))
            }
            _ => {
                (ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![(*ours).to_owned()]))
            }
        };
        error.insert(kind, value);
    } else if command == Some("ab") && BENCH_OPTIONS.contains(&word.as_str()) {
        error.remove(ContextKind::SuggestedArg);
        let tip = StyledStr::from(format!("`gritstone bench`, which times commands, has {word}"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn refused(line: &str) -> String {
        let words = line.split(' ');
        let mut error = Cli::try_parse_from(words.clone()).unwrap_err();
        add(&mut error, words.clone().nth(1));
        error.to_string()
    }

    #[test]
    fn refused_values_are_escaped() {
        let text = refused("gritstone run --label \u{1b}[31mx");
        assert_eq!(text.matches(r"'\u{1b}[31mx'").count(), 2, "{text}");
    }

    #[test]
    fn foreign_names_lead_to_ours() {
        for (line, tip) in [
            ("gritstone bench --no-shell true", "'-N'"),
            ("gritstone bench --export-md x true", "'--export-markdown'"),
            ("gritstone hyperfine true", "'bench'"),
            ("gritstone ab --runs 3 -- a -- b", "times commands, has --runs"),
            ("gritstone ab -w 3 -- a -- b", "times commands, has -w"),
            ("gritstone bench -w x true", "a whole number from 0"),
        ] {
            let text = refused(line);
            assert!(text.contains(tip), "{line}: {text}");
        }
    }
}
