//! Which tracks the time budget admits, and in which order they use up the rest of it.

use crate::limits::{Limits, MIN_LAUNCHES, PILOT};
use crate::rounds::adjacent;
use crate::track::{Track, slowness};
use std::collections::BTreeSet;
use std::time::Duration;

/// Share of the budget that is planned with; the rest is for launches that take longer than those before them.
const PLANNED_SHARE: f64 = 0.97;

/// A track is begun only if its complete pilot fits, since a result without an interval is useless.
pub struct Budget {
    limit: Option<Duration>,
    /// Without a limit, the end of all that is more than the fewest launches.
    time: Duration,
    min: usize,
    /// The track begun last. Its first launch shows whether its pilot fits.
    begun_last: Option<usize>,
    /// Tracks whose pilot did not fit. While there are any, no track is begun. They are reconsidered at the next pilot, since first
    /// launches take longest.
    postponed: BTreeSet<usize>,
}

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        Self {
            limit: limits.budget,
            time: limits.time(),
            min: limits.min_launches(),
            begun_last: None,
            postponed: BTreeSet::new(),
        }
    }

    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// The time that is left to plan with, s.
    pub fn seconds_left(&self, now: Duration) -> f64 {
        let end = self.limit.unwrap_or(self.time);
        end.saturating_sub(now).as_secs_f64() * PLANNED_SHARE
    }

    pub fn expected_end(&self, now: Duration, tracks: &[Track]) -> Duration {
        let end = now + duration_of(tracks, |track| track.missing(track.planned));
        match self.limit {
            Some(limit) => end.min(limit),
            None => {
                let fewest = |track: &Track| track.missing(self.min + track.failed());
                end.min(self.time.max(now + duration_of(tracks, fewest)))
            }
        }
    }

    pub fn may_launch(&mut self, index: usize, tracks: &[Track], now: Duration) -> bool {
        let track = &tracks[index];
        if track.closed || self.postponed.contains(&index) {
            return false;
        }
        if track.has_begun() {
            let end = now + Duration::from_secs_f64(track.cost().unwrap_or(0.0));
            return match self.limit {
                Some(limit) => end <= limit,
                None => end <= self.time || track.launches < self.min + track.failed(),
            };
        }
        // the first track is begun whatever it takes
        let is_first = !tracks.iter().any(Track::has_begun);
        let fits = self.postponed.is_empty() && self.has_room_for(index, tracks, now);
        if !is_first && !fits {
            self.postponed.insert(index);
            return false;
        }
        self.begun_last = Some(index);
        true
    }

    /// Postpones the track begun last if its pilot turns out not to fit and it is not the only one.
    pub fn review_begun(&mut self, tracks: &[Track], now: Duration) {
        if let Some(last) = self.begun_last.take()
            && !self.has_room_for(last, tracks, now)
            && tracks.iter().filter(|track| track.has_begun()).count() > 1
        {
            self.postponed.insert(last);
        }
    }

    /// True if the pilots of all begun tracks fit, together with that of `index`.
    fn has_room_for(&self, index: usize, tracks: &[Track], now: Duration) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let begun = tracks.iter().filter(|track| track.has_begun());
        let begun: f64 =
            begun.filter_map(|track| Some(track.cost()? * track.missing(PILOT) as f64)).sum();
        let pilot = match &tracks[index] {
            track if track.has_begun() => 0.0,
            track => {
                let slowness = slowness(tracks).unwrap_or(1.0);
                track.cost_or_nominal(slowness) * track.missing(PILOT) as f64
            }
        };
        now.as_secs_f64() + begun + pilot <= limit.as_secs_f64() * PLANNED_SHARE
    }

    /// Readmits the postponed tracks that fit now; true if there were any. None are after a pilot without launches: the budget never
    /// reaches them. Those not readmitted are closed.
    pub fn readmit(&mut self, tracks: &mut [Track], now: Duration, has_launched: bool) -> bool {
        let postponed = std::mem::take(&mut self.postponed);
        let readmits = has_launched && !postponed.is_empty();
        for index in postponed {
            let fits = !tracks[index].has_begun() || self.has_room_for(index, tracks, now);
            tracks[index].closed |= !(readmits && fits);
        }
        readmits
    }

    /// Where a whole round does not fit, tracks with few launches come first, and of these the quick ones: as many as possible get the
    /// launches that a result needs.
    pub fn order_round(
        &self,
        mut round: Vec<usize>,
        tracks: &[Track],
        now: Duration,
    ) -> Vec<usize> {
        let cost = |index: &usize| tracks[*index].cost().unwrap_or(0.0);
        let launches = |index: &usize| tracks[*index].launches.min(MIN_LAUNCHES);
        round.retain(|&index| !tracks[index].closed);
        // a round that begins tracks keeps the order of the plan
        if let Some(limit) = self.limit
            && round.iter().all(|&index| tracks[index].has_begun())
            && round.iter().map(cost).sum::<f64>() > limit.saturating_sub(now).as_secs_f64()
        {
            round.sort_by(|a, b| {
                let by_launches = launches(a).cmp(&launches(b));
                by_launches.then(cost(a).total_cmp(&cost(b)))
            });
        }
        // starting a load takes long: benchmarks that share one are launched in a row
        adjacent(&round, |index| tracks[index].load)
    }
}

/// Time of `launches` of each track.
pub fn duration_of(tracks: &[Track], launches: impl Fn(&Track) -> usize) -> Duration {
    let slowness = slowness(tracks).unwrap_or(1.0);
    let seconds =
        tracks.iter().map(|track| track.cost_or_nominal(slowness) * launches(track) as f64);
    Duration::from_secs_f64(seconds.sum())
}
