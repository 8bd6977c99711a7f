//! Made-up runs against printed machines, and these against each other.

use crate::tests::compare::{first, one, options, whys};
use crate::tests::made_up_runs::*;
use gritstone_model::Flag::*;
use gritstone_model::*;

/// A live run whose published work takes 0.1 s, half a % more or less.
fn live() -> RunView {
    one(claimed("a/b"), scattered("a/b", 100.0))
}

fn vax(figure: Subject, times: [Option<f64>; 3]) -> RunView {
    reference(vec![printed("a/b", figure, times)])
}

#[test]
fn ratio_uses_real_time() {
    let (base, other) = (vax(Subject::Real, [Some(4.8), None, None]), live());
    let row = first(&base, &other, &options());
    near(row.ratio, 48.0);
    assert_eq!((row.compared, row.unit.as_str()), (Subject::Real, "s"));
    assert_eq!((row.base, row.p), (Some(4.8), None));
    near(row.other, 0.1);
    let published = other.results[0].published.as_ref().unwrap();
    let [low, high] = published.real.and_then(|e| e.interval).unwrap();
    assert_eq!(row.interval, Some([4.8 / high, 4.8 / low]));
    assert_eq!(row.verdict, Some(Verdict::Faster));
    assert_eq!(row.notes, []);
    assert_eq!(row.title, "Title of a/b");

    let back = first(&other, &base, &options());
    near(back.ratio, 1.0 / 48.0);
    assert_eq!(back.interval, Some([low / 4.8, high / 4.8]));
    assert_eq!(back.verdict, Some(Verdict::Slower));
    let same = first(&vax(Subject::Real, [Some(0.1001), None, None]), &other, &options());
    assert_eq!(same.verdict, Some(Verdict::Same));
}

#[test]
fn document_names_the_compared_time() {
    let row = first(&vax(Subject::System, [Some(4.8), None, Some(4.0)]), &live(), &options());
    assert_eq!(row.compared, Subject::System);
    near(row.ratio, 100.0);
    assert_eq!(row.verdict, Some(Verdict::Faster));
    let row = first(&vax(Subject::User, [Some(4.8), Some(6.0), None]), &live(), &options());
    assert_eq!(row.compared, Subject::User);
    near(row.ratio, 100.0);
    // the reference says nothing: the entry does
    let row = first(&vax(Subject::Result, [Some(4.8), Some(6.0), None]), &live(), &options());
    assert_eq!(row.compared, Subject::Real);
}

#[test]
fn real_time_replaces_missing_time() {
    let mut no_ticks = live();
    let published = no_ticks.results[0].published.as_mut().unwrap();
    (published.user, published.system) = (None, None);
    let row = first(&vax(Subject::System, [Some(4.8), None, Some(4.0)]), &no_ticks, &options());
    assert_eq!(row.compared, Subject::Real);
    near(row.ratio, 48.0);
    let why = "real-time-instead asked=system_s unmeasured=true";
    assert_eq!(whys(&row), [(None, why)]);

    let row = first(&vax(Subject::System, [None, None, Some(4.0)]), &no_ticks, &options());
    assert_eq!(row.compared, Subject::Real);
    near(row.ratio, 40.0);
    assert_eq!(row.verdict, Some(Verdict::Faster));
    let why = "across-times printed=system_s";
    assert_eq!(whys(&row), [(Some(NotComparable), why)]);

    let row = first(&vax(Subject::User, [Some(4.8), None, None]), &live(), &options());
    near(row.ratio, 48.0);
    let why = "real-time-instead asked=user_s unmeasured=false";
    assert_eq!(whys(&row), [(None, why)]);
}

#[test]
fn printed_zero_never_divides() {
    let row = first(&vax(Subject::User, [Some(4.8), Some(0.0), None]), &live(), &options());
    assert_eq!(row.compared, Subject::Real);
    near(row.ratio, 48.0);
    let row = first(&vax(Subject::User, [None, Some(0.0), None]), &live(), &options());
    assert_eq!((row.ratio, row.verdict), (None, None));
}

#[test]
fn printed_rates_compare_with_estimates() {
    let mut rate = printed_us("a/b", 192.0);
    let vax = reference(vec![rate.clone()]);
    let row = first(&vax, &live(), &options());
    assert_eq!((row.compared, row.unit.as_str()), (Subject::Estimate, "us/call"));
    near(row.ratio, 1920.0);
    near(row.other, 0.1);
    let live_interval = live().results[0].interval().unwrap();
    near(row.interval.map(|i| i[0]), 192_000.0 / live_interval[1]);
    assert_eq!((row.p, row.verdict), (None, Some(Verdict::Faster)));

    rate.unit = unit("KB/s");
    let row = first(&reference(vec![rate]), &live(), &options());
    let why = "nothing-in-common";
    assert_eq!(whys(&row), [(Some(NotComparable), why)]);
    assert_eq!((row.ratio, row.other), (None, None));
}

#[test]
fn printed_machines_have_no_interval() {
    let slow = vax(Subject::Real, [Some(4.8), None, None]);
    let fast = vax(Subject::Real, [Some(2.4), None, None]);
    let row = first(&slow, &fast, &options());
    assert_eq!((row.ratio, row.interval, row.p), (Some(2.0), None, None));
    assert_eq!(row.verdict, Some(Verdict::Inconclusive));
    let why = "both-printed";
    assert_eq!(whys(&row), [(None, why)]);
}

#[test]
fn printed_time_flags_are_local() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    run.benchmarks[0].claims.min_ns_per_op = Some(1000.0);
    let row = first(&vax(Subject::Real, [Some(4.8), None, None]), &view(&run), &options());
    assert_eq!((row.ratio, row.verdict), (None, None));
    let mut other = live();
    let star = stated(Some(Invalid), "Less than nothing.");
    other.results[0].notes.push(star.clone().about(Subject::User));
    let row = first(&vax(Subject::Real, [Some(4.8), None, None]), &other, &options());
    near(row.ratio, 48.0);
    other.results[0].notes.push(star.about(Subject::Real));
    let row = first(&vax(Subject::Real, [Some(4.8), None, None]), &other, &options());
    assert_eq!(row.ratio, None);
}

#[test]
fn cpu_compares_with_both_times() {
    let mut one = printed("a/b", Subject::Cpu, [None; 3]);
    one.published.as_mut().expect("times").cpu_s = Some(4.0);
    let two = vax(Subject::Result, [Some(9.0), Some(1.5), Some(0.5)]);
    let row = first(&reference(vec![one]), &two, &options());
    assert_eq!(row.compared, Subject::Cpu);
    assert_eq!((row.base, row.other), (Some(4.0), Some(2.0)));
    assert_eq!(row.ratio, Some(2.0));
}

#[test]
fn any_common_time_is_compared() {
    let user = |s| vax(Subject::Real, [None, Some(s), None]);
    let row = first(&user(3.0), &user(2.0), &options());
    assert_eq!((row.compared, row.ratio), (Subject::User, Some(1.5)));
    let why = "only-time time=user_s";
    assert!(whys(&row).contains(&(None, why)), "{:?}", whys(&row));
}
