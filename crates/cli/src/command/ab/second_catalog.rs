//! `--catalog-b DIR`: another version of the catalog, whose programs are those of the second side. What its rows measure must be
//! the same in both; how it is done may be another.

use super::plan::some;
use crate::runs::context::World;
use crate::session::compiler::leave_out;
use crate::session::custom_catalog;
use crate::session::measuring::Bench;
use crate::session::privileges::measured;
use crate::session::trust;
use crate::ui::args::AbArgs;
use anyhow::{Result, bail, ensure};
use gritstone_catalogue::Own;
use gritstone_exec::rebuild::Rebuilt;
use gritstone_model::{Benchmark, Plan};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What two versions of an entry may differ in: words, and the claims that say how the work is done. All else says what
/// is measured.
const FREE: [&str; 13] = [
    "title",
    "why",
    "sources",
    "remark",
    "not_comparable",
    "curve",
    "claims.syscalls_per_op",
    "claims.syscalls_vary",
    "claims.switches_per_op",
    "claims.faults_per_op",
    "claims.major_faults_per_op",
    "claims.page_outs_per_op",
    "claims.min_ns_per_op",
];

/// The second catalog, where one is named, for rows that both have and that measure the same; the others leave the plan, with the reason.
///
/// # Errors
/// When it cannot be read, is the same as the first, measures something else under the same name, or is not trusted.
pub fn read(world: &World, args: &AbArgs, plan: &mut Plan) -> Result<Option<Own>> {
    let (Some(folder), Some(first)) = (&args.catalogue_b, &world.own) else {
        return Ok(None);
    };
    let second = custom_catalog::read(folder)?;
    ensure!(
        second.kept.hash != first.kept.hash,
        "the files of both catalogs are the same: change a program in {}, or say --self",
        folder.display()
    );
    for row in planned(plan) {
        let mut entries = second.catalogue.benchmarks.iter();
        let why = match entries.find(|entry| entry.id == row.id) {
            _ if made_of(first, &row).all(|made| made == (false, false)) => {
                "It has no program of the catalog, so that both sides are the same.".to_owned()
            }
            Some(entry) => {
                comparable(first, &row, &second, entry)?;
                continue;
            }
            None => format!("The catalog {} has no such benchmark.", folder.display()),
        };
        leave_out(plan, row.id, why);
    }
    some(plan)?;
    trust::ensure(&second, args.own.trust)?;
    Ok(Some(second))
}

/// Its programs, for rows that are not the same program in both; those leave the plan.
///
/// # Errors
/// When they cannot be made, or nothing is left.
pub fn build(
    second: &Own,
    bench: &Bench<'_>,
    plan: &mut Plan,
) -> Result<BTreeMap<String, Rebuilt>> {
    let builds = bench.programs(second, plan)?;
    for row in planned(plan) {
        let hash = |programs: &BTreeMap<String, Rebuilt>, name: &String| {
            Some(programs.get(name)?.program.hash.clone())
        };
        let first = &bench.custom.programs;
        let same =
            custom_catalog::programs_of(&row).all(|name| hash(first, name) == hash(&builds, name));
        // an executable may read another of the files
        let whole = made_of(second, &row).all(|(_, executable)| !executable);
        if whole && same {
            let why = "Its program is the same in both catalogs, to the last byte.";
            leave_out(plan, row.id.clone(), why);
        }
    }
    some(plan)?;
    Ok(builds)
}

/// The rows that are launched.
fn planned(plan: &Plan) -> Vec<Benchmark> {
    measured(plan).into_iter().cloned().collect()
}

/// For each program of a row whether it is compiled from the catalog, and whether it is an executable in it.
fn made_of(own: &Own, row: &Benchmark) -> impl Iterator<Item = (bool, bool)> {
    custom_catalog::programs_of(row)
        .map(|name| (own.compiled.contains(name), own.executables.contains(name)))
}

