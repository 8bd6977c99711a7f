//! The command that repeats a run.

use gritstone_document::number;
use gritstone_model::{Settings, quote_word};

/// The command that repeats a run, with at most `max` selectors; for a side of a trial, the one that shows the trial.
pub(super) fn command(run: &str, settings: &Settings, max: usize) -> String {
    if settings.trial.is_some() {
        return format!("one side of a trial: `gritstone ab --of {run}`");
    }
    let mut words = vec!["gritstone run".to_owned()];
    let selectors = settings.selectors.iter();
    words.extend(selectors.take(max).map(|selector| quoted(selector)));
    match settings.selectors.len().saturating_sub(max) {
        0 => {}
        more => words.push(format!("... ({more} more)")),
    }
    words.extend(options(settings));
    format!("`{}`", words.join(" "))
}

/// Options that determine the measurement, in the order of the help; without directories, which identify the user.
fn options(settings: &Settings) -> impl Iterator<Item = String> {
    let compilers = settings.compilers.clone().unwrap_or_default();
    let switch = |name: &str, given: bool| given.then(|| format!("--{name}"));
    let option = |name: &str, value: Option<String>| {
        value.map(|value| format!("--{name} {}", quoted(&value)))
    };
    let copies: Vec<String> = settings.copies.iter().map(u32::to_string).collect();
    let list = |words: &[String]| (!words.is_empty()).then(|| words.join(","));
    let params = settings.params.iter();
    let params =
        params.map(|(key, value)| format!("--param {}", quoted(&format!("{key}={value}"))));
    let before = [
        option("suite", settings.suite.clone()),
        switch("quick", settings.quick),
        option("budget", settings.budget_s.map(|budget| format!("{budget}s"))),
        option("precision", Some(number::percent_option(settings.precision))),
        switch("reference", settings.reference),
        option("copies", list(&copies)),
    ];
    let after = [
        option("cc", compilers.cc),
        option("cflags", compilers.cflags),
        option("fc", compilers.fc),
        option("fflags", compilers.fflags),
        switch("tune", !settings.tuned.is_empty()),
        option("allow", list(&settings.allow)),
        option("peer", settings.peer.as_ref().map(|peer| peer.host.clone())),
        switch("no-privileged", settings.no_privileged),
    ];
    let before: Vec<String> = before.into_iter().flatten().chain(params).collect();
    before.into_iter().chain(after.into_iter().flatten())
}

/// Quoted for a shell where needed.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/@.,:=%_+-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => quote_word(word),
    }
}
