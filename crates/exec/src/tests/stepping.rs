//! Instructions: programs whose number of them is known, and what cannot be stepped through.

use super::Planted;
use crate::entries::{Limit, Steps, Uncounted, step};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const LIMIT: Limit = Limit {
    instructions: 100_000,
    time: LONG,
};

impl Planted {
    fn step(&self, n: u64, more: &[&str], limit: Limit) -> Result<Steps, Uncounted> {
        let mut command = Command::new(self.directory.path().join(self.name));
        command
            .args(["mode=step", &format!("n={n}")])
            .args(more)
            .current_dir(self.directory.path())
            .env_clear();
        step(command, None, limit, LONG, &AtomicBool::new(false))
    }

    fn instructions(&self, n: u64, more: &[&str]) -> u64 {
        self.step(n, more, LIMIT).unwrap().instructions
    }
}

#[test]
fn each_instruction_of_an_operation_is_counted_once() {
    let planted = Planted::new("steps");
    let per_op = |more: &[&str]| {
        let [few, many, most] = [8, 16, 32].map(|n| planted.instructions(n, more));
        assert_eq!(most - many, 2 * (many - few), "it is exact");
        (many - few) / 8
    };
    let less = per_op(&["more=0"]);
    assert!((4..12).contains(&less), "{less}: three, and a loop");
    let more = per_op(&["more=1"]);
    assert!(
        (9..=11).contains(&(more - less)),
        "{more} against {less}: ten, and the loop may be another"
    );
    if cfg!(target_arch = "x86_64") {
        let [few, many] = [1, 2].map(|n| planted.instructions(n, &["repeat=1"]));
        let repeated = many - few;
        assert!(
            (1000..1012).contains(&repeated),
            "{repeated}: one a repetition"
        );
    }
}

#[test]
fn what_cannot_be_stepped_through_says_why() {
    let planted = Planted::new("steps");
    let limits = [
        Limit {
            instructions: 100,
            ..LIMIT
        },
        Limit {
            time: Duration::ZERO,
            ..LIMIT
        },
    ];
    for limit in limits {
        assert_eq!(planted.step(1000, &[], limit), Err(Uncounted::TooLong));
    }
    assert_eq!(
        Planted::new("threads").step(1, &[], LIMIT),
        Err(Uncounted::Several)
    );
    let Err(Uncounted::Ended(why)) = Planted::new("wrong").step(3, &[], LIMIT) else {
        panic!("a wrong check value is no good end");
    };
    assert!(why.contains("planted/wrong: check"), "{why}");
}
