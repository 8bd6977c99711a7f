//! The rows that ratings are over: selectors are turned into identifiers once all files are read.
//!
//! A selector takes what it matches but other ratings, so that a family of which a rating is over `family/*` can grow; an
//! identifier takes the row of that name, a rating too.

use crate::error::Error;
use crate::read::{File, Reference};
use gritstone_model::{Id, Kind, Selector, Work};
use std::ops::Range;

/// Names the rows of every rating. A row of a family that is not among the files is not judged unless `whole`
/// says that these are all the files there are.
pub(crate) fn expand(files: &mut [File<'_>], whole: bool) -> Result<(), Error> {
    let all = files.iter().flat_map(|file| &file.rows);
    let rows: Vec<(Id, Kind)> = all
        .map(|row| (row.benchmark.id.clone(), row.benchmark.work.kind()))
        .collect();
    for file in files {
        for row in &mut file.rows {
            let Work::Rating { over, .. } = &mut row.benchmark.work else {
                continue;
            };
            for (selector, at) in std::mem::take(&mut row.over) {
                let found =
                    found(&selector, &rows, whole).map_err(|what| file.text.error(&at, what))?;
                for id in found {
                    if !over.contains(&id) {
                        over.push(id.clone());
                        row.references.push(reference(id, &at));
                    }
                }
            }
        }
    }
    Ok(())
}

fn found(selector: &Selector, rows: &[(Id, Kind)], whole: bool) -> Result<Vec<Id>, String> {
    if !selector.as_str().contains(['*', '?']) {
        // whether there is a row of that name is judged with all other references
        let id = Id::parse(selector.as_str()).map_err(|why| why.to_string())?;
        return Ok(vec![id]);
    }
    let matched = rows
        .iter()
        .filter(|(id, kind)| *kind != Kind::Rating && selector.matches(id));
    let ids: Vec<Id> = matched.map(|(id, _)| id.clone()).collect();
    if ids.is_empty() && whole {
        return Err(format!(
            "no row is like '{}': name rows that there are",
            selector.as_str()
        ));
    }
    Ok(ids)
}

fn reference(id: Id, at: &Range<usize>) -> Reference {
    Reference {
        id,
        at: at.clone(),
        curve: false,
    }
}
