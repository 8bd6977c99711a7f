//! What makes sense in an entry: the checks that its types cannot make.

use crate::entry::{Common, Rating};
use crate::error::Error;
use crate::read::{file_name, placeholder_letter, program};
use crate::tree::Entry;
use gritstone_model::{
    Better, Claims, CommandWork, Curve, Figure, KernelWork, Kind, Quantity, Term, Unit, Work,
};

type Checked = Result<(), Error>;

/// All of an entry; which way its results are better.
pub(crate) fn entry(e: &Entry<'_>, common: &Common, work: &Work) -> Result<Better, Error> {
    let (id, family) = (&common.id, &e.shared.family.name);
    e.must(id.family() == family, "id", format_args!("'{id}' is not of family '{family}': change its identifier, or move it to the file of its family"))?;
    e.must(common.version > 0, "version", "versions begin at 1")?;
    e.must(
        !common.sources.is_empty(),
        "sources",
        "sources is empty: name the document and the place that this entry answers",
    )?;
    e.must(
        common.amount_per_op.is_finite() && common.amount_per_op > 0.0,
        "amount_per_op",
        "amount_per_op must be above 0: how many of what the unit counts one operation does",
    )?;
    let published = common.published.as_ref();
    e.must(
        published.is_none_or(|work| work.operations > 0),
        "published.operations",
        "the published work has 0 operations: say how many, or leave `published` out",
    )?;
    claims(e, &common.claims, common.kind)?;
    common
        .curve
        .iter()
        .try_for_each(|curve| self::curve(e, curve))?;
    match work {
        Work::Kernel(work) => kernel(e, work)?,
        Work::Command(work) | Work::Scenario(work) => command(e, work, &common.needs)?,
        Work::Derived { terms, .. } => self::terms(e, terms)?,
        Work::Rating { .. } => {}
    }
    unit(e, &common.unit, work)?;
    better(e, &common.unit, common.better)
}

/// One of the three times that a document can print; its type has the subjects of other notes too.
pub(crate) fn published_time(e: &Entry<'_>, name: &str) -> Checked {
    let known = ["real_s", "user_s", "system_s"].contains(&name);
    let what = format_args!("'{name}' is not a published time: write real_s, user_s or system_s");
    e.must(known, "published.figure", what)
}

fn claims(e: &Entry<'_>, claims: &Claims, kind: Kind) -> Checked {
    for (name, value) in [
        ("syscalls_per_op", claims.syscalls_per_op),
        ("switches_per_op", claims.switches_per_op),
        ("faults_per_op", claims.faults_per_op),
        ("major_faults_per_op", claims.major_faults_per_op),
        ("min_ns_per_op", claims.min_ns_per_op),
    ] {
        let value = value.unwrap_or(0.0);
        e.must(
            value.is_finite() && value >= 0.0,
            "claims",
            format_args!("{name} = {value} cannot be true: it must be 0 or more"),
        )?;
    }
    e.must(
        !claims.syscalls_vary || claims.syscalls_per_op.is_none(),
        "claims",
        "syscalls_vary says that there is no syscalls_per_op: leave one of them out",
    )?;
    e.must(
        claims.min_ns_per_op != Some(0.0),
        "claims",
        "min_ns_per_op = 0 claims nothing: leave it out, or say how fast is too fast",
    )?;
    e.must(kind == Kind::Kernel || !claims.check && !claims.linear, "claims", "`check` and `linear` are claims of kernels, which do n operations: a command is proved by `stdout`, `leaves` and `verify`")
}

fn curve(e: &Entry<'_>, curve: &Curve) -> Checked {
    e.must(
        curve.points.len() > 1,
        "curve.points",
        "a curve has two points or more",
    )?;
    for (i, pair) in curve.points.windows(2).enumerate() {
        let (x, next) = (pair[0].0, pair[1].0);
        e.must(
            x < next,
            &format!("curve.points.{}.0", i + 1),
            format_args!(
                "x does not grow from {x} to {next}: put the points in the order of x, each once"
            ),
        )?;
    }
    Ok(())
}

/// As said, or as the unit has it.
fn better(e: &Entry<'_>, unit: &Unit, said: Option<Better>) -> Result<Better, Error> {
    let (natural, what, word) =
        match (unit.quantity(), said) {
            (Quantity::Time { .. }, _) => (Better::Lower, "a time", "lower"),
            (Quantity::Rate { .. }, _) => (Better::Higher, "a rate", "higher"),
            (Quantity::Share, _) => (Better::Higher, "a share", "higher"),
            (Quantity::Exact, Some(said)) => return Ok(said),
            (Quantity::Exact, None) => return Err(e.fault(
                "unit",
                format!(
                    "{unit} does not tell which way is good: add better = \"lower\" or \"higher\""
                ),
            )),
        };
    e.must(
        said.is_none_or(|said| said == natural),
        "better",
        format_args!("{unit} is {what}: write better = \"{word}\", or leave it out"),
    )?;
    Ok(natural)
}

