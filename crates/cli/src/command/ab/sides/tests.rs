//! Command lines of trials, and what they mean.

use super::{Sides, read};
use crate::cli::{Cli, Command};
use clap::Parser;
use gritstone_analysis::ab::START_UP;
use gritstone_model::Work;

fn sides(line: &[&str]) -> Sides {
    try_sides(line).unwrap()
}

fn try_sides(line: &[&str]) -> anyhow::Result<Sides> {
    let all = ["gritstone", "ab"].iter().chain(line);
    let Some(Command::Ab(args)) = Cli::try_parse_from(all).unwrap().command else {
        panic!("it is another command");
    };
    read(&args)
}

fn names(sides: &Sides) -> Vec<(&str, &str)> {
    let sides = sides.sides.iter();
    sides.map(|s| (s.name.as_str(), s.what.as_str())).collect()
}

/// Identifier and words of each command of a side.
fn commands(sides: &Sides, side: usize) -> Vec<(String, Vec<String>)> {
    let words = |work: &Work| match work {
        Work::Command(work) => work.argv.clone(),
        _ => panic!("it is a command"),
    };
    let all = sides.sides[side].commands.iter();
    all.map(|command| (command.id.to_string(), words(&command.work))).collect()
}

#[test]
fn double_dashes_separate_commands() {
    let two = sides(&["--", "./old", "-x", "--", "./new"]);
    assert_eq!(names(&two), [("a", "./old -x"), ("b", "./new")]);
    assert_eq!(commands(&two, 0), [("command".into(), vec!["./old".into(), "-x".into()])]);
    assert!(!two.same);
    assert!(sides(&["--", "./x", "--", "./x"]).same);
    assert!(sides(&["--self", "--", "./x"]).same);
    assert!(sides(&["--self", "byte/loop"]).same);
}

#[test]
fn single_commands_are_refused() {
    let lines: [&[&str]; 3] = [
        &["--", "./old", "./new"],
        &["--", "sleep 0.1", "sleep 0.2"],
        &["--parameter", "n=1", "--", "./x", "{n}"],
    ];
    for line in lines {
        let error = try_sides(line).unwrap_err().to_string();
        assert!(error.contains("ab -- ./old -- ./new"), "{line:?}: {error}");
    }
}

#[test]
fn blanks_need_a_shell() {
    let shell = sides(&["--", "a | b", "--", "./c d"]);
    assert_eq!(commands(&shell, 0)[0].1, ["/bin/sh", "-c", "a | b"]);
    assert!(shell.sides[0].commands[0].remark.is_some());
    let plain = sides(&["--self", "--", "./c", "a b"]);
    assert_eq!(commands(&plain, 0)[0].1, ["./c", "a b"]);
}

#[test]
fn one_command_compares_parameters() {
    let one = sides(&["--parameter", "n=1,2", "--parameter", "m=x,y", "--", "c", "{n}{m}"]);
    let wanted = [("a", "c 1x"), ("b", "c 1y"), ("c", "c 2x"), ("d", "c 2y")];
    assert_eq!(names(&one), wanted);
    let two = sides(&["--parameter", "n=1,B 2", "--", "c", "{n}", "--", "d", "{n}"]);
    assert_eq!(names(&two), [("a", "c 1 and 1 more"), ("b", "d 1 and 1 more")]);
    let ids: Vec<String> = commands(&two, 1).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["command/n-1", "command/n-b_2"]);
}

#[test]
fn similar_values_have_distinct_ids() {
    let ids = |parameter: &str| -> Vec<String> {
        let line = ["--parameter", parameter, "--env-b", "X=1", "--", "c"];
        let place = parameter.split('=').next().unwrap();
        let word = format!("{{{place}}}");
        let two = sides(&[&line[..], &[word.as_str()]].concat());
        commands(&two, 0).into_iter().map(|(id, _)| id).collect()
    };
    let signs = ids("x=-1,+1,_1");
    assert_eq!(signs, ["command/x-_1", "command/x-_1.2", "command/x-_1.3"]);
    // nor may one be called what the program that does nothing is called
    let start_up = START_UP.strip_prefix("command/").unwrap();
    let (name, value) = start_up.split_once('-').unwrap();
    assert_eq!(ids(&format!("{name}={value}")), [format!("{START_UP}.2")]);
}

#[test]
fn settings_make_two_sides() {
    let set = sides(&["--a", "set 1", "--b", "set 0", "--env-b", "X=1=2", "byte/*"]);
    assert_eq!(names(&set), [("a", "set 1"), ("b", "X=1=2; set 0")]);
    assert_eq!(set.undo.as_deref(), Some("set 1"));
    assert_eq!(set.sides[1].environment, [("X".to_owned(), "1=2".to_owned())]);
    let undo = sides(&["--a", "1", "--b", "2", "--undo", "3", "--", "./x"]);
    assert_eq!((undo.undo.as_deref(), undo.sides.len()), (Some("3"), 2));
    assert_eq!(names(&sides(&["--env-b", "X=1", "--", "./x"])), [("a", "./x"), ("b", "X=1; ./x")]);
}

#[test]
fn compilers_make_as_many_sides() {
    let three = sides(&["--cc", "gcc", "--cc", "gcc -O3 -g", "clang:-O1 -g", "byte/loop"]);
    assert_eq!(names(&three), [("a", "gcc -O2"), ("b", "gcc -O3 -g"), ("c", "clang -O1 -g")]);
    assert_eq!(three.sides[1].compiler.as_deref(), Some("gcc -O3 -g"));
}

#[test]
fn custom_catalogs_can_be_tested() {
    let one = sides(&["mine/x", "--catalog", "old", "--self"]);
    assert_eq!(names(&one), [("a", "as it is"), ("b", "as it is")]);
}
