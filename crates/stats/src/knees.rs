//! Where a curve of latency over the working set rises, and which caches end there.
//!
//! Within a cache the curve is flat, beyond it flat again but higher; the rise between takes one doubling or several, since a
//! cache that is not quite large enough still has a part of what is asked for. A knee is the steepest place of each rise.
//!
//! Must not know: launches, benchmarks, where the sizes of caches come from.

/// The least factor from one point to the next that is a rise: the curve of a flat stretch scatters by less.
pub const RISE: f64 = 1.15;

/// Between two points of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The last x before the rise.
    pub before: f64,
    /// The next.
    pub after: f64,
    /// How many times as high the curve is there.
    pub factor: f64,
}

impl Knee {
    /// Whether a cache of this size may be what ends here. What else is in a cache, and pages that compete for the same place in
    /// it, make it look smaller, by up to a half; nothing makes it look larger.
    #[must_use]
    pub fn fits(&self, size: f64) -> bool {
        (self.before..=2.0 * self.after).contains(&size)
    }
}

/// The knees of a curve of positive values in the order of x.
#[must_use]
pub fn knees(points: &[(f64, f64)]) -> Vec<Knee> {
    let rises: Vec<Knee> = points
        .windows(2)
        .map(|pair| Knee {
            before: pair[0].0,
            after: pair[1].0,
            factor: pair[1].1 / pair[0].1,
        })
        .collect();
    let factor = |at: Option<usize>| at.and_then(|at| rises.get(at)).map_or(0.0, |k| k.factor);
    (0..rises.len())
        .filter(|&at| {
            let own = rises[at].factor;
            own >= RISE && own > factor(at.checked_sub(1)) && own >= factor(Some(at + 1))
        })
        .map(|at| rises[at])
        .collect()
}

/// Each cache, from the smallest, with the knee at which it ends; a knee is that of one cache, the nearest above it first.
#[must_use]
pub fn ends(knees: &[Knee], caches: &[f64]) -> Vec<Option<Knee>> {
    let mut free = knees;
    caches
        .iter()
        .map(|&size| {
            // of several that fit, the steepest: beside it are those of the translation buffers
            let best = free
                .iter()
                .filter(|knee| knee.fits(size))
                .max_by(|a, b| a.factor.total_cmp(&b.factor))
                .copied()?;
            free = free
                .split_at(free.partition_point(|k| k.before <= best.before))
                .1;
            Some(best)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latency over a random walk that hits each of the caches with the part of it that fits, in ns.
    fn curve(caches: &[(f64, f64)], memory: f64) -> Vec<(f64, f64)> {
        let at = |x: f64| {
            let mut inner = 0.0;
            let mut ns = 0.0;
            for &(size, latency) in caches {
                let held = (size / x).min(1.0);
                ns += (held - inner) * latency;
                inner = held;
            }
            ns + (1.0 - inner) * memory
        };
        (2..19).map(|p| 2_f64.powi(p)).map(|x| (x, at(x))).collect()
    }

    #[test]
    fn every_cache_is_found_where_it_ends() {
        let machines: [&[(f64, f64)]; 4] = [
            &[(32.0, 1.0), (1024.0, 4.0), (32768.0, 14.0)],
            &[(48.0, 1.2), (2048.0, 4.2), (36864.0, 22.0)],
            &[(64.0, 1.3), (512.0, 5.0)],
            &[(128.0, 0.9), (12288.0, 5.0)],
        ];
        for machine in machines {
            let found = knees(&curve(machine, 90.0));
            let sizes: Vec<f64> = machine.iter().map(|(size, _)| *size).collect();
            for (end, size) in ends(&found, &sizes).iter().zip(&sizes) {
                let end = end.unwrap_or_else(|| panic!("{size} KB of {machine:?}: {found:?}"));
                assert!(
                    end.before <= *size && *size <= 2.0 * end.after,
                    "{size}: {end:?}"
                );
            }
        }
    }

    #[test]
    fn a_cache_that_is_not_there_is_not_found() {
        let found = knees(&curve(&[(32.0, 1.0), (1024.0, 4.0)], 90.0));
        let told = ends(&found, &[32.0, 1024.0, 32768.0]);
        assert!(told[0].is_some() && told[1].is_some());
        assert_eq!(told[2], None);
        // nor is one whose latency is that of the next
        let found = knees(&curve(&[(32.0, 4.0), (1024.0, 4.0)], 90.0));
        assert_eq!(ends(&found, &[32.0])[0], None);
    }

    #[test]
    fn what_scatters_is_no_knee() {
        let flat: Vec<(f64, f64)> = (2..12)
            .map(|p| (2_f64.powi(p), if p % 2 == 0 { 10.0 } else { 10.9 }))
            .collect();
        assert_eq!(knees(&flat), []);
        assert_eq!(knees(&[]), []);
        assert_eq!(knees(&[(4.0, 1.0)]), []);
    }

    #[test]
    fn a_rise_over_several_points_is_one_knee() {
        let points = [
            (4.0, 1.0),
            (8.0, 1.0),
            (16.0, 1.3),
            (32.0, 2.6),
            (64.0, 3.2),
        ];
        let expected = Knee {
            before: 16.0,
            after: 32.0,
            factor: 2.0,
        };
        assert_eq!(knees(&points), [expected]);
    }
}
