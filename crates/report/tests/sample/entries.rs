//! Entries for the made-up run.

use super::machines::id;
use gritstone_model::{
    Benchmark, Claims, Curve, KernelWork, Measurement, Need, PublishedWork, RunView, Source, Work,
};

/// An entry for each result of a run; the multitasking rows end in a curve.
pub fn benchmarks(run: &RunView) -> Vec<Benchmark> {
    run.results.iter().map(entry).collect()
}

fn entry(result: &Measurement) -> Benchmark {
    let name = result.id.as_str();
    let level = result.id.variant().and_then(|variant| variant.strip_prefix("level-"));
    let load = vec!["load/x".to_owned(); level.map_or(0, |n| n.parse().unwrap())];
    let curve = name.strip_prefix("byte/multi/6").map(|variant| Curve {
        label: "number of background processes".to_owned(),
        points: (1..=6).map(|n| (f64::from(n), id(&format!("byte/multi/{n}{variant}")))).collect(),
        caches: false,
        scaling: false,
        longest: false,
    });
    Benchmark { title: result.title.clone(), operation: "one piece of the work of the listing, counted as the listing counts it".to_owned(), why: "Programs do this all the time, and how long it takes says much about the system underneath.".to_owned(), sources: vec![Source { document: "byte-1984".to_owned(), place: "listing 1, table 1".to_owned() }], better: result.better, published: result.published.as_ref().map(|p| PublishedWork { work: p.work.clone(), operations: 1, figure: p.figure }), claims: Claims { check: true, linear: true, syscalls_per_op: Some(1.0), min_ns_per_op: Some(0.2), ..Claims::default() }, needs: if name == "byte/cc" { vec![Need { name: "cc".to_owned(), any: vec![], package: "gcc".to_owned(), version: None }] } else { vec![] }, curve, ..Benchmark::new(result.id.clone(), result.unit.clone(), Work::Kernel(KernelWork { program: name.split('@').next().unwrap().to_owned(), params: Default::default(), uses: load })) }
}
