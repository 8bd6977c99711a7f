//! A custom workload with Fortran, as in docs/own.md.

use crate::common::{Home, SHORT, measured};
use std::fs;

const ENTRY: &str = r#"
[family]
name = "mine"
title = "Mine"
why = "Our models are in Fortran."
[[benchmark]]
id = "mine/squares"
kind = "kernel"
title = "Sum of 1,000 squares"
version = 1
operation = "One sum of the squares of 1,000 numbers."
why = "The models do little else."
sources = [{ document = "mine", place = "mine/squares.f90" }]
unit = "ns/call"
processor_bound = true
claims = { check = true, linear = true, syscalls_per_op = 0, faults_per_op = 0, min_ns_per_op = 10 }
"#;

/// Parts of the C half that the document omits, before and after the shown ones.
const BEGIN: &str = r#"
#include "../runtime/kernel.h"

enum { LENGTH = 1000 };

static double x[LENGTH];

static void setup(struct context *c)
{
	(void)c;
	for (int i = 0; i < LENGTH; i++)
		x[i] = 1;
}
"#;
const END: &str = r#"
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (LENGTH - 1) + n / 2;
}

const struct kernel kernel = {.name = "mine/squares", .setup = setup, .run = run, .expect = expect};
"#;

/// The first block of code in the document after this heading that is in this language.
fn shown<'a>(heading: &str, language: &str) -> &'a str {
    let document = include_str!("../../../docs/own.md");
    let (_, section) = document.split_once(heading).unwrap();
    let (_, block) = section.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

#[test]
fn fortran_workloads_are_measured() {
    let home = Home::new();
    let folder = home.path().join("mine");
    fs::create_dir_all(folder.join("mine")).unwrap();
    let heading = "## In Fortran\n";
    let c = format!("{BEGIN}{}{END}", shown(heading, "c"));
    for (file, text) in [
        ("mine.toml", ENTRY),
        ("mine/squares.c", &c),
        ("mine/squares.f90", shown(heading, "fortran")),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    let run = home.json(&format!("run --catalog mine --trust {SHORT}"));
    let row = measured(&run, "mine/squares");
    let flags = row["program"]["flags"].as_str().unwrap();
    assert!(flags.contains("Fortran: -O2"), "{flags}");
}
