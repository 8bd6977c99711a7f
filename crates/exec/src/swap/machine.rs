//! Swap areas of the system: priority and encryption.

use crate::resource::Unavailable;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Area {
    path: PathBuf,
    priority: i32,
}

/// Parses /proc/swaps: the path comes first, with blanks as \040, the priority last.
pub(super) fn areas(swaps: &str) -> Vec<Area> {
    let lines = swaps.lines().skip(1);
    let area = |line: &str| {
        let mut words = line.split_whitespace();
        Some(Area {
            path: PathBuf::from(words.next()?.replace("\\040", " ")),
            priority: words.next_back()?.parse().ok()?,
        })
    };
    lines.filter_map(area).collect()
}

/// Checks that `ours` is used after all others.
pub(super) fn comes_last(areas: &[Area], ours: &Path) -> Result<(), Unavailable> {
    let real = ours.canonicalize().unwrap_or_else(|_| ours.to_owned());
    let (same, others): (Vec<&Area>, Vec<&Area>) = areas.iter().partition(|area| area.path == real);
    let lowest = others.iter().map(|area| area.priority).min();
    match (same.first(), lowest) {
        (Some(area), Some(lowest)) if area.priority >= lowest => {
            Err(Unavailable::SwapComesFirst { ours: area.priority, lowest })
        }
        _ => Ok(()),
    }
}

/// The first area on dm-crypt, directly or through its file system. `sys` is /sys, or a fake one.
pub(super) fn encrypted(sys: &Path, areas: &[Area]) -> Option<String> {
    let device = |area: &&Area| {
        let meta = fs::metadata(&area.path).ok()?;
        let number = match meta.file_type().is_block_device() {
            true => meta.rdev(),
            false => meta.dev(),
        };
        Some(number)
    };
    let is = |area: &&Area| {
        device(area).is_some_and(|number| {
            let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
            is_encrypted(&sys.join(format!("dev/block/{major}:{minor}")))
        })
    };
    let found = areas.iter().find(is)?;
    Some(found.path.display().to_string())
}

/// True if a block device is dm-crypt's, or on one.
fn is_encrypted(device: &Path) -> bool {
    let uuid = fs::read_to_string(device.join("dm/uuid")).unwrap_or_default();
    let below = fs::read_dir(device.join("slaves"));
    uuid.starts_with("CRYPT-")
        || below.into_iter().flatten().flatten().any(|slave| is_encrypted(&slave.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

    fn read(lines: &[(&str, i32)]) -> Vec<Area> {
        let line =
            |(path, priority): &(&str, i32)| format!("{path}  file\t\t131068\t\t0\t\t{priority}\n");
        areas(&(HEAD.to_owned() + &lines.iter().map(line).collect::<String>()))
    }

    #[test]
    fn proc_swaps_is_parsed() {
        let area = |path: &str, priority| Area { path: path.into(), priority };
        assert_eq!(
            read(&[("/var/my\\040files/area", -2), ("/dev/dm-1", 5)]),
            [area("/var/my files/area", -2), area("/dev/dm-1", 5)]
        );
        assert_eq!(areas(""), []);
    }

    #[test]
    fn our_swap_has_lowest_priority() {
        let ours = Path::new("/nonexistent/area");
        let with = |priority, others: &[i32]| {
            let mut lines = vec![("/nonexistent/area", priority)];
            lines.extend(others.iter().map(|other| ("/dev/sda2", *other)));
            comes_last(&read(&lines), ours)
        };
        with(-2, &[]).unwrap();
        with(-3, &[-2, 5]).unwrap();
        for (priority, others) in [(-2, &[-2][..]), (0, &[5, -2]), (32767, &[100])] {
            let refused = with(priority, others).unwrap_err();
            assert!(matches!(refused, Unavailable::SwapComesFirst { .. }), "{priority} {others:?}");
        }
    }

    /// A fake /sys in which our device lies on a device with this uuid.
    fn on(uuid: &str) -> Option<String> {
        let sys = tempfile::tempdir().unwrap();
        let file = sys.path().join("area");
        fs::write(&file, "").unwrap();
        let number = fs::metadata(&file).unwrap().dev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let below =
            sys.path().join(format!("dev/block/{major}:{minor}/slaves/dm-0/slaves/dm-1/dm"));
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join("uuid"), uuid).unwrap();
        encrypted(sys.path(), &read(&[(file.to_str().unwrap(), -2)]))
    }

    #[test]
    fn dm_crypt_is_found() {
        assert!(on("CRYPT-LUKS2-0123-swap\n").unwrap().ends_with("/area"));
        assert_eq!(on("LVM-0123\n"), None);
        assert_eq!(encrypted(Path::new("/nonexistent"), &[]), None);
    }
}
