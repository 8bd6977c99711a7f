//! Instructions of programs whose number is known, and programs that cannot be stepped.

use super::Planted;
use crate::syscalls::{Limit, Steps, Uncounted, step};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const LIMIT: Limit = Limit { instructions: 100_000, time: LONG };

impl Planted {
    fn step(&self, n: u64, more: &[&str], limit: Limit) -> Result<Steps, Uncounted> {
        let mut command = self.traced(&["mode=step", &format!("n={n}")]);
        command.args(more);
        step(command, None, limit, LONG, &AtomicBool::new(false))
    }

    fn instructions(&self, n: u64, more: &[&str]) -> u64 {
        self.step(n, more, LIMIT).unwrap().instructions
    }
}

#[test]
fn instructions_are_counted_once() {
    let planted = Planted::new("steps");
    let per_op = |more: &[&str]| {
        let [few, many, most] = [8, 16, 32].map(|n| planted.instructions(n, more));
        assert_eq!(most - many, 2 * (many - few), "it is exact");
        (many - few) / 8
    };
    let less = per_op(&["more=0"]);
    assert!((4..12).contains(&less), "{less}: three, and a loop");
    let more = per_op(&["more=1"]);
    // ten, plus the loop
    assert!((9..=11).contains(&(more - less)), "{more} against {less}");
    if cfg!(target_arch = "x86_64") {
        let [few, many] = [1, 2].map(|n| planted.instructions(n, &["repeat=1"]));
        // one per repetition
        assert!((1000..1012).contains(&(many - few)), "{}", many - few);
    }
}

#[test]
fn unsteppable_programs_have_reasons() {
    let planted = Planted::new("steps");
    for (instructions, time) in [(100, LONG), (LIMIT.instructions, Duration::ZERO)] {
        let limit = Limit { instructions, time };
        assert_eq!(planted.step(1000, &[], limit), Err(Uncounted::TooLong));
    }
    let result = Planted::new("threads").step(1, &[], LIMIT);
    assert_eq!(result, Err(Uncounted::MultiThreaded));
    let Err(Uncounted::Ended(why)) = Planted::new("wrong").step(3, &[], LIMIT) else {
        panic!("a wrong check value is no good end");
    };
    assert!(why.contains("planted/wrong: check"), "{why}");
}
