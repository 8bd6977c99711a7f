//! The recipes of examples/fleet, as far as this host has what they are for. scripts/check-ci tries those for GitHub and Kubernetes.

use crate::common::{Home, binary, entries, program, said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A recipe.
pub fn recipe(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet");
    folder.join(name).canonicalize().unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn the_units_are_sound() {
    let home = Home::new();
    for name in ["gritstone-check.service", "gritstone-check.timer"] {
        let text = fs::read_to_string(recipe(name)).unwrap();
        // what is executed has to be there
        let text = text.replace("/usr/bin/gritstone", binary().to_str().unwrap());
        fs::write(home.path().join(name), text).unwrap();
        let mut verify = home.command(program(&["systemd-analyze"]));
        verify
            .args(["verify", "--man=no"])
            .arg(home.path().join(name));
        let (code, out, error) = said(verify.output().unwrap());
        assert_eq!((code, out.as_str(), error.as_str()), (0, "", ""), "{name}");
    }
    let broken = home.path().join("gritstone-check.timer");
    fs::write(&broken, "[Timer]\nOnCalendar=never on a Sunday\n").unwrap();
    let mut verify = home.command(program(&["systemd-analyze"]));
    let (_, _, error) = said(
        verify
            .args(["verify", "--man=no"])
            .arg(&broken)
            .output()
            .unwrap(),
    );
    assert!(error.contains("never on a Sunday"), "{error}");
}

#[test]
#[ignore = "measures: make test-full"]
fn ansible_measures_nodes_and_leaves_nothing() {
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
    let (code, out, error) = said(play.output().unwrap());
    assert_eq!(code, 0, "{out}{error}");
    assert!(
        out.contains("Fleet report") && out.contains("2 nodes"),
        "{out}"
    );
    let mut names: Vec<PathBuf> = entries(&bundles);
    names.sort();
    assert_eq!(
        names,
        ["node-1.jsonl", "node-2.jsonl"].map(|name| bundles.join(name))
    );
    assert_eq!(ours(), before);
}
