//! Attacks on the server by pages, clients and stored texts.

use crate::common::server::Server;
use crate::common::{Home, at_hour, recorded};
use std::fs;
use std::io::{Read, Write};

const MARKUP: [&str; 4] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'; DROP TABLE run; --",
    "</title></style><svg onload=alert(1)>",
];

/// A run in which every user-chosen text is this one.
fn hostile(text: &str, hour: u32) -> gritstone_model::RunData {
    let mut run = at_hour(&recorded("copies"), hour, text);
    let machine = &mut run.info.machine;
    for field in
        [&mut machine.id, &mut machine.name, &mut machine.system, &mut machine.configuration]
    {
        text.clone_into(field);
    }
    machine.facts.insert(text.to_owned(), text.to_owned());
    machine.facts.insert("kernel.release".to_owned(), text.to_owned());
    run.info.gritstone = text.to_owned();
    let settings = &mut run.info.settings;
    settings.dir = text.to_owned();
    settings.params.insert(text.to_owned(), text.to_owned());
    settings.environment.insert(text.to_owned(), text.to_owned());
    settings.selectors = vec![text.to_owned()];
    for benchmark in &mut run.benchmarks {
        for field in [&mut benchmark.title, &mut benchmark.operation, &mut benchmark.why] {
            text.clone_into(field);
        }
    }
    for program in run.programs.values_mut() {
        program.compiler = text.to_owned();
        program.flags = text.to_owned();
    }
    for skip in &mut run.skips {
        skip.reason = text.to_owned();
    }
    run
}

#[test]
fn stored_text_is_never_markup() {
    let home = Home::new();
    for (hour, text) in (1..).zip(MARKUP) {
        home.import(&[hostile(text, 2 * hour), hostile(text, 2 * hour + 1)]);
    }
    let server = Server::start(&home);
    let overview = server.json("/overview.json");
    assert_eq!(overview["stored"], 2 * MARKUP.len());
    let mut paths = server.pages();
    paths.extend(["/changes.atom", "/search?q=alert"].map(str::to_owned));
    for (index, text) in MARKUP.iter().enumerate() {
        let id = |more: usize| {
            let runs = overview["runs"].as_array().unwrap();
            runs[2 * index + more]["id"].as_str().unwrap().to_owned()
        };
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        paths.push(format!("/runs/{}", id(0)));
        paths.push(format!("/compare?base={}&run={}", id(0), id(1)));
        for page in ["runs/", "systems/", "benchmarks/", "search?q=", "compare?run=last&base="] {
            paths.push(format!("/{page}{encoded}"));
        }
    }
    let benchmark = &recorded("copies").benchmarks[0].id;
    paths.push(format!("/benchmarks/{benchmark}"));
    for path in paths {
        let response = server.get_ready(&path);
        let page = response.text().to_lowercase();
        for (tag, _) in MARKUP.iter().filter_map(|text| text.split_once('(')) {
            // as an element or an attribute, it would begin so
            assert!(!page.contains(&tag.to_lowercase()), "{path} has {tag}");
        }
        assert!(!page.contains("<img") && !page.contains("<svg onload"), "{path}");
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    // and nothing of the store is gone
    assert_eq!(server.json("/overview.json")["runs"], overview["runs"]);
}

#[test]
fn no_path_is_a_file() {
    let home = Home::with(&["copies"]);
    let bundle = crate::common::fixture("run");
    fs::copy(&bundle, home.path().join("run.jsonl")).unwrap();
    let server = Server::start(&home);
    let file = bundle.display().to_string();
    let encoded = file.replace('/', "%2f");
    for path in [
        "/runs/run.jsonl",
        "/runs/./run.jsonl",
        "/runs/%2e%2frun.jsonl",
        &format!("/runs/{file}"),
        &format!("/runs/{encoded}"),
        &format!("/systems/{encoded}"),
        &format!("/compare?base={encoded}&run=last"),
        "/../../etc/passwd",
        "/runs/../../../../etc/passwd",
        "/benchmarks/%2e%2e/%2e%2e/etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/runs/ref:../../etc/passwd",
        "/compare?base=ref:../../etc/passwd&run=last",
    ] {
        let response = server.get(path);
        assert!([400, 404].contains(&response.status), "{path}: {}", response.status);
        assert!(!response.text().contains("root:"), "{path}");
    }
}

#[test]
fn unknown_hosts_read_nothing() {
    let home = Home::with(&["copies"]);
    let server = Server::start(&home);
    let port = server.address.rsplit_once(':').unwrap().1;
    let ask = |head: &str| server.raw(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes());
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.evil.example", "[::2]"]
    {
        let refused = ask(&format!("GET / HTTP/1.1\r\nHost: {host}"));
        assert_eq!(refused.status, 421, "{host}");
        assert!(!refused.text().contains("Overview"), "{host}");
    }
    let forms = [
        ("GET / HTTP/1.1\r\nX: y", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", 400),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost", 421),
        ("GET http://localhost/ HTTP/1.1\r\nHost: localhost", 200),
        (&format!("GET / HTTP/1.1\r\nHost: localhost:{port}"), 200),
    ];
    for (head, status) in forms {
        assert_eq!(ask(head).status, status, "{head}");
    }
    // no page of another origin may read or frame it, and no header is made of what was asked
    let response = server.get("/search?q=%0d%0aSet-Cookie:%20a=b");
    assert_eq!(response.status, 400);
    let response = server.get("/search?q=a%20Set-Cookie:b");
    for name in ["access-control-allow-origin", "set-cookie"] {
        assert_eq!(response.header(name), None, "{name}");
    }
    assert_eq!(response.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn large_requests_are_refused() {
    let home = Home::with(&["copies"]);
    let server = Server::start(&home);
    let long = "x".repeat(1 << 20);
    let many: String = (0..1000).map(|n| format!("X-{n}: y\r\n")).collect();
    for request in [
        format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
        long.clone(),
    ] {
        let mut stream = server.connect();
        let _ = stream.write_all(request.as_bytes());
        let mut output = vec![];
        // what it has not read makes the kernel cut the connection, perhaps before the answer is read
        let _ = stream.read_to_end(&mut output);
        let output = String::from_utf8_lossy(&output);
        assert!(output.is_empty() || output.starts_with("HTTP/1.1 4"), "{output}");
        assert_eq!(server.page("/health"), "ok\n");
    }
    let query = format!("/search?q={}", "x".repeat(300));
    assert_eq!(server.get(&query).status, 400);
}
