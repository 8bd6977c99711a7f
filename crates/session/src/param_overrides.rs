//! `--param KEY=VALUE` overrides parameters of catalog entries.
//!
//! A parameter that distinguishes benchmarks of one program cannot be overridden: all plain benchmarks of the program must have the same
//! value, or none of them and all variants that have it. Overrides are stored with the benchmark.

use anyhow::{Result, bail};
use gritstone_model::{Benchmark, SERVER, Work};
use gritstone_plan::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// Parameters are stored and shown, so they must not contain a password.
fn has_no_secret(dsn: &str) -> Result<()> {
    let rest = dsn.split_once("://").map(|(_, rest)| rest);
    let user = rest.and_then(|rest| Some(rest.split('?').next()?.rsplit_once('@')?.0));
    if dsn.contains("password") || user.is_some_and(|user| user.contains(':')) {
        bail!(
            "--param {SERVER}: parameters are stored with the run, so they must not have a password; libpq reads it from \
             ~/.pgpass or from the file of passfile="
        );
    }
    Ok(())
}

/// # Errors
/// When no selected benchmark has one of the parameters.
pub fn apply(
    catalogue: &[Benchmark],
    selected: &mut [Benchmark],
    params: &BTreeMap<String, String>,
) -> Result<()> {
    for (key, value) in params {
        let mut known = false;
        for benchmark in &mut *selected {
            if !has_parameter(catalogue, benchmark, key) {
                continue;
            }
            known = true;
            let Work::Kernel(work) = &mut benchmark.work else {
                continue;
            };
            if key == SERVER {
                has_no_secret(value)?;
                // an external server needs no local program
                benchmark.needs.clear();
            }
            let previous = work.params.insert(key.clone(), value.clone());
            if let Some(previous) = previous.filter(|previous| previous != value) {
                let why = match key == SERVER {
                    // shared results have no address, which is in the parameter alone
                    true => format!("Measured on a server that was there (--param {SERVER})."),
                    false => {
                        format!(
                            "Measured with --param {key}={value}; the benchmark has {previous}."
                        )
                    }
                };
                // the entry's own reason stays
                let earlier = benchmark.not_comparable.take().into_iter();
                benchmark.not_comparable = Some(earlier.chain([why]).collect::<Vec<_>>().join(" "));
            }
        }
        if !known {
            bail!(
                "no selected benchmark has a parameter '{key}'{}",
                hint(catalogue, selected, key)
            );
        }
    }
    Ok(())
}

fn has_parameter(catalogue: &[Benchmark], benchmark: &Benchmark, key: &str) -> bool {
    let Work::Kernel(kernel) = &benchmark.work else {
        return false;
    };
    let of_program = catalogue.iter().filter_map(|other| match &other.work {
        Work::Kernel(work) if work.program == kernel.program => {
            Some((other.id.variant().is_none(), work.params.get(key)))
        }
        _ => None,
    });
    let (plain, variants): (Vec<_>, Vec<_>) = of_program.partition(|(plain, _)| *plain);
    let value = kernel.params.get(key);
    let alike = match plain.iter().any(|(_, value)| value.is_some()) {
        true => plain,
        false => variants,
    };
    let mut named = alike.iter().filter(|(plain, value)| *plain || value.is_some());
    value.is_some() && named.all(|(_, other)| *other == value)
}

