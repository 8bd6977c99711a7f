//! Parses files into [`References`], with all checks beyond single values.

use crate::error::Source;
use crate::shape::{CommandEntry, MachinesFile, RowEntry, TableFile};
use crate::table::Table;
use crate::{Cell, Command, Document, Error, References};
use gritstone_model::{Machine, Subject};
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

impl References {
    /// Parses and checks files: (path below `references/`, text), for instance `("byte-1984/table-1.toml", "...")`.
    ///
    /// # Errors
    /// The first fault, with file and line.
    pub fn parse(files: &[(&str, &str)]) -> Result<Self, Error> {
        let mut folders: BTreeMap<&str, Vec<Source<'_>>> = BTreeMap::new();
        for &(path, text) in files {
            let source = Source { path, text };
            let (folder, _) = path
                .rsplit_once('/')
                .ok_or_else(|| source.error(0, "a file must be in the folder of a document"))?;
            folders.entry(folder).or_default().push(source);
        }
        let mut references = Self::default();
        for (folder, sources) in folders {
            references.read_folder(folder, &sources)?;
        }
        Ok(references)
    }

    fn read_folder(&mut self, folder: &str, sources: &[Source<'_>]) -> Result<(), Error> {
        let named = |name: &str| {
            let path = format!("{folder}/{name}");
            let found = sources.iter().find(|source| source.path == path);
            found.ok_or_else(|| sources[0].error(0, format!("beside this file there is no {name}")))
        };
        let about = named("document.toml")?;
        let document = read_document(about, folder)?;
        // measured systems have no tables
        if sources.len() == 1 {
            self.documents.push(document);
            return Ok(());
        }
        let machines = named("machines.toml")?;
        let ids = self.read_machines(machines, &document)?;
        for source in sources {
            if source.path != about.path && source.path != machines.path {
                self.read_table(source, &document)?;
            }
        }
        self.documents.push(document);
        // a machine without a cell is a forgotten row
        let known =
            |id: &Spanned<String>| self.cells.iter().any(|cell| cell.machine == *id.get_ref());
        ids.iter().try_for_each(|id| {
            let what = || format!("'{}' has no cell in any table", id.get_ref());
            machines.must(known(id), id, what)
        })
    }

    /// Returns the identifiers with their places.
    fn read_machines(
        &mut self,
        source: &Source<'_>,
        document: &Document,
    ) -> Result<Vec<Spanned<String>>, Error> {
        let mut ids = Vec::new();
        for entry in source.parse::<MachinesFile>()?.machine {
            let (spanned, id) = (entry.id.clone(), entry.id.get_ref());
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            let good = id.starts_with(plain) && id.chars().all(|c| plain(c) || ".-".contains(c));
            let first = !self.machines.iter().any(|machine| &machine.id == id);
            let texts = [&entry.name, &entry.system, &entry.configuration];
            let is_complete = texts.iter().all(|text| !text.trim().is_empty());
            source.must(
                good,
                &spanned,
                || "an id is made of a-z 0-9 . - and begins with a letter or a digit",
            )?;
            source.must(first, &spanned, || format!("a second machine is called '{id}'"))?;
            source.must(
                is_complete,
                &spanned,
                || "name, system and configuration must say something, if only \"not stated\"",
            )?;
            let year = entry.year.unwrap_or(document.year);
            source.must(
                year <= document.year,
                &spanned,
                || "a machine cannot have been measured after the year of its document",
            )?;
            ids.push(spanned);
            let number = entry.number.map(|number| ("published.number", number.to_string()));
            let note = entry.note.map(|note| ("published.note", note));
            let facts = number.into_iter().chain(note);
            self.machines.push(Machine {
                id: entry.id.into_inner(),
                name: entry.name,
                system: entry.system,
                document: Some(document.name.clone()),
                year: Some(year),
                configuration: entry.configuration,
                facts: facts.map(|(key, fact)| (key.to_owned(), fact)).collect(),
            });
        }
        Ok(ids)
    }

    fn read_table(&mut self, source: &Source<'_>, document: &Document) -> Result<(), Error> {
        let file: TableFile = source.parse()?;
        let mut table = Table {
            source,
            document,
            place: &file.place,
            footnotes: &file.footnotes,
            kinds: &file.kinds,
            titles: &file.titles,
            used: BTreeSet::new(),
        };
        if file.place.trim().is_empty() {
            return Err(source.error(0, "place must say where in the document the figures are"));
        }
        if file.row.is_empty() && file.command.is_empty() {
            return Err(source.error(0, "a table must have a [[row]] or a [[command]]"));
        }
        let first = self.cells.len();
        for row in file.row {
            self.read_row(&mut table, row)?;
        }
        for entry in file.command {
            self.read_command(&table, entry)?;
        }
        let cells = &self.cells[first..];
        table.refuse_unused(|id| cells.iter().any(|cell| cell.benchmark.as_str() == id))
    }

    fn read_row(&mut self, table: &mut Table<'_>, row: RowEntry) -> Result<(), Error> {
        let (source, spanned, machine) = (table.source, &row.machine, row.machine.get_ref());
        let document = Some(&table.document.name);
        let ours = |known: &Machine| known.id == *machine && known.document.as_ref() == document;
        source.must(self.machines.iter().any(ours), spanned, || {
            format!("machines.toml has no machine '{machine}'")
        })?;
        source.must(!row.cells.is_empty(), spanned, || "the row has no cell")?;
        let remarks = table.remarks(&row.marks)?;
        for (key, entry) in row.cells {
            let cell = table.cell(machine, &key, entry, &remarks)?;
            let (machine, benchmark) = (&cell.machine, &cell.benchmark);
            let same = |other: &&Cell| other.machine == *machine && other.benchmark == *benchmark;
            if let Some(first) = self.cells.iter().find(same) {
                let place = &first.place;
                let what = format!("'{machine}' has a figure for {benchmark} already, in {place}");
                return Err(source.error(key.span().start, what));
            }
            self.cells.push(cell);
        }
        Ok(())
    }

    fn read_command(&mut self, table: &Table<'_>, entry: CommandEntry) -> Result<(), Error> {
        let (source, name) = (table.source, &entry.benchmark);
        let benchmark = table.id(name)?;
        let has_command = !entry.command.trim().is_empty();
        source.must(has_command, name, || "the command is empty")?;
        let document = &table.document.name;
        let same = |other: &Command| other.benchmark == benchmark && &other.document == document;
        source.must(!self.commands.iter().any(same), name, || {
            format!("a second command for {benchmark}")
        })?;
        let doubt = entry.doubt.map(|why| table.doubt(name, why, Subject::Result));
        self.commands.push(Command {
            benchmark,
            document: document.clone(),
            place: table.place.to_owned(),
            command: entry.command,
            notes: doubt.transpose()?.into_iter().collect(),
        });
        Ok(())
    }
}

fn read_document(source: &Source<'_>, folder: &str) -> Result<Document, Error> {
    let read: Document = source.parse()?;
    let (name, year) = (&read.name, read.year);
    let what = if name != folder {
        format!("the document is called '{name}', its folder '{folder}'")
    } else if !is_date(&read.date, year) {
        format!("the date must be {year}, {year}-MM or {year}-MM-DD")
    } else {
        return Ok(read);
    };
    Err(source.error(0, what))
}

/// `YYYY`, `YYYY-MM` or `YYYY-MM-DD` of that year.
fn is_date(date: &str, year: i32) -> bool {
    let parts: Vec<&str> = date.split('-').collect();
    let within = |part: &str, max: u32| {
        part.len() == 2 && part.parse().is_ok_and(|number| (1..=max).contains(&number))
    };
    match parts[..] {
        [printed_year] => printed_year == format!("{year:04}"),
        [printed_year, month] => printed_year == format!("{year:04}") && within(month, 12),
        [printed_year, month, day] => {
            printed_year == format!("{year:04}") && within(month, 12) && within(day, 31)
        }
        _ => false,
    }
}
