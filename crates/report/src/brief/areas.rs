//! The sections of a brief: the areas of hp-1987, in its order, and the families that each is made of.
//!
//! This is the one place that knows of families. A family that stands in none of them, such as one of a user's own
//! catalog, comes last, in an area of its own.

/// An area, its heading, and the families in it.
const AREAS: [(&str, &[&str]); 7] = [
    (
        "Multi-user work and applications",
        &["multiuser", "app", "db"],
    ),
    ("Processor", &["cpu"]),
    (
        "UNIX system",
        &[
            "byte", "iocall", "kernel", "unix", "aim", "ipc", "event", "thread", "sched",
        ],
    ),
    ("Memory and paging", &["memory", "vm"]),
    ("Real time", &["rt", "daq"]),
    ("File system and disk", &["fs", "file", "disk"]),
    ("Network", &["net", "netrt"]),
];
const OTHERS: &str = "Other benchmarks";

/// The areas that have any of these families, each with those that it has.
pub(super) fn of<'a>(families: &[&'a str]) -> Vec<(&'static str, Vec<&'a str>)> {
    let among = |wanted: &[&str]| -> Vec<&'a str> {
        let met = |name: &&str| families.iter().find(|f| *f == name).copied();
        wanted.iter().filter_map(met).collect()
    };
    let mut areas: Vec<(&str, Vec<&str>)> = AREAS
        .iter()
        .map(|(title, wanted)| (*title, among(wanted)))
        .collect();
    let known = |name: &str| AREAS.iter().any(|(_, of)| of.contains(&name));
    let rest = families.iter().filter(|f| !known(f)).copied().collect();
    areas.push((OTHERS, rest));
    areas.retain(|(_, of)| !of.is_empty());
    areas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_come_in_their_order_and_a_family_of_none_comes_last() {
        assert_eq!(
            of(&["mine", "fs", "iocall", "byte", "disk"]),
            [
                ("UNIX system", vec!["byte", "iocall"]),
                ("File system and disk", vec!["fs", "disk"]),
                ("Other benchmarks", vec!["mine"]),
            ]
        );
        assert!(of(&[]).is_empty());
    }
}