/// Suggests parameters.
fn hint(catalogue: &[Benchmark], selected: &[Benchmark], key: &str) -> String {
    let mut available: BTreeSet<&str> = BTreeSet::new();
    for benchmark in selected {
        if let Work::Kernel(work) = &benchmark.work {
            let keys = work.params.keys().map(String::as_str);
            available.extend(keys.filter(|key| has_parameter(catalogue, benchmark, key)));
        }
    }
    let available: Vec<&str> = available.into_iter().collect();
    match (nearest(key, &available), available.as_slice()) {
        (Some(near), _) => format!("; did you mean '{near}'?"),
        (None, []) => "; these benchmarks have no parameters".to_owned(),
        (None, some) => format!("; there are: {}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_plan::select;

    fn given(selectors: &[&str], params: &[&str]) -> Result<Vec<Benchmark>> {
        let catalogue = gritstone_catalogue::all().unwrap().benchmarks;
        let selectors: Vec<String> = selectors.iter().map(|s| (*s).to_owned()).collect();
        let mut benchmarks = select(&catalogue, &selectors)?;
        let pairs = params.iter().filter_map(|param| param.split_once('='));
        let params = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        apply(&catalogue, &mut benchmarks, &params)?;
        Ok(benchmarks)
    }

    fn value<'a>(benchmark: &'a Benchmark, key: &str) -> Option<&'a str> {
        match &benchmark.work {
            Work::Kernel(work) => work.params.get(key).map(String::as_str),
            _ => None,
        }
    }

    fn error(selectors: &[&str], params: &[&str]) -> String {
        given(selectors, params).unwrap_err().to_string()
    }

    #[test]
    fn overrides_are_applied_and_noted() {
        let benchmarks = given(&["aim/tty*", "aim/fork"], &["tty=/dev/ttyS7"]).unwrap();
        for benchmark in &benchmarks {
            let line = benchmark.id.as_str() != "aim/fork";
            assert_eq!(value(benchmark, "tty"), line.then_some("/dev/ttyS7"), "{}", benchmark.id);
            let reason = benchmark.not_comparable.as_ref();
            assert_eq!(reason.is_some_and(|why| why.contains("tty=/dev/ttyS7")), line);
        }
        assert_eq!(benchmarks.len(), 3);
        // applied to variants alone, such as those of one engine
        let benchmarks =
            given(&["db/fasttrack/1", "db/fasttrack/1@postgresql"], &["fsync=off"]).unwrap();
        assert_eq!(
            [value(&benchmarks[0], "fsync"), value(&benchmarks[1], "fsync")],
            [None, Some("off")]
        );
    }

    #[test]
    fn external_servers_need_no_program() {
        let benchmarks =
            given(&["db/oltp/write@postgresql-1"], &["dsn=postgresql:///bench"]).unwrap();
        assert!(benchmarks[0].needs.is_empty());
        for dsn in [
            "postgresql://me:secret@host/bench",
            "postgresql://me:secret/1@host/bench",
            "host=h password=secret",
            "postgresql://host/bench?password=secret",
        ] {
            let error = error(&["db/oltp/write@postgresql-1"], &[&format!("dsn={dsn}")]);
            assert!(error.contains("~/.pgpass") && !error.contains("secret"), "{error}");
        }
        given(&["db/oltp/write@postgresql-1"], &["dsn=postgresql://me@host:5432/bench"]).unwrap();
    }

    #[test]
    fn incomparability_reasons_accumulate() {
        let benchmark =
            given(&["rt/raw-disk/8k"], &["samples=5", "device=/dev/sdz9"]).unwrap().remove(0);
        let reason = benchmark.not_comparable.unwrap();
        for why in ["raw disk", "samples=5", "device=/dev/sdz9"] {
            assert!(reason.contains(why), "{why}: {reason}");
        }
    }

    #[test]
    fn unchanged_values_are_not_overrides() {
        let before = given(&["aim/ram-read/long"], &[]).unwrap();
        assert_eq!(given(&["aim/ram-read/long"], &["bytes=512"]).unwrap(), before);
    }

    #[test]
    fn variants_keep_their_parameter() {
        let benchmarks =
            given(&["aim/ram-read/long", "aim/ram-read/long@l2"], &["bytes=4096"]).unwrap();
        let sizes: Vec<_> =
            benchmarks.iter().map(|benchmark| value(benchmark, "bytes").unwrap()).collect();
        assert_eq!(sizes, ["4096", "l2"]);
    }

    #[test]
    fn distinguishing_parameters_are_refused() {
        let tty = error(&["aim/fork"], &["tty=/dev/ttyS7"]);
        assert!(tty.contains("'tty'") && tty.contains("have no parameters"), "{tty}");
        let near = error(&["aim/tty*"], &["ttyy=x"]);
        assert!(near.contains("did you mean 'tty'?"), "{near}");
        let apart = error(&["aim/add/*"], &["op=divide"]);
        assert!(apart.contains("'op'"), "{apart}");
    }
}
