//! Builds with different code layouts: linker wrappers insert padding before each object.

use crate::NotComparable;
use crate::work_trees::WorkTree;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

/// Environment variable with the number of the build, from 1.
pub const NUMBER_VARIABLE: &str = "GRITSTONE_LAYOUT";
/// Environment variable with the directory of the wrappers.
const DIRECTORY_VARIABLE: &str = "GRITSTONE_LAYOUT_DIR";
/// Linkers that compilers call, by `COMPILER_PATH` (gcc and clang) or `PATH`.
const LINKERS: [&str; 5] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"];
/// Wrapper of `cc` for cargo, since rustc may use its bundled linker.
const FOR_CARGO: &str = "gritstone-cc";

/// Inserts an object with 16 to 4,096 unused bytes of code before each object of the command line, or first where none is named (in a
/// response file): a multiple of 16, the usual alignment of functions, up to a page. The file `used` records that it ran.
const SCRIPT: &str = r#"#!/bin/sh
set -ef
name=${0##*/} path=
[ "$name" != gritstone-cc ] || name=cc
IFS=:
for one in $PATH; do
	[ "$one" = "$GRITSTONE_LAYOUT_DIR" ] || path=$path${path:+:}$one
done
unset IFS
PATH=$path
# called by a wrapped compiler, which has added the pads
[ -n "$GRITSTONE_LAYOUT" ] || exec "$name" "$@"
# a version is asked for, and nothing is linked
for one; do
	case $#,$one in *,--version | *,--help | 1,-[vV]) exec "$name" "$@" ;; esac
done
pads=$GRITSTONE_LAYOUT_DIR/$GRITSTONE_LAYOUT
# a prime, so that the sequences of two builds begin far apart; the generator is the example of the C standard
random=$((GRITSTONE_LAYOUT * 7919)) count=0
unset GRITSTONE_LAYOUT
pad() {
	random=$(((random * 1103515245 + 12345) % 2147483648)) count=$((count + 1))
	pad=$pads/$count.o
	[ -e "$pad" ] || {
		printf '.section .text.pad,"axR",%%progbits\n.skip %d\n.section .note.GNU-stack,"",%%progbits\n' \
			$((16 * (1 + random / 65536 % 256))) | as -o "$pad.$$" -
		mv "$pad.$$" "$pad"
	}
}
mkdir -p "$pads"
objects=0
for one; do
	case $one in *.o) objects=1 ;; esac
done
if [ $objects = 0 ]; then
	pad
	set -- "$pad" "$@"
else
	left=$# previous=
	while [ "$left" -gt 0 ]; do
		case $previous,$1 in
		-o,* | -R,* | -T,*) ;;
		*,*.o) pad; set -- "$@" "$pad" ;;
		esac
		previous=$1
		set -- "$@" "$1"
		shift
		left=$((left - 1))
	done
fi
: >"$pads/used"
exec "$name" "$@"
"#;

/// A directory of linker wrappers.
#[derive(Debug)]
pub struct Linkers {
    directory: PathBuf,
}

impl Linkers {
    /// Writes the wrappers into an empty directory.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn new(directory: PathBuf) -> Result<Self> {
        let what = || format!("cannot write {}", directory.display());
        let script = directory.join(FOR_CARGO);
        fs::write(&script, SCRIPT).with_context(what)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).with_context(what)?;
        for linker in LINKERS {
            symlink(FOR_CARGO, directory.join(linker)).with_context(what)?;
        }
        Ok(Self { directory })
    }

    /// Environment of the build with this number.
    pub fn environment(&self, number: usize) -> BTreeMap<String, OsString> {
        let directory = self.directory.as_os_str();
        let before = |variable: &str| {
            let mut value = directory.to_owned();
            if let Some(known) = env::var_os(variable).filter(|known| !known.is_empty()) {
                value.push(":");
                value.push(known);
            }
            (variable.to_owned(), value)
        };
        let variables = [
            (NUMBER_VARIABLE.to_owned(), number.to_string().into()),
            (DIRECTORY_VARIABLE.to_owned(), directory.to_owned()),
            before("COMPILER_PATH"),
            before("PATH"),
        ];
        let for_cargo = OsString::from(self.directory.join(FOR_CARGO));
        let cargo = cargo_linkers().map(|variable| (variable, for_cargo.clone()));
        variables.into_iter().chain(cargo).collect()
    }

    /// Whether the build of this number linked anything; forgotten then, since the other side has a build with the same number.
    fn was_used(&self, number: usize) -> bool {
        let used = self.directory.join(number.to_string()).join("used");
        fs::remove_file(used).is_ok()
    }

    /// # Errors
    /// [`NotComparable`] when the build of this number called none of the linkers.
    pub fn check_used(&self, tree: &WorkTree, number: usize) -> Result<()> {
        if !self.was_used(number) {
            bail!(NotComparable(format!(
                "--layouts has no effect: the build of {} calls no linker by COMPILER_PATH, PATH or {}",
                tree.name,
                cargo_linkers()[0]
            )));
        }
        Ok(())
    }
}

/// Variables by which cargo finds the linker of this processor.
fn cargo_linkers() -> [String; 2] {
    let processor = env::consts::ARCH.to_uppercase();
    ["GNU", "MUSL"].map(|libc| format!("CARGO_TARGET_{processor}_UNKNOWN_LINUX_{libc}_LINKER"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Builds a program of two objects and returns its bytes.
    fn built(linkers: &Linkers, number: usize) -> Vec<u8> {
        let directory = linkers.directory.join(format!("build-{number}"));
        fs::create_dir_all(&directory).unwrap();
        let source = |name: &str, text: &str| fs::write(directory.join(name), text).unwrap();
        source("a.c", "int b(void); int main(void) { return b(); }");
        source("b.c", "int b(void) { return 0; }");
        let script = "cc -c a.c && cc -c b.c && cc -Wl,--gc-sections a.o b.o -o made && ./made";
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&directory);
        let done = command.envs(linkers.environment(number)).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        fs::read(directory.join("made")).unwrap()
    }

    #[test]
    fn versions_are_no_links() {
        let directory = tempfile::tempdir().unwrap();
        let linkers = Linkers::new(directory.path().to_owned()).unwrap();
        let used = directory.path().join("1/used");
        for script in ["ld --version", "ld -v", "cc -Wl,--version"] {
            let mut command = Command::new("sh");
            command.args(["-c", script]).envs(linkers.environment(1));
            let done = command.current_dir(directory.path()).output().unwrap();
            let text = String::from_utf8_lossy(&done.stdout);
            assert!(text.contains("ld"), "{script}: {done:?}");
            assert!(!used.exists() && !directory.path().join("a.out").exists(), "{script}");
        }
    }

    #[test]
    fn each_side_must_link() {
        let directory = tempfile::tempdir().unwrap();
        let linkers = Linkers::new(directory.path().to_owned()).unwrap();
        built(&linkers, 1);
        assert!(linkers.was_used(1));
        assert!(!linkers.was_used(1), "the other side linked nothing");
    }

    #[test]
    fn numbers_make_layouts() {
        let directory = tempfile::tempdir().unwrap();
        let linkers = Linkers::new(directory.path().to_owned()).unwrap();
        let [one, two] = [1, 2].map(|number| built(&linkers, number));
        assert_ne!(one, two);
        assert_eq!(one, built(&linkers, 1));
        let used = |number: usize| directory.path().join(format!("{number}/used")).exists();
        assert_eq!([1, 2, 3].map(used), [true, true, false]);
    }
}