/// That two entries measure the same.
fn comparable(first: &Own, a: &Benchmark, second: &Own, b: &Benchmark) -> Result<()> {
    let (mut ours, theirs) = (parts(a), parts(b));
    for key in theirs.keys() {
        ours.entry(key.as_str()).or_insert(Value::Null);
    }
    let differs = |(key, value): (&String, &Value)| {
        let other = theirs.get(key).unwrap_or(&Value::Null);
        (value != other).then(|| format!("{key} ({value} and {other})"))
    };
    let different: Vec<String> = ours.iter().filter_map(differs).collect();
    if !different.is_empty() {
        bail!(
            "{} does not measure the same in both catalogs: the entries differ in {}. Make them equal, or leave the benchmark out: programs that do different work cannot be compared",
            a.id,
            different.join(", ")
        );
    }
    ensure!(
        made_of(first, a).eq(made_of(second, b)),
        "{}: its program is compiled in one catalog and an executable in the other, which are started differently: they have no ratio",
        a.id
    );
    Ok(())
}

/// What of an entry says what is measured, by the name that it has there.
fn parts(row: &Benchmark) -> Map<String, Value> {
    let Ok(Value::Object(whole)) = serde_json::to_value(row) else {
        unreachable!("an entry is an object in JSON");
    };
    let mut parts = Map::new();
    for (key, value) in whole {
        match value {
            Value::Object(inner) if ["claims", "work"].contains(&key.as_str()) => {
                let named = |(name, value)| (format!("{key}.{name}"), value);
                parts.extend(inner.into_iter().map(named));
            }
            value => {
                parts.insert(key, value);
            }
        }
    }
    parts.retain(|key, value| !FREE.contains(&key.as_str()) && !value.is_null());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Id, KernelWork, Unit, Work};

    fn entry() -> Benchmark {
        let work = Work::Kernel(KernelWork {
            program: "mine/sum".to_owned(),
            params: BTreeMap::from([("words".to_owned(), "64".to_owned())]),
            uses: vec![],
        });
        Benchmark::new(
            Id::parse("mine/sum").unwrap(),
            Unit::parse("ns/sum").unwrap(),
            work,
        )
    }

    /// What is said of an entry and one that was changed; nothing where they measure the same.
    fn said(change: impl FnOnce(&mut Benchmark)) -> Option<String> {
        let mut other = entry();
        change(&mut other);
        let own = Own::default();
        comparable(&own, &entry(), &own, &other)
            .err()
            .map(|why| why.to_string())
    }

    #[test]
    fn words_and_how_it_is_done_may_differ() {
        let free = said(|row| {
            row.title = "Sum, unrolled".to_owned();
            row.why = "It is faster.".to_owned();
            row.remark = Some("By four.".to_owned());
            row.claims.syscalls_per_op = Some(1.0);
            row.claims.min_ns_per_op = Some(2.0);
        });
        assert_eq!(free, None);
    }

    #[test]
    fn what_is_measured_may_not() {
        type Change = fn(&mut Benchmark);
        let cases: [(Change, &str); 6] = [
            (|row| row.version = 2, "version (1 and 2)"),
            (
                |row| row.unit = Unit::parse("us/sum").unwrap(),
                "unit (\"ns/sum\" and \"us/sum\")",
            ),
            (|row| row.amount_per_op = 8.0, "amount_per_op (1.0 and 8.0)"),
            (
                |row| row.claims.check = true,
                "claims.check (false and true)",
            ),
            (
                |row| row.operation = "Two.".to_owned(),
                "operation (\"\" and \"Two.\")",
            ),
            (
                |row| {
                    if let Work::Kernel(work) = &mut row.work {
                        work.params.clear();
                    }
                },
                "work.params ({\"words\":\"64\"} and {})",
            ),
        ];
        for (change, part) in cases {
            let said = said(change).unwrap_or_default();
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[test]
    fn a_script_is_no_version_of_a_program_in_c() {
        let with = |compiled: bool| {
            let mut own = Own::default();
            let names = if compiled {
                &mut own.compiled
            } else {
                &mut own.executables
            };
            names.insert("mine/sum".to_owned());
            own
        };
        let (c, script) = (with(true), with(false));
        assert!(comparable(&c, &entry(), &c, &entry()).is_ok());
        let why = comparable(&c, &entry(), &script, &entry()).unwrap_err();
        assert!(
            why.to_string().contains("an executable in the other"),
            "{why}"
        );
    }
}
