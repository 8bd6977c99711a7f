//! Damaged output of workloads: parsed or refused, without a crash, and independent of chunk borders.

use super::mutation;
use crate::Parser;
use rand::RngExt;

const USAGE: &str =
    "user=1 system=2 cpu=3 vcsw=4 icsw=5 minflt=6 majflt=7 inblock=8 oublock=9 migrations=10";

#[test]
fn damaged_lines_never_panic() {
    let launch = format!(
        "hello protocol=1 kernel=byte/pipe\nparam key=tick_ns value=4 000\\x0a\nwarm n=1 wall=20\nwarm n=2 wall=40\n\
         sample n=5 wall=100 pace=236000 wide=60000 {USAGE}\ncheck n=5 got=7 expected=7\nbatch n=2 pace=1 wide=60000 {USAGE} walls=3,4\n\
         latency count=3 min=1 max=9 sum=11 buckets=1:2,9:1\nbye\n"
    );
    let failed =
        "hello protocol=1 kernel=byte/pipe\nfail errno=24 call=pipe why=too many\n".to_owned();
    let skipped = "hello protocol=1 kernel=unix/tty\nskip why=no terminal\n".to_owned();
    let inputs = [launch.as_bytes(), failed.as_bytes(), skipped.as_bytes()];
    let read = |pieces: &[&[u8]]| {
        let (mut parser, mut events) = (Parser::new(), vec![]);
        let pushed = pieces.iter().try_for_each(|piece| parser.push(piece, &mut events));
        let ended = pushed.and_then(|()| parser.finish());
        (events, ended.is_ok())
    };
    for good in inputs {
        assert!(read(&[good]).1, "{}", String::from_utf8_lossy(good));
    }
    mutation::each(&inputs, |bytes, random| {
        let (one, two) = bytes.split_at(random.random_range(0..=bytes.len()));
        assert_eq!(read(&[bytes]), read(&[one, two]));
    });
}
