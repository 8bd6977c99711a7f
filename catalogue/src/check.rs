//! Checks of an entry beyond its types.

use crate::entry::Entry;
use crate::error::Error;
use crate::read::At;
use gritstone_model::{
    Benchmark, Better, Claims, CommandWork, Figure, Kind, Quantity, Subject, Unit, Work,
    fill_catalog_places,
};
use std::cell::RefCell;

/// Condition, place, and message if it is false.
type Rules<'a, const N: usize> = [(bool, &'a str, &'a str); N];

fn positive(x: f64) -> bool {
    x.is_finite() && x > 0.0
}

impl Entry<'_> {
    fn all<const N: usize>(&self, rules: Rules<'_, N>) -> Result<(), Error> {
        let mut rules = rules.into_iter();
        rules.try_for_each(|(holds, path, what)| self.must(holds, path, what))
    }

    /// Checks an entry; returns the direction of its results.
    pub(crate) fn check(
        &self,
        benchmark: &Benchmark,
        explicit: Option<Better>,
        needs: &[At<String>],
        over: &[At<String>],
    ) -> Result<Better, Error> {
        let (id, family) = (&benchmark.id, &self.file.name);
        let stray =
            format!("'{id}' is not of family '{family}': rename it, or move it to its file");
        let published = benchmark.published.as_ref();
        // the type allows all subjects of notes
        let times = [Subject::Real, Subject::User, Subject::System];
        self.all([
            (id.family() == family, "id", stray.as_str()),
            (benchmark.version > 0, "version", "versions begin at 1"),
            (
                !benchmark.sources.is_empty(),
                "sources",
                "sources is empty: name a document and a place in it",
            ),
            (positive(benchmark.amount_per_op), "amount_per_op", "amount_per_op must be above 0"),
            (
                published.is_none_or(|work| times.contains(&work.figure)),
                "published.figure",
                "a published time is real_s, user_s or system_s",
            ),
            (
                published.is_none_or(|work| work.operations > 0),
                "published.operations",
                "the published work has 0 operations: say how many, or leave `published` out",
            ),
        ])?;
        self.claims(&benchmark.claims, benchmark.work.kind())?;
        if let Some(curve) = &benchmark.curve {
            let several = curve.points.len() > 1;
            self.must(several, "curve.points", "a curve has two points or more")?;
            for (i, pair) in curve.points.windows(2).enumerate() {
                let (x, next) = (pair[0].0, pair[1].0);
                let what = format!("x does not grow from {x} to {next}: order the points by x");
                self.must(x < next, &format!("curve.points.{}.0", i + 1), what)?;
            }
        }
        if let Some(curve) = benchmark.curve.as_ref().filter(|curve| curve.scaling) {
            let rate = matches!(benchmark.unit.quantity(), Quantity::Rate { .. });
            let count = |x: f64| x >= 1.0 && x <= f64::from(u32::MAX) && x.fract() == 0.0;
            let counts = curve.points.iter().all(|(x, _)| count(*x));
            let what =
                "scaling is of rates by whole numbers of users: see `unit` and `curve.points`";
            self.must(rate && counts, "curve.scaling", what)?;
        }
        if benchmark.curve.as_ref().is_some_and(|curve| curve.longest) {
            let time = matches!(benchmark.unit.quantity(), Quantity::Time { .. });
            let what = "the longest is of times: see `unit`";
            self.must(time, "curve.longest", what)?;
        }
        self.check_work(&benchmark.work, needs, over)?;
        self.unit(&benchmark.unit, &benchmark.work)?;
        self.better(&benchmark.unit, explicit)
    }

    fn check_work(
        &self,
        work: &Work,
        needs: &[At<String>],
        over: &[At<String>],
    ) -> Result<(), Error> {
        match work {
            Work::Kernel(work) => {
                self.file.text.program(&self.at("program"), &work.program)?;
                for (i, helper) in work.uses.iter().enumerate() {
                    self.file.text.program(&self.at(&format!("uses.{i}")), helper)?;
                }
            }
            Work::Command(work) | Work::Scenario(work) => self.command(work, needs)?,
            Work::Derived { terms, .. } => {
                self.must(
                    !terms.is_empty(),
                    "terms",
                    "terms is empty: name the benchmarks to add",
                )?;
                for (i, times) in terms.iter().map(|term| term.times).enumerate() {
                    let (path, what) =
                        (format!("terms.{i}.times"), "0 times a benchmark says nothing");
                    self.must(times.is_finite() && times != 0.0, &path, what)?;
                }
            }
            Work::Score { baseline, weights, .. } => {
                let all = weights.len() == over.len() && weights.iter().all(|w| positive(*w));
                let single = over.iter().all(|name| !name.get_ref().contains(['*', '?']));
                let free = weights.is_empty();
                self.all([
                    (!over.is_empty(), "over", "over is empty: name the benchmarks of the score"),
                    (
                        baseline.starts_with("ref:"),
                        "baseline",
                        "a baseline is a reference system: write ref:...",
                    ),
                    (
                        free || single,
                        "over",
                        "with weights, name each benchmark: a selector has no weight",
                    ),
                    (
                        free || all,
                        "weights",
                        "weights are numbers above 0, one for each benchmark in `over`",
                    ),
                ])?;
            }
        }
        Ok(())
    }

    fn claims(&self, claims: &Claims, kind: Kind) -> Result<(), Error> {
        for (name, value) in [
            ("syscalls_per_op", claims.syscalls_per_op),
            ("switches_per_op", claims.switches_per_op),
            ("faults_per_op", claims.faults_per_op),
            ("major_faults_per_op", claims.major_faults_per_op),
            ("page_outs_per_op", claims.page_outs_per_op),
            ("min_ns_per_op", claims.min_ns_per_op),
        ] {
            let value = value.unwrap_or(0.0);
            let what = format_args!("{name} = {value} cannot be true: it must be 0 or more");
            self.must(value.is_finite() && value >= 0.0, "claims", what)?;
        }
        let contradict = claims.syscalls_vary && claims.syscalls_per_op.is_some();
        let of_kernels = kind == Kind::Kernel || !claims.check && !claims.linear;
        self.all([
            (!contradict, "claims", "syscalls_vary and syscalls_per_op: leave one of them out"),
            (claims.min_ns_per_op != Some(0.0), "claims", "min_ns_per_op must be above 0"),
            (
                of_kernels,
                "claims",
                "only kernels may claim `check` and `linear`: see `stdout`, `verify`",
            ),
        ])
    }

    /// The given direction, or that of the unit.
    fn better(&self, unit: &Unit, explicit: Option<Better>) -> Result<Better, Error> {
        let (natural, what) = match unit.quantity() {
            Quantity::Time { .. } => (Some(Better::Lower), "a time, of which less is better"),
            Quantity::Rate { .. } => (Some(Better::Higher), "a rate, of which more is better"),
            Quantity::Share => (Some(Better::Higher), "a share, of which more is better"),
            Quantity::Exact => (
                explicit,
                "not a time: say which direction is better, better = \"lower\" or \"higher\"",
            ),
        };
        let fits = explicit.is_none() || explicit == natural;
        let place = if explicit.is_some() { "better" } else { "unit" };
        match natural {
            Some(natural) if fits => Ok(natural),
            _ => Err(self.file.text.error(&self.at(place), format!("{unit} is {what}"))),
        }
    }

    /// Checks that the work can yield this unit.
    fn unit(&self, unit: &Unit, work: &Work) -> Result<(), Error> {
        let (is, share) = (unit.as_str(), unit.quantity() == Quantity::Share);
        let (good, what) = match work {
            Work::Command(work) | Work::Scenario(work) if work.figure == Figure::LinkedSize => {
                (is == "bytes", "a size is in bytes: write unit = \"bytes\"")
            }
            Work::Score { .. } => (is == "ratio", "a rating is a ratio: write unit = \"ratio\""),
            Work::Derived { share_of: Some(_), .. } => {
                (share, "a share is in per cent: write unit = \"%\"")
            }
            _ if share => {
                (false, "per cent is the unit of a share: say of what, share_of = \"...\"")
            }
            _ => (unit.quantity() != Quantity::Exact, "unknown unit: write a time or a rate"),
        };
        self.must(good, "unit", what)
    }

    fn command(&self, work: &CommandWork, needs: &[At<String>]) -> Result<(), Error> {
        let proof = work.verify.iter().map(|verify| (&verify.argv, "verify.argv"));
        let prepare = (!work.prepare.is_empty()).then_some((&work.prepare, "prepare"));
        let check = (!work.check.is_empty()).then_some((&work.check, "check"));
        for (i, helper) in work.uses.iter().enumerate() {
            let span = self.at(&format!("uses.{i}"));
            self.file.text.program(&span, helper)?;
        }
        let aside = proof.chain(prepare).chain(check);
        for (argv, key) in aside.chain([(&work.argv, "argv")]) {
            let program = argv.first().is_some_and(|word| !word.is_empty());
            self.must(program, key, "argv is empty: write the program and its arguments")?;
            for (i, word) in argv.iter().enumerate() {
                let used = |name: &str| work.uses.iter().any(|helper| helper == name);
                let declared =
                    |name: &str| used(name) || needs.iter().any(|need| need.get_ref() == name);
                let name = places(word).into_iter().find(|name| !declared(name));
                let name = name.unwrap_or_default();
                let what = format!(
                    "{{{name}}} is not in `needs` or `uses`: add it, or write {{{{{name}}}}} for the braces themselves"
                );
                self.must(name.is_empty(), &format!("{key}.{i}"), what)?;
            }
        }
        for (key, names) in [("leaves", &work.leaves), ("removes", &work.removes)] {
            for (i, name) in names.iter().enumerate() {
                self.file.text.file_name(&self.at(&format!("{key}.{i}")), name)?;
            }
        }
        if let Some(name) = &work.input {
            self.file.text.file_name(&self.at("input"), name)?;
        }
        let output = work.output.as_ref();
        let left = |name: &String| name == "/dev/null" || work.leaves.contains(name);
        let linked = work.leaves.iter().any(|file| file == "a.out");
        self.all([
            (
                output.is_none() || work.stdout.is_none(),
                "stdout",
                "what goes to `output` is not compared: prove the work with `verify`, not `stdout`",
            ),
            (output.is_none_or(left), "output", "the output is one of `leaves`, or /dev/null"),
            (
                linked || work.figure != Figure::LinkedSize,
                "figure",
                "linked-size is the size of a.out: add leaves = [\"a.out\"]",
            ),
        ])
    }
}

/// The placeholders in braces.
fn places(word: &str) -> Vec<String> {
    let names = RefCell::new(vec![]);
    let _ = fill_catalog_places(word, |name| {
        names.borrow_mut().push(name.to_owned());
        None
    });
    names.into_inner()
}
