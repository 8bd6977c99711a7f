//! Times of one benchmark of a trial by side and round, and the compared pairs.
//!
//! A pair with SMT contention in either launch is dropped. Contention depends on the time of a launch, not on its side, so that between
//! equal sides a difference of kept pairs is as likely as its opposite.
//!
//! An exception is contention caused by a side: its cost would be dropped. So contended launches are counted by side, and if the counts
//! differ by more than chance, all pairs are compared.

use crate::two_sample;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Time of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Nanoseconds per operation.
    pub ns: f64,
    /// SMT contention during most of it.
    pub contended: bool,
    /// Number of the build; builds of one side differ by the layout of their code.
    pub layout: u32,
}

/// By side, then by round; `None` for a failed launch. A dropped side has fewer rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times(pub Vec<Vec<Option<Timed>>>);

/// Compared pairs of two sides, in order, with counts of dropped ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// Times of the side in the denominator.
    pub base: Vec<f64>,
    /// Times of the side that is compared with it.
    pub other: Vec<f64>,
    /// Build of both (`--layouts`).
    pub layouts: Vec<u32>,
    /// Contended launches of each side.
    pub contended: [usize; 2],
    /// Contention differs by more than chance: one side causes it.
    pub differ: bool,
    /// Dropped pairs.
    pub left_out: usize,
    /// Contribution of pairs with one contended launch to the mean of ln(other / base) over all pairs.
    pub one_sided: f64,
}

/// Two-sided p below which a side is assumed to keep the SMT sibling busy by itself.
pub const SPLIT: f64 = 0.01;

impl From<f64> for Timed {
    /// A launch without contention, of one build.
    fn from(ns: f64) -> Self {
        Self { ns, contended: false, layout: 0 }
    }
}

impl Pairs {
    /// Drops a contended pair while fewer were dropped than kept: no trial takes more than twice as long, and kept pairs stay kept with
    /// further ones, unless contention turns out to differ.
    fn new(all: &[(Timed, Timed)]) -> Self {
        let count = |predicate: fn(&(Timed, Timed)) -> bool| {
            all.iter().filter(|pair| predicate(pair)).count()
        };
        let alone = [
            count(|(base, other)| base.contended && !other.contended),
            count(|(base, other)| other.contended && !base.contended),
        ];
        let one_sided = all.iter().filter(|(b, o)| b.contended != o.contended);
        let one_sided: f64 = one_sided.map(|(b, o)| (o.ns / b.ns).ln()).sum();
        let mut pairs = Self {
            contended: [count(|(base, _)| base.contended), count(|(_, other)| other.contended)],
            differ: sign_test(alone[0], alone[1]) < SPLIT,
            one_sided: one_sided / all.len().max(1) as f64,
            ..Self::default()
        };
        for (base, other) in all {
            let contended = base.contended || other.contended;
            if contended && !pairs.differ && pairs.left_out < pairs.base.len() {
                pairs.left_out += 1;
            } else {
                pairs.base.push(base.ns);
                pairs.other.push(other.ns);
                pairs.layouts.push(base.layout);
            }
        }
        pairs
    }
}

/// Two-sided p of two counts with equal probability.
pub fn sign_test(one: usize, other: usize) -> f64 {
    let fewer = one.min(other) as u64;
    let known = Binomial::new(0.5, (one + other) as u64);
    known.map_or(1.0, |binomial| (2.0 * binomial.cdf(fewer)).min(1.0))
}

impl Times {
    /// The rounds in which both sides have a value.
    pub fn pairs(&self, base: usize, other: usize) -> Pairs {
        let rounds = self.0[base].iter().zip(&self.0[other]);
        let all: Vec<(Timed, Timed)> =
            rounds.filter_map(|(base, other)| Some(((*base)?, (*other)?))).collect();
        Pairs::new(&all)
    }

