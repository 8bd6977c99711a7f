use super::*;
use gritstone_model::Need;
use gritstone_testkit::{sum, workload};
use std::collections::BTreeMap;

pub(crate) fn benchmark(id: &str) -> Benchmark {
    Benchmark {
        title: id.to_owned(),
        work: workload("byte/pipe"),
        ..gritstone_testkit::benchmark(id, "ns/call")
    }
}

pub(crate) fn derived(id: &str, parts: &[&str]) -> Benchmark {
    Benchmark { work: sum(parts.iter().map(|part| (1.0, part))), ..benchmark(id) }
}

fn offer() -> Offer {
    Offer {
        cpu: 3,
        peer: Some(1),
        cpus: vec![3, 1, 0],
        programs: BTreeSet::from(["sort".to_owned()]),
        kernels: BTreeSet::from(["byte/pipe".to_owned()]),
        refused: BTreeMap::new(),
    }
}

fn placed(placement: Placement, offer: &Offer) -> Plan {
    let mut one = benchmark("byte/pipe");
    one.placement = placement;
    steps(vec![one], offer)
}

#[test]
fn unpermitted_steps_are_skipped() {
    let pipe = benchmark("byte/pipe");
    let refused = BTreeMap::from([(pipe.id.clone(), "It is refused.".to_owned())]);
    let plan = steps(vec![pipe], &Offer { refused, ..offer() });
    assert!(plan.steps.is_empty());
    assert_eq!(plan.skips[0].reason, "It is refused.");
}

#[test]
fn placement_gives_the_cpus() {
    assert_eq!(placed(Placement::OneCpu, &offer()).steps[0].cpus, [3]);
    assert_eq!(placed(Placement::Cross, &offer()).steps[0].cpus, [3, 1]);
    assert!(placed(Placement::All, &offer()).steps[0].cpus.is_empty());
}

#[test]
fn copies_need_one_cpu_kernels() {
    let mut cross = benchmark("byte/pipe@cross");
    cross.placement = Placement::Cross;
    let mut all = benchmark("byte/multi");
    all.placement = Placement::All;
    let computed = derived("byte/x", &["byte/pipe"]);
    let mut held = benchmark("byte/held");
    if let Work::Kernel(work) = &mut held.work {
        work.params.insert("memory_pages".to_owned(), "8".to_owned());
    }
    let benchmarks = vec![benchmark("byte/pipe"), cross, all, computed, held];
    let mut plan = steps(benchmarks, &offer());
    assert_eq!(add_copies(&mut plan, &offer(), &[2, 8], |_| true), 1);
    let added: Vec<_> = plan.steps[4..]
        .iter()
        .map(|step| (step.id.as_str(), step.copies, step.cpus.as_slice()))
        .collect();
    assert_eq!(added, [("byte/pipe", 2, &[3, 1][..]), ("byte/pipe", 8, &[3, 1, 0])]);
}

#[test]
fn missing_needs_name_packages() {
    let why = |benchmark: Benchmark, offer: &Offer| {
        let plan = steps(vec![benchmark], offer);
        assert!(plan.steps.is_empty());
        assert_eq!(plan.benchmarks.len(), 1, "it is still shown");
        plan.skips[0].reason.clone()
    };
    let mut needs = benchmark("byte/cc");
    needs.needs = vec![
        Need {
            name: "cc".to_owned(),
            any: vec!["cc".to_owned(), "gcc".to_owned()],
            package: "gcc".to_owned(),
            version: None,
        },
        Need {
            name: "sort".to_owned(),
            any: vec![],
            package: "coreutils".to_owned(),
            version: None,
        },
    ];
    let text = why(needs, &offer());
    assert!(text.contains("one of cc, gcc") && text.contains("apt-get install gcc."), "{text}");

    let mut cross = benchmark("byte/pipe@cross");
    cross.placement = Placement::Cross;
    let alone = Offer { peer: None, ..offer() };
    assert!(why(cross, &alone).contains("two CPUs"));

    let none = Offer { kernels: BTreeSet::new(), ..offer() };
    assert!(why(benchmark("byte/pipe"), &none).contains("not in this binary"));
}

#[test]
fn derived_benchmarks_are_not_launched() {
    let plan = steps(vec![derived("byte/x", &["byte/pipe"])], &offer());
    assert!(plan.steps.is_empty() && plan.skips.is_empty());
    assert_eq!(plan.benchmarks.len(), 1);
}
