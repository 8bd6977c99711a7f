//! Words and options of commands that name nothing, or change nothing.

use crate::common::{Home, output_texts};

#[test]
fn unknown_benchmarks_are_explained() {
    let home = Home::with(&["run"]);
    for command in ["show", "export", "report", "score", "compare run"] {
        let error = home.refuses(
            &format!("{command} run nosuch"),
            "no run and no benchmark is called 'nosuch'",
        );
        assert!(error.contains("`gritstone show run` lists the results"), "{error}");
    }
    let error = home.refuses("show run syscal", "no benchmark is called 'syscal'");
    assert!(error.contains("did you mean 'byte/syscall'?"), "{error}");
    home.refuses("show nosuch", "no run is called 'nosuch'");
}

#[test]
fn parameters_of_no_command_warn() {
    let home = Home::new();
    let bench = |line: &str| {
        let mut command = home.command(crate::common::binary());
        let words = line.split(' ');
        let (code, _, error) = output_texts(command.arg("bench").args(words).output().unwrap());
        assert_eq!(code, 0, "{error}");
        error.lines().filter(|line| line.contains("no command has")).map(str::to_owned).collect()
    };
    let unused: Vec<String> = bench("-r2 -P n 1 2 true");
    assert_eq!(unused.len(), 1, "{unused:?}");
    assert!(unused[0].contains("no command has {n}"), "{unused:?}");
    let both: Vec<String> = bench("-r2 -L a 1,2 -L b 1,2 true");
    assert!(both.len() == 1 && both[0].contains("{a} or {b}"), "{both:?}");
    for used in ["-r2 -P n 1 2 echo{n} -i", "-r2 -P n 1 2 -p echo{n};: true"] {
        let warnings: Vec<String> = bench(used);
        assert!(warnings.is_empty(), "{used}: {warnings:?}");
    }
}

#[test]
fn ineffective_options_are_refused() {
    let home = Home::new();
    for (line, words) in [
        ("serve --public-url https://bench.example", "--notify-url"),
        ("run byte/loop --ssh ./ssh", "--peer <HOST>"),
        ("run byte/loop --peer-address 10.0.0.1", "--peer <HOST>"),
        ("fleet run --on local --nodes 1 --ssh ./ssh", "--ssh is for --on ssh"),
        ("fleet run --on slurm --ssh ./ssh", "--ssh is for --on ssh"),
        ("fleet run --on local --nodes 1 --sbatch ./sbatch", "--sbatch is for --on slurm"),
        ("fleet run --on ssh --nodes a --partition x", "--partition is for --on slurm"),
        ("fleet run --on ssh --nodes a --shared .", "--shared is for --on slurm"),
        ("ab --of x --budget 5s", "cannot be used with"),
        ("ab --of x --cc gcc", "cannot be used with"),
        ("ab --of x --self", "cannot be used with"),
        ("ab --of x --seed 1", "cannot be used with"),
        ("ab --catalog . -- true -- true", "cannot be used with"),
        ("ab --allow swap -- true -- true", "cannot be used with"),
        ("doctor --dir . ffmpeg", "cannot be used with"),
        ("compare a b --changed --format json", "--changed shortens tables"),
        ("report --full -o brief.html", "--full is for PDF"),
        ("bench --format json --percentiles 50 true", "--percentiles are of the text"),
        ("bench --format json --style none true", "--style none prints nothing"),
    ] {
        home.refuses(line, words);
    }
    assert!(!home.store().exists(), "nothing was measured");
}

#[test]
fn public_addresses_are_absolute() {
    let home = Home::new();
    for address in [
        "bench.example",
        "ftp://bench.example",
        "https://",
        "https:///x",
        "/x",
        "https://a/?q",
        "http://a b",
    ] {
        let serve = ["serve", "--notify-url", "http://127.0.0.1:1/", "--public-url", address];
        home.refuses(&serve[..], "an absolute URL is expected");
    }
}
