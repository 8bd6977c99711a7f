//! The times of one row of a trial, side by side, round by round; and which launches are held against each other.
//!
//! A pair beside which another thread of the core was busy leaves the comparison, whichever of its launches it was. What the
//! probes saw hangs on when a launch was made, and not on whose it was; so where the sides are the same, the pairs
//! that are kept have a difference that is as likely as its opposite, as all pairs have. Whether a pair is kept is settled when it
//! was made, by what was seen until then: a look at so many pairs is at the same ones for ever.

use crate::two;

/// What one launch took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Nanoseconds an operation.
    pub ns: f64,
    /// Whether another thread of its core was busy beside all of it.
    pub crowded: bool,
}

/// Times of one row, side by side: those of each round, or none where it failed. A side that is out has fewer rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times(pub Vec<Vec<Option<Timed>>>);

/// The launches of two sides that are held against each other, in order, and what became of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// Of the side that is 1.
    pub base: Vec<f64>,
    /// Of the other.
    pub other: Vec<f64>,
    /// Pairs beside which another thread of the core was busy.
    pub crowded: usize,
    /// Those of them that are left out.
    pub left_out: usize,
}

impl From<f64> for Timed {
    /// With the core to itself.
    fn from(ns: f64) -> Self {
        Self { ns, crowded: false }
    }
}

impl Pairs {
    /// A crowded pair is left out while fewer have been left out than were kept. So what one side does to its own
    /// core, a setting that lets others in among it, is compared all the same, and no trial takes more than twice as long.
    fn add(&mut self, base: Timed, other: Timed) {
        let crowded = base.crowded || other.crowded;
        self.crowded += usize::from(crowded);
        if crowded && self.left_out < self.base.len() {
            self.left_out += 1;
        } else {
            self.base.push(base.ns);
            self.other.push(other.ns);
        }
    }
}

impl Times {
    /// The rounds in which both sides have a value.
    pub fn pairs(&self, base: usize, other: usize) -> Pairs {
        let mut pairs = Pairs::default();
        for (base, other) in self.0[base].iter().zip(&self.0[other]) {
            if let (Some(base), Some(other)) = (base, other) {
                pairs.add(*base, *other);
            }
        }
        pairs
    }

    /// The side that takes least time, each held against the best so far in the rounds that both have: a side that is out early
    /// has met another machine than those that went on.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        let sides = 0..self.0.len();
        let known = sides.filter(|&side| self.0[side].iter().any(Option::is_some));
        known.reduce(|best, side| {
            let pairs = self.pairs(best, side);
            // of which the center alone is looked at
            match two::paired(&pairs.base, &pairs.other, 0.95) {
                Some(found) if found.ratio < 1.0 => side,
                _ => best,
            }
        })
    }

    /// Rounds in which all sides that are not out have a value.
    #[must_use]
    pub fn rounds(&self) -> usize {
        let still_in = self.still_in();
        let has =
            |side: &usize, round: usize| self.0[*side].get(round).is_some_and(Option::is_some);
        let rounds = self.0.iter().map(Vec::len).max().unwrap_or(0);
        (0..rounds)
            .filter(|&round| still_in.iter().all(|side| has(side, round)))
            .count()
    }

    /// For each two sides that are not out, the pairs that are held against each other.
    #[must_use]
    pub fn kept(&self) -> Vec<usize> {
        let still_in = self.still_in();
        let after = |at: usize| still_in[at + 1..].iter();
        let each = (0..still_in.len()).flat_map(|at| after(at).map(move |&other| (at, other)));
        each.map(|(at, other)| self.pairs(still_in[at], other).base.len())
            .collect()
    }

    fn still_in(&self) -> Vec<usize> {
        let rounds = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let sides = 0..self.0.len();
        sides.filter(|&side| self.0[side].len() == rounds).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(sides: [&str; 2]) -> Times {
        // a letter for each round: in capitals where it was crowded, a dot where it failed
        let timed = |letter: char| {
            (letter != '.').then(|| Timed {
                ns: f64::from(u32::from(letter.to_ascii_lowercase())),
                crowded: letter.is_ascii_uppercase(),
            })
        };
        Times(sides.map(|side| side.chars().map(timed).collect()).into())
    }

    #[test]
    fn a_pair_is_left_out_when_either_launch_was_crowded() {
        for sides in [
            ["abCdef", "uvwxyz"],
            ["abcdef", "uvWxyz"],
            ["abCdef", "uvWxyz"],
        ] {
            let pairs = times(sides).pairs(0, 1);
            assert_eq!((pairs.base.len(), pairs.crowded, pairs.left_out), (5, 1, 1));
            assert!(!pairs.base.contains(&f64::from(b'c')), "{sides:?}");
        }
        let failed = times(["ab.def", "uvWxyz"]).pairs(0, 1);
        assert_eq!((failed.base.len(), failed.crowded), (5, 0));
    }

    #[test]
    fn half_of_the_pairs_stay_whatever_the_neighbor_does() {
        let pairs = times(["ABCDEFGH", "stuvwxyz"]).pairs(0, 1);
        assert_eq!((pairs.base.len(), pairs.crowded, pairs.left_out), (4, 8, 4));
        // what is kept stays kept when more pairs come
        let fewer = times(["ABCDE", "stuvw"]).pairs(0, 1);
        assert_eq!(pairs.base[..fewer.base.len()], fewer.base);
    }

    #[test]
    fn sides_that_are_out_have_no_pairs_to_come() {
        let mut three = times(["abcd", "wXyz"]);
        three.0.push(three.0[0][..2].to_vec());
        assert_eq!((three.rounds(), three.kept()), (4, vec![3]));
        assert_eq!(Times(vec![three.0[0].clone()]).kept(), Vec::<usize>::new());
    }
}
