//! Files -> [`References`], with every rule that goes beyond the shape of one value.

use crate::error::Source;
use crate::shape::{CommandEntry, DocumentFile, MachineEntry, MachinesFile, RowEntry, TableFile};
use crate::table::Table;
use crate::{Cell, Command, Document, Error, References};
use gritstone_model::Machine;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

impl References {
    /// Reads and checks files: (path below `references/`, text), for instance `("byte-1984/table-1.toml", "...")`.
    ///
    /// # Errors
    /// The first thing that is wrong, with file and line.
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
            sources
                .iter()
                .find(|source| source.path == path)
                .ok_or_else(|| sources[0].error(0, format!("beside this file there is no {name}")))
        };
        let about = named("document.toml")?;
        let machines = named("machines.toml")?;
        let document = read_document(about, folder)?;
        let ids = self.read_machines(machines, &document)?;
        for source in sources {
            if source.path != about.path && source.path != machines.path {
                self.read_table(source, &document)?;
            }
        }
        self.documents.push(document);
        // a machine without a cell is a row that was forgotten
        match ids
            .iter()
            .find(|id| !self.cells.iter().any(|cell| &cell.machine == id.get_ref()))
        {
            None => Ok(()),
            Some(id) => {
                let what = format!("'{}' has no cell in any table", id.get_ref());
                Err(machines.error(id.span().start, what))
            }
        }
    }

    /// Returns the identifiers with their places.
    fn read_machines(
        &mut self,
        source: &Source<'_>,
        document: &Document,
    ) -> Result<Vec<Spanned<String>>, Error> {
        let mut ids = Vec::new();
        for entry in source.parse::<MachinesFile>()?.machine {
            let id = entry.id.get_ref();
            let no = |what: &str| Err(source.error(entry.id.span().start, what));
            if !is_machine_id(id) {
                return no("an id is made of a-z 0-9 . - and begins with a letter or a digit");
            }
            if self.machines.iter().any(|machine| &machine.id == id) {
                return no(&format!("a second machine is called '{id}'"));
            }
            if [&entry.name, &entry.system, &entry.configuration]
                .iter()
                .any(|text| text.trim().is_empty())
            {
                return no(
                    "name, system and configuration must say something, if only \"not stated\"",
                );
            }
            ids.push(entry.id.clone());
            self.machines.push(machine(entry, document));
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
        table.refuse_kinds_without_footnotes()?;
        for row in file.row {
            self.read_row(&mut table, row)?;
        }
        for entry in file.command {
            self.read_command(&table, entry)?;
        }
        let known = |id: &str| {
            let ours = |cell: &&Cell| cell.document == document.name && cell.place == file.place;
            self.cells
                .iter()
                .filter(ours)
                .any(|cell| cell.benchmark.as_str() == id)
        };
        table.refuse_unused_titles(known)?;
        table.refuse_unused_footnotes()
    }

    fn read_row(&mut self, table: &mut Table<'_>, row: RowEntry) -> Result<(), Error> {
        let machine = row.machine.get_ref();
        let ours = |known: &Machine| {
            known.id == *machine && known.document.as_deref() == Some(&table.document.name)
        };
        if !self.machines.iter().any(ours) {
            let what = format!("machines.toml has no machine '{machine}'");
            return Err(table.error(&row.machine, what));
        }
        if row.cells.is_empty() {
            return Err(table.error(&row.machine, "the row has no cell"));
        }
        let remarks = table.remarks(&row.marks)?;
        for (key, entry) in row.cells {
            let cell = table.cell(machine, &key, entry, &remarks)?;
            let same =
                |other: &Cell| other.machine == cell.machine && other.benchmark == cell.benchmark;
            if let Some(first) = self.cells.iter().find(|other| same(other)) {
                let what = format!(
                    "'{machine}' has a figure for {} already, in {}",
                    cell.benchmark, first.place
                );
                return Err(table.error(&key, what));
            }
            self.cells.push(cell);
        }
        Ok(())
    }

    fn read_command(&mut self, table: &Table<'_>, entry: CommandEntry) -> Result<(), Error> {
        let benchmark = table.id(&entry.benchmark)?;
        let at = &entry.benchmark;
        if entry.command.trim().is_empty() {
            return Err(table.error(at, "the command is empty"));
        }
        let document = &table.document.name;
        let same = |other: &Command| other.benchmark == benchmark && &other.document == document;
        if self.commands.iter().any(same) {
            return Err(table.error(at, format!("a second command for {benchmark}")));
        }
        let doubt = entry
            .doubt
            .map(|why| table.doubt(at, why, gritstone_model::Subject::Result))
            .transpose()?;
        self.commands.push(Command {
            benchmark,
            document: document.clone(),
            place: table.place.to_owned(),
            command: entry.command,
            notes: doubt.into_iter().collect(),
        });
        Ok(())
    }
}

fn read_document(source: &Source<'_>, folder: &str) -> Result<Document, Error> {
    let file: DocumentFile = source.parse()?;
    if file.name.get_ref() != folder {
        let what = format!(
            "the document is called '{}', its folder '{folder}'",
            file.name.get_ref()
        );
        return Err(source.error(file.name.span().start, what));
    }
    if !is_date(file.date.get_ref(), file.year) {
        let what = format!("the date must be {0}, {0}-MM or {0}-MM-DD", file.year);
        return Err(source.error(file.date.span().start, what));
    }
    Ok(Document {
        name: file.name.into_inner(),
        title: file.title,
        author: file.author,
        date: file.date.into_inner(),
        year: file.year,
        about: file.about,
    })
}

fn machine(entry: MachineEntry, document: &Document) -> Machine {
    let mut facts = BTreeMap::new();
    if let Some(number) = entry.number {
        facts.insert("published.number".to_owned(), number.to_string());
    }
    if let Some(note) = entry.note {
        facts.insert("published.note".to_owned(), note);
    }
    Machine {
        id: entry.id.into_inner(),
        name: entry.name,
        system: entry.system,
        document: Some(document.name.clone()),
        year: Some(document.year),
        configuration: entry.configuration,
        facts,
    }
}

fn is_machine_id(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    id.starts_with(plain) && id.chars().all(|c| plain(c) || c == '.' || c == '-')
}

/// `YYYY`, `YYYY-MM` or `YYYY-MM-DD` of that year.
fn is_date(date: &str, year: i32) -> bool {
    let mut parts = date.split('-');
    let two_digits = |part: &str, most: u32| {
        part.len() == 2
            && part
                .parse::<u32>()
                .is_ok_and(|number| (1..=most).contains(&number))
    };
    parts.next() == Some(format!("{year:04}").as_str())
        && parts.next().is_none_or(|month| two_digits(month, 12))
        && parts.next().is_none_or(|day| two_digits(day, 31))
        && parts.next().is_none()
}
