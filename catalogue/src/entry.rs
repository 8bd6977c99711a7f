//! What every kind of entry has in common: prose, sources, unit, published work, claims, needs, curve.
//!
//! Must not know: other entries, and where the text comes from.

use crate::error::Error;
use crate::raw::{self, At};
use crate::read::{Reader, Reference};
use gritstone_model::{
    Benchmark, Better, Claims, Curve, Kind, Need, PublishedWork, Quantity, Source, Subject,
};
use std::cmp::Ordering;

impl Reader<'_> {
    pub fn benchmark(&self, raw: &raw::Entry) -> Result<Benchmark, Error> {
        if *raw.version.get_ref() == 0 {
            return Err(self.error(&raw.version, "versions begin at 1"));
        }
        let work = self.work(raw)?;
        self.unit_of_kind(raw)?;
        Ok(Benchmark {
            id: raw.id.get_ref().clone(),
            title: self.prose("title", &raw.title)?,
            version: *raw.version.get_ref(),
            work,
            operation: self.prose("operation", &raw.operation)?,
            why: self.prose("why", &raw.why)?,
            sources: self.sources(&raw.sources)?,
            unit: raw.unit.get_ref().clone(),
            better: self.better(raw)?,
            amount_per_op: self.amount(raw)?,
            published: self.published(raw.published.as_ref())?,
            placement: raw.placement.as_ref().map_or_else(Default::default, copied),
            processor_bound: raw.processor_bound,
            files: raw.in_dir.as_ref().is_some_and(copied),
            claims: self.claims(raw.claims.as_ref(), *raw.kind.get_ref())?,
            needs: self.needs_of(raw)?,
            curve: self.curve(raw.curve.as_ref())?,
            remark: self.optional_prose("remark", raw.remark.as_ref())?,
            not_comparable: self.optional_prose("not_comparable", raw.not_comparable.as_ref())?,
        })
    }

    fn sources(&self, raw: &At<Vec<raw::Source>>) -> Result<Vec<Source>, Error> {
        if raw.get_ref().is_empty() {
            return Err(self.error(
                raw,
                "sources is empty: name the document and the place that this entry answers",
            ));
        }
        let mut sources = Vec::new();
        for source in raw.get_ref() {
            sources.push(Source {
                document: self.prose("document", &source.document)?,
                place: self.prose("place", &source.place)?,
            });
        }
        Ok(sources)
    }

    /// As said, or as the unit has it.
    fn better(&self, raw: &raw::Entry) -> Result<Better, Error> {
        let unit = raw.unit.get_ref();
        let natural = match unit.quantity() {
            Quantity::Time { .. } => Some((Better::Lower, "a time", "lower")),
            Quantity::Rate { .. } => Some((Better::Higher, "a rate", "higher")),
            Quantity::Share => Some((Better::Higher, "a share", "higher")),
            Quantity::Exact => None,
        };
        match (natural, &raw.better) {
            (Some((natural, what, word)), Some(said)) if *said.get_ref() != natural => Err(self
                .error(
                    said,
                    format!("{unit} is {what}: write better = \"{word}\", or leave it out"),
                )),
            (Some((natural, ..)), _) => Ok(natural),
            (None, Some(said)) => Ok(*said.get_ref()),
            (None, None) => Err(self.error(
                &raw.unit,
                format!(
                    "{unit} does not tell which way is good: add better = \"lower\" or \"higher\""
                ),
            )),
        }
    }

    fn amount(&self, raw: &raw::Entry) -> Result<f64, Error> {
        let Some(amount) = &raw.amount_per_op else {
            return Ok(1.0);
        };
        if amount.get_ref().is_finite() && *amount.get_ref() > 0.0 {
            return Ok(*amount.get_ref());
        }
        Err(self.error(
            amount,
            "amount_per_op must be above 0: how many of what the unit counts one operation does",
        ))
    }

    pub fn published(&self, raw: Option<&raw::Published>) -> Result<Option<PublishedWork>, Error> {
        let Some(raw) = raw else {
            return Ok(None);
        };
        if *raw.operations.get_ref() == 0 {
            return Err(self.error(
                &raw.operations,
                "the published work has 0 operations: say how many, or leave `published` out",
            ));
        }
        let times = [Subject::Real, Subject::User, Subject::System];
        let named = |time: &Subject| time.as_str() == raw.figure.get_ref();
        let figure = times.into_iter().find(named).ok_or_else(|| {
            let name = raw.figure.get_ref();
            let what =
                format!("'{name}' is not a published time: write real_s, user_s or system_s");
            self.error(&raw.figure, what)
        })?;
        Ok(Some(PublishedWork {
            work: self.prose("work", &raw.work)?,
            operations: *raw.operations.get_ref(),
            figure,
        }))
    }

    pub fn claims(&self, raw: Option<&At<Claims>>, kind: Kind) -> Result<Claims, Error> {
        let Some(at) = raw else {
            return Ok(Claims::default());
        };
        let claims = at.get_ref();
        for (name, value) in [
            ("syscalls_per_op", claims.syscalls_per_op),
            ("switches_per_op", claims.switches_per_op),
            ("faults_per_op", claims.faults_per_op),
            ("major_faults_per_op", claims.major_faults_per_op),
            ("min_ns_per_op", claims.min_ns_per_op),
        ] {
            let Some(value) = value else { continue };
            if !value.is_finite() || value < 0.0 {
                return Err(self.error(
                    at,
                    format!("{name} = {value} cannot be true: it must be 0 or more"),
                ));
            }
        }
        if claims.syscalls_vary && claims.syscalls_per_op.is_some() {
            return Err(self.error(
                at,
                "syscalls_vary says that there is no syscalls_per_op: leave one of them out",
            ));
        }
        if claims.min_ns_per_op == Some(0.0) {
            return Err(self.error(
                at,
                "min_ns_per_op = 0 claims nothing: leave it out, or say how fast is too fast",
            ));
        }
        if kind != Kind::Kernel && (claims.check || claims.linear) {
            return Err(self.error(
                at,
                "`check` and `linear` are claims of kernels, which do n operations: a command is proved by `stdout`, `leaves` and `verify`",
            ));
        }
        Ok(claims.clone())
    }

    fn needs_of(&self, raw: &raw::Entry) -> Result<Vec<Need>, Error> {
        self.declared(raw.needs.iter().flat_map(At::get_ref))
    }

    /// Needs by their names.
    pub fn declared<'n>(
        &self,
        names: impl Iterator<Item = &'n At<String>>,
    ) -> Result<Vec<Need>, Error> {
        let mut needs = Vec::new();
        for name in names {
            let Some(need) = self.needs.get(name.get_ref()) else {
                return Err(self.error(
                    name,
                    format!("no need is called '{0}': add it to the file's table [needs], such as {0} = {{ package = \"...\" }}", name.get_ref()),
                ));
            };
            needs.push(need.clone());
        }
        Ok(needs)
    }

    pub fn curve(&self, raw: Option<&raw::Curve>) -> Result<Option<Curve>, Error> {
        let Some(raw) = raw else {
            return Ok(None);
        };
        let points = raw.points.get_ref();
        if points.len() < 2 {
            return Err(self.error(&raw.points, "a curve has two points or more"));
        }
        for pair in points.windows(2) {
            let (before, x) = (pair[0].0.get_ref(), &pair[1].0);
            if before.partial_cmp(x.get_ref()) != Some(Ordering::Less) {
                return Err(self.error(
                    x,
                    format!("x does not grow from {before} to {}: put the points in the order of x, each once", x.get_ref()),
                ));
            }
        }
        Ok(Some(Curve {
            label: self.prose("label", &raw.label)?,
            points: points
                .iter()
                .map(|(x, id)| (*x.get_ref(), id.get_ref().clone()))
                .collect(),
            caches: raw.caches,
        }))
    }
}

fn copied<T: Copy>(at: &At<T>) -> T {
    *at.get_ref()
}

pub(crate) fn curve_references(raw: Option<&raw::Curve>) -> Vec<Reference> {
    raw.iter()
        .flat_map(|curve| curve.points.get_ref())
        .map(|(_, id)| Reference {
            id: id.get_ref().clone(),
            at: id.span(),
            curve: true,
        })
        .collect()
}
