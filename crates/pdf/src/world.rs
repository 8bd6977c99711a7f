//! All that the typesetter can see: the template, one document with its figures, and three fonts.
//!
//! Must not know: files of the machine, the network, the time of day.

use std::collections::HashMap;
use std::sync::LazyLock;
use typst::diag::{FileError, FileResult};
use typst::foundations::{Bytes, Datetime, Duration};
use typst::syntax::{FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Feature, Library, LibraryExt, World};

const TEMPLATE: &str = include_str!("template.typ");

/// Liberation Sans has the metrics of Helvetica and figures of one width; it knows Latin, Greek, Cyrillic and Hebrew.
/// Its name stands in the figures too. Mono is for names of programs. See `fonts/LICENSE-OFL`.
static FONTS: LazyLock<Vec<Font>> = LazyLock::new(|| {
    let files: [&'static [u8]; 3] = [
        include_bytes!("../fonts/LiberationSans-Regular.ttf"),
        include_bytes!("../fonts/LiberationSans-Bold.ttf"),
        include_bytes!("../fonts/LiberationMono-Regular.ttf"),
    ];
    files
        .into_iter()
        .flat_map(|file| Font::iter(Bytes::new(file)))
        .collect()
});

static BOOK: LazyLock<LazyHash<FontBook>> =
    LazyLock::new(|| LazyHash::new(FontBook::from_fonts(FONTS.iter())));

/// Heads of rows are tagged as such, which the typesetter counts among its features to come.
static LIBRARY: LazyLock<LazyHash<Library>> = LazyLock::new(|| {
    let features = [Feature::A11yExtras].into_iter().collect();
    LazyHash::new(Library::builder().with_features(features).build())
});

/// One document, ready to be typeset.
pub(crate) struct Pages {
    template: Source,
    files: HashMap<FileId, Bytes>,
}

impl Pages {
    /// The document as JSON, and its figures in their order.
    pub(crate) fn new(document: String, figures: Vec<String>) -> Self {
        let mut files = HashMap::from([(id("document.json"), Bytes::from_string(document))]);
        for (i, figure) in figures.into_iter().enumerate() {
            let name = format!("figure-{}.svg", i + 1);
            files.insert(id(&name), Bytes::from_string(figure));
        }
        Self {
            template: Source::new(id("template.typ"), TEMPLATE.to_owned()),
            files,
        }
    }
}

fn id(name: &str) -> FileId {
    let path = VirtualPath::new(name).expect("a plain name is a path");
    FileId::new(RootedPath::new(VirtualRoot::Project, path))
}

fn missing(id: FileId) -> FileError {
    FileError::NotFound(id.vpath().get_without_slash().into())
}

impl World for Pages {
    fn library(&self) -> &LazyHash<Library> {
        &LIBRARY
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &BOOK
    }

    fn main(&self) -> FileId {
        self.template.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.template.id() {
            Ok(self.template.clone())
        } else {
            Err(missing(id))
        }
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        self.files.get(&id).cloned().ok_or_else(|| missing(id))
    }

    fn font(&self, index: usize) -> Option<Font> {
        FONTS.get(index).cloned()
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        None
    }
}
