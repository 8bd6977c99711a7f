//! The recipes of examples/fleet, as far as this host has their programs. Commands of those for GitHub and Kubernetes are executed here;
//! scripts/check-ci checks them against their schemas.

use crate::common::{Home, binary, entries, make_script, output_texts, program, succeeds};
use gritstone_exchange::read_bundle;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

pub fn recipe(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet");
    folder.join(name).canonicalize().unwrap()
}

#[test]
#[ignore = "needs systemd: make test-full"]
fn the_units_are_sound() {
    let home = Home::new();
    for name in ["gritstone-check.service", "gritstone-check.timer"] {
        let text = fs::read_to_string(recipe(name)).unwrap();
        // what is executed has to be there
        let text = text.replace("/usr/bin/gritstone", binary().to_str().unwrap());
        fs::write(home.path().join(name), text).unwrap();
        let mut verify = home.command(program(&["systemd-analyze"]));
        verify.args(["verify", "--man=no"]).arg(home.path().join(name));
        let (code, out, error) = output_texts(verify.output().unwrap());
        assert_eq!((code, out.as_str(), error.as_str()), (0, "", ""), "{name}");
    }
    let broken = home.path().join("gritstone-check.timer");
    fs::write(&broken, "[Timer]\nOnCalendar=never on a Sunday\n").unwrap();
    let mut verify = home.command(program(&["systemd-analyze"]));
    let (_, _, error) =
        output_texts(verify.args(["verify", "--man=no"]).arg(&broken).output().unwrap());
    assert!(error.contains("never on a Sunday"), "{error}");
}

#[test]
#[ignore = "measures: make test-full"]
fn ansible_recipe_leaves_nothing() {
    let home = Home::new();
    let hosts = "node-1 ansible_connection=local\nnode-2 ansible_connection=local\n";
    fs::write(home.path().join("inventory"), hosts).unwrap();
    let bundles = home.path().join("bundles");
    let variables = serde_json::json!({
        "ansible_python_interpreter": program(&["python3"]),
        "at_once": 1,
        "gritstone_binary": binary(),
        "gritstone_options": "--quick --seed 1 byte/syscall",
        "gritstone_fleet": "tried",
        "gritstone_bundles": bundles,
    });
    let ours = || {
        let mut found = entries(Path::new("/var/tmp"));
        found.retain(|path| path.to_string_lossy().contains("/gritstone-fleet-"));
        found
    };
    let before = ours();
    let mut play = home.command(program(&["ansible-playbook"]));
    play.args(["-i", "inventory", "-e", &variables.to_string()])
        .arg(recipe("ansible/fleet.yml"))
        .env("ANSIBLE_NOCOLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    let out = succeeds(&mut play);
    assert!(out.contains("Fleet report") && out.contains("2 nodes"), "{out}");
    let mut names: Vec<PathBuf> = entries(&bundles);
    names.sort();
    assert_eq!(names, ["node-1.jsonl", "node-2.jsonl"].map(|name| bundles.join(name)));
    assert_eq!(ours(), before);
}

/// A `gritstone` for PATH that measures one benchmark instead of the families of a recipe, which take minutes.
fn short(home: &Home) -> PathBuf {
    let folder = home.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let text = format!(
        "for word; do shift\ncase $word in memory | cpu) ;; kernel) set -- \"$@\" byte/syscall ;; *) set -- \"$@\" \"$word\" ;; esac\ndone\nexec {} \"$@\"",
        binary().display()
    );
    make_script(folder.join("gritstone"), &text);
    folder
}

fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// The lines of YAML that belong to a key, as far as they are indented more, without that.
fn below<'a>(text: &'a str, key: &str) -> Vec<Vec<&'a str>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let block = |(number, line): (usize, &&'a str)| {
        let entry = line.trim_start().strip_prefix("- ").unwrap_or(line.trim_start());
        (entry.trim_end() == key).then(|| {
            let rest = lines[number + 1..].iter();
            let more = rest.take_while(|other| indent(other) > indent(line));
            more.map(|other| other.trim()).collect()
        })
    };
    lines.iter().enumerate().filter_map(block).collect()
}

/// The fleet and the node of a bundle.
fn member(bundle: &Path) -> (String, String) {
    let run = read_bundle(&fs::read(bundle).unwrap()[..]).unwrap();
    let member = run.info.settings.fleet.unwrap();
    (member.fleet, member.node)
}

