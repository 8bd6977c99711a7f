//! Percentiles of response times by the number of users and the kind of transaction, and the supported number of users.

use super::latencies;
use super::reading::{Reading, merged};
use crate::describe;
use gritstone_model::{
    Finding, Histogram, Measurement, Metric, Number, Percentile, Responses, ResponsesOf,
    SeriesPoint,
};
use gritstone_stats::percentiles::Bucket;
use std::collections::BTreeMap;

/// Percentiles by name, and the share of the responses at or below.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];
const MS: f64 = 1e-6;

/// Users, and the kind of transaction; `None`: all kinds.
type Kind<'a> = (u64, Option<&'a str>);
/// Histograms of the launches with responses, and these launches.
type Answered<'a> = (Vec<Histogram>, Vec<&'a Reading<'a>>);

/// By users, all kinds first. Launches without a response of a kind are ignored for it.
pub(super) fn from_launches(launches: &[&Reading], confidence: f64) -> Vec<Responses> {
    let mut answered: BTreeMap<Kind, Answered> = BTreeMap::new();
    for &launch in launches {
        let mut of_launch: BTreeMap<(u64, Option<&str>), Vec<&Histogram>> = BTreeMap::new();
        for (ResponsesOf { users, kind }, times) in &launch.responses {
            of_launch.entry((*users, None)).or_default().push(times);
            of_launch.entry((*users, Some(kind))).or_default().push(times);
        }
        for (kind, times) in of_launch {
            let all = merged(times.into_iter());
            let (histograms, answering) = answered.entry(kind).or_default();
            histograms.push(all);
            answering.push(launch);
        }
    }
    let responses = answered.into_iter();
    let responses = responses.map(|((users, kind), (histograms, answering))| {
        let all = merged(histograms.iter());
        let launches: Vec<Vec<Bucket>> = histograms.iter().map(describe::buckets).collect();
        let percentile = |(name, share): (&str, f64)| {
            let found = latencies::percentile(name, share, &launches, &answering, MS, confidence)?;
            Some(Percentile { values: vec![], ..found })
        };
        Responses {
            users,
            kind: kind.map(str::to_owned),
            events: all.count,
            percentiles: PERCENTILES.into_iter().filter_map(percentile).collect(),
            max: all.max as f64 * MS,
        }
    });
    responses.collect()
}

pub(super) fn point(x: f64, result: Option<&Measurement>) -> SeriesPoint {
    let latencies = result.and_then(Measurement::latencies);
    let percentiles = latencies.into_iter().flat_map(|latencies| latencies.percentiles.iter());
    let mut responses = result.into_iter().flat_map(Measurement::responses);
    let all = responses.rfind(|responses| responses.kind.is_none());
    SeriesPoint {
        x,
        estimate: result.and_then(Measurement::estimate),
        responses: all.map_or_else(Vec::new, |responses| responses.percentiles.clone()),
        percentiles: percentiles
            .map(|percentile| Percentile { values: vec![], ..percentile.clone() })
            .collect(),
        ..SeriesPoint::default()
    }
}

pub(super) fn carried(launches: &[&Reading]) -> Option<Finding> {
    let users = |metric| {
        let numbers = launches.iter().flat_map(move |launch| launch.numbers(metric));
        numbers.filter_map(Number::integer)
    };
    Some(Finding::Carried {
        least: users(Metric::UsersCarried).min()?,
        most: users(Metric::UsersCarried).max()?,
        too_many: users(Metric::UsersTooMany).min(),
    })
}
