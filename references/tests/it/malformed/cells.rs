//! Marks, titles and cells, broken once each.
//!
//! Must not know: what is shipped, the rules of other files.

use crate::malformed::{DOCUMENT, MACHINES, TABLE, broken, parse};

#[test]
fn marks() {
    broken(
        "table-1",
        "marks = [\"+\"]",
        "marks = [\"+\", \"-\"]",
        8,
        "the mark '-' is not explained",
    );
    broken(
        "table-1",
        "real_s = 3.0",
        "real_s = 3.0, marks = [\"-\"]",
        9,
        "the mark '-' is not explained",
    );
    broken(
        "table-1",
        "marks = [\"+\"]\n",
        "",
        4,
        "no row and no cell has the mark '+'",
    );
    broken(
        "table-1",
        "With a plus.",
        " ",
        4,
        "the footnote says nothing",
    );
    broken(
        "table-1",
        "marks = [\"+\"]",
        "marks = \"+\"",
        8,
        "invalid type",
    );
}

#[test]
fn cells() {
    broken("table-1", "real_s", "rael_s", 9, "unknown field `rael_s`");
    broken(
        "table-1",
        "byte/pipe",
        "Byte Pipe",
        9,
        "is not an identifier",
    );
    broken("table-1", "byte/loop", "byte/pipe", 11, "duplicate key");
    broken("table-1", "3.0", "\"3.0\"", 9, "invalid type");
    for seconds in ["-3.0", "nan", "inf"] {
        broken("table-1", "3.0", seconds, 9, "is not a time in seconds");
    }
    broken(
        "table-1",
        "missing = \"Torn off.\"",
        "",
        11,
        "no figure: say why",
    );
    broken("table-1", "Torn off.", " ", 11, "no figure: say why");
    broken(
        "table-1",
        "missing = ",
        "real_s = 1.0, missing = ",
        11,
        "said to be missing, and has a figure",
    );
    broken(
        "table-1",
        "{ missing = \"Torn off.\" }",
        "2.5",
        11,
        "invalid type",
    );
}

#[test]
fn values() {
    broken(
        "table-1",
        ", unit = \"forks/s\"",
        "",
        10,
        "value needs unit",
    );
    broken("table-1", "value = 44.0, ", "", 10, "value needs unit");
    broken("table-1", "forks/s", "forks", 10, "'forks' is not a unit");
    broken("table-1", "44.0", "0.0", 10, "0 is not a figure");
    broken(
        "table-1",
        "forks/s\"",
        "bytes\"",
        10,
        "say which way is good",
    );
    broken(
        "table-1",
        "forks/s\"",
        "bytes\", better = \"smaller\"",
        10,
        "unknown variant `smaller`",
    );
    broken(
        "table-1",
        "real_s = 3.0",
        "real_s = 3.0, better = \"lower\"",
        9,
        "better need value",
    );
}

#[test]
fn doubts() {
    broken(
        "table-1",
        "doubt.user_s = \"Blurred.\"",
        "doubt = \"\"",
        9,
        "must have a reason",
    );
    broken("table-1", "Blurred.", "", 9, "must have a reason");
    broken(
        "table-1",
        "doubt.user_s",
        "doubt.users",
        9,
        "unknown field `users`",
    );
    broken(
        "table-1",
        "doubt.user_s",
        "doubt.value",
        9,
        "the cell has no value",
    );
    broken("table-1", "user_s = 0.5, ", "", 9, "the cell has no user_s");
    broken(
        "table-1",
        "doubt.user_s = \"Blurred.\"",
        "doubt = 3",
        9,
        "a reason for each doubtful figure",
    );
}

#[test]
fn distributions() {
    let with = |cell: &str| {
        let table = format!("{TABLE}\"rt/semaphore\" = {{ {cell} }}\n");
        parse(DOCUMENT, MACHINES, &table)
    };
    with("unit = \"us\", min = 1.0, median = 2.0, max = 3.0").expect("sound");
    for (cell, what) in [
        (
            "unit = \"us\", min = 1.0, median = 2.0",
            "has min, median, max and unit",
        ),
        (
            "min = 1.0, median = 2.0, max = 3.0",
            "has min, median, max and unit",
        ),
        (
            "unit = \"us\", min = 1.0, median = 2.0, max = 3.0, value = 2.0",
            "neither value nor better",
        ),
        (
            "unit = \"KB/s\", min = 1.0, median = 2.0, max = 3.0",
            "not of 'KB/s'",
        ),
        (
            "unit = \"us\", min = 0.0, median = 2.0, max = 3.0",
            "0 is not a figure",
        ),
        (
            "unit = \"us\", min = 1.0, median = 2.0, max = 3.0, doubt.mean = \"x\"",
            "mean is doubted, and the cell has no mean",
        ),
    ] {
        let error = with(cell).expect_err(cell);
        assert_eq!(error.line, 12, "{error}");
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn titles_and_kinds() {
    let with = |head: &str| {
        let table = TABLE.replacen("[footnotes]", &format!("{head}\n[footnotes]"), 1);
        parse(DOCUMENT, MACHINES, &table)
    };
    with("[titles]\n\"byte/pipe\" = \"pipes\"").expect("sound");
    with("[kinds]\n\"+\" = \"noisy\"").expect("sound");
    for (head, what) in [
        (
            "[titles]\n\"byte/shell\" = \"sh\"",
            "no row has a cell for byte/shell",
        ),
        ("[titles]\n\"byte/pipe\" = \" \"", "the title says nothing"),
        (
            "[kinds]\n\"-\" = \"doubtful\"",
            "the mark '-' is not explained",
        ),
        ("[kinds]\n\"+\" = \"starred\"", "unknown variant `starred`"),
    ] {
        let error = with(head).expect_err(head);
        assert_eq!(error.line, 4, "{error}");
        assert!(error.what.contains(what), "{error}");
    }
}
