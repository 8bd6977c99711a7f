//! Finds the caches that end where a curve by working set rises.
//!
//! Within a cache the curve is flat, beyond it flat again but higher. The rise between takes several doublings of the working set, since a
//! cache that is slightly too small still holds a part of it. Adjacent rises are separated where the curve between them is least steep.

use gritstone_model::{Cache, CacheKind, Estimate, Finding, Rise, SeriesPoint};

/// Smallest factor between points that counts as a rise.
const MIN_FACTOR: f64 = 1.15;

/// The rises of a curve, and the data caches that end there. None if the machine reports no cache, or a point has no interval, so that its
/// noise is unknown.
pub(super) fn rises(points: &[SeriesPoint], caches: &[Cache]) -> Option<Finding> {
    let known = |point: &SeriesPoint| {
        let ns = point.estimate.filter(|ns| ns.value > 0.0)?;
        ns.interval.map(|_| (point.x, ns))
    };
    let curve: Vec<(f64, Estimate)> = points.iter().map(known).collect::<Option<_>>()?;
    let holds_data = |cache: &&Cache| cache.kind != CacheKind::Instruction;
    let mut caches: Vec<&Cache> = caches.iter().filter(holds_data).collect();
    if caches.is_empty() {
        return None;
    }
    caches.sort_by_key(|cache| cache.bytes);
    let mut rises = find_rises(&curve);
    let mut unseen = vec![];
    let mut first = 0;
    for cache in caches {
        // the highest of several fitting rises: lower ones are of translation buffers
        let fitting = (first..rises.len()).filter(|&index| may_end_in(&rises[index], cache));
        match fitting.max_by(|&a, &b| rises[a].factor.total_cmp(&rises[b].factor)) {
            Some(index) => {
                rises[index].cache = Some(cache.clone());
                first = index + 1;
            }
            None => unseen.push(cache.clone()),
        }
    }
    Some(Finding::CacheRises { rises, unseen })
}

/// Whether this cache may end in a rise. Other data and other users make it look smaller, by up to a half; nothing
/// makes it look larger.
fn may_end_in(rise: &Rise, cache: &Cache) -> bool {
    (rise.from..=2.0 * rise.to).contains(&(cache.bytes as f64 / 1024.0))
}

