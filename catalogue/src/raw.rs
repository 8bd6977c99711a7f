//! The shape of a file of the catalogue: which keys there are. Spans are kept, so that what is wrong with a
//! value can be shown where it stands.
//!
//! Must not know: which values make sense.

use gritstone_model::{Better, Claims, Figure, Id, Kind, Placement, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;
pub(crate) use toml::Spanned;

/// A value with its place.
pub(crate) type At<T> = Spanned<T>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub family: Family,
    #[serde(default)]
    pub files: BTreeMap<At<String>, String>,
    #[serde(default)]
    pub needs: BTreeMap<At<String>, Need>,
    /// What the levels of load add, from level 1.
    #[serde(default)]
    pub load: Vec<Load>,
    pub benchmark: Vec<Entry>,
}

/// What a level of load adds to the one below.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    pub what: At<String>,
    pub program: At<String>,
    #[serde(default)]
    pub needs: Vec<At<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    pub name: At<String>,
    pub title: At<String>,
    pub why: At<String>,
    #[serde(default)]
    pub guidelines: Vec<Guideline>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guideline {
    pub rule: At<String>,
    pub how: At<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Need {
    #[serde(default)]
    pub any: Vec<At<String>>,
    pub package: At<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    // every kind
    pub id: At<Id>,
    pub kind: At<Kind>,
    pub title: At<String>,
    pub version: At<u32>,
    pub operation: At<String>,
    pub why: At<String>,
    pub sources: At<Vec<Source>>,
    pub unit: At<Unit>,
    pub better: Option<At<Better>>,
    pub amount_per_op: Option<At<f64>>,
    pub published: Option<Published>,
    #[serde(default)]
    pub processor_bound: bool,
    pub curve: Option<Curve>,
    pub remark: Option<At<String>>,
    pub not_comparable: Option<At<String>>,
    #[serde(default)]
    pub variant: Vec<Variant>,
    // what is launched: kernel, command, scenario
    pub placement: Option<At<Placement>>,
    pub in_dir: Option<At<bool>>,
    pub claims: Option<At<Claims>>,
    pub needs: Option<At<Vec<At<String>>>>,
    // kernel
    pub program: Option<At<String>>,
    pub params: Option<At<BTreeMap<String, String>>>,
    pub uses: Option<At<Vec<At<String>>>>,
    pub load: Option<At<Vec<At<usize>>>>,
    // command and scenario
    pub argv: Option<At<Vec<At<String>>>>,
    pub files: Option<At<Vec<At<String>>>>,
    pub prepare: Option<At<Vec<At<String>>>>,
    pub input: Option<At<String>>,
    pub output: Option<At<String>>,
    pub stdout: Option<At<String>>,
    pub leaves: Option<At<Vec<At<String>>>>,
    pub removes: Option<At<Vec<At<String>>>>,
    pub verify: Option<At<Verify>>,
    pub figure: Option<At<Figure>>,
    // derived
    pub terms: Option<At<Vec<Term>>>,
    pub share_of: Option<At<Id>>,
    // rating
    pub over: Option<At<Vec<At<String>>>>,
    pub baseline: Option<At<String>>,
    pub weights: Option<At<Vec<f64>>>,
}

/// What a variant does otherwise; all else is as in the entry that it stands under.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    pub name: At<String>,
    pub title: At<String>,
    pub operation: Option<At<String>>,
    pub why: Option<At<String>>,
    pub placement: Option<At<Placement>>,
    pub params: Option<At<BTreeMap<String, String>>>,
    pub claims: Option<At<Claims>>,
    pub published: Option<Published>,
    pub curve: Option<Curve>,
    pub not_comparable: Option<At<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub document: At<String>,
    pub place: At<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    pub work: At<String>,
    pub operations: At<u64>,
    pub figure: At<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verify {
    pub argv: At<Vec<At<String>>>,
    pub stdout: At<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Term {
    pub id: At<Id>,
    pub times: At<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curve {
    pub label: At<String>,
    pub points: At<Vec<(At<f64>, At<Id>)>>,
    #[serde(default)]
    pub caches: bool,
}
