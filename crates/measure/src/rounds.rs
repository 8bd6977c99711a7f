//! How many launches each track gets from the budget, and in which order the rounds take them.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// What is known of tracks that are launched together after the pilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Seconds of one launch of each.
    pub cost: f64,
    /// Launches done.
    pub done: usize,
    /// Launches that the pilot calls for, in all.
    pub wanted: usize,
    /// Launches that all should have.
    pub least: usize,
}

/// How many launches each has in all within `seconds` more: first the least, in their order; then what it wants, those first to which
/// the least time is missing, so that as many as can be come to it.
pub fn share(needs: &[Need], seconds: f64) -> Vec<usize> {
    let mut all: Vec<usize> = needs.iter().map(|need| need.done).collect();
    let mut left = seconds;
    let mut give = |have: &mut usize, cost: f64, target: usize| {
        let missing = target.saturating_sub(*have);
        // a quotient that is no number is that of nothing by nothing, and a cast saturates
        let fits = if cost > 0.0 {
            (left / cost) as usize
        } else {
            missing
        };
        let given = missing.min(fits);
        left -= given as f64 * cost;
        *have += given;
    };
    for (need, have) in needs.iter().zip(&mut all) {
        give(have, need.cost, need.least.min(need.wanted));
    }
    let missing = |at: usize| needs[at].cost * needs[at].wanted.saturating_sub(all[at]) as f64;
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by(|&a, &b| missing(a).total_cmp(&missing(b)));
    for at in order {
        give(&mut all[at], needs[at].cost, needs[at].wanted);
    }
    all
}

/// Groups of `0..count`: those that a list has together are, and each is in one group, in the order of their first members.
pub fn together(count: usize, lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..count).collect();
    for list in lists {
        let Some(lowest) = list.iter().map(|&at| group[at]).min() else {
            continue;
        };
        let joined: Vec<usize> = list.iter().map(|&at| group[at]).collect();
        for own in group.iter_mut().filter(|own| joined.contains(own)) {
            *own = lowest;
        }
    }
    let members = |first| {
        (0..count)
            .filter(|&at| group[at] == first)
            .collect::<Vec<_>>()
    };
    let groups = (0..count).map(members);
    groups.filter(|members| !members.is_empty()).collect()
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
        assert_eq!(share(&[row(1.0, 4, 10), row(2.0, 4, 30)], 1000.0), [10, 30]);
        assert_eq!(share(&[row(1.0, 20, 10)], 1000.0), [20]);
        assert!(share(&[], 10.0).is_empty());
    }

    #[test]
    fn the_least_comes_first_then_the_wish_that_takes_least() {
        // 6 s and 6 s are the least; the second comes to its wish within 5 s, and 23 s are left for the first
        let rows = [row(1.0, 4, 40), row(1.0, 4, 15)];
        assert_eq!(share(&rows, 40.0), [33, 15]);
        // what does not suffice for the least goes by the order
        assert_eq!(share(&[row(1.0, 6, 40), row(3.0, 6, 80)], 8.0), [11, 7]);
        assert_eq!(share(&[row(1.0, 6, 40), row(3.0, 6, 80)], 0.5), [6, 6]);
    }

    #[test]
    fn what_any_list_has_together_is_one_group() {
        let lists = [vec![3, 1], vec![], vec![2], vec![1, 4]];
        assert_eq!(together(5, &lists), [vec![0], vec![1, 3, 4], vec![2]]);
        assert!(together(0, &[]).is_empty());
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
            let more = rows.iter().zip(&given).map(|(r, &g)| r.cost * (g - r.done) as f64);
            prop_assert!(more.sum::<f64>() <= seconds + 1e-9);
            for (r, g) in rows.iter().zip(given) {
                prop_assert!(g <= r.wanted.max(r.done));
            }
        }
    }
}
