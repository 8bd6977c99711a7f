//! The JSON of every command matches docs/schema.
//!
//! Must not know how a document is made.

use crate::common::{Home, at_hour, entries, recorded};
use boon::{Compiler, SchemaIndex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files of docs/schema, by their names.
struct Schemas {
    compiled: boon::Schemas,
    files: BTreeMap<String, SchemaIndex>,
}

impl Schemas {
    fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        let mut compiler = Compiler::new();
        let mut files = BTreeMap::new();
        for path in entries(&folder) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let mut schema = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            close(&mut schema);
            let url = format!("https://schema/{name}");
            compiler.add_resource(&url, schema).unwrap();
            files.insert(name, url);
        }
        let mut compiled = boon::Schemas::new();
        let mut index = |url: String| compiler.compile(&url, &mut compiled).unwrap();
        let files = files.into_iter().map(|(name, url)| (name, index(url))).collect();
        Self { compiled, files }
    }

    /// Fault of a document against the schema that it names.
    fn fault(&self, document: &Value) -> Option<String> {
        let name = document["schema"].as_str().unwrap_or_default();
        let file = name.replacen("gritstone/", "", 1).replace('/', "-") + ".json";
        let Some(index) = self.files.get(&file) else {
            return Some(format!("no schema {file}"));
        };
        let valid = self.compiled.validate(document, *index);
        valid.err().map(|fault| format!("{fault:#}"))
    }
}

/// Forbids unnamed fields in schemas, except for tagged enums, whose variants name the others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            let named = fields.get("properties").and_then(Value::as_object);
            let plain = named.is_some_and(|named| !named.contains_key("code"));
            let mut open = ["oneOf", "anyOf", "$ref", "additionalProperties"].iter();
            if plain && !open.any(|name| fields.contains_key(*name)) {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(all) => all.iter_mut().for_each(close),
        _ => {}
    }
}

fn assert_valid(home: &Home, line: &str) {
    let schemas = Schemas::read();
    let (_, out, _) = home.run(line);
    let printed: Value = serde_json::from_str(&out).expect(line);
    let documents = printed.as_array().cloned().unwrap_or(vec![printed]);
    assert!(!documents.is_empty(), "{line}");
    for document in documents {
        assert_eq!(schemas.fault(&document), None, "{line}");
    }
}

#[test]
fn recorded_output_matches_schemas() {
    let home = Home::with(&["run", "copies"]);
    let run = recorded("copies");
    let hour = |hour| at_hour(&run, hour, &format!("h{hour}"));
    let hours: Vec<_> = (1..=12).map(hour).collect();
    home.import(&hours);
    let (run, copies) = (recorded("run").info.id, run.info.id);
    let benchmark = &hours[0].benchmarks[0].id;
    let lines = format!(
        "show {run}
        show {copies}
        show ref:vax-11-780-4.1bsd
        compare {run} {copies}
        compare h1 h2
        compare ref:vax-11-780-4.1bsd {run} {copies}
        score {run}
        score ref:sun-2-120-4.2bsd
        history {benchmark}
        check h12
        list
        systems
        runs
        doctor
        run byte/sieve byte/pipe --dry-run"
    );
    for line in lines.lines() {
        assert_valid(&home, &format!("{line} --format json"));
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn measured_output_matches_schemas() {
    let home = Home::new();
    for line in [
        "run byte/sieve --budget 3s --precision 50%",
        "ab --self byte/sieve --budget 3s",
        "audit byte/sieve",
        "ab gcc:-O1 gcc:-O2 byte/sieve --budget 5s",
    ] {
        assert_valid(&home, &format!("{line} --format json"));
    }
}

#[test]
fn additional_fields_violate_schemas() {
    let home = Home::with(&["copies"]);
    let schemas = Schemas::read();
    let mut view = home.json("show copies");
    assert_eq!(schemas.fault(&view), None);
    view["results"][0]["extra"] = 1.into();
    assert!(schemas.fault(&view).unwrap().contains("extra"));
}
