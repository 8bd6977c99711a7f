//! Scores of machines, as used by a person. Printed results do not change, so these scores are exact.

use crate::common::{Home, at_hour, part, recorded};
use serde_json::Value;

const VAX: &str = "ref:vax-11-780-4.1bsd";

fn overall(machine: &Value) -> &Value {
    &machine["one_cpu"]["overall"]
}

#[test]
fn printed_systems_are_scored() {
    let home = Home::new();
    let view = home
        .json("score ref:sun-2-120-4.2bsd ref:vax-11-780-4.1bsd --against ref:vax-11-780-4.1bsd");
    assert_eq!(view["schema"], "gritstone/ratings/3");
    let [sun, vax] = [0, 1].map(|index: usize| &view["machines"][index]);
    // table 1 of byte-1984: sieve 1.7 s against 5.1 s, loop 2.6 s against 7.4 s
    let cpu = &sun["one_cpu"]["environments"][0];
    let want = (1.7 / 5.1 * 2.6 / 7.4_f64).sqrt();
    assert!((cpu["rating"].as_f64().unwrap() - want).abs() < 1e-9, "{cpu}");
    assert_eq!(cpu["interval"], Value::Null);
    assert_eq!(cpu["rows"], serde_json::json!(["byte/sieve", "byte/loop"]));
    assert!((overall(vax)["rating"].as_f64().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn missing_benchmarks_withhold_scores() {
    let home = Home::new();
    // byte-1984 prints no time for the file reads of the Masscomp
    let against = format!("score ref:masscomp-sys-iii --against {VAX}");
    let (code, text, _) = home.run(&against);
    assert_eq!(code, 4, "{text}");
    assert!(text.contains("Files: not computed: not measured: byte/disk-read."), "{text}");
    let (code, text, _) = home.run(&format!("{against} app/ratings@today-files"));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("left out, not measured: byte/disk-read"), "{text}");
}

#[test]
fn document_environments_are_scored() {
    let home = Home::new();
    let base = "ref:intel-xeon-kvm-2026";
    // the baseline of a run that has all of them
    let view = home.json(&format!("score {base}"));
    assert_eq!(view["base"], base);
    let programs = &view["machines"][0]["programs"];
    let environments = programs["environments"].as_array().unwrap();
    assert_eq!(environments.len(), 6);
    // table 1.1 of hp-1987: the 825S, the 840S and the 850S
    let printed = [
        [0.75, 1.0, 1.57],
        [0.83, 1.0, 1.46],
        [0.88, 1.0, 1.54],
        [0.88, 1.0, 1.6],
        [0.68, 1.0, 1.57],
        [0.82, 1.0, 1.53],
    ];
    for (rated, printed) in environments.iter().zip(printed) {
        assert!((rated["rating"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{rated}");
        let published = rated["published"].as_array().unwrap();
        let scores: Vec<f64> =
            published.iter().filter_map(|score| score["rating"].as_f64()).collect();
        assert_eq!(scores, printed, "{rated}");
    }
    assert_eq!(programs["overall"]["rows"].as_array().unwrap().len(), 13);
    // a system without them has the scores of small benchmarks, as a baseline too
    let without = "ref:amd-epyc-kvm-2026";
    let view = home.json(&format!("score {without}"));
    assert_eq!(view["base"], without);
    assert_eq!(view["machines"][0]["programs"], Value::Null);
    let view = home.json(&format!("score {base} --against {without}"));
    assert_eq!(view["machines"][0]["programs"], Value::Null);
    assert!(overall(&view["machines"][0])["rating"].is_number());
}

#[test]
fn wrong_use_is_explained() {
    let home = Home::new();
    let wrong = |arguments: &str, what: &str| {
        home.refuses(&format!("score ref:sun-2-120-4.2bsd {arguments}"), what);
    };
    wrong("byte/sive", "did you mean 'byte/sieve'?");
    // machines of one name go by their identifiers
    let (_, text, _) = home.run("score ref:vax-11-780-weekly-1984 --against ref:vax-11-780-4.2bsd");
    assert!(text.contains("Scores against ref:vax-11-780-4.2bsd"), "{text}");
    wrong("--against ref:nothing", "no reference system");
}

#[test]
fn scores_have_intervals() {
    let home = Home::with(&["run"]);
    let view = home.json(&format!("score run --against {VAX}"));
    let rated = overall(&view["machines"][0]);
    let value = rated["rating"].as_f64().unwrap();
    let ends = [0, 1].map(|index: usize| rated["interval"][index].as_f64().unwrap());
    assert!(ends[0] < value && value < ends[1] && value > 1.0, "{rated}");
    // a part that is not rated does not pretend to be: the others are missing
    let part = part(recorded("run"), |id| id == "byte/sieve");
    home.import(&[at_hour(&part, 1, "part")]);
    let (code, text, _) = home.run(&format!("score part --against {VAX}"));
    assert!(code == 4 && text.contains("not measured: byte/loop"), "{text}");
}

#[test]
fn user_profiles_weight_shared_benchmarks() {
    let home = Home::with(&["run"]);
    let file = home.path().join("mine.toml");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    let profile = |weights: &str| {
        format!(
            "[[profile]]\nname = 'mine'\ntitle = 'what I do'\nwhy = 'I do.'\n[profile.weights]\n{weights}"
        )
    };
    write(&profile("'byte/sieve' = 3\n'byte/loop' = 1\n"));
    let view =
        home.json("score ref:sun-2-120-4.2bsd --against ref:vax-11-780-4.1bsd --profile mine.toml");
    let rated = overall(&view["machines"][0]);
    let want = (1.7_f64 / 5.1).powf(0.75) * (2.6_f64 / 7.4).powf(0.25);
    assert!((rated["rating"].as_f64().unwrap() - want).abs() < 1e-9, "{rated}");
    assert_eq!(view["profile"]["weights"]["byte/sieve"], 3.0);
    let text = home.ok("score run --against run --profile mine.toml");
    for line in ["profile mine: 1", "byte/sieve", "75%", "byte/loop", "25%", "I do."] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let refuses = |text: &str, why: &str| {
        write(text);
        home.refuses("score run --profile mine.toml", why);
    };
    refuses(&profile("'byte/sieve' = 0\n"), "not above 0");
    refuses(&profile("'byte/sive' = 1\n"), "no benchmark is called 'byte/sive'");
    refuses(&profile(""), "has no weights");
    refuses("", "missing field `profile`");
    home.refuses("score run --profile bild", "there are build, desktop, science");
    home.refuses("score run byte --profile build", "names its benchmarks itself");
    // the run has none of it: no score, and the reason
    let (code, text, _) = home.run(&format!("score run --against {VAX} --profile build"));
    assert!(code == 4 && text.contains("no comparable"), "{text}");
}
