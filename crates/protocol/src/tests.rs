mod fuzz;
#[path = "../../../tests/common/mutation.rs"]
mod mutation;

use super::*;
use gritstone_model::{Check, Counter, Param, Sample, Usage};

fn events(text: &str) -> Result<Vec<Event>, ProtocolError> {
    let mut parser = Parser::new();
    let mut events = vec![];
    parser.push(text.as_bytes(), &mut events)?;
    parser.finish()?;
    Ok(events)
}

fn error(text: &str) -> String {
    events(text).unwrap_err().to_string()
}

const HELLO: &str = "hello protocol=1 kernel=byte/pipe\n";
const USAGE: &str =
    "user=1 system=2 cpu=3 vcsw=4 icsw=5 minflt=6 majflt=7 inblock=8 oublock=9 migrations=10";

#[test]
fn whole_launch_is_parsed() {
    let text = format!(
        "{HELLO}param key=tick_ns value=4 000\\x0a\nwarm n=1 wall=20\nsample n=5 wall=100 pace=236000 wide=60000 {USAGE}\n\
         check n=5 got=7 expected=7\nbatch n=2 pace=1 wide=60000 {USAGE} walls=3,4\n\
         latency count=3 min=1 max=9 sum=11 buckets=1:2,9:1\nbye\n"
    );
    let events = events(&text).unwrap();
    assert_eq!(events.len(), 8);
    assert_eq!(events[1], Event::Param(Param::new("tick_ns", "4 000\n")));
    let usage = Usage {
        user: 1,
        system: 2,
        cpu: 3,
        vcsw: 4,
        icsw: 5,
        minflt: 6,
        majflt: 7,
        inblock: 8,
        oublock: 9,
        migrations: 10,
    };
    assert_eq!(
        events[3],
        Event::Sample(Box::new(Sample {
            n: 5,
            wall: 100,
            cycle_probe: 236_000,
            smt_probe: 60_000,
            usage
        }))
    );
    assert_eq!(events[4], Event::Check(Check { n: 5, got: 7, expected: 7 }));
    assert!(matches!(&events[5], Event::Batch(b) if b.walls == [3, 4] && b.n == 2));
    assert!(matches!(&events[6], Event::Latency(h) if h.buckets == [(1, 2), (9, 1)]));
}

#[test]
fn single_bytes_suffice() {
    let text = format!("{HELLO}warm n=1 wall=20\nbye\n");
    let mut parser = Parser::new();
    let mut found = vec![];
    for byte in text.bytes() {
        parser.push(&[byte], &mut found).unwrap();
    }
    parser.finish().unwrap();
    assert_eq!(found, events(&text).unwrap());
}

#[test]
fn counters_are_optional_and_ordered() {
    let line = "counters n=7 user_instructions=70 branch_misses=0 page_walks=3\n";
    let found = events(&format!("{HELLO}{line}bye\n")).unwrap();
    let counts =
        [(Counter::UserInstructions, 70), (Counter::BranchMisses, 0), (Counter::PageWalks, 3)];
    let counts = counts.into();
    assert_eq!(found[1], Event::Counters { n: 7, counts });
    for (line, what) in [
        ("counters n=0", "no operation was counted"),
        ("counters n=1 page_walks=1 cycles=1", "unexpected 'cycles=1'"),
        ("counters n=1 hopes=1", "unexpected 'hopes=1'"),
        ("counters n=1 cycles=-1", "cycles=-1 is not a number that fits"),
    ] {
        let message = error(&format!("{HELLO}{line}\nbye\n"));
        assert!(message.contains(what), "{line}: {message}");
    }
}

#[test]
fn fail_and_skip_are_final() {
    for last in
        ["fail errno=2 call=open why=no such file\n", "skip why=no loop device; run as root\n"]
    {
        assert_eq!(events(&format!("{HELLO}{last}")).unwrap().len(), 2);
        assert!(error(&format!("{HELLO}{last}bye\n")).contains("after the last line"));
    }
}

#[test]
fn errors_name_their_line() {
    for (text, what) in [
        ("", "line 1 of the workload's output: the workload ended before its bye"),
        (HELLO, "line 2 of the workload's output: the workload ended before its bye"),
        ("bye\n", "line 1 of the workload's output: the first line is not hello"),
        ("hello protocol=9 kernel=x\n", "protocol 9, but this Gritstone speaks 1"),
        ("rubbish\n", "unknown word 'rubbish'"),
        ("\u{7f}ELF\n", "unknown word"),
    ] {
        let message = error(text);
        assert!(message.contains(what), "{text:?}: {message}");
    }
    for (line, what) in [
        ("hello protocol=1 kernel=x", "a second hello"),
        ("warm n=1", "wall= is missing before ''"),
        ("warm wall=1 n=1", "n= is missing"),
        ("warm n=-1 wall=1", "n=-1 is not a number that fits"),
        ("warm n=99999999999999999999 wall=1", "not a number that fits"),
        ("warm n=1 wall=1 more=1", "unexpected 'more=1'"),
        ("param key=a value=\\y", "a backslash"),
        ("param key=a value=\\x", "a backslash"),
        ("check n=1 got= expected=1", "got= is empty"),
        ("latency count=3 min=1 max=9 sum=11 buckets=9:1,1:2", "does not add up"),
        ("latency count=2 min=1 max=9 sum=11 buckets=1:2,9:1", "does not add up"),
        ("latency count=2 min=1 max=9 sum=11 buckets=1:18446744073709551615,9:1", "add up"),
    ] {
        let message = error(&format!("{HELLO}{line}\nbye\n"));
        assert!(message.starts_with("line 2 ") && message.contains(what), "{line}: {message}");
    }
    let zero = format!("{HELLO}sample n=5 wall=0 pace=1 wide=60000 {USAGE}\nbye\n");
    assert!(error(&zero).contains("zero is not a result"));
    let none = format!("{HELLO}sample n=0 wall=5 pace=1 wide=60000 {USAGE}\nbye\n");
    assert!(error(&none).contains("no operation was timed"));
}

#[test]
fn input_is_bounded() {
    let mut parser = Parser::new();
    let mut events = vec![];
    let long = vec![b'x'; MAX_LINE + 1];
    assert!(parser.push(&long, &mut events).is_err());

    let mut text = HELLO.to_owned();
    text.push_str(&"warm n=1 wall=1\n".repeat(MAX_EVENTS));
    let mut parser = Parser::new();
    let message = parser.push(text.as_bytes(), &mut events).unwrap_err();
    assert!(message.what.contains("more than"), "{message}");

    // many lines and long lines at once
    let line = format!("param key=k value={}\n", "x".repeat(MAX_LINE - 100));
    let mut parser = Parser::new();
    parser.push(HELLO.as_bytes(), &mut events).unwrap();
    let pushed = (0..1000).find_map(|_| parser.push(line.as_bytes(), &mut events).err());
    assert!(pushed.unwrap().what.contains("bytes"), "{MAX_BYTES}");
}
