//! Two runs at once on one machine: each says so, and stores it. Tests beside this one measure too, so others may be named.

use crate::common::{Home, SHORT, end_at_once, eventually, start, stored_launches};
use gritstone_exchange::read_bundle;
use gritstone_model::{Event, Param};

const LONG: &str = "run byte/loop --budget 60s --precision 0.01%";
const OTHER: &str = "another run is measuring on this machine (process ";

/// Launches of the newest run that name another run.
fn disturbed(home: &Home) -> usize {
    let run = read_bundle(home.ok("export").as_bytes()).unwrap();
    let is_other = |event: &Event| matches!(event, Event::Param(Param::OtherRun(1..)));
    let launches = run.launches.iter();
    launches
        .filter(|launch| launch.events.iter().any(is_other))
        .count()
}

#[test]
fn runs_at_once_are_reported() {
    let [first, second] = [Home::new(), Home::new()];
    let mut child = start(&first, LONG, &[]);
    eventually("a launch is stored", || stored_launches(&first) > 0);
    let (code, _, error) = second.run(&format!("run byte/loop {SHORT}"));
    assert_eq!(code, 0, "{error}");
    assert!(error.contains(OTHER), "{error}");
    assert!(disturbed(&second) > 0);
    let (code, _, error) = second.run("bench -r 3 true");
    assert!(code == 0 && error.contains(OTHER), "{error}");
    let before = stored_launches(&first);
    eventually("more are stored", || stored_launches(&first) > before);
    let pid = format!("(process {})", child.id());
    end_at_once(&mut child);
    // whoever was there first heard of it, too
    assert!(disturbed(&first) > 0);
    eventually("nothing is left of it", || {
        let (code, _, error) = second.run(&format!("run byte/loop --wait {SHORT}"));
        assert_eq!(code, 0, "{error}");
        !error.contains(&pid)
    });
}
