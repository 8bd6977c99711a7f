//! Every possible fault of a catalog file, with its message.
//!
//! Each case takes a catalog that is sound and breaks one thing in it.

use gritstone_catalogue::load;

const SOUND: &str = include_str!("../demo.toml");

/// What is broken, what is there, what is put in its place; `§` ends a line.
const CASES: &str = r#"
not TOML | version = 1§operation = "One call." | version = §operation = "One call."
a key that does not exist | params = | parameters =
a key that is missing | version = 1§operation = "One call." | operation = "One call."
a kind that does not exist | kind = "kernel" | kind = "kernal"
a family in a file of another name | name = "demo" | name = "demonstration"
a family without a reason | why = "To show every line that there can be, and what can be wrong with it." | why = ""
a rule without an answer | how = "It is." | how = ""
a bad identifier | id = "demo/call"§kind | id = "Demo/call"§kind
an identifier of another family | id = "demo/cc" | id = "byte/cc"
an identifier that is there twice | id = "demo/cc" | id = "demo/call"
a variant that is there as an entry | id = "demo/cc" | id = "demo/call@cross"
an empty title | title = "Call" | title = ""
an empty reason | why = "Calls are everywhere." | why = " "
an empty operation | operation = "One call." | operation = ""
no sources | sources = [{ document = "byte-1984", place = "listing 2" }, { document = "hp-1987", place = "table 4.2" }] | sources = []
a source without a place | place = "listing 2" | place = ""
version 0 | version = 1§operation = "One call." | version = 0§operation = "One call."
an unknown unit | unit = "ns/call"§better | unit = "furlongs"§better
a time of which more is better | better = "lower"§amount_per_op | better = "higher"§amount_per_op
a rate of which less is better | unit = "ns/call"§better | unit = "calls/s"§better
a size with no better way | unit = "bytes"§better = "lower" | unit = "bytes"
a kernel with a size | unit = "ns/call"§better | unit = "bytes"§better
a size in seconds | unit = "bytes" | unit = "s"
a score in seconds | unit = "ratio"§better = "higher" | unit = "s"
a level of load that there is not | load = [1] | load = [2]
a load that is none | load/demo | demo/load
a load without words | what = "a demonstration" | what = ""
a load of a command | figure = "linked-size" | figure = "linked-size"§load = [1]
a weight too few | over = ["demo/call", "demo/less"] | over = ["demo/call", "demo/less"]§weights = [1.0]
a weight of nothing | over = ["demo/call", "demo/less"] | over = ["demo/call", "demo/less"]§weights = [1.0, 0.0]
a weight of several benchmarks | over = ["demo/call", "demo/less"] | over = ["demo/*"]§weights = [1.0]
no amount | amount_per_op = 6 | amount_per_op = 0
no published operations | operations = 10, | operations = 0,
a published time that is none | figure = "system_s" | figure = "wall"
a negative claim | min_ns_per_op = 0.5 | min_ns_per_op = -0.5
a claim that is no number | syscalls_per_op = 1 | syscalls_per_op = nan
a claim of nothing | min_ns_per_op = 0.5 | min_ns_per_op = 0
a claim that does not exist | min_ns_per_op = 0.5 | min_ns = 0.5
a command that claims to be linear | figure = "linked-size" | figure = "linked-size"§claims = { linear = true }
a kernel with a command line | params = { how = "plain" } | argv = ["true"]
a command with params | files = ["x.c"] | params = { how = "plain" }
a command without a command line | argv = ["{cc}", "-o", "a.out", "x.c"]§ |
a command with an empty command line | argv = ["{cc}", "-o", "a.out", "x.c"] | argv = []
a placeholder for no need | argv = ["{cc}", "-o" | argv = ["{cc}", "{output}"
a need that is not declared | needs = ["cc"] | needs = ["cc", "ld"]
a need whose name fits no braces | cc = { any | "c c" = { any
a need without a package | package = "gcc" | package = ""
a file that is not declared | files = ["x.c"] | files = ["y.c"]
an unused file | "x.c" =  | "y.c" = ""§"x.c" =
an unused need | cc = { any | ld = { package = "binutils" }§cc = { any
a file outside the directory | "x.c" =  | "../x.c" =
a file left outside the directory | leaves = ["a.out"] | leaves = ["/etc/passwd"]
a size of nothing | leaves = ["a.out"]§ |
an output that is not left | needs = ["cc"] | needs = ["cc"]§output = "listing"
an output that cannot be compared | needs = ["cc"] | needs = ["cc"]§output = "/dev/null"§stdout = "x"
a proof that shows nothing | needs = ["cc"] | needs = ["cc"]§verify = { argv = ["x"], stdout = "" }
a program that is no path | params = { how = "plain" } | program = "../etc"
a helper that is no path | uses = ["demo/job"] | uses = ["job"]
a derived figure without terms | terms = [{ id = "demo/call", times = 2 }, { id = "demo/call@cross", times = -1 }] | terms = []
a term that does not count | times = 2 | times = 0
a term that is not there | { id = "demo/call@cross" | { id = "demo/call@near"
a term of a family that is not there | { id = "demo/call@cross" | { id = "byte/pipe"
a term that is no time | { id = "demo/call@cross" | { id = "demo/cc"
a figure made of itself | { id = "demo/call@cross" | { id = "demo/less"
a score of nothing | over = ["demo/call", "demo/less"] | over = []
a score of a benchmark that is not there | over = ["demo/call", | over = ["demo/cell",
a score of a selector that selects none | over = ["demo/call", | over = ["demo/x*",
a score of what cannot be an identifier | over = ["demo/call", | over = ["demo/Call",
a score to no reference | baseline = "ref:vax-11-780" | baseline = "last"
a curve of one point | [[1, "demo/call"], [2, "demo/less"]] | [[1, "demo/call"]]
a curve that goes back | [2, "demo/less"] | [1, "demo/less"]
a curve through a benchmark that is not there | [2, "demo/less"] | [2, "demo/lass"]
a curve through another unit | [2, "demo/less"] | [2, "demo/cc"]
a curve without a label | label = "n" | label = ""
a variant with a bad name | name = "cross" | name = "Cross"
a variant that is the same | placement = "cross" | placement = "one-cpu"
a variant of a command with params | needs = ["cc"] | needs = ["cc"]§variant = [{ name = "a", title = "A", params = { how = "x" } }]
a variant of a sum with a place | terms = | variant = [{ name = "a", title = "A", placement = "all" }]§terms =
"#;

#[test]
fn faults_have_their_place() {
    load(&[("catalogue/demo.toml", SOUND)]).expect("what the cases break must be sound");
    let mut messages = String::new();
    for case in CASES.lines().skip(1) {
        let [name, there, instead] = [0, 1, 2].map(|index| {
            let part = case.split('|').nth(index).expect(case);
            part.trim().replace('§', "\n")
        });
        assert_eq!(SOUND.matches(&there).count(), 1, "{name}: breaks one place");
        let broken = SOUND.replace(&there, &instead);
        let error = load(&[("catalogue/demo.toml", &broken)]).expect_err(&name).to_string();
        messages += &format!("{name}\n{error}\n\n");
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn cross_file_faults_name_files() {
    let other = SOUND.replace("name = \"demo\"", "name = \"other\"").replace("\"demo/", "\"other/");
    let sum = |text: &str, family: &str, term: &str| {
        let there = format!("{{ id = \"{family}/call@cross\"");
        text.replace(&there, &format!("{{ id = \"{term}\""))
    };
    let both = |demo: &str, other: &str| {
        load(&[("demo.toml", demo), ("other.toml", other)]).map_err(|error| error.to_string())
    };
    both(SOUND, &sum(&other, "other", "demo/call")).expect("benchmarks of two families");
    let error = both(SOUND, &sum(&other, "other", "demo/cell")).expect_err("no such benchmark");
    assert!(error.starts_with("other.toml:85:"), "{error}");
    let circle = sum(SOUND, "demo", "other/less");
    let error = both(&circle, &sum(&other, "other", "demo/less")).expect_err("a circle");
    let printed = "demo/less needs other/less needs demo/less";
    assert!(error.contains(printed), "{error}");
}

#[test]
fn circular_derivations_are_refused() {
    let (head, less) = SOUND.split_once("[[benchmark]]\nid = \"demo/less\"").unwrap();
    let (less, _) = less.split_once("[[benchmark]]").unwrap();
    let chain = |n: usize| {
        let benchmark = |i: usize| match i {
            0 => "demo/call".to_owned(),
            _ => format!("demo/z{}", n - i),
        };
        let entry = |i: usize| {
            let less = less.replace("demo/call\", times", &format!("{}\", times", benchmark(i)));
            format!("[[benchmark]]\nid = \"{}\"{less}", benchmark(i + 1))
        };
        let text =
            head.replace("curve =", "remark = \"x\" #") + &(0..n).map(entry).collect::<String>();
        load(&[("demo.toml", &text.replacen("remark = \"S", "#", 1))])
    };
    chain(60).expect("a chain ends");
    let error = chain(70).expect_err("too deep").to_string();
    assert!(error.contains("more than 64 deep"), "{error}");
}