#[test]
#[ignore = "measures: make test-full"]
fn github_recipe_reports() {
    let home = Home::new();
    let text = fs::read_to_string(recipe("github-actions.yml")).unwrap();
    let steps: Vec<String> = below(&text, "run: |")
        .into_iter()
        .map(|lines| lines.join("\n").replace("${{ github.run_id }}", "17"))
        .collect();
    let [measure, leave_nothing, report] = &steps[..] else { panic!("{steps:?}") };
    let path = path_with(&short(&home));
    let work = home.path().join("work");
    fs::create_dir(&work).unwrap();
    // as GitHub has it for `shell: bash`
    let step = |script: &str, variables: &[(&str, &str)]| {
        assert!(!script.contains("${{"), "{script}");
        let mut bash = home.command("/bin/bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(&work)
            .env("PATH", &path)
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        succeeds(&mut bash);
    };
    // what actions/download-artifact would make of what actions/upload-artifact took
    assert!(text.contains("path: ${{ runner.temp }}/${{ matrix.node }}.jsonl"));
    assert!(text.contains("path: nodes-${{ github.run_id }}"));
    fs::create_dir(work.join("nodes-17")).unwrap();
    for node in ["runner-1", "runner-2"] {
        assert!(text.contains(node));
        let temp = home.path().join(node);
        fs::create_dir(&temp).unwrap();
        let bundle = format!("{node}.jsonl");
        let variables = [("NODE", node), ("FLEET", "17"), ("RUNNER_TEMP", temp.to_str().unwrap())];
        step(measure, &variables);
        fs::copy(temp.join(&bundle), work.join("nodes-17").join(&bundle)).unwrap();
        step(leave_nothing, &variables);
        assert_eq!(entries(&temp), Vec::<PathBuf>::new());
    }
    let summary = home.path().join("summary");
    step(report, &[("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())]);
    let printed = fs::read_to_string(summary).unwrap();
    assert!(printed.contains("Fleet report") && printed.contains("2 nodes"), "{printed}");
    assert!(work.join("fleet.html").is_file());
    let bundle = work.join("nodes-17/runner-2.jsonl");
    assert_eq!(member(&bundle), ("17".to_owned(), "runner-2".to_owned()));
}

#[test]
#[ignore = "measures: make test-full"]
fn kubernetes_recipe_measures_its_node() {
    let home = Home::new();
    let text = fs::read_to_string(recipe("kubernetes.yaml")).unwrap();
    assert!(!text.contains("command:"), "the image's entry point is gritstone");
    let [words] = &below(&text, "args:")[..] else { panic!("not one container") };
    let path = path_with(&short(&home));
    // its volumes, below the home
    let [work, results] = ["work", "results"].map(|name| home.path().join(name));
    assert!(text.contains("mountPath: /work") && text.contains("mountPath: /results"));
    let here = |word: &str| {
        let word = word.replace("/results", results.to_str().unwrap());
        word.replace("/work", work.to_str().unwrap())
    };
    fs::create_dir(&results).unwrap();
    for (index, node) in [("0", "node-a"), ("1", "node-b")] {
        // that of a pod is empty
        fs::create_dir(&work).unwrap();
        let words = words.iter().map(|line| {
            let word = line.strip_prefix("- ").unwrap().trim_matches('"');
            here(&word.replace("$(NODE_NAME)", node))
        });
        let words: Vec<String> = words.collect();
        assert!(words.iter().all(|word| !word.contains("$(")), "{words:?}");
        let mut pod = home.command("/usr/bin/env");
        pod.arg("gritstone")
            .args(&words)
            .env("PATH", &path)
            .env("HOME", &work)
            .env("NODE_NAME", node)
            .env("JOB_COMPLETION_INDEX", index)
            .stdin(Stdio::null());
        succeeds(&mut pod);
        fs::remove_dir_all(&work).unwrap();
    }
    // as its head says
    let bundles = format!("{}/*.jsonl", results.display());
    let report = format!("gritstone fleet report {bundles}");
    assert!(text.contains("gritstone fleet report /results/*.jsonl"));
    let mut shell = home.command("/bin/sh");
    let out = succeeds(shell.args(["-c", &report]).env("PATH", &path));
    assert!(out.contains("2 nodes"), "{out}");
    let found = member(&results.join("node-b.jsonl"));
    assert_eq!(found, ("november".to_owned(), "node-b".to_owned()));
}
