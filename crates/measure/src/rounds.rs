//! Shares of tracks (a step of a side each) in the budget, and the orders of rounds.

use gritstone_model::grouped;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Needs of a group of tracks after the pilot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Time of one launch of each track, s.
    pub cost: f64,
    /// Launches made.
    pub done: usize,
    /// Total launches that precision needs.
    pub wanted: usize,
    /// Launches that every group should have.
    pub min_launches: usize,
}

/// Total launches of each group, with `seconds` left: first the least, in order; then as many as wanted, first for groups that need the
/// least time, so that most groups get what they want.
pub fn share(needs: &[Need], seconds: f64) -> Vec<usize> {
    let mut all: Vec<usize> = needs.iter().map(|need| need.done).collect();
    let mut left = seconds;
    let mut allot = |have: &mut usize, cost: f64, target: usize| {
        let missing = target.saturating_sub(*have);
        // the cast saturates; rounding may leave less than nothing
        let fits = if cost > 0.0 { (left / cost) as usize } else { missing };
        let given = missing.min(fits);
        left -= given as f64 * cost;
        *have += given;
    };
    for (need, have) in needs.iter().zip(&mut all) {
        allot(have, need.cost, need.min_launches.min(need.wanted));
    }
    let missing =
        |index: usize| needs[index].cost * needs[index].wanted.saturating_sub(all[index]) as f64;
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by(|&a, &b| missing(a).total_cmp(&missing(b)));
    for index in order {
        allot(&mut all[index], needs[index].cost, needs[index].wanted);
    }
    all
}

/// Groups of `0..count` such that the members of each list are in one group, ordered by their first members.
pub fn merge_groups(count: usize, lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..count).collect();
    for list in lists {
        let Some(lowest) = list.iter().map(|&index| group[index]).min() else {
            continue;
        };
        let joined: Vec<usize> = list.iter().map(|&index| group[index]).collect();
        for member in group.iter_mut().filter(|member| joined.contains(member)) {
            *member = lowest;
        }
    }
    let members = |first| (0..count).filter(|&index| group[index] == first).collect::<Vec<_>>();
    let groups = (0..count).map(members);
    groups.filter(|members| !members.is_empty()).collect()
}

/// Rounds of track indices in which track `i` occurs `launches[i]` times, spread evenly so that a slow minute of the machine affects all
/// tracks alike. Each round has its own random order.
pub fn rounds(launches: &[usize], seed: u64) -> Vec<Vec<usize>> {
    let total = launches.iter().copied().max().unwrap_or(0);
    let mut random = Pcg64::seed_from_u64(seed);
    (0..total)
        .map(|round| {
            let due = |count: usize| (round + 1) * count / total > round * count / total;
            let mut order: Vec<usize> =
                (0..launches.len()).filter(|&track| due(launches[track])).collect();
            order.shuffle(&mut random);
            order
        })
        .collect()
}

/// Makes tracks of one kind adjacent; otherwise stable.
pub fn adjacent<K: PartialEq>(order: &[usize], kind: impl Fn(usize) -> K) -> Vec<usize> {
    let kinds = grouped(order.iter().map(|&track| (kind(track), track)));
    kinds.into_iter().flat_map(|(_, tracks)| tracks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn need(cost: f64, done: usize, wanted: usize) -> Need {
        Need { cost, done, wanted, min_launches: 10 }
    }

    #[test]
    fn enough_time_satisfies_all_groups() {
        assert_eq!(share(&[need(1.0, 4, 10), need(2.0, 4, 30)], 1000.0), [10, 30]);
        assert_eq!(share(&[need(1.0, 20, 10)], 1000.0), [20]);
        assert!(share(&[], 10.0).is_empty());
    }

    #[test]
    fn minimum_launches_come_first() {
        // the least takes 6 s each; then the second gets what it wants within 5 s, and the first the remaining 23 s
        let needs = [need(1.0, 4, 40), need(1.0, 4, 15)];
        assert_eq!(share(&needs, 40.0), [33, 15]);
        // in order, if time does not suffice for the least
        assert_eq!(share(&[need(1.0, 6, 40), need(3.0, 6, 80)], 8.0), [11, 7]);
        assert_eq!(share(&[need(1.0, 6, 40), need(3.0, 6, 80)], 0.5), [6, 6]);
    }

    #[test]
    fn overlapping_lists_become_one_group() {
        let lists = [vec![3, 1], vec![], vec![2], vec![1, 4]];
        assert_eq!(merge_groups(5, &lists), [vec![0], vec![1, 3, 4], vec![2]]);
        assert!(merge_groups(0, &[]).is_empty());
    }

    #[test]
    fn equal_tracks_become_adjacent() {
        assert_eq!(adjacent(&[4, 1, 0, 3, 2], |track| track % 2), [4, 0, 2, 1, 3]);
        assert_eq!(adjacent(&[2, 0, 1], |_| ()), [2, 0, 1]);
        assert!(adjacent(&[], |track| track).is_empty());
    }

    #[test]
    fn seed_determines_the_order() {
        let launches = [7, 3, 7, 5];
        assert_eq!(rounds(&launches, 1), rounds(&launches, 1));
        assert_ne!(rounds(&launches, 1), rounds(&launches, 2));
    }

    proptest! {
        #[test]
        fn rounds_spread_launches_evenly(
            launches in proptest::collection::vec(0_usize..40, 0..12),
            seed in any::<u64>(),
        ) {
            let rounds = rounds(&launches, seed);
            for (i, &count) in launches.iter().enumerate() {
                let index: Vec<usize> = (0..rounds.len()).filter(|&r| rounds[r].contains(&i)).collect();
                prop_assert_eq!(index.len(), count);
                // no gap is longer than an even spread needs
                for pair in index.windows(2) {
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
            needs in proptest::collection::vec((0.01_f64..5.0, 0_usize..20, 1_usize..200), 1..20),
            seconds in 0.0_f64..1000.0,
        ) {
            let needs: Vec<Need> = needs.into_iter().map(|(c, d, w)| need(c, d, w)).collect();
            let given = share(&needs, seconds);
            let more = needs.iter().zip(&given).map(|(r, &g)| r.cost * (g - r.done) as f64);
            prop_assert!(more.sum::<f64>() <= seconds + 1e-9);
            for (r, g) in needs.iter().zip(given) {
                prop_assert!(g <= r.wanted.max(r.done));
            }
        }
    }
}
