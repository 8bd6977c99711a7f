//! The description of all routes, as OpenAPI 3.1.

use crate::http::params::{Kind, Parameter};
use crate::http::request::FIRST;
use crate::http::response::{Media, Status};
use crate::http::route::{Gives, Method, Route};
use gritstone_store::Scope;
use serde_json::{Map, Value, json};

/// OpenAPI description of routes.
pub fn description<P>(routes: &[&Route<P>]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        // OpenAPI cannot express a path parameter of several segments
        let methods = paths.entry(route.path.replace("{*", "{")).or_insert_with(|| json!({}));
        methods[method(route.method)] = operation(route);
    }
    if let Some(first) = paths.get(FIRST).cloned() {
        paths.insert("/".to_owned(), first);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Gritstone",
            "version": "1",
            "description": "The store of gritstone serve. Reads need no token where the server lets everyone read."
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "password": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "Any name, and a token as the password: for browsers, and for reading alone"
                }
            },
            "schemas": {"Error": object(&[("error", "string")])}
        }
    })
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Delete => "delete",
    }
}

fn operation<P>(route: &Route<P>) -> Value {
    let parameters: Vec<Value> = route.parameters.iter().map(parameter).collect();
    let mut operation = json!({
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses(route),
        "security": match (route.scopes.contains(&Scope::Read), route.scopes) {
            (_, []) => json!([]),
            (true, _) => json!([{}, {"token": []}, {"password": []}]),
            (false, _) => json!([{"token": []}]),
        },
    });
    if let Some(upload) = &route.upload {
        let media = upload.media.iter().map(|&name| {
            let kind = if name == Media::Json.name() { "object" } else { "string" };
            (name.to_owned(), json!({"schema": {"type": kind}}))
        });
        operation["requestBody"] = json!({
            "required": true,
            "description": upload.about,
            "content": media.collect::<Map<_, _>>(),
        });
    }
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let schema = match parameter.kind {
        Kind::Path | Kind::Needed => json!({"type": "string", "minLength": 1}),
        Kind::Text(max) => json!({"type": "string", "maxLength": max}),
        Kind::Date => json!({"type": "string", "pattern": "^([0-9]{4}(-[0-9]{2}){0,2})?$"}),
        Kind::Number { min, max, otherwise } => {
            json!({"type": "integer", "minimum": min, "maximum": max, "default": otherwise})
        }
        Kind::Word(words) => json!({"type": "string", "enum": words}),
        Kind::Several(max) => {
            json!({"type": "array", "minItems": 1, "maxItems": max, "items": {"type": "string"}})
        }
    };
    let in_path = matches!(parameter.kind, Kind::Path);
    json!({
        "name": parameter.name,
        "in": if in_path { "path" } else { "query" },
        "required": in_path || matches!(parameter.kind, Kind::Needed | Kind::Several(_)),
        "description": parameter.about,
        "schema": schema,
    })
}

fn responses<P>(route: &Route<P>) -> Value {
    let mut all = Map::new();
    let mut insert = |status: &str, about: &str, content: Option<Value>| {
        let mut response = json!({"description": about});
        if let Some(content) = content {
            response["content"] = content;
        }
        all.insert(status.to_owned(), response);
    };
    if let Gives::Page(_) | Gives::Json(_) = route.gives {
        insert("304", "Not modified (If-None-Match)", None);
    }
    let mut add = |status: Status, about: &str, content: Option<Value>| {
        insert(status.code_and_title().0.as_str(), about, content)
    };
    if route.method != Method::Post {
        add(Status::Found, "The answer", Some(content(route)));
    }
    let refused =
        || Some(json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}));
    if !route.parameters.is_empty() {
        add(Status::Wrong, "A parameter does not fit", refused());
    }
    if !route.scopes.is_empty() {
        add(Status::Unknown, "A token is missing, unknown or revoked", refused());
        add(Status::Forbidden, "The token lacks the scope", refused());
    }
    if route.names_something() {
        add(Status::NotFound, "Not found", refused());
    }
    if route.upload.is_some() {
        add(Status::TooLong, "The body is too long", refused());
    }
    add(Status::TooMany, "Too many requests: Retry-After says when to try again", refused());
    add(
        Status::Busy,
        "The server or its database is busy or unreachable: Retry-After says when to try again",
        refused(),
    );
    for (status, about) in route.statuses {
        let content = match status {
            Status::Found | Status::Stored => Some(content(route)),
            _ => refused(),
        };
        add(*status, about, content);
    }
    Value::Object(all)
}

fn content<P>(route: &Route<P>) -> Value {
    let mut kinds = route.parameters.iter().map(|parameter| parameter.kind);
    let has_several = kinds.any(|kind| matches!(kind, Kind::Several(_)));
    let text = || json!({"schema": {"type": "string"}});
    let of_schema = |name: &str| {
        let one = json!({"type": "object", "required": ["schema"], "properties": {"schema": {"const": name}}});
        match has_several {
            true => json!({"schema": {"anyOf": [one, {"type": "array", "items": one}]}}),
            false => json!({"schema": one}),
        }
    };
    let mut content = Map::new();
    let mut add = |media: &str, what: Value| {
        let name = media.split(';').next().unwrap_or(media);
        content.insert(name.to_owned(), what);
    };
    match &route.gives {
        Gives::Page(schema) => {
            add(Media::Html.name(), text());
            add(Media::Json.name(), of_schema(schema));
        }
        Gives::Json(schema) => add(Media::Json.name(), of_schema(schema)),
        Gives::Object(properties) => add(Media::Json.name(), json!({"schema": object(properties)})),
        Gives::Media(media) => add(media.name(), text()),
        Gives::Events => add("text/event-stream", text()),
    }
    Value::Object(content)
}

fn object(properties: &[(&str, &str)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let of_type = |(name, kind): &(&str, &str)| ((*name).to_owned(), json!({"type": kind}));
    let properties: Map<String, Value> = properties.iter().map(of_type).collect();
    json!({"type": "object", "required": names, "properties": properties})
}