/// That the result of this work can be in this unit.
fn unit(e: &Entry<'_>, unit: &Unit, work: &Work) -> Checked {
    let linked = matches!(work, Work::Command(work) | Work::Scenario(work) if work.figure == Figure::LinkedSize);
    let share = matches!(
        work,
        Work::Derived {
            share_of: Some(_),
            ..
        }
    );
    let rating = matches!(work, Work::Rating { .. });
    let exact = unit.quantity() == Quantity::Exact;
    e.must(
        !linked || unit.as_str() == "bytes",
        "unit",
        "a size is in bytes: write unit = \"bytes\"",
    )?;
    e.must(
        !rating || unit.as_str() == "ratio",
        "unit",
        "a rating is a ratio: write unit = \"ratio\"",
    )?;
    e.must(
        (unit.quantity() == Quantity::Share) == share,
        "unit",
        "a share is per cent of a row: write unit = \"%\" and share_of = \"...\", or neither",
    )?;
    e.must(rating || linked || !exact, "unit", "no time becomes a figure in this unit: write a time or a rate, or figure = \"linked-size\" for a size")
}

fn kernel(e: &Entry<'_>, work: &KernelWork) -> Checked {
    program(&work.program).map_err(|what| e.fault("program", what))?;
    let mut helpers = work.uses.iter().enumerate();
    helpers.try_for_each(|(i, helper)| {
        program(helper).map_err(|what| e.fault(&format!("uses.{i}"), what))
    })
}

fn command(e: &Entry<'_>, work: &CommandWork, needs: &[String]) -> Checked {
    argv(e, &work.argv, needs, "argv")?;
    if !work.prepare.is_empty() {
        argv(e, &work.prepare, needs, "prepare")?;
    }
    work.verify
        .iter()
        .try_for_each(|verify| argv(e, &verify.argv, needs, "verify.argv"))?;
    let listed = [("leaves", &work.leaves), ("removes", &work.removes)];
    let listed = listed.into_iter().flat_map(|(key, names)| {
        let places = (0..).map(move |i| format!("{key}.{i}"));
        names.iter().zip(places)
    });
    let input = work.input.iter().map(|name| (name, "input".to_owned()));
    for (name, at) in listed.chain(input) {
        file_name(name).map_err(|what| e.fault(&at, what))?;
    }
    if let Some(output) = &work.output {
        e.must(work.stdout.is_none(), "stdout", "what goes to `output` is not compared: take `stdout` away, and prove the work with `verify`")?;
        e.must(output == "/dev/null" || work.leaves.contains(output), "output", format_args!("'{output}' is no file that this command leaves: add it to `leaves`, or write /dev/null"))?;
    }
    let linked = work.leaves.iter().any(|file| file == "a.out");
    e.must(linked || work.figure != Figure::LinkedSize, "figure", "linked-size is taken from the file a.out, which this command does not leave: add leaves = [\"a.out\"]")
}

/// A command line: a program at least, and no `{name}` that nothing stands for.
fn argv(e: &Entry<'_>, words: &[String], needs: &[String], key: &str) -> Checked {
    e.must(
        words.first().is_some_and(|word| !word.is_empty()),
        key,
        "argv is empty: write the program and its arguments",
    )?;
    for (i, word) in words.iter().enumerate() {
        if let Some(name) = placeholders(word).find(|name| !needs.iter().any(|need| need == name)) {
            let what = format!(
                "{{{name}}} stands for no need of this entry: add '{name}' to its `needs`, or write ${name} where a shell variable is meant"
            );
            return Err(e.fault(&format!("{key}.{i}"), what));
        }
    }
    Ok(())
}

/// The names that stand in braces.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        (!name.is_empty() && name.chars().all(placeholder_letter)).then_some(name)
    })
}

fn terms(e: &Entry<'_>, terms: &[Term]) -> Checked {
    e.must(
        !terms.is_empty(),
        "terms",
        "terms is empty: name the rows that are added",
    )?;
    terms
        .iter()
        .map(|term| term.times)
        .enumerate()
        .try_for_each(|(i, times)| {
            e.must(
                times.is_finite() && times != 0.0,
                &format!("terms.{i}.times"),
                format_args!(
                    "{times} times a row says nothing: write how often it counts, such as 1 or -1"
                ),
            )
        })
}

pub(crate) fn rating(e: &Entry<'_>, rating: &Rating) -> Checked {
    let Rating {
        over,
        baseline,
        weights,
    } = rating;
    e.must(
        !over.is_empty(),
        "over",
        "over is empty: name the rows that are rated",
    )?;
    e.must(
        baseline.starts_with("ref:"),
        "baseline",
        format_args!("'{baseline}' is not a reference machine: write ref:..."),
    )?;
    let several = over.iter().position(|name| name.contains(['*', '?']));
    if let Some(i) = several.filter(|_| !weights.is_empty()) {
        return Err(e.fault(
            &format!("over.{i}"),
            "each row has a weight of its own: name the rows, and not by a selector",
        ));
    }
    let good = weights.len() == over.len() && weights.iter().all(|w| w.is_finite() && *w > 0.0);
    e.must(
        weights.is_empty() || good,
        "weights",
        format_args!(
            "weights must be {} numbers above 0, one for each row in `over`",
            over.len()
        ),
    )
}
