//! What every command prints as JSON is what docs/schema says of it.
//!
//! Must not know: how a document is made.

use crate::common::{Home, at_hour, list, recorded};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files of docs/schema by their names, as far as the generator uses JSON Schema.
struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        let files = fs::read_dir(folder).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(path).unwrap();
            (name, serde_json::from_str(&text).unwrap())
        });
        Self(files.collect())
    }

    /// What is wrong with a document, by the schema that it names.
    fn faults(&self, document: &Value) -> Vec<String> {
        let name = document["schema"].as_str().unwrap_or_default();
        let file = name.replacen("gritstone/", "", 1).replace('/', "-") + ".json";
        let Some(schema) = self.0.get(&file) else {
            return vec![format!("no schema {file}")];
        };
        let mut faults = vec![];
        self.look(schema, document, "", &mut faults);
        faults
    }

    fn follow(&self, reference: &str) -> &Value {
        let (file, pointer) = reference.split_once('#').unwrap();
        let file = if file.is_empty() {
            "definitions.json"
        } else {
            file
        };
        self.0[file].pointer(pointer).unwrap()
    }

    fn holds(&self, schema: &Value, value: &Value) -> bool {
        let mut faults = vec![];
        self.look(schema, value, "", &mut faults);
        faults.is_empty()
    }

    fn look(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        let mut fault = |what: String| faults.push(format!("{at}: {what}"));
        let kinds = schema.get("type").into_iter();
        let kinds: Vec<&Value> = kinds
            .flat_map(|t| t.as_array().map_or(vec![t], |all| all.iter().collect()))
            .collect();
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_a(kind, value)) {
            fault(format!("{value} is not {kinds:?}"));
        }
        if schema.get("const").is_some_and(|wanted| wanted != value) {
            fault(format!("{value} is not {}", schema["const"]));
        }
        let of = |name: &str| schema.get(name).and_then(Value::as_array);
        if of("enum").is_some_and(|all| !all.contains(value)) {
            fault(format!("{value} is not one of {}", schema["enum"]));
        }
        for (name, least, most) in [("anyOf", 1, usize::MAX), ("oneOf", 1, 1)] {
            if let Some(all) = of(name) {
                let n = all.iter().filter(|one| self.holds(one, value)).count();
                if !(least..=most).contains(&n) {
                    fault(format!("{n} {name} for {value}"));
                }
            }
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            self.look(self.follow(reference), value, at, faults);
        }
        match value {
            Value::Object(fields) => self.fields(schema, fields, at, faults),
            Value::Array(items) => self.items(schema, items, at, faults),
            _ => {}
        }
    }

    /// Nothing is missing, and where a schema names fields, no other is there.
    fn fields(
        &self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        at: &str,
        faults: &mut Vec<String>,
    ) {
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                faults.push(format!("{at}: no {name}"));
            }
        }
        let known = schema.get("properties").and_then(Value::as_object);
        let alone = !["oneOf", "anyOf", "$ref"]
            .iter()
            .any(|name| schema.contains_key(*name));
        for (name, value) in fields {
            let at = format!("{at}/{name}");
            let of = known.and_then(|known| known.get(name));
            match of.or(schema.get("additionalProperties")) {
                Some(of) => self.look(of, value, &at, faults),
                // variants of a tagged enum name the others
                None if alone && known.is_some_and(|k| !k.contains_key("code")) => {
                    faults.push(format!("{at}: in no schema"));
                }
                None => {}
            }
        }
    }

    fn items(
        &self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: &str,
        faults: &mut Vec<String>,
    ) {
        let ordered = schema.get("prefixItems").and_then(Value::as_array);
        for (i, item) in items.iter().enumerate() {
            let of = ordered.and_then(|all| all.get(i)).or(schema.get("items"));
            if let Some(of) = of {
                self.look(of, item, &format!("{at}/{i}"), faults);
            }
        }
        let count = |name: &str, or: u64| schema.get(name).and_then(Value::as_u64).unwrap_or(or);
        let n = items.len() as u64;
        if !(count("minItems", 0)..=count("maxItems", u64::MAX)).contains(&n) {
            faults.push(format!("{at}: {n} items"));
        }
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other}"),
    }
}

fn assert_valid(home: &Home, line: &str) {
    let schemas = Schemas::read();
    let (_, out, _) = home.run(line);
    let printed: Value = serde_json::from_str(&out).expect(line);
    let documents = printed.as_array().cloned().unwrap_or(vec![printed]);
    assert!(!documents.is_empty(), "{line}");
    for document in documents {
        let faults = schemas.faults(&document);
        assert!(faults.is_empty(), "{line}: {faults:#?}");
    }
}

#[test]
fn what_is_printed_of_recorded_runs_is_by_the_schemas() {
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
        rate {run}
        rate ref:sun-2-120-4.2bsd --price 20
        history {benchmark}
        check h12
        selftest --of h1 h2 h3 h4 h5
        list
        machines
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
fn what_is_printed_of_measurements_is_by_the_schemas() {
    let home = Home::new();
    for line in [
        "run byte/sieve --budget 3s --precision 50%",
        "ab --self byte/sieve --budget 3s",
        "audit byte/sieve",
        "compilers gcc:-O1 gcc:-O2 byte/sieve --budget 5s",
    ] {
        assert_valid(&home, &format!("{line} --format json"));
    }
}

#[test]
fn a_value_of_another_type_a_field_too_many_and_one_too_few_are_seen() {
    let home = Home::with(&["run"]);
    let schemas = Schemas::read();
    let view = home.json("show run");
    assert!(schemas.faults(&view).is_empty());
    let mut results = list(&view["results"]).iter();
    let noted = results.position(|r| r["notes"][0].is_object()).unwrap();
    for (at, key, broken) in [
        ("/results/0", "estimate", "fast".into()),
        ("/results/0", "extra", 1.into()),
        ("/results/0", "flags", Value::Null),
        ("/results/0", "interval", vec![1.0].into()),
        ("", "schema", "gritstone/list/2".into()),
        (
            &*format!("/results/{noted}/notes/0"),
            "code",
            "no-such-code".into(),
        ),
    ] {
        let mut view = view.clone();
        view.pointer_mut(at).unwrap()[key] = broken;
        assert!(!schemas.faults(&view).is_empty(), "{at}/{key}");
    }
}
