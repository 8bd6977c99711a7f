//! The C library of the system's programs. Ours may be static, or built elsewhere.

use crate::Root;

/// Library directories of distributions.
const DIRECTORIES: [&str; 4] = ["/lib64", "/lib", "/usr/lib64", "/usr/lib"];

/// `glibc 2.36` or `musl`.
pub(super) fn read(root: &Root) -> Option<String> {
    let architecture = std::env::consts::ARCH;
    for directory in DIRECTORIES {
        if let Some(version) = glibc(root, directory) {
            return Some(version);
        }
        let names = root.names(directory);
        // Debian: /lib/x86_64-linux-gnu; other directories of this form belong to foreign architectures
        let multiarch = names
            .iter()
            .filter(|name| name.starts_with(architecture) && name.contains("-linux-gnu"));
        for name in multiarch {
            if let Some(version) = glibc(root, &format!("{directory}/{name}")) {
                return Some(version);
            }
        }
        if names.iter().any(|name| name.starts_with("ld-musl-")) {
            return Some("musl".to_owned());
        }
    }
    None
}

fn glibc(root: &Root, directory: &str) -> Option<String> {
    version(&root.find(&format!("{directory}/libc.so.6"), BANNER, 200)?)
}

/// Begin of the text that glibc prints when executed.
const BANNER: &[u8] = b"GNU C Library ";

fn version(banner: &[u8]) -> Option<String> {
    const WORD: &str = "release version ";
    let banner = String::from_utf8_lossy(banner);
    let rest = &banner[banner.find(WORD)? + WORD.len()..];
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let number = number.trim_end_matches('.');
    (!number.is_empty()).then(|| format!("glibc {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_of_glibc() {
        let library =
            b"GNU C Library (Debian GLIBC 2.36-9+deb12u9) stable release version 2.36.\nCopyright";
        assert_eq!(version(library).as_deref(), Some("glibc 2.36"));
        assert_eq!(version(b"GNU C Library"), None);
        assert_eq!(version(b"GNU C Library (x) stable release version "), None);
    }
}
