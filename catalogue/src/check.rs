//! What can only be judged of all rows together: names that are there twice, rows that are not there, circles.

use crate::error::Error;
use crate::read::{File, Row};
use gritstone_model::{Id, Work};
use std::collections::{BTreeMap, BTreeSet};

/// A row and the file that it stands in.
type Rows<'a> = BTreeMap<&'a Id, (&'a File<'a>, &'a Row)>;

/// Checks the files against each other. A row of a family that is not among them is not judged unless
/// `whole` says that these are all the files there are.
pub(crate) fn sound(files: &[File<'_>], whole: bool) -> Result<(), Error> {
    let rows = unique(files)?;
    let families: BTreeSet<&str> = files.iter().map(|file| file.family.name.as_str()).collect();
    for (file, row) in rows.values() {
        for reference in &row.references {
            if !whole && !families.contains(reference.id.family()) {
                continue;
            }
            let Some((_, found)) = rows.get(&reference.id) else {
                return Err(file
                    .text
                    .error(&reference.at, unknown(&reference.id, &rows)));
            };
            if let Some(what) = unfit(row, found, reference.curve) {
                return Err(file.text.error(&reference.at, what));
            }
        }
    }
    acyclic(&rows)
}

fn unique<'a>(files: &'a [File<'a>]) -> Result<Rows<'a>, Error> {
    let mut rows = Rows::new();
    for file in files {
        for row in &file.rows {
            let id = &row.benchmark.id;
            if let Some((other, first)) = rows.insert(id, (file, row)) {
                let (line, _) = other.text.position(first.at.start);
                return Err(file.text.error(
                    &row.at,
                    format!(
                        "'{id}' is here a second time (first in {}, line {line}): rename one of them",
                        other.text.name
                    ),
                ));
            }
        }
    }
    Ok(rows)
}

fn unknown(id: &Id, rows: &Rows<'_>) -> String {
    let family: Vec<&str> = rows
        .keys()
        .filter(|row| row.family() == id.family())
        .map(|row| row.as_str())
        .collect();
    if family.is_empty() {
        return format!(
            "no row is called '{id}', and there is no family '{}'",
            id.family()
        );
    }
    format!(
        "no row is called '{id}': family '{}' has {}",
        id.family(),
        family.join(", ")
    )
}

/// Why `found` cannot be what `row` takes it for.
fn unfit(row: &Row, found: &Row, curve: bool) -> Option<String> {
    let (row, found) = (&row.benchmark, &found.benchmark);
    if curve {
        return (row.unit != found.unit).then(|| {
            format!(
                "'{}' is in {} and the curve of '{}' in {}: the points of a curve have one unit",
                found.id, found.unit, row.id, row.unit
            )
        });
    }
    let timed = found.unit.figure(1.0, 1.0).is_some();
    (matches!(row.work, Work::Derived { .. }) && !timed).then(|| {
        format!(
            "'{}' is in {}, which is no time: a derived figure is a sum of times",
            found.id, found.unit
        )
    })
}

/// That no derived figure or rating is made of itself.
fn acyclic(rows: &Rows<'_>) -> Result<(), Error> {
    let mut done = BTreeSet::new();
    for id in rows.keys() {
        walk(id, rows, &mut done)?;
    }
    Ok(())
}

/// Goes through all that `start` is made of, depth first. The path is a list and not the stack, which a long
/// chain of rows would overflow.
fn walk<'a>(start: &'a Id, rows: &Rows<'a>, done: &mut BTreeSet<&'a Id>) -> Result<(), Error> {
    // the rows from `start` to where we are, each with how many of its parts were looked at
    let mut path: Vec<(&Id, usize)> = vec![(start, 0)];
    let mut open = BTreeSet::from([start]);
    while let Some((id, next)) = path.last_mut() {
        let (id, at) = (*id, *next);
        *next += 1;
        let row = rows.get(id).filter(|_| !done.contains(id));
        let part = row.and_then(|(file, row)| Some((file, row.parts().nth(at)?)));
        let Some((file, part)) = part else {
            done.insert(id);
            open.remove(id);
            path.pop();
            continue;
        };
        if open.contains(&part.id) {
            let circle = path.iter().map(|(id, _)| *id);
            let circle = circle.skip_while(|id| **id != part.id).chain([&part.id]);
            let circle: Vec<&str> = circle.map(Id::as_str).collect();
            let what = format!(
                "a figure cannot be made of itself: {}",
                circle.join(" needs ")
            );
            return Err(file.text.error(&part.at, what));
        }
        open.insert(&part.id);
        path.push((&part.id, 0));
    }
    Ok(())
}
