//! What can run here, where it is placed, and why the rest cannot.
//!
//! Must not know: how the host was asked.

use gritstone_model::{Benchmark, Id, Placement, Plan, Skip, Step, Work};
use std::collections::{BTreeMap, BTreeSet};

/// What the host offers, as far as a plan needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The CPU on which rows are measured.
    pub cpu: u32,
    /// Another one, for rows across two CPUs.
    pub peer: Option<u32>,
    /// All of them, in the order in which copies take them.
    pub cpus: Vec<u32>,
    /// Names of needs for which a program was found.
    pub programs: BTreeSet<String>,
    /// Names of the kernels in this binary.
    pub kernels: BTreeSet<String>,
    /// Benchmarks that the user does not permit, with the reason.
    pub refused: BTreeMap<Id, String>,
}

/// One step for each benchmark that is launched, one skip for each that cannot be.
#[must_use]
pub fn steps(benchmarks: Vec<Benchmark>, offer: &Offer) -> Plan {
    let mut plan = Plan::default();
    for benchmark in &benchmarks {
        if let Some(why) = why_not(benchmark, offer) {
            plan.skips.push(Skip {
                id: benchmark.id.clone(),
                reason: why,
            });
            continue;
        }
        if matches!(benchmark.work, Work::Derived { .. } | Work::Rating { .. }) {
            continue;
        }
        let cpus = match benchmark.placement {
            Placement::OneCpu => vec![offer.cpu],
            Placement::Cross => [offer.cpu].into_iter().chain(offer.peer).collect(),
            Placement::All => vec![],
        };
        plan.steps.push(Step {
            id: benchmark.id.clone(),
            cpus,
            copies: 1,
        });
    }
    plan.benchmarks = benchmarks;
    plan
}

/// Adds the same rows as so many copies at once, those of them that can be. Returns how many rows are left out.
pub fn add_copies(plan: &mut Plan, offer: &Offer, copies: &[u32]) -> usize {
    let rows: Vec<Id> = plan
        .steps
        .iter()
        .filter(|step| {
            plan.benchmarks
                .iter()
                .any(|row| row.id == step.id && row.can_be_copied())
        })
        .map(|step| step.id.clone())
        .collect();
    for id in &rows {
        plan.steps.extend(copies.iter().map(|&copies| Step {
            id: id.clone(),
            cpus: offer.cpus.iter().copied().take(copies as usize).collect(),
            copies,
        }));
    }
    plan.benchmarks.len() - rows.len()
}

/// The first reason for which a benchmark cannot run here, with what mends it.
#[must_use]
pub fn why_not(benchmark: &Benchmark, offer: &Offer) -> Option<String> {
    if let Some(why) = offer.refused.get(&benchmark.id) {
        return Some(why.clone());
    }
    let mut missing: Vec<String> = vec![];
    let mut packages: Vec<&str> = vec![];
    for need in &benchmark.needs {
        if !offer.programs.contains(&need.name) {
            missing.push(if need.any.is_empty() {
                need.name.clone()
            } else {
                format!("one of {}", need.any.join(", "))
            });
            if !packages.contains(&need.package.as_str()) {
                packages.push(&need.package);
            }
        }
    }
    if !missing.is_empty() {
        return Some(format!(
            "It needs {}, which is not on PATH: apt-get install {}.",
            missing.join(" and "),
            packages.join(" ")
        ));
    }
    if benchmark.placement == Placement::Cross && offer.peer.is_none() {
        return Some(
            "It needs two CPUs, and this process may use only one: start it where more are allowed."
                .to_owned(),
        );
    }
    let Work::Kernel(work) = &benchmark.work else {
        return None;
    };
    let mut programs = [&work.program].into_iter().chain(&work.uses);
    let missing = programs.find(|program| !offer.kernels.contains(*program))?;
    Some(format!(
        "The program {missing} is not in this binary, which was built without a compiler for it: apt-get install gcc gfortran, and build Gritstone again."
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use gritstone_model::{KernelWork, Need, Term, Unit};
    use std::collections::BTreeMap;

    pub(crate) fn benchmark(id: &str) -> Benchmark {
        Benchmark {
            title: id.to_owned(),
            ..Benchmark::new(
                Id::parse(id).unwrap(),
                Unit::parse("ns/call").unwrap(),
                Work::Kernel(KernelWork {
                    program: "byte/pipe".to_owned(),
                    params: BTreeMap::new(),
                    uses: vec![],
                }),
            )
        }
    }

    pub(crate) fn derived(id: &str, of: &[&str]) -> Benchmark {
        let terms = of
            .iter()
            .map(|id| Term {
                id: Id::parse(id).unwrap(),
                times: 1.0,
            })
            .collect();
        Benchmark {
            work: Work::Derived {
                terms,
                share_of: None,
            },
            ..benchmark(id)
        }
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
    fn what_is_not_permitted_is_skipped_with_the_reason() {
        let row = benchmark("byte/pipe");
        let refused = BTreeMap::from([(row.id.clone(), "It is refused.".to_owned())]);
        let plan = steps(vec![row], &Offer { refused, ..offer() });
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
    fn copies_are_of_kernels_on_one_cpu() {
        let mut cross = benchmark("byte/pipe@cross");
        cross.placement = Placement::Cross;
        let mut all = benchmark("byte/multi");
        all.placement = Placement::All;
        let made = derived("byte/x", &["byte/pipe"]);
        let mut held = benchmark("byte/held");
        if let Work::Kernel(work) = &mut held.work {
            work.params
                .insert("memory_pages".to_owned(), "8".to_owned());
        }
        let rows = vec![benchmark("byte/pipe"), cross, all, made, held];
        let mut plan = steps(rows, &offer());
        assert_eq!(add_copies(&mut plan, &offer(), &[2, 8]), 4);
        let added: Vec<_> = plan.steps[4..]
            .iter()
            .map(|step| (step.id.as_str(), step.copies, step.cpus.as_slice()))
            .collect();
        assert_eq!(
            added,
            [("byte/pipe", 2, &[3, 1][..]), ("byte/pipe", 8, &[3, 1, 0])]
        );
    }

    #[test]
    fn what_is_missing_is_named_with_what_mends_it() {
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
            },
            Need {
                name: "sort".to_owned(),
                any: vec![],
                package: "coreutils".to_owned(),
            },
        ];
        let text = why(needs, &offer());
        assert!(
            text.contains("one of cc, gcc") && text.contains("apt-get install gcc."),
            "{text}"
        );

        let mut cross = benchmark("byte/pipe@cross");
        cross.placement = Placement::Cross;
        let alone = Offer {
            peer: None,
            ..offer()
        };
        assert!(why(cross, &alone).contains("two CPUs"));

        let none = Offer {
            kernels: BTreeSet::new(),
            ..offer()
        };
        assert!(why(benchmark("byte/pipe"), &none).contains("not in this binary"));
    }

    #[test]
    fn derived_rows_are_shown_but_not_launched() {
        let plan = steps(vec![derived("byte/x", &["byte/pipe"])], &offer());
        assert!(plan.steps.is_empty() && plan.skips.is_empty());
        assert_eq!(plan.benchmarks.len(), 1);
    }
}
