//! What the kinds of entry do not share: which keys each may have, its work, its unit; and variants.
//!
//! Must not know: other files, and where the text comes from.

use crate::entry::curve_references;
use crate::error::Error;
use crate::raw::{self, At};
use crate::read::{Reader, Reference, Row, is_hidden, placeholder_letter};
use gritstone_model::{
    Benchmark, CommandWork, Figure, Id, KernelWork, Kind, Quantity, Selector, Term, Verify, Work,
};
use std::collections::BTreeMap;
use std::ops::Range;

const LAUNCHED: &[Kind] = &[Kind::Kernel, Kind::Command, Kind::Scenario];
const KERNEL: &[Kind] = &[Kind::Kernel];
const COMMAND: &[Kind] = &[Kind::Command, Kind::Scenario];
const DERIVED: &[Kind] = &[Kind::Derived];
const RATING: &[Kind] = &[Kind::Rating];

/// The word for a kind in a file.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Kernel => "kernel",
        Kind::Command => "command",
        Kind::Scenario => "scenario",
        Kind::Derived => "derived",
        Kind::Rating => "rating",
    }
}

fn place<T>(field: Option<&At<T>>) -> Option<Range<usize>> {
    field.map(At::span)
}

impl Reader<'_> {
    /// That an entry has the keys of its kind, and no others.
    pub fn keys(&self, raw: &raw::Entry) -> Result<(), Error> {
        let kind = *raw.kind.get_ref();
        // key, where it stands, for which kinds it is, whether they must have it
        let table = [
            ("placement", place(raw.placement.as_ref()), LAUNCHED, false),
            ("in_dir", place(raw.in_dir.as_ref()), LAUNCHED, false),
            ("claims", place(raw.claims.as_ref()), LAUNCHED, false),
            ("needs", place(raw.needs.as_ref()), LAUNCHED, false),
            ("program", place(raw.program.as_ref()), KERNEL, false),
            ("params", place(raw.params.as_ref()), KERNEL, false),
            ("uses", place(raw.uses.as_ref()), KERNEL, false),
            ("load", place(raw.load.as_ref()), KERNEL, false),
            ("argv", place(raw.argv.as_ref()), COMMAND, true),
            ("files", place(raw.files.as_ref()), COMMAND, false),
            ("prepare", place(raw.prepare.as_ref()), COMMAND, false),
            ("input", place(raw.input.as_ref()), COMMAND, false),
            ("output", place(raw.output.as_ref()), COMMAND, false),
            ("stdout", place(raw.stdout.as_ref()), COMMAND, false),
            ("leaves", place(raw.leaves.as_ref()), COMMAND, false),
            ("removes", place(raw.removes.as_ref()), COMMAND, false),
            ("verify", place(raw.verify.as_ref()), COMMAND, false),
            ("figure", place(raw.figure.as_ref()), COMMAND, false),
            ("terms", place(raw.terms.as_ref()), DERIVED, true),
            ("share_of", place(raw.share_of.as_ref()), DERIVED, false),
            ("over", place(raw.over.as_ref()), RATING, true),
            ("baseline", place(raw.baseline.as_ref()), RATING, true),
            ("weights", place(raw.weights.as_ref()), RATING, false),
        ];
        for (key, at, kinds, required) in table {
            let words: Vec<_> = kinds.iter().map(|kind| word(*kind)).collect();
            match at {
                Some(at) if !kinds.contains(&kind) => {
                    let what = format!(
                        "`{key}` is for kind {}, and this entry is of kind {}: take the key away, or change the kind",
                        words.join(" or "),
                        word(kind)
                    );
                    return Err(self.text.error(&at, what));
                }
                None if required && kinds.contains(&kind) => {
                    let what = format!("an entry of kind {} needs the key `{key}`", word(kind));
                    return Err(self.error(&raw.kind, what));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// That the figure of this kind can be in this unit.
    pub fn unit_of_kind(&self, raw: &raw::Entry) -> Result<(), Error> {
        let quantity = raw.unit.get_ref().quantity();
        let exact = quantity == Quantity::Exact;
        let name = raw.unit.get_ref();
        let linked = raw
            .figure
            .as_ref()
            .is_some_and(|figure| *figure.get_ref() == Figure::LinkedSize);
        let what = match raw.kind.get_ref() {
            _ if linked && name.as_str() != "bytes" => "a size is in bytes: write unit = \"bytes\"",
            Kind::Rating if name.as_str() != "ratio" => {
                "a rating is a ratio: write unit = \"ratio\""
            }
            _ if (quantity == Quantity::Share) != raw.share_of.is_some() => {
                "a share is per cent of a row: write unit = \"%\" and share_of = \"...\", or neither"
            }
            Kind::Kernel | Kind::Command | Kind::Scenario | Kind::Derived if exact && !linked => {
                "no time becomes a figure in this unit: write a time or a rate, or figure = \"linked-size\" for a size"
            }
            _ => return Ok(()),
        };
        Err(self.error(&raw.unit, what))
    }

    pub fn work(&self, raw: &raw::Entry) -> Result<Work, Error> {
        Ok(match raw.kind.get_ref() {
            Kind::Kernel => Work::Kernel(self.kernel(raw)?),
            Kind::Command => Work::Command(self.command(raw)?),
            Kind::Scenario => Work::Scenario(self.command(raw)?),
            Kind::Derived => Work::Derived {
                terms: self.terms(raw)?,
                share_of: raw.share_of.as_ref().map(|id| id.get_ref().clone()),
            },
            Kind::Rating => self.rating(raw)?,
        })
    }

    fn kernel(&self, raw: &raw::Entry) -> Result<KernelWork, Error> {
        let program = match &raw.program {
            Some(program) => self.program(program)?,
            None => own_program(raw.id.get_ref()),
        };
        let mut uses = Vec::new();
        for helper in raw.uses.iter().flat_map(At::get_ref) {
            uses.push(self.program(helper)?);
        }
        let params = raw.params.as_ref().map(|params| self.params(params));
        Ok(KernelWork {
            program,
            params: params.transpose()?.unwrap_or_default(),
            uses,
        })
    }

    /// Words for a program, without a letter that nobody sees.
    fn params(&self, at: &At<BTreeMap<String, String>>) -> Result<BTreeMap<String, String>, Error> {
        let mut words = at.get_ref().iter().flat_map(|(key, value)| [key, value]);
        match words.find(|word| word.chars().any(is_hidden)) {
            Some(word) => Err(self.error(
                at,
                format!("{word:?} has a control character: take it away"),
            )),
            None => Ok(at.get_ref().clone()),
        }
    }

    /// `family/name`, which is also a path under `kernels/`.
    pub fn program(&self, at: &At<String>) -> Result<String, Error> {
        let text = at.get_ref();
        let good = text.split('/').count() == 2 && !text.contains('@') && Id::parse(text).is_ok();
        if good {
            return Ok(text.clone());
        }
        Err(self.error(
            at,
            format!("'{text}' is not a program: write family/name, for kernels/family/name.c"),
        ))
    }

    fn command(&self, raw: &raw::Entry) -> Result<CommandWork, Error> {
        let argv = match &raw.argv {
            Some(argv) => self.argv(argv, raw)?,
            None => Vec::new(), // `keys` has seen to it that there is one
        };
        let mut files = BTreeMap::new();
        for name in raw.files.iter().flat_map(At::get_ref) {
            let Some(text) = self.files.get(name.get_ref()) else {
                return Err(self.error(
                    name,
                    format!(
                        "no file is called '{}': add its text to the table [files]",
                        name.get_ref()
                    ),
                ));
            };
            files.insert(name.get_ref().clone(), text.clone());
        }
        let leaves = self.file_names(raw.leaves.as_ref())?;
        let prepare = match &raw.prepare {
            Some(argv) => self.argv(argv, raw)?,
            None => Vec::new(),
        };
        let input = match &raw.input {
            Some(name) => Some(self.file_name(name)?),
            None => None,
        };
        let output = self.output(raw, &leaves)?;
        let verify = match &raw.verify {
            Some(verify) => Some(Verify {
                argv: self.argv(&verify.get_ref().argv, raw)?,
                stdout: self.prose("stdout", &verify.get_ref().stdout)?,
            }),
            None => None,
        };
        let figure = match &raw.figure {
            Some(at)
                if *at.get_ref() == Figure::LinkedSize && !leaves.iter().any(|f| f == "a.out") =>
            {
                return Err(self.error(
                    at,
                    "linked-size is taken from the file a.out, which this command does not leave: add leaves = [\"a.out\"]",
                ));
            }
            Some(at) => at.get_ref().clone(),
            None => Figure::default(),
        };
        Ok(CommandWork {
            argv,
            files,
            prepare,
            input,
            output,
            stdout: self.optional_prose("stdout", raw.stdout.as_ref())?,
            leaves,
            removes: self.file_names(raw.removes.as_ref())?,
            verify,
            figure,
            user: None,
        })
    }

    fn file_names(&self, raw: Option<&At<Vec<At<String>>>>) -> Result<Vec<String>, Error> {
        let names = raw.into_iter().flat_map(At::get_ref);
        names.map(|name| self.file_name(name)).collect()
    }

    /// Where standard output goes: what is not compared is thrown away, or a file that it must leave.
    fn output(&self, raw: &raw::Entry, leaves: &[String]) -> Result<Option<String>, Error> {
        let Some(at) = &raw.output else {
            return Ok(None);
        };
        if let Some(stdout) = &raw.stdout {
            return Err(self.error(
                stdout,
                "what goes to `output` is not compared: take `stdout` away, and prove the work with `verify`",
            ));
        }
        let name = at.get_ref();
        if name != "/dev/null" && !leaves.contains(name) {
            return Err(self.error(
                at,
                format!("'{name}' is no file that this command leaves: add it to `leaves`, or write /dev/null"),
            ));
        }
        Ok(Some(name.clone()))
    }

    /// A command line: a program at least, and no `{name}` that nothing stands for.
    fn argv(&self, at: &At<Vec<At<String>>>, raw: &raw::Entry) -> Result<Vec<String>, Error> {
        let words = at.get_ref();
        if words.first().is_none_or(|word| word.get_ref().is_empty()) {
            return Err(self.error(at, "argv is empty: write the program and its arguments"));
        }
        let needs: Vec<&str> = raw
            .needs
            .iter()
            .flat_map(At::get_ref)
            .map(|need| need.get_ref().as_str())
            .collect();
        for word in words {
            if let Some(name) = placeholders(word.get_ref()).find(|name| !needs.contains(name)) {
                return Err(self.error(
                    word,
                    format!("{{{name}}} stands for no need of this entry: add '{name}' to its `needs`, or write ${name} where a shell variable is meant"),
                ));
            }
        }
        words.iter().map(|word| self.word("argv", word)).collect()
    }

    fn terms(&self, raw: &raw::Entry) -> Result<Vec<Term>, Error> {
        let mut terms = Vec::new();
        for term in raw.terms.iter().flat_map(At::get_ref) {
            let times = *term.times.get_ref();
            if !times.is_finite() || times == 0.0 {
                return Err(self.error(
                    &term.times,
                    format!("{times} times a row says nothing: write how often it counts, such as 1 or -1"),
                ));
            }
            terms.push(Term {
                id: term.id.get_ref().clone(),
                times,
            });
        }
        match (&raw.terms, terms.is_empty()) {
            (Some(at), true) => Err(self.error(at, "terms is empty: name the rows that are added")),
            _ => Ok(terms),
        }
    }

    fn rating(&self, raw: &raw::Entry) -> Result<Work, Error> {
        if let Some(at) = raw.over.as_ref().filter(|over| over.get_ref().is_empty()) {
            return Err(self.error(at, "over is empty: name the rows that are rated"));
        }
        let baseline = match &raw.baseline {
            Some(at) if at.get_ref().starts_with("ref:") => at.get_ref().clone(),
            Some(at) => {
                return Err(self.error(
                    at,
                    format!(
                        "'{}' is not a reference machine: write ref:...",
                        at.get_ref()
                    ),
                ));
            }
            None => String::new(), // `keys` has seen to it that there is one
        };
        // its rows are found when all files are read
        let over = Vec::new();
        Ok(Work::Rating {
            over,
            baseline,
            weights: self.weights(raw)?,
        })
    }

    /// One for each row that is named, above 0.
    fn weights(&self, raw: &raw::Entry) -> Result<Vec<f64>, Error> {
        let Some(at) = &raw.weights else {
            return Ok(Vec::new());
        };
        let over: Vec<_> = raw.over.iter().flat_map(At::get_ref).collect();
        if let Some(selector) = over.iter().find(|text| text.get_ref().contains(['*', '?'])) {
            return Err(self.error(
                selector,
                "each row has a weight of its own: name the rows, and not by a selector",
            ));
        }
        let weights = at.get_ref();
        if weights.len() != over.len() || !weights.iter().all(|w| w.is_finite() && *w > 0.0) {
            let what = format!(
                "weights must be {} numbers above 0, one for each row in `over`",
                over.len()
            );
            return Err(self.error(at, what));
        }
        Ok(weights.clone())
    }

    /// The rows that a derived figure is made of.
    pub fn work_references(&self, raw: &raw::Entry) -> Vec<Reference> {
        let terms = raw.terms.iter().flat_map(At::get_ref).map(|term| &term.id);
        terms
            .chain(&raw.share_of)
            .map(|id| Reference {
                id: id.get_ref().clone(),
                at: id.span(),
                curve: false,
            })
            .collect()
    }

    /// The selectors of the rows that a rating is over.
    pub fn over(&self, raw: &raw::Entry) -> Vec<(Selector, Range<usize>)> {
        let over = raw.over.iter().flat_map(At::get_ref);
        over.map(|text| (Selector::new(text.get_ref()), text.span()))
            .collect()
    }

    /// An entry with what its variant does otherwise.
    pub fn variant(
        &self,
        entry: &raw::Entry,
        base: &Benchmark,
        raw: &raw::Variant,
    ) -> Result<Row, Error> {
        let name = raw.name.get_ref();
        let id = Id::parse(&format!("{}@{name}", base.id))
            .map_err(|why| self.error(&raw.name, why.to_string()))?;
        let mut row = base.clone();
        match (&mut row.work, &raw.params) {
            (Work::Kernel(work), Some(params)) => work.params.extend(self.params(params)?),
            (_, Some(params)) => {
                return Err(self.error(params, "`params` are handed to kernels only"));
            }
            (_, None) => {}
        }
        match &raw.placement {
            Some(at) if !LAUNCHED.contains(entry.kind.get_ref()) => {
                return Err(self.error(at, "only what is launched has a placement"));
            }
            Some(at) => row.placement = *at.get_ref(),
            None => {}
        }
        if row.work == base.work && row.placement == base.placement {
            return Err(self.error(
                &raw.name,
                format!("variant '{name}' does what {} does, at the same place: give it another placement or other params", base.id),
            ));
        }
        row.id = id;
        row.title = self.prose("title", &raw.title)?;
        if let Some(operation) = &raw.operation {
            row.operation = self.prose("operation", operation)?;
        }
        if let Some(why) = &raw.why {
            row.why = self.prose("why", why)?;
        }
        if raw.claims.is_some() {
            row.claims = self.claims(raw.claims.as_ref(), *entry.kind.get_ref())?;
        }
        if raw.published.is_some() {
            row.published = self.published(raw.published.as_ref())?;
        }
        if let Some(why) = &raw.not_comparable {
            row.not_comparable = Some(self.prose("not_comparable", why)?);
        }
        // the curve of the entry is made of the entry's rows, not of the variant's
        row.curve = self.curve(raw.curve.as_ref())?;
        Ok(Row {
            benchmark: row,
            at: raw.name.span(),
            references: curve_references(raw.curve.as_ref()),
            over: Vec::new(),
        })
    }
}

/// `family/name` of an identifier; a family that is one row has a program of its own name.
fn own_program(id: &Id) -> String {
    let path = id.as_str().split('@').next().unwrap_or_default();
    let mut parts = path.split('/');
    let family = parts.next().unwrap_or_default();
    format!("{family}/{}", parts.next().unwrap_or(family))
}

/// The names that stand in braces.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        (!name.is_empty() && name.chars().all(placeholder_letter)).then_some(name)
    })
}
