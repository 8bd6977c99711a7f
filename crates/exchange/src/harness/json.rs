//! Any program that prints JSON with an object of name and value at a pointer (RFC 6901).

use super::lines::environment;
use super::{
    Execution, Harness, HarnessError, HarnessFile, HarnessResult, Invocation, Output, Results,
    malformed, parse_json, place,
};
use gritstone_model::Better;
use serde_json::Value;

pub(super) struct Json {
    pub pointer: String,
}

impl Harness for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn title(&self) -> &'static str {
        "a program that prints JSON"
    }

    fn invocation(&self, execution: &Execution<'_>) -> Invocation {
        Invocation {
            argv: execution.command.to_vec(),
            environment: environment(execution),
            output: Output::Stdout,
        }
    }

    /// At the pointer, an object whose fields are numbers or arrays of repetitions; or one such value, named by the pointer. Less is
    /// better.
    fn parse(&self, files: &[HarnessFile]) -> Result<Vec<HarnessResult>, HarnessError> {
        let mut results = Results::default();
        for file in files {
            let whole: Value = parse_json(file, self.title())?;
            let at = || format!("{} at '{}'", place(file), self.pointer);
            let found = whole.pointer(&self.pointer);
            let found = found.ok_or_else(|| malformed(at(), "there is nothing; see --values"))?;
            let named: Vec<(&str, &Value)> = match found {
                Value::Object(fields) => {
                    fields.iter().map(|(name, v)| (name.as_str(), v)).collect()
                }
                value => vec![(self.pointer.trim_start_matches('/'), value)],
            };
            for (name, value) in named {
                let values = match value {
                    Value::Array(values) => values.as_slice(),
                    value => std::slice::from_ref(value),
                };
                for value in values {
                    let number = value.as_f64();
                    let number = number.ok_or_else(|| {
                        malformed(at(), format!("'{name}' is not a number: {value}"))
                    })?;
                    results.add(name, "", Better::Lower, number, at)?;
                }
            }
        }
        results.finish(self.title())
    }
}
