//! The JSON Schema of every printed document: `docs/schema/` is generated from the types.
//!
//! Must not know how a document is made.

use super::{DOCS, check};
use crate::command::doctor::Examined;
use crate::command::list::List;
use crate::command::run::dry_run::{DryRun, SCHEMA_DRY_RUN};
use crate::command::systems::Systems;
use gritstone_model::*;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use std::fs;

/// Shared definitions.
const PARTS: &str = "definitions.json";

/// The schema of a document: its type, with its own name.
fn document<T: JsonSchema>(generator: &mut SchemaGenerator, name: &str) -> (String, Value) {
    named(generator.subschema_for::<T>(), name)
}

fn named(reference: Schema, name: &str) -> (String, Value) {
    let reference = reference.to_value();
    let pointer = reference["$ref"].as_str().expect("a type with a name");
    let (_, file) = name.split_once('/').expect("gritstone/NAME/VERSION");
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "$ref": format!("{PARTS}{pointer}"),
        "properties": { "schema": { "const": name } },
    });
    (format!("{}.json", file.replace('/', "-")), schema)
}

const FLAGS: [Flag; 8] = [
    Flag::Invalid,
    Flag::Noisy,
    Flag::Modes,
    Flag::Interference,
    Flag::Skipped,
    Flag::NotComparable,
    Flag::Doubtful,
    Flag::Custom,
];

/// Adds the fields that `report::json` adds to notes and their owners.
fn worded(schema: &mut Value, flag: &Value) {
    let has = |name: &str| schema.pointer(&format!("/properties/{name}")).is_some();
    let mut more = vec![];
    if has("notes") {
        more.push(("flags", json!({ "type": "array", "items": flag })));
    }
    if has("about") && schema.get("oneOf").is_some() {
        more.push(("flag", json!({ "anyOf": [flag, { "type": "null" }] })));
        more.push(("message", json!({ "type": "string" })));
    }
    for (name, property) in more {
        schema["properties"][name] = property;
        let required = schema["required"].as_array_mut().expect("some are");
        required.push(name.into());
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(|value| worded(value, flag)),
        Value::Array(values) => values.iter_mut().for_each(|value| worded(value, flag)),
        _ => {}
    }
}

#[test]
fn schemas_are_current() {
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut documents = vec![
        document::<RunView>(&mut all, SCHEMA_RUN),
        document::<List>(&mut all, SCHEMA_LIST),
        document::<Systems>(&mut all, SCHEMA_SYSTEMS),
        document::<RunList>(&mut all, SCHEMA_RUNS),
    ];
    for (name, view) in gritstone_server::views() {
        documents.extend(view.map(|view| named(view(&mut all), name)));
    }
    documents.extend([
        document::<ChangesView>(&mut all, SCHEMA_CHANGES),
        document::<Examined>(&mut all, SCHEMA_DOCTOR),
        document::<DryRun>(&mut all, SCHEMA_DRY_RUN),
        document::<CompareView>(&mut all, SCHEMA_COMPARE),
        document::<CheckView>(&mut all, SCHEMA_CHECK),
        document::<HistoryView>(&mut all, SCHEMA_HISTORY),
        document::<ScoresView>(&mut all, SCHEMA_SCORES),
        document::<AuditView>(&mut all, SCHEMA_AUDIT),
        document::<AbView>(&mut all, SCHEMA_AB),
        document::<FleetView>(&mut all, SCHEMA_FLEET),
        document::<PrView>(&mut all, SCHEMA_PR),
        document::<BisectView>(&mut all, SCHEMA_BISECT),
    ]);
    for (name, _) in gritstone_server::views() {
        let title = |(_, schema): &(String, Value)| schema["title"] == name;
        assert!(documents.iter().any(title), "{name} has no type");
    }
    let mut parts = json!({ "$defs": all.take_definitions(true) });
    worded(&mut parts, &json!({ "enum": FLAGS.map(Flag::as_str) }));
    documents.push((PARTS.to_owned(), parts));
    let remaining = fs::read_dir(format!("{DOCS}/schema")).into_iter().flatten();
    let mut remaining: Vec<String> =
        remaining.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for (file, schema) in documents {
        remaining.retain(|name| *name != file);
        check(&format!("schema/{file}"), &format!("{schema:#}\n"), "GRITSTONE_WRITE_SCHEMAS");
    }
    assert!(remaining.is_empty(), "of no document: {remaining:?}");
}
