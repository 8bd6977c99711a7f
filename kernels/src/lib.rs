//! Workloads and helper programs, embedded as executables, so that the binary alone suffices, and as sources, which `--cc` and `audit`
//! compile again.

pub mod linking;

pub use linking::{COMMAND, COUNT, SUPERVISOR, USER};

use std::io;
use std::sync::LazyLock;
use zstd::bulk::Decompressor;
use zstd::dict::DecoderDictionary;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// An embedded program.
#[derive(Debug)]
pub struct Embedded {
    /// `family/name`, the path of its source without the extension.
    pub name: &'static str,
    /// SHA-256 of the executable, hexadecimal.
    pub hash: &'static str,
    /// Compilers with their versions: C, then Fortran if it has a Fortran source.
    pub compiler: &'static str,
    pub flags: &'static str,
    packed: Packed,
}

/// Bytes compressed by zstd.
#[derive(Debug)]
struct Packed {
    /// Uncompressed, bytes.
    size: usize,
    bytes: &'static [u8],
}

/// The zstd dictionary of all programs, decompressed on first use.
static DICTIONARY: LazyLock<Result<DecoderDictionary<'static>, String>> = LazyLock::new(|| {
    let unpacked = Decompressor::new().and_then(|mut plain| COMMON.unpack(&mut plain));
    match unpacked {
        Ok(common) => Ok(DecoderDictionary::copy(&common)),
        Err(why) => Err(why.to_string()),
    }
});

impl Packed {
    fn unpack(&self, unpacker: &mut Decompressor<'_>) -> io::Result<Vec<u8>> {
        let bytes = unpacker.decompress(self.bytes, self.size)?;
        match bytes.len() == self.size {
            true => Ok(bytes),
            false => {
                Err(io::Error::other(format!("{} bytes instead of {}", bytes.len(), self.size)))
            }
        }
    }
}

impl Embedded {
    /// Size of the executable, bytes.
    pub fn size(&self) -> usize {
        self.packed.size
    }

    /// The executable.
    ///
    /// # Errors
    /// When this binary is damaged.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let unpacked = match &*DICTIONARY {
            Ok(common) => Decompressor::with_prepared_dictionary(common)
                .and_then(|mut unpacker| self.packed.unpack(&mut unpacker)),
            Err(why) => Err(io::Error::other(why.as_str())),
        };
        unpacked.map_err(|why| {
            io::Error::other(format!(
                "the program {} inside this binary is damaged: {why}; copy the binary again",
                self.name
            ))
        })
    }
}

/// Finds a program by `family/name`.
pub fn find(name: &str) -> Option<&'static Embedded> {
    PROGRAMS.iter().find(|program| program.name == name)
}

/// All programs, by name.
pub fn all() -> &'static [Embedded] {
    PROGRAMS
}

/// A source file of a program or of the runtime.
#[derive(Debug)]
pub struct Source {
    /// `family/name.c`, `runtime/kernel.h`.
    pub path: &'static str,
    /// SHA-256 of its text, hexadecimal.
    pub hash: &'static str,
    pub text: &'static str,
}

/// All sources, by path.
pub fn sources() -> &'static [Source] {
    SOURCES
}

/// The C source of a program.
pub fn source(name: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.path.strip_suffix(".c") == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_unpack_to_executables() {
        assert!(all().len() >= 3, "supervisor, command and at least one kernel");
        for program in all() {
            let bytes = program.bytes().unwrap();
            assert_eq!(&bytes[..4], b"\x7fELF", "{}", program.name);
        }
        assert!(find(SUPERVISOR).is_some() && find(COMMAND).is_some() && find(USER).is_some());
        assert!(find("no/such").is_none());
    }

    #[test]
    fn every_program_has_its_source() {
        for program in all() {
            let source = source(program.name).unwrap();
            // of a program with two builds, one source includes the other
            let includes_source =
                |line: &str| line.starts_with("#include \"") && line.ends_with(".c\"");
            let is_kernel = source.text.contains("struct kernel kernel")
                || source.text.lines().any(includes_source);
            assert!(linking::stands_alone(source.text) != is_kernel, "{}", program.name);
            assert_eq!(source.hash.len(), 64);
        }
        assert!(sources().iter().any(|s| s.path == "runtime/kernel.h"));
        assert!(source("no/such").is_none());
    }
}
