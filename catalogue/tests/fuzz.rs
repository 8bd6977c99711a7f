//! Damaged files of the catalogue: read, or refused with an error that has its place, and never a crash.
//!
//! Must not know: how a file is read.

#[path = "../../tests/common/mutation.rs"]
mod mutation;

const FAMILY: &str = r#"
[family]
name = "byte"
title = "Benchmarks"
why = "Because."
guidelines = [{ rule = "Ask.", how = "So." }]

[needs]
cc = { any = ["cc", "gcc"], package = "gcc" }

[files]
"tst.sh" = '''
sort > /dev/null
'''
"#;

const KERNEL: &str = r#"
[[benchmark]]
id = "byte/pipe"
title = "Pipe"
kind = "kernel"
version = 1
operation = "one write"
why = "It is asked for."
sources = [{ document = "byte-1984", place = "listing 1" }]
unit = "MB/s"
better = "higher"
amount_per_op = 512
published = { work = "1024 writes", operations = 1024, figure = "real_s" }
processor_bound = false
params = { size = "512" }
claims = { check = true, linear = true, syscalls_per_op = 2, min_ns_per_op = 10 }

[[benchmark.variant]]
name = "cross"
title = "Pipe, across two CPUs"
placement = "cross"
"#;

const OTHERS: &str = r#"
[[benchmark]]
id = "byte/shell"
title = "Shell"
kind = "command"
version = 1
operation = "one script"
why = "It is asked for."
sources = [{ document = "byte-1984", place = "listing 6" }]
unit = "ms"
better = "lower"
argv = ["{cc}", "tst.sh"]
files = ["tst.sh"]
leaves = ["a.out"]
needs = ["cc"]
verify = { argv = ["sh", "tst.sh"], stdout = "1" }
curve = { label = "number", points = [[1, "byte/sum"], [2, "byte/shell"]] }

[[benchmark]]
id = "byte/sum"
title = "Sum"
kind = "derived"
version = 1
operation = "one"
why = "It is asked for."
sources = [{ document = "byte-1984", place = "table 1" }]
unit = "ms"
better = "lower"
terms = [{ id = "byte/shell", times = 2 }]

[[benchmark]]
id = "byte/rating"
title = "Rating"
kind = "rating"
version = 1
operation = "mean"
why = "It is asked for."
sources = [{ document = "hp-1987", place = "table 1.1" }]
unit = "ratio"
better = "higher"
over = ["byte/pipe", "byte/s*"]
baseline = "ref:vax"
"#;

#[test]
fn damaged_files_are_read_or_refused() {
    let whole = format!("{FAMILY}{KERNEL}{OTHERS}");
    let (files, lists) = whole.split_at(FAMILY.len());
    gritstone_catalogue::parse("byte.toml", &whole).expect("what is damaged is good at first");
    let plain = FAMILY
        .split("[needs]")
        .next()
        .unwrap_or_default()
        .to_owned()
        + KERNEL;
    gritstone_catalogue::parse("byte.toml", &plain).expect("what is damaged is good at first");
    let inputs = [
        plain.as_bytes(),
        whole.as_bytes(),
        files.as_bytes(),
        lists.as_bytes(),
    ];
    mutation::each(&inputs, |bytes, _| {
        let text = String::from_utf8_lossy(bytes);
        if let Err(error) = gritstone_catalogue::parse("byte.toml", &text) {
            assert!(error.to_string().starts_with("byte.toml"), "{error}");
        }
    });
}
