//! How many launches each track gets from the budget, and in which order the rounds take them.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// What is known of a track after the pilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Seconds of one launch.
    pub cost: f64,
    /// Launches done.
    pub done: usize,
    /// Launches that the pilot calls for, in all.
    pub wanted: usize,
    /// Launches that every track should have, in all.
    pub least: usize,
}

/// How many more launches each track gets within `seconds`: all that it wants if there is time for that; otherwise every
/// track gets the same share of its wish, and at least `least` while that fits.
pub fn share(needs: &[Need], seconds: f64) -> Vec<usize> {
    let more = |need: &Need, part: f64| {
        let wish = (need.wanted as f64 * part).floor() as usize;
        wish.max(need.least.min(need.wanted))
            .saturating_sub(need.done)
    };
    let cost = |part: f64| -> f64 {
        needs
            .iter()
            .map(|need| more(need, part) as f64 * need.cost)
            .sum()
    };
    if cost(1.0) <= seconds {
        return needs.iter().map(|need| more(need, 1.0)).collect();
    }
    if cost(0.0) > seconds {
        return evenly(needs, seconds);
    }
    let (mut fits, mut too_much) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = f64::midpoint(fits, too_much);
        if cost(middle) <= seconds {
            fits = middle;
        } else {
            too_much = middle;
        }
    }
    needs.iter().map(|need| more(need, fits)).collect()
}

/// Not even the least fits: as many whole passes as fit, so that no track is preferred.
fn evenly(needs: &[Need], seconds: f64) -> Vec<usize> {
    let missing = |need: &Need| need.least.min(need.wanted).saturating_sub(need.done);
    let mut given = vec![0; needs.len()];
    let mut left = seconds;
    loop {
        let open: Vec<usize> = (0..needs.len())
            .filter(|&i| given[i] < missing(&needs[i]))
            .collect();
        let pass: f64 = open.iter().map(|&i| needs[i].cost).sum();
        if open.is_empty() || pass > left {
            return given;
        }
        left -= pass;
        for i in open {
            given[i] += 1;
        }
    }
}

/// Rounds in which track `i` is launched `launches[i]` times in all, spread evenly over the rounds so that a slow minute of
/// the machine is shared by all, each round in a fresh random order. Indices of tracks, a list a round.
pub fn rounds(launches: &[usize], seed: u64) -> Vec<Vec<usize>> {
    let total = launches.iter().copied().max().unwrap_or(0);
    let mut random = Pcg64::seed_from_u64(seed);
    (0..total)
        .map(|round| {
            let due = |count: usize| (round + 1) * count / total > round * count / total;
            let mut order: Vec<usize> = (0..launches.len())
                .filter(|&track| due(launches[track]))
                .collect();
            order.shuffle(&mut random);
            order
        })
        .collect()
}

/// The same order with tracks of one kind together: kinds in the order in which they first come, tracks within a kind as before.
pub fn adjacent<K: PartialEq>(order: &[usize], kind: impl Fn(usize) -> K) -> Vec<usize> {
    let mut kinds: Vec<(K, Vec<usize>)> = vec![];
    for &track in order {
        let own = kind(track);
        match kinds.iter_mut().find(|(known, _)| *known == own) {
            Some((_, tracks)) => tracks.push(track),
            None => kinds.push((own, vec![track])),
        }
    }
    kinds.into_iter().flat_map(|(_, needs)| needs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(cost: f64, done: usize, wanted: usize) -> Need {
        Need {
            cost,
            done,
            wanted,
            least: 10,
        }
    }

    #[test]
    fn everyone_gets_the_wish_when_there_is_time() {
        assert_eq!(share(&[row(1.0, 4, 10), row(2.0, 4, 30)], 1000.0), [6, 26]);
        assert_eq!(share(&[row(1.0, 20, 10)], 1000.0), [0]);
        assert!(share(&[], 10.0).is_empty());
    }

    #[test]
    fn the_least_comes_first_then_shares_of_the_wish() {
        // 6 s and 6 s are the least; 28 s remain for wishes of 40 and 80
        let rows = [row(1.0, 4, 40), row(1.0, 4, 80)];
        let given = share(&rows, 40.0);
        assert_eq!(given, [12, 28]);
    }

    #[test]
    fn too_little_for_the_least_is_given_in_whole_passes() {
        assert_eq!(share(&[row(1.0, 4, 40), row(3.0, 4, 80)], 9.0), [2, 2]);
        assert_eq!(share(&[row(1.0, 4, 40), row(3.0, 4, 80)], 3.0), [0, 0]);
    }

    #[test]
    fn tracks_of_one_kind_come_together_and_else_as_they_were() {
        assert_eq!(adjacent(&[4, 1, 0, 3, 2], |row| row % 2), [4, 0, 2, 1, 3]);
        assert_eq!(adjacent(&[2, 0, 1], |_| ()), [2, 0, 1]);
        assert!(adjacent(&[], |row| row).is_empty());
    }

    #[test]
    fn the_seed_repeats_the_order() {
        let launches = [7, 3, 7, 5];
        assert_eq!(rounds(&launches, 1), rounds(&launches, 1));
        assert_ne!(rounds(&launches, 1), rounds(&launches, 2));
    }

    proptest! {
        #[test]
        fn rounds_hold_each_launch_once_and_spread_them(
            launches in proptest::collection::vec(0_usize..40, 0..12),
            seed in any::<u64>(),
        ) {
            let rounds = rounds(&launches, seed);
            for (i, &count) in launches.iter().enumerate() {
                let at: Vec<usize> = (0..rounds.len()).filter(|&r| rounds[r].contains(&i)).collect();
                prop_assert_eq!(at.len(), count);
                // no gap is longer than an even spread needs
                for pair in at.windows(2) {
                    prop_assert!(pair[1] - pair[0] <= rounds.len().div_ceil(count.max(1)));
                }
            }
            for round in rounds {
                let mut sorted = round.clone();
                sorted.sort_unstable();
                sorted.dedup();
                prop_assert_eq!(sorted.len(), round.len());
            }
        }

        #[test]
        fn shares_stay_within_the_budget(
            rows in proptest::collection::vec((0.01_f64..5.0, 0_usize..20, 1_usize..200), 1..20),
            seconds in 0.0_f64..1000.0,
        ) {
            let rows: Vec<Need> = rows.into_iter().map(|(c, d, w)| row(c, d, w)).collect();
            let given = share(&rows, seconds);
            let cost: f64 = rows.iter().zip(&given).map(|(r, &g)| r.cost * g as f64).sum();
            prop_assert!(cost <= seconds + 1e-9);
            for (r, g) in rows.iter().zip(given) {
                prop_assert!(r.done + g <= r.wanted.max(r.done));
            }
        }
    }
}
