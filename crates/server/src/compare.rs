//! Runs against a base: two side by side, or several in one table, as far as a filter shows them.

use crate::form_options::{choice, option};
use crate::http::{Asked, Compared, Form};
use crate::pages::{Answered, Pages, Refused, said};
use gritstone_document::Document;
use gritstone_document::html::{self, Frame};
use gritstone_model::{CompareRow, CompareView, RunView, Verdict};
use gritstone_report::Pair;
use gritstone_store::{RunHead, Store};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Runs that can be added by a choice.
const CHOICES: usize = 20;
const VERDICTS: [Verdict; 4] = [
    Verdict::Slower,
    Verdict::Faster,
    Verdict::Same,
    Verdict::Inconclusive,
];
/// Sizes of effects that can be chosen, percent.
const EFFECTS: [u32; 5] = [1, 2, 5, 10, 20];

impl Pages {
    pub(super) fn compare(
        &self,
        asked: &Asked,
        store: Option<&Rc<Store>>,
        of: &Compared,
    ) -> Answered {
        let base = self.view(store, &of.base)?;
        let runs: Vec<RunView> = of
            .runs
            .iter()
            .map(|name| self.view(store, name))
            .collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::from([base.id.as_str()]);
        for run in &runs {
            if !seen.insert(&run.id) {
                let why = format!("{} cannot be compared with itself.", run.id);
                return Err(Refused::Wrong(why));
            }
        }
        let wanted = Filter::of(of)?;
        let compared = |run| {
            self.context
                .compare(&base, run, gritstone_runs::context::MARGIN)
        };
        let mut views: Vec<CompareView> = runs.iter().map(compared).collect();
        let rows = views.iter().flat_map(|view| &view.rows);
        let families: BTreeSet<String> = rows.map(|row| row.id.family().to_owned()).collect();
        let shown = views.iter().flat_map(|view| &view.rows);
        let shown = shown.filter(|row| wanted.has(row));
        let shown: BTreeSet<_> = shown.map(|row| row.id.clone()).collect();
        for view in &mut views {
            // of several, what one of them is asked for by is shown of all
            view.rows.retain(|row| shown.contains(&row.id));
        }
        if asked.form == Form::Json {
            let nothing = || (Document::default(), Frame::default());
            return Ok(match views.as_slice() {
                [one] => said(asked, one, nothing)?,
                several => said(asked, &several, nothing)?,
            });
        }
        let most = CHOICES + seen.len();
        let newest = store.map_or(Ok(vec![]), |store| store.newest_runs(None, most))?;
        let others = newest
            .into_iter()
            .filter(|head| !seen.contains(head.id.as_str()))
            .take(CHOICES);
        let form = form(of, [&base].into_iter().chain(&runs), families, others);
        let document = match (views.as_slice(), runs.as_slice()) {
            ([view], [run]) => gritstone_report::pair(&Pair {
                base: &base,
                other: run,
                compared: view,
            }),
            (views, runs) => {
                let others: Vec<_> = runs.iter().zip(views).collect();
                gritstone_report::several(&base, &others)
            }
        };
        let frame = Frame {
            form: Some(form),
            ..Frame::default()
        };
        Ok(said(asked, &views, || (document, frame))?)
    }
}

/// Which benchmarks are shown.
struct Filter<'a> {
    family: &'a str,
    verdict: Option<Verdict>,
    /// Ratio of the better to the worse.
    least: f64,
}

impl<'a> Filter<'a> {
    fn of(of: &'a Compared) -> Result<Self, Refused> {
        let verdict = match of.verdict.as_str() {
            "" => None,
            word => {
                let mut all = VERDICTS.into_iter();
                let found = all.find(|verdict| verdict.as_str() == word);
                let none = || Refused::Wrong(format!("There is no verdict '{word}'."));
                Some(found.ok_or_else(none)?)
            }
        };
        Ok(Self {
            family: &of.family,
            verdict,
            least: 1.0 + f64::from(of.effect) / 100.0,
        })
    }

    fn has(&self, row: &CompareRow) -> bool {
        let effect = || {
            row.ratio
                .is_some_and(|ratio| ratio.max(1.0 / ratio) >= self.least)
        };
        (self.family.is_empty() || row.id.family() == self.family)
            && self
                .verdict
                .is_none_or(|wanted| row.verdict == Some(wanted))
            && (self.least <= 1.0 || effect())
    }
}

/// What else can be asked for: a part of it, or one more run.
fn form<'a>(
    of: &Compared,
    runs: impl Iterator<Item = &'a RunView>,
    families: BTreeSet<String>,
    others: impl Iterator<Item = RunHead>,
) -> html::Form {
    let families = families.into_iter().map(|name| (name.clone(), name));
    let verdicts = VERDICTS.map(|verdict| (verdict.as_str().into(), verdict.as_str().into()));
    let effects = EFFECTS.map(|n| (n.to_string(), format!("{n}% or more")));
    let effect = of.effect.to_string();
    let names = ["base"].into_iter().chain(std::iter::repeat("run"));
    let kept = names.zip(runs.map(|run| run.id.clone()));
    html::Form {
        to: "/compare".to_owned(),
        button: "Show",
        kept: kept.collect(),
        choices: vec![
            choice("family", "Family", "all", families, &of.family),
            choice("verdict", "Verdict", "all", verdicts, &of.verdict),
            choice("effect", "Effect", "any", effects, &effect),
            choice("run", "Add", "no run", others.map(option), ""),
        ],
    }
}
