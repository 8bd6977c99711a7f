//! Energy of processor packages: RAPL through powercap. Since 2020 only root may read it; virtual machines have none.

use crate::Root;
use crate::source::Counter;

const FOLDER: &str = "/sys/class/powercap";

/// Open counters of all packages; none if one cannot be read.
#[derive(Debug)]
pub(crate) struct Energy(Vec<Package>);

#[derive(Debug)]
struct Package {
    counter: Counter,
    /// Largest value, uJ, after which it wraps: after hours when idle, many minutes at full load.
    max: u64,
}

impl Energy {
    pub(crate) fn open(root: &Root) -> Self {
        let zones = root.names(FOLDER).into_iter();
        // the same counters, by memory-mapped registers
        let zones = zones.filter(|zone| !zone.starts_with("intel-rapl-mmio"));
        let zones = zones.map(|zone| format!("{FOLDER}/{zone}"));
        // other zones are parts of a package, or the whole board
        let is_package = |zone: &String| {
            let name = root.line(&format!("{zone}/name"));
            name.is_some_and(|name| name.starts_with("package"))
        };
        let open = |zone: String| {
            Some(Package {
                counter: Counter::open(root, &format!("{zone}/energy_uj"), b"", 1)?,
                max: root.number(&format!("{zone}/max_energy_range_uj"))?,
            })
        };
        let packages: Option<Vec<_>> = zones.filter(is_package).map(open).collect();
        Self(packages.unwrap_or_default())
    }

    pub(crate) fn read(&mut self) -> Option<Vec<u64>> {
        let values = self.0.iter_mut().map(|package| package.counter.value());
        let values: Option<Vec<u64>> = values.collect();
        values.filter(|values| !values.is_empty())
    }

    /// Differences, uJ.
    pub(crate) fn between(&self, before: &[u64], after: &[u64]) -> Option<u64> {
        let both = before.iter().zip(after).zip(&self.0);
        let used = both.map(|((before, after), package)| match after.checked_sub(*before) {
            Some(used) => Some(used),
            None => package.max.checked_sub(*before)?.checked_add(*after),
        });
        used.sum()
    }
}