/// The rises of a curve at whose ends the intervals are apart.
fn find_rises(curve: &[(f64, Estimate)]) -> Vec<Rise> {
    let factor = |pair: &[(f64, Estimate)]| pair[1].1.value / pair[0].1.value;
    let factors: Vec<f64> = curve.windows(2).map(factor).collect();
    let mut rises = vec![];
    let mut start = 0;
    for (index, &factor) in factors.iter().enumerate() {
        let next = factors.get(index + 1).copied().unwrap_or(0.0);
        let least_steep = index > start && factor < factors[index - 1] && factor < next;
        if factor >= MIN_FACTOR && next >= MIN_FACTOR && !least_steep {
            continue;
        }
        let ((from, low), (to, high)) = (curve[start], curve[index + 1]);
        let ends = low.interval.zip(high.interval);
        if factor >= MIN_FACTOR && ends.is_some_and(|(low, high)| low[1] < high[0]) {
            rises.push(Rise { from, to, factor: high.value / low.value, cache: None });
        }
        start = index + 1;
    }
    rises
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 KB, 8 KB and so on, with intervals of ± `half`.
    fn points(values: &[f64], half: f64) -> Vec<SeriesPoint> {
        let point = |(doublings, &value): (u32, &f64)| SeriesPoint {
            x: 2_f64.powi(doublings as i32),
            estimate: Some(Estimate {
                value,
                interval: Some([value * (1.0 - half), value * (1.0 + half)]),
            }),
            ..SeriesPoint::default()
        };
        (2..).zip(values).map(point).collect()
    }

    fn cache(level: u8, kind: CacheKind, kilobytes: u64) -> Cache {
        Cache { level, kind, bytes: kilobytes << 10, shared_by: 1 }
    }

    /// Caches that hold data, from the first.
    fn data(kilobytes: &[u64]) -> Vec<Cache> {
        let levels = (1..).zip(kilobytes);
        let unified = |(level, &kb)| cache(level, CacheKind::Unified, kb);
        levels.map(unified).collect()
    }

    /// Ends of each rise with the level of its cache, and the levels of caches without a rise.
    type FoundRises = (Vec<(f64, f64, Option<u8>)>, Vec<u8>);

    fn rises_of(points: &[SeriesPoint], caches: &[Cache]) -> Option<FoundRises> {
        let Finding::CacheRises { rises, unseen } = rises(points, caches)? else {
            panic!("another finding");
        };
        let rises = rises.iter().map(|rise| {
            let level = rise.cache.as_ref().map(|cache| cache.level);
            (rise.from, rise.to, level)
        });
        let unseen = unseen.iter().map(|cache| cache.level).collect();
        Some((rises.collect(), unseen))
    }

    // to 16 MB: a first cache of 32 KB, a buffer of 256 KB, a second cache of 1 MB
    const SEEN: [f64; 13] = [1.0, 1.0, 1.0, 1.0, 3.0, 4.0, 4.1, 5.0, 5.2, 12.0, 22.0, 24.0, 25.0];

    #[test]
    fn caches_match_rises() {
        let mut caches = data(&[32, 1024, 32768]);
        caches.insert(1, cache(1, CacheKind::Instruction, 256));
        let rises = vec![(32.0, 128.0, Some(1)), (256.0, 512.0, None), (1024.0, 4096.0, Some(2))];
        assert_eq!(rises_of(&points(&SEEN, 0.02), &caches), Some((rises, vec![3])));
    }

    #[test]
    fn rise_within_noise_is_ignored() {
        let caches = data(&[32, 1024]);
        // 4.1 to 5 is a fifth, and intervals of 12% meet
        let rises = vec![(32.0, 128.0, Some(1)), (1024.0, 4096.0, Some(2))];
        assert_eq!(rises_of(&points(&SEEN, 0.12), &caches), Some((rises, vec![])));
        let flat = [10.0, 10.9, 10.0, 10.9, 10.0, 10.9];
        assert_eq!(rises_of(&points(&flat, 0.001), &caches), Some((vec![], vec![1, 2])));
    }

    #[test]
    fn incomplete_curve_gives_no_finding() {
        let caches = data(&[32]);
        let whole = points(&SEEN, 0.02);
        assert!(rises_of(&whole, &caches).is_some());
        assert_eq!(rises_of(&whole, &[cache(1, CacheKind::Instruction, 32)]), None);
        let mut holed = whole.clone();
        holed[3].estimate = None;
        assert_eq!(rises_of(&holed, &caches), None);
        holed[3].estimate = Some(Estimate::exact(1.0));
        assert_eq!(rises_of(&holed, &caches), None);
    }

    #[test]
    fn adjacent_rises_are_separated() {
        let rises = |values: &[f64]| rises_of(&points(values, 0.01), &data(&[8])).unwrap().0;
        assert_eq!(rises(&[1.0, 1.0, 1.3, 2.6, 3.2]), [(8.0, 64.0, Some(1))]);
        let two = [(4.0, 16.0, Some(1)), (16.0, 32.0, None)];
        assert_eq!(rises(&[1.0, 2.0, 2.4, 6.0, 6.0]), two);
    }

    #[test]
    fn noisy_curve_still_shows_caches() {
        // CPUs were shared with compilers: 4 KB to 256 MB
        let ns = [
            2.49, 2.5, 2.3, 3.0, 6.8, 9.4, 8.5, 11.1, 26.0, 77.0, 290.0, 300.0, 330.0, 350.0,
            590.0, 770.0, 630.0,
        ];
        let (rises, unseen) = rises_of(&points(&ns, 0.05), &data(&[32, 1024, 32768])).unwrap();
        let expected =
            [(16.0, 128.0, Some(1)), (256.0, 4096.0, Some(2)), (32768.0, 131_072.0, Some(3))];
        assert_eq!((rises.as_slice(), unseen), (expected.as_slice(), vec![]));
    }
}
