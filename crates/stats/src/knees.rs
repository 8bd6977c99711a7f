//! Where a curve of latency over the working set rises, and which caches end there.
//!
//! Within a cache the curve is flat, beyond it flat again but higher. The rise between takes several doublings of the working set,
//! since a cache that is not quite large enough still has a part of what is asked for. Two rises that meet are told
//! apart where the curve is least steep between them.
//!
//! Must not know: launches, benchmarks, where the sizes of caches come from.

/// The least factor from one point to the next that is a rise: the curve of a flat stretch scatters by less.
pub const RISE: f64 = 1.15;

/// A rise of a curve, from the last point that is not in it to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The x from which it rises.
    pub before: f64,
    /// The x up to which it rises.
    pub after: f64,
    /// How many times as high the curve is there.
    pub factor: f64,
}

impl Knee {
    /// Whether a cache of this size may be what ends here. What else is in a cache, and who else uses it, make it look smaller, by up
    /// to a half; nothing makes it look larger.
    #[must_use]
    pub fn fits(&self, size: f64) -> bool {
        (self.before..=2.0 * self.after).contains(&size)
    }
}

/// The knees of a curve of positive values in the order of x.
#[must_use]
pub fn knees(points: &[(f64, f64)]) -> Vec<Knee> {
    let factors: Vec<f64> = points.windows(2).map(|p| p[1].1 / p[0].1).collect();
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..factors.len() {
        let own = factors[at];
        let next = factors.get(at + 1).copied().unwrap_or(0.0);
        let before = if at > start { factors[at - 1] } else { 0.0 };
        // a rise ends before the curve is flat, or where it has become less steep and becomes steeper again
        let ends = next < RISE || (own < before && own < next);
        if own < RISE {
            start = at + 1;
        } else if ends {
            found.push(Knee {
                before: points[start].0,
                after: points[at + 1].0,
                factor: points[at + 1].1 / points[start].1,
            });
            start = at + 1;
        }
    }
    found
}

/// Each cache, from the smallest, with the knee at which it ends; a knee is that of one cache, the nearest above it first.
#[must_use]
pub fn ends(knees: &[Knee], caches: &[f64]) -> Vec<Option<Knee>> {
    let mut free = knees;
    caches
        .iter()
        .map(|&size| {
            // of several that fit, the highest: beside it are those of the translation buffers
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
                assert!(end.before <= *size && *size < end.after, "{size}: {end:?}");
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
    fn a_rise_over_several_points_is_one_knee_and_two_that_meet_are_two() {
        let knee = |before, after, factor| Knee {
            before,
            after,
            factor,
        };
        let points = [
            (4.0, 1.0),
            (8.0, 1.0),
            (16.0, 1.3),
            (32.0, 2.6),
            (64.0, 3.2),
        ];
        assert_eq!(knees(&points), [knee(8.0, 64.0, 3.2)]);
        let points = [
            (4.0, 1.0),
            (8.0, 2.0),
            (16.0, 2.4),
            (32.0, 6.0),
            (64.0, 6.0),
        ];
        let expected = [knee(4.0, 16.0, 2.4), knee(16.0, 32.0, 2.5)];
        assert_eq!(knees(&points), expected);
    }

    #[test]
    fn a_curve_that_was_measured_beside_others_has_its_caches() {
        // a machine of 32 KB, 1 MB and 32 MB whose CPUs were shared with compilers: 4 KB to 256 MB
        let ns = [
            2.49, 2.5, 2.3, 3.0, 6.8, 9.4, 8.5, 11.1, 26.0, 77.0, 290.0, 300.0, 330.0, 350.0,
            590.0, 770.0, 630.0,
        ];
        let points: Vec<(f64, f64)> = (2..).map(|p| 2_f64.powi(p)).zip(ns).collect();
        let told = ends(&knees(&points), &[32.0, 1024.0, 32768.0]);
        let told: Vec<(f64, f64)> = told
            .iter()
            .map(|end| end.map_or((0.0, 0.0), |knee| (knee.before, knee.after)))
            .collect();
        let expected = [(16.0, 128.0), (256.0, 4096.0), (32768.0, 131_072.0)];
        assert_eq!(told, expected);
    }
}
