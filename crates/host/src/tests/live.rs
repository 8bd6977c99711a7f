//! Properties that hold on any host of the tests.

use super::tree::plain;
use gritstone_host::{Host, Root, Watch, choose_cpus};
use std::time::{Duration, Instant};

#[test]
fn this_machine_is_read() {
    let host = Host::read(&Root::live());
    let (sockets, cores, threads) = host.cpu.counts();
    assert!(sockets >= 1 && cores >= sockets && threads >= cores);
    assert!(!host.cpu.allowed.is_empty() && host.cpu.present >= threads);
    assert!(host.memory.total.unwrap() > 0);
    assert!(host.kernel.release.is_some() && host.kernel.resolution.unwrap() > 0);
    let chosen = choose_cpus(&host.cpu).unwrap();
    assert!(host.cpu.allowed.contains(chosen.measured));
    assert_ne!(Some(chosen.measured), chosen.watcher);
    assert_eq!(host.cpu.allowed.len() > 1, chosen.watcher.is_some());
    let machine = host.machine(&std::env::temp_dir());
    assert_eq!(machine.id, Host::read(&Root::live()).id());
    assert!(
        machine.facts.contains_key("kernel.release")
            && machine.facts.contains_key("dir.filesystem")
    );
}

#[test]
fn a_launch_is_watched() {
    let mut watch = Watch::open(&Root::live());
    let before = watch.begin(&plain(), &[], 1);
    let (start, used) = (Instant::now(), cpu_time());
    while start.elapsed() < Duration::from_millis(50) {
        std::hint::spin_loop();
    }
    let used = u64::try_from((cpu_time() - used).as_nanos()).unwrap();
    // no launch: the time of this thread is that of others
    let conditions = watch.end(&before, 0);
    assert!(conditions.wall >= 50_000_000);
    let (others, grain) = (conditions.others.unwrap(), conditions.grain.unwrap());
    assert!(others + grain >= used, "{used} ns used: {conditions:?}");
}

/// Of this thread.
fn cpu_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}
