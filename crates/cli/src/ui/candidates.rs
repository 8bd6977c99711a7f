//! Candidates of shell completion: benchmarks, runs and systems.

use clap_complete::{ArgValueCandidates, CompletionCandidate};
use gritstone_runs::context::Context;

/// Newest runs that are offered.
const MAX_RUNS: usize = 30;

type Offer = fn(&Context) -> Vec<CompletionCandidate>;

pub fn benchmarks() -> ArgValueCandidates {
    offered(&[benchmark_candidates])
}

pub fn runs() -> ArgValueCandidates {
    offered(&[run_candidates])
}

pub fn runs_and_systems() -> ArgValueCandidates {
    offered(&[run_candidates, system_candidates])
}

/// Runs, systems and benchmarks.
pub fn subjects() -> ArgValueCandidates {
    offered(&[run_candidates, system_candidates, benchmark_candidates])
}

fn offered(all: &'static [Offer]) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let context = Context::new(None);
        all.iter().flat_map(|offer| offer(&context)).collect()
    })
}

fn candidate(word: &str, what: &str) -> CompletionCandidate {
    let what = (!what.is_empty()).then(|| what.to_owned().into());
    CompletionCandidate::new(word).help(what)
}

fn benchmark_candidates(context: &Context) -> Vec<CompletionCandidate> {
    let families = context.catalogue.families.iter();
    let families =
        families.map(|family| candidate(&format!("{}/*", family.name), "all of the family"));
    let all = context.catalogue.benchmarks.iter();
    let all = all.map(|benchmark| candidate(benchmark.id.as_str(), &benchmark.title));
    families.chain(all).collect()
}

/// Labels and identifiers of the newest runs; none if the store cannot be read.
fn run_candidates(context: &Context) -> Vec<CompletionCandidate> {
    let heads =
        context.reader().ok().flatten().and_then(|store| store.newest_runs(None, MAX_RUNS).ok());
    let mut found = vec![candidate("last", "the newest run")];
    for head in heads.unwrap_or_default() {
        let label = head.label.unwrap_or_default();
        if !label.is_empty() {
            found.push(candidate(&label, &head.started));
        }
        found.push(candidate(&head.id, &label));
    }
    found
}

fn system_candidates(context: &Context) -> Vec<CompletionCandidate> {
    let all = context.references.machines.iter();
    all.map(|machine| candidate(&format!("ref:{}", machine.id), &machine.name)).collect()
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::CommandFactory;
    use clap_complete::engine::complete;

    fn offered(line: &str) -> Vec<String> {
        let words: Vec<_> =
            ["gritstone"].into_iter().chain(line.split(' ')).map(Into::into).collect();
        let last = words.len() - 1;
        let all = complete(&mut Cli::command(), words, last, None).unwrap();
        let shown = all.iter().filter(|candidate| !candidate.is_hide_set());
        shown.map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn candidates_match_the_position() {
        for (line, wanted) in [
            ("comp", "compare"),
            ("run byte/s", "byte/sieve"),
            ("run --quick vm/", "vm/*"),
            ("run --bud", "--budget"),
            ("run --st", "--store"),
            ("show ref:vax", "ref:vax-11-780-4.1bsd"),
            ("compare last ref:vax", "ref:vax-11-780-4.1bsd"),
            ("show --format j", "json"),
            ("show --format=j", "--format=json"),
            ("history by", "byte/sieve"),
            ("show la", "last"),
            ("show last byte/si", "byte/sieve"),
        ] {
            let offered = offered(line);
            assert!(offered.iter().any(|word| word == wanted), "{line}: {offered:?}");
        }
        assert!(offered("run --label b").is_empty());
        assert!(!offered("").iter().any(|name| name.starts_with("__")));
    }
}
