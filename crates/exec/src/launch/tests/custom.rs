//! Custom benchmarks: arguments and limits of their programs.

use super::*;
use crate::custom::Bound;
use gritstone_model::{Contents, CustomFile};
use nix::sched::sched_getaffinity;
use nix::unistd::Pid;

/// Prints a word if the shell's process limit is in the thousands.
const BOUNDED: &str = "set -- $(grep processes /proc/self/limits); test \"$3\" -ge 1024 && test \"$3\" -lt 20000 && echo bounded || echo free";

fn files(script: &str) -> BTreeMap<String, CustomFile> {
    let file = |executable, text: &str| CustomFile {
        executable,
        contents: Contents::new(text.as_bytes().to_vec()),
    };
    BTreeMap::from([
        ("made/x".to_owned(), file(true, script)),
        ("made/words".to_owned(), file(false, "beside\n")),
    ])
}

/// Makes benchmarks of this family custom.
fn bound(bench: &mut Bench, family: &str) {
    let executor = &mut bench.executor;
    executor.custom.families = vec![family.to_owned()];
    executor.acquired.bound = Some(Bound::new(&[], &executor.setup, None));
}

/// An executor that knows `made/x`.
fn with_script(script: &str) -> Bench {
    let mut bench = Bench::new();
    let executables = BTreeSet::from(["made/x".to_owned()]);
    let setup = &bench.executor.setup;
    bench.executor.custom = Custom {
        programs: setup.executables(&files(script), &executables).unwrap(),
        families: vec![],
        bare: executables,
    };
    bench
}

#[test]
fn ungrouped_processes_are_limited() {
    let mut bench = Bench::new();
    let outcome = |bench: &mut Bench, word: &str| {
        let mut benchmark = shell(BOUNDED, Some(word), &[]);
        benchmark.files = false;
        bench.launch(&benchmark).outcome
    };
    assert_eq!(outcome(&mut bench, "free"), Outcome::Measured);
    bound(&mut bench, "other");
    assert_eq!(outcome(&mut bench, "free"), Outcome::Measured);
    bound(&mut bench, "made");
    assert_eq!(outcome(&mut bench, "bounded"), Outcome::Measured);
}

#[test]
fn executables_find_their_files() {
    let script = "#!/bin/sh\nexec >&3\necho hello protocol=1 kernel=made/x\n\
        echo \"param key=args value=$*\"\necho \"param key=beside value=$(cat \"$(dirname \"$0\")/words\")\"\n\
        echo \"param key=cpus value=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status)\"\necho bye\n";
    let mut bench = with_script(script);
    let mut benchmark = kernel("made/x", &[("how", "well")], 1);
    benchmark.published = None;
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let is_allowed = |cpu: &usize| allowed.is_set(*cpu) == Ok(true);
    let cpu = (0..1024).find(is_allowed).unwrap();
    let launched = bench.copies(&benchmark, &[cpu as u32], 1).unwrap();
    assert_eq!(launched.outcome, Outcome::Measured);
    assert_eq!(params(&launched, "args"), [format!("cpus={cpu} how=well")]);
    assert_eq!(params(&launched, "beside"), ["beside"]);
    assert_eq!(params(&launched, "cpus"), [cpu.to_string()]);
    assert_eq!(bench.hash(&benchmark).unwrap().len(), 64);
    // no runtime synchronizes its copies
    let copies = bench.copies(&benchmark, &[cpu as u32], 2);
    let Outcome::Skipped(why) = copies.unwrap().outcome else {
        panic!("copies of an executable were measured")
    };
    assert!(why.contains("Gritstone's runtime"), "{why}");
}

#[test]
fn output_may_exceed_a_pipe() {
    // awk: a shell would take a second
    let script = "#!/bin/sh\nexec >&3\necho hello protocol=1 kernel=made/x\n\
        awk 'BEGIN { for (i = 0; i < 300; i++) printf \"param key=k%d value=%01000d\\n\", i, i }'\necho bye\n";
    let mut bench = with_script(script);
    let mut benchmark = kernel("made/x", &[], 1);
    benchmark.published = None;
    let launched = bench.copies(&benchmark, &[], 1).unwrap();
    assert_eq!(launched.outcome, Outcome::Measured);
    for i in 0..300 {
        assert_eq!(params(&launched, &format!("k{i}")), [format!("{i:01000}")]);
    }
}
