//! JSON output of any view: its serialized form, and the message of every note.

use crate::findings::message;
use gritstone_model::{Note, flags};
use serde::Serialize;
use serde_json::Value;

/// The value, with `flag` and `message` in every note, and `flags` in every object with notes.
///
/// # Errors
/// When the value cannot be serialized.
pub fn json<T: Serialize>(view: &T) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(view)?;
    worded(&mut value)?;
    Ok(value)
}

fn worded(value: &mut Value) -> Result<(), serde_json::Error> {
    let may_be_note = value.get("code").is_some() && value.get("about").is_some();
    // facts of a machine may have these names
    let note = may_be_note.then(|| serde_json::from_value::<Note>(value.clone()));
    if let Some(Ok(note)) = note {
        value["flag"] = serde_json::to_value(note.flag())?;
        value["message"] = Value::String(message(&note));
        return Ok(());
    }
    if let Some(notes @ Value::Array(_)) = value.get("notes") {
        let notes: Vec<Note> = serde_json::from_value(notes.clone())?;
        value["flags"] = serde_json::to_value(flags(&notes))?;
    }
    match value {
        Value::Array(values) => values.iter_mut().try_for_each(worded),
        Value::Object(fields) => fields.values_mut().try_for_each(worded),
        _ => Ok(()),
    }
}
