//! Sizes, symbols and the loader of linked programs.

use gritstone_model::{Event, Metric, Param};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, elf};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A static program has thousands of symbols.
const MAX_SYMBOLS: usize = 4000;

/// Text, data and bss, counted as size(1) does.
fn sizes(file: &object::File) -> Result<[u64; 3], String> {
    let [mut text, mut data, mut bss] = [0; 3];
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, sh_type } = section.flags() else {
            return Err("it is not ELF".to_owned());
        };
        if !sh_flags.contains(elf::SHF_ALLOC) {
            continue;
        }
        if sh_type == elf::SHT_NOBITS {
            bss += section.size();
        } else if sh_flags.contains(elf::SHF_WRITE) {
            data += section.size();
        } else {
            text += section.size();
        }
    }
    Ok([text, data, bss])
}

/// Text, data and bss together. 0 for intermediate code of link-time optimization, which need not be ELF.
pub fn size(path: &Path) -> Result<u64, String> {
    let bytes =
        std::fs::read(path).map_err(|why| format!("cannot read the compiled object: {why}"))?;
    let sizes = object::File::parse(&*bytes).ok().and_then(|file| sizes(&file).ok());
    Ok(sizes.map_or(0, |sizes| sizes.iter().sum()))
}

/// Sizes and defined symbols of a program, as events.
pub fn measure(path: &Path) -> Result<Vec<Event>, String> {
    let bytes =
        std::fs::read(path).map_err(|why| format!("cannot read the linked program: {why}"))?;
    let file = object::File::parse(&*bytes)
        .map_err(|why| format!("the linked program is not an object file: {why}"))?;
    let [text, data, bss] = sizes(&file).map_err(|why| format!("the linked program: {why}"))?;
    let mut params = vec![
        Param::Number(Metric::TextSize, text.into()),
        Param::Number(Metric::DataSize, data.into()),
        Param::Number(Metric::BssSize, bss.into()),
    ];
    let mut symbols: Vec<&str> = file
        .symbols()
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| !name.is_empty())
        .collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols.truncate(MAX_SYMBOLS);
    params.extend(symbols.into_iter().map(|name| Param::Symbol(name.to_owned())));
    Ok(params.into_iter().map(Event::Param).collect())
}

/// The loader that a program needs, if it is missing: such a program cannot be started.
pub fn missing_loader(program: &Path) -> Option<PathBuf> {
    let bytes = std::fs::read(program).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let section = file.section_by_name(".interp")?;
    let name = section.data().ok()?.strip_suffix(b"\0")?;
    let loader = PathBuf::from(OsStr::from_bytes(name));
    (!loader.exists()).then_some(loader)
}