    /// The fastest side: each is compared with the best so far in their common rounds, since a dropped side was measured under other
    /// conditions.
    pub fn best(&self) -> Option<usize> {
        let sides = 0..self.0.len();
        let known = sides.filter(|&side| self.0[side].iter().any(Option::is_some));
        known.reduce(|best, side| {
            let pairs = self.pairs(best, side);
            match two_sample::paired(&pairs.base, &pairs.other, 0.95) {
                Some(found) if found.ratio < 1.0 => side,
                _ => best,
            }
        })
    }

    /// Rounds in which all remaining sides have a value.
    pub fn rounds(&self) -> usize {
        let still_in = self.still_in();
        let has =
            |side: &usize, round: usize| self.0[*side].get(round).is_some_and(Option::is_some);
        let rounds = self.0.iter().map(Vec::len).max().unwrap_or(0);
        (0..rounds).filter(|&round| still_in.iter().all(|side| has(side, round))).count()
    }

    /// Compared pairs of each two sides that remain.
    pub fn compared_pairs(&self) -> Vec<usize> {
        let still_in = self.still_in();
        let after = |first: usize| still_in[first + 1..].iter();
        let each =
            (0..still_in.len()).flat_map(|first| after(first).map(move |&other| (first, other)));
        each.map(|(first, other)| self.pairs(still_in[first], other).base.len()).collect()
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
        // a letter for each round: a capital if contended, a dot if failed
        let timed = |letter: char| {
            (letter != '.').then(|| Timed {
                contended: letter.is_ascii_uppercase(),
                ..f64::from(u32::from(letter.to_ascii_lowercase())).into()
            })
        };
        Times(sides.map(|side| side.chars().map(timed).collect()).into())
    }

    #[test]
    fn contended_pairs_are_left_out() {
        for (sides, contended) in [
            (["abCdef", "uvwxyz"], [1, 0]),
            (["abcdef", "uvWxyz"], [0, 1]),
            (["abCdef", "uvWxyz"], [1, 1]),
        ] {
            let pairs = times(sides).pairs(0, 1);
            assert_eq!((pairs.base.len(), pairs.left_out), (5, 1));
            assert_eq!((pairs.contended, pairs.differ), (contended, false));
            assert!(!pairs.base.contains(&f64::from(b'c')), "{sides:?}");
        }
        let failed = times(["ab.def", "uvWxyz"]).pairs(0, 1);
        assert_eq!((failed.base.len(), failed.contended), (5, [0, 0]));
    }

    #[test]
    fn unequal_contention_keeps_all_pairs() {
        // 2 / 2^7 is above 1%, 2 / 2^8 below
        let seven = times(["abcdefghijklmnop", "hijklmnopABCDEFG"]).pairs(0, 1);
        assert_eq!((seven.differ, seven.left_out), (false, 7));
        let eight = times(["abcdefghijklmnop", "ijklmnopABCDEFGH"]).pairs(0, 1);
        assert_eq!((eight.differ, eight.left_out), (true, 0));
        assert_eq!((eight.base.len(), eight.contended), (16, [0, 8]));
        // contention that both have does not count for either
        let both = times(["ijklmnopqrsABCDEFGH", "jklmnopqrsABCDEFGHI"]).pairs(0, 1);
        assert_eq!((both.differ, both.left_out, both.contended), (false, 9, [8, 9]));
    }

    #[test]
    fn half_of_the_pairs_stay() {
        let pairs = times(["ABCDEFGH", "STUVWXYZ"]).pairs(0, 1);
        assert_eq!((pairs.base.len(), pairs.contended, pairs.left_out), (4, [8, 8], 4));
        // kept pairs stay kept when more come
        let fewer = times(["ABCDE", "STUVW"]).pairs(0, 1);
        assert_eq!(pairs.base[..fewer.base.len()], fewer.base);
    }

    #[test]
    fn dropped_sides_have_no_pairs() {
        let mut three = times(["abcd", "wXyz"]);
        three.0.push(three.0[0][..2].to_vec());
        assert_eq!((three.rounds(), three.compared_pairs()), (4, vec![3]));
        assert_eq!(Times(vec![three.0[0].clone()]).compared_pairs(), Vec::<usize>::new());
    }
}
