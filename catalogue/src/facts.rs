//! Describes a catalog entry, for the pages on benchmarks and for `gritstone info`.

use gritstone_model::{
    Benchmark, Better, Claims, CommandWork, Figure, Placement, Quantity, Term, Unit, Work,
};

/// All facts of an entry by name, with identifiers and commands in backticks.
pub fn facts(benchmark: &Benchmark) -> Vec<(&'static str, String)> {
    let launched = !matches!(benchmark.work, Work::Derived { .. } | Work::Score { .. });
    let published = benchmark.published.as_ref().map(|published| {
        let time = match published.figure.as_str() {
            "user_s" => "user time",
            "system_s" => "system time",
            _ => "real time",
        };
        format!("{}; compare its {time}", published.work)
    });
    let needs = benchmark.needs.iter().map(|need| {
        let any = if need.any.is_empty() { &vec![need.name.clone()] } else { &need.any };
        format!("{} (package {})", any.join(" or "), need.package)
    });
    let curve = benchmark.curve.as_ref().map(|curve| {
        let points = curve.points.iter().map(|(x, id)| format!("{x} (`{id}`)"));
        format!("over {}: {}", curve.label, joined(points, ", "))
    });
    let facts = [
        ("One operation", Some(benchmark.operation.clone())),
        ("Why", Some(benchmark.why.clone())),
        ("Unit", Some(figure(benchmark))),
        ("Work", Some(work(benchmark))),
        ("Where", launched.then(|| place(benchmark))),
        ("Reference workload", published),
        ("Work checks", Some(claims(&benchmark.claims))),
        ("Needs", Some(joined(needs, ", "))),
        ("Curve", curve),
        ("Sources", Some(benchmark.source_text())),
        ("Version", Some(benchmark.version.to_string())),
        ("Note", benchmark.remark.clone()),
        ("Not comparable", benchmark.not_comparable.clone()),
    ];
    let nonempty = facts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    nonempty.filter(|(_, text)| !text.is_empty()).collect()
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

fn figure(benchmark: &Benchmark) -> String {
    let better = match benchmark.better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
    };
    let mut text = format!("{}, {better}", benchmark.unit);
    if benchmark.amount_per_op != 1.0 {
        let counted = counted(&benchmark.unit);
        text += &format!("; one operation is {} {counted}", benchmark.amount_per_op);
    }
    if benchmark.processor_bound {
        text += "; bound by the processor, so that core cycles compare better than time";
    }
    text
}

/// What a unit counts, in the plural.
fn counted(unit: &Unit) -> String {
    match (unit.quantity(), unit.as_str().split_once('/')) {
        (Quantity::Time { .. }, Some((_, thing))) => {
            let hissing = ["s", "x", "ch", "sh"].iter().any(|end| thing.ends_with(end));
            format!("{thing}{}", if hissing { "es" } else { "s" })
        }
        (Quantity::Rate { plain: 1.0 }, Some((thing, _))) => thing.to_owned(),
        (Quantity::Rate { .. }, _) => "bytes".to_owned(),
        _ => "units".to_owned(),
    }
}

fn work(benchmark: &Benchmark) -> String {
    match &benchmark.work {
        Work::Derived { .. } if benchmark.is_peak() => {
            "derived, the highest of the rates of its curve".to_owned()
        }
        Work::Derived { .. } if benchmark.is_longest() => {
            "derived, the longest of all operations of its curve".to_owned()
        }
        Work::Kernel(work) => {
            let mut text = format!("workload `{}`", work.program);
            for (name, value) in &work.params {
                text += &format!(", {name} = {value}");
            }
            for helper in &work.uses {
                text += &format!(", executes `{helper}`");
            }
            text
        }
        Work::Command(work) => format!("command, {}", command(work)),
        Work::Scenario(work) => format!("scenario, {}", command(work)),
        Work::Derived { terms, share_of: None } => format!("derived, {}", sum(terms)),
        Work::Derived { terms, share_of: Some(whole) } => {
            format!("derived, the rate of {} as a share of that of `{whole}`", sum(terms))
        }
        Work::Score { over, baseline, weights, together } => {
            let weight =
                |index: usize| weights.get(index).map_or(String::new(), |w| format!("{w} "));
            let parts = (0..).zip(over).map(|(index, id)| format!("{}`{id}`", weight(index)));
            let all = if *together { ", all of them or none" } else { "" };
            format!("score, {} against `{baseline}`{all}", joined(parts, ", "))
        }
    }
}

fn command(work: &CommandWork) -> String {
    let mut text = format!("`{}`", work.argv.join(" "));
    if work.figure == Figure::LinkedSize {
        text += "; text, data and bss of the `a.out` that it leaves";
    }
    for helper in &work.uses {
        text += &format!("; its input is made by `{helper}`");
    }
    if work.verify.is_some() {
        text += "; an untimed execution proves its work";
    }
    if !work.check.is_empty() {
        text += "; a check after each execution proves its work";
    }
    text
}

/// `a - 2 b`.
fn sum(terms: &[Term]) -> String {
    let mut text = String::new();
    for (i, term) in terms.iter().enumerate() {
        text += match (i, term.times < 0.0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        if term.times.abs() != 1.0 {
            text += &format!("{} ", term.times.abs());
        }
        text += &format!("`{}`", term.id);
    }
    text
}

fn place(benchmark: &Benchmark) -> String {
    let cpus = match benchmark.placement {
        Placement::OneCpu => "on one CPU",
        Placement::Cross => "on two CPUs",
        Placement::All => "on all CPUs, as the scheduler has it",
    };
    let files = "; in the directory that `--dir` chooses";
    format!("{cpus}{}", if benchmark.files { files } else { "" })
}

fn claims(claims: &Claims) -> String {
    let held = [
        (claims.check, "every timed region yields a value that must be right"),
        (claims.linear, "time grows with the number of operations"),
    ];
    let counted = [
        ("system calls per operation: ", claims.syscalls_per_op, ""),
        ("voluntary switches per operation: at least ", claims.switches_per_op, ""),
        ("page faults per operation: at most ", claims.faults_per_op, ""),
        ("major page faults per operation: at least ", claims.major_faults_per_op, ""),
        ("pages out to swap per operation: at least ", claims.page_outs_per_op, ""),
        ("time per operation: at least ", claims.min_ns_per_op, " ns"),
    ];
    let held = held.into_iter().filter(|(is, _)| *is).map(|(_, text)| text.to_owned());
    let counted = counted.into_iter();
    let counted = counted.filter_map(|(before, n, after)| Some(format!("{before}{}{after}", n?)));
    joined(held.chain(counted), "; ")
}
