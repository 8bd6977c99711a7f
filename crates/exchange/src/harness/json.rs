//! Any program that prints JSON with an object of name and value at a pointer (RFC 6901).

use super::json_text::{json, parse_json};
use super::lines::through_standard_output;
use super::{
    Execution, Format, Harness, HarnessError, HarnessFile, Invocation, Program, malformed, place,
};
use crate::foreign_run::{ForeignRun, Repetition};
use gritstone_model::Better;
use serde_json::Value;

pub(super) struct Json {
    pub pointer: String,
}

impl Format for Json {
    fn program(&self) -> Program {
        Program { name: "json", title: "a program that prints JSON" }
    }

    /// At the pointer: an object whose fields are numbers or arrays of repetitions, or one such value, named by the pointer. Lower is
    /// better.
    fn read(&self, run: &mut ForeignRun, file: &HarnessFile) -> Result<(), HarnessError> {
        let json = json(file);
        let document: Value = parse_json(file, &json, self.title())?;
        let location = || place(file, &format!("at '{}'", self.pointer));
        let found = document.pointer(&self.pointer);
        let found = found.ok_or_else(|| malformed(location(), "nothing to list; see --values"))?;
        let named: Vec<(&str, &Value)> = match found {
            Value::Object(fields) => fields.iter().map(|(name, v)| (name.as_str(), v)).collect(),
            value => vec![(self.pointer.trim_start_matches('/'), value)],
        };
        for (name, value) in named {
            let values = match value {
                Value::Array(values) => values.as_slice(),
                value => std::slice::from_ref(value),
            };
            for value in values {
                match value.as_f64() {
                    Some(number) => {
                        let one = vec![Repetition::new(number)];
                        run.add(name, ("", Better::Lower), one, location);
                    }
                    None => run.leave_out(name, format!("{}: {value} is not a number", location())),
                }
            }
        }
        Ok(())
    }
}

impl Harness for Json {
    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        through_standard_output(execution)
    }
}
