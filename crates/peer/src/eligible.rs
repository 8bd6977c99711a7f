//! Benchmarks that can have their far end on another host, and the changes to their entries.

use gritstone_model::{Benchmark, Id, OVER, PEER, Placement, Work};
use std::collections::BTreeMap;

/// Parameters that shape traffic between two namespaces.
const SHAPES: [&str; 3] = ["rate_mbit", "delay_ms", "loss_percent"];
/// File systems without authentication, which need a private network.
const UNAUTHENTICATED: [&str; 2] = ["9p", "nfs"];
/// Programs that this machine needs only without a peer: they make hosts, shape traffic, or are servers of the far end.
const ONLY_WITHOUT_PEER: [&str; 7] = ["ip", "tc", "nft", "sshd", "nginx", "http", "openssl"];

/// Moves the far ends of eligible benchmarks to a peer; returns the others with the reason.
pub fn move_far_ends(benchmarks: &mut [Benchmark]) -> BTreeMap<Id, String> {
    let mut refused = BTreeMap::new();
    for benchmark in &mut *benchmarks {
        match obstacle(benchmark) {
            Some(why) => {
                let why = format!("{why} Measure it without --peer.");
                refused.insert(benchmark.id.clone(), why);
            }
            None => change(benchmark),
        }
    }
    // derived benchmarks lose with their parts
    loop {
        let derived = benchmarks.iter().find(|benchmark| {
            let mut parts = benchmark.work.parts().into_iter();
            !refused.contains_key(&benchmark.id) && parts.any(|part| refused.contains_key(part))
        });
        let Some(derived) = derived else {
            return refused;
        };
        let why = "A part of it cannot run on a peer. Measure it without --peer.";
        refused.insert(derived.id.clone(), why.to_owned());
    }
}

/// Why a benchmark cannot have a peer.
fn obstacle(benchmark: &Benchmark) -> Option<&'static str> {
    let work = match &benchmark.work {
        Work::Kernel(work) => work,
        Work::Derived { .. } | Work::Score { .. } => return None,
        Work::Command(_) | Work::Scenario(_) => return Some("It has no far end."),
    };
    let by = work.params.get("by").map(String::as_str);
    match work.params.get(OVER).map(String::as_str) {
        None => Some("It has no far end."),
        Some("veth") if SHAPES.iter().any(|shape| work.params.contains_key(*shape)) => {
            Some("Its link is one between two network namespaces, which can be shaped.")
        }
        Some("veth") if by.is_some_and(|by| UNAUTHENTICATED.contains(&by)) => Some(
            "Its server has no authentication and listens between two network namespaces alone.",
        ),
        Some("veth") => None,
        Some(_) => Some("Both ends are on one host."),
    }
}

fn change(benchmark: &mut Benchmark) {
    let Work::Kernel(work) = &mut benchmark.work else {
        return;
    };
    work.params.insert(OVER.to_owned(), PEER.to_owned());
    benchmark.needs.retain(|need| !ONLY_WITHOUT_PEER.contains(&need.name.as_str()));
    // only one end is on this machine
    if benchmark.placement == Placement::Cross {
        benchmark.placement = Placement::OneCpu;
    }
    // a file goes from the disk of one host to that of another
    benchmark.remark = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_network_benchmarks_get_peers() {
        let mut benchmarks = gritstone_catalogue::all().unwrap().benchmarks;
        let refused = move_far_ends(&mut benchmarks);
        let benchmark =
            |id: &str| benchmarks.iter().find(|benchmark| benchmark.id.as_str() == id).unwrap();
        for id in [
            "net/tcp/128k",
            "net/tcp/stream@16",
            "net/udp/rr",
            "net/tcp/latency@20k",
            "net/udp/stream",
            "net/tcp/connect",
            "net/transfer/1m",
            "net/transfer/0@scp",
            "net/remote-file/1k",
            "net/http/requests",
            "net/tls/128k",
        ] {
            let benchmark = benchmark(id);
            assert!(!refused.contains_key(&benchmark.id), "{id}: {refused:?}");
            assert!(
                matches!(&benchmark.work, Work::Kernel(work) if work.has_peer())
                    && benchmark
                        .needs
                        .iter()
                        .all(|need| !["ip", "sshd"].contains(&need.name.as_str())),
                "{id}"
            );
            assert!(!benchmark.can_be_copied(), "{id}");
        }
        for (id, why) in [
            ("byte/pipe", "no far end"),
            ("net/tcp/128k@loopback", "on one host"),
            ("net/unix/128k", "on one host"),
            ("net/tcp/128k@100mbit", "shaped"),
            ("net/remote-file@9p", "no authentication"),
        ] {
            let reason = &refused[&benchmark(id).id];
            assert!(reason.contains(why), "{id}: {reason}");
        }
        assert!(!refused.contains_key(&benchmark("net/tcp/stream").id));
        let derived = benchmarks.iter().filter(|benchmark| {
            !benchmark.work.parts().is_empty() && benchmark.id.family() != "net"
        });
        assert!(derived.into_iter().all(|benchmark| refused.contains_key(&benchmark.id)));
    }
}
