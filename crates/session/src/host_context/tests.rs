//! Where benchmarks are placed on machines of other kinds than this one: with one CPU, with hundreds, with some switched off, in part of
//! one, in a container that hides what it can.

#[path = "../../../host/src/tests/tree.rs"]
mod machines;

use super::*;
use gritstone_model::{Placement, Plan};
use gritstone_plan::{add_copies, steps};
use machines::{Tree, large};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

/// Every machine that is recorded or made up, by name.
fn sites() -> Vec<(&'static str, HostContext)> {
    let mut sparse = large(300, "0-299");
    sparse.syscall_results.allowed = Some((0..150).map(|n| 2 * n).collect());
    let mut nothing = Tree::new();
    nothing.syscall_results.allowed = gritstone_model::CpuSet::parse("0-1");
    let mut trees = vec![
        ("300 CPUs", large(300, "0-299")),
        ("300 CPUs, ten offline", large(300, "0-249,260-299")),
        ("every other of 300 CPUs", sparse),
        ("nothing to read", nothing),
    ];
    for name in [
        "one-cpu",
        "virtual-machine",
        "cgroup-v1-half-cpu",
        "cgroup-v2-half-cpu",
        "container-without-sys",
    ] {
        trees.push((name, Tree::recorded(name)));
    }
    let host = |tree: &Tree| {
        let host = HostContext::from_root(tree.root(), Some(Path::new("/"))).unwrap();
        // while the tree is there
        host.facts();
        host
    };
    trees.iter().map(|(name, tree)| (*name, host(tree))).collect()
}

/// What would be run there: everything, and everything as copies too.
fn plan(host: &HostContext) -> Plan {
    let benchmarks = gritstone_catalogue::all().unwrap().benchmarks;
    let offer = host.offer(&benchmarks, Permits::default(), None, false);
    let mut plan = steps(benchmarks, &offer);
    add_copies(&mut plan, &offer, &[2, 128, 256], |_| true);
    plan
}

#[test]
fn benchmarks_run_on_allowed_cpus() {
    for (name, host) in sites() {
        let plan = plan(&host);
        assert!(plan.steps.len() > 100, "{name}");
        let cpu = &host.cpu;
        for step in &plan.steps {
            let mut cpus = step.cpus.clone();
            let is_usable =
                |&number: &u32| cpu.allowed.contains(number) && cpu.online.contains(number);
            assert!(cpus.iter().all(is_usable), "{name}: {step:?}");
            cpus.sort_unstable();
            cpus.dedup();
            assert_eq!(cpus.len(), step.cpus.len(), "{name}: one CPU twice: {step:?}");
            let usable = cpu.allowed.iter().filter(is_usable).count();
            if step.copies > 1 {
                assert_eq!(cpus.len(), usable.min(step.copies as usize), "{name}: {step:?}");
            }
        }
    }
}

#[test]
fn cross_variants_need_two_cpus() {
    for (name, host) in sites() {
        let plan = plan(&host);
        let across =
            plan.benchmarks.iter().filter(|benchmark| benchmark.placement == Placement::Cross);
        let mut found = 0;
        for benchmark in across {
            found += 1;
            let step = plan.steps.iter().find(|step| step.id == benchmark.id);
            match (host.chosen.peer, step) {
                (Some(peer), Some(step)) => assert_eq!(step.cpus, [host.chosen.measured, peer]),
                (peer, None) => {
                    let skip = plan.skips.iter().find(|skip| skip.id == benchmark.id).unwrap();
                    // what this machine lacks, every host does
                    let lacks = skip.reason.starts_with("It needs");
                    let alone = peer.is_none() && skip.reason.contains("two CPUs");
                    assert!(lacks || alone, "{name}: {skip:?}");
                }
                (None, step) => panic!("{name}: {step:?}"),
            }
        }
        assert!(found > 0);
        let alone = host.cpu.allowed.len() == 1;
        assert_eq!(host.chosen.peer.is_none(), alone, "{name}");
        assert_eq!(host.chosen.watcher.is_none(), alone, "{name}");
    }
}

#[test]
fn path_has_absolute_directories_only() {
    let searched = |path: &[u8]| searched(OsStr::from_bytes(path));
    assert_eq!(searched(b"/usr/bin:/bin"), "/usr/bin:/bin");
    assert_eq!(searched(b"bin:/usr/bin::.:./x:/bin:"), "/usr/bin:/bin");
    assert_eq!(searched(b"/a b:/\xff/bin:/\xc3\xa4"), "/a b:/ä");
    assert_eq!(searched(b""), "");
}

#[test]
fn replaceable_directories_are_unusable() {
    let dir = tempfile::tempdir().unwrap();
    for (mode, expected) in [(0o777, false), (0o1777, true)] {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(is_usable(dir.path()), expected, "{mode:o}");
    }
}
