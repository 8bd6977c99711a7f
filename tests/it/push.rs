//! Runs of many machines in one store: uploads and downloads with tokens.

use crate::common::server::{Response, Server};
use crate::common::{Home, Killed, list, program, short_run as run, start, succeeds};
use gritstone_exchange::write_bundle;
use gritstone_model::{RunData, TrialSide};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

pub fn token(home: &Home, name: &str, scopes: &str) -> String {
    let printed = home.ok(&["token", "create", name, "--scope", scopes]);
    printed.trim().to_owned()
}

/// A file with a token, as a user keeps it.
pub fn token_file(home: &Home, token: &str) -> String {
    let path = home.path().join("token");
    fs::write(&path, format!("{token}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

fn send(server: &Server, token: Option<&str>, body: &[u8]) -> Response {
    post(server, "/api/v1/runs", token, body)
}

pub fn post(server: &Server, path: &str, token: Option<&str>, body: &[u8]) -> Response {
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n",
        server.address,
        body.len(),
        authorization.unwrap_or_default()
    );
    server.raw(&[head.as_bytes(), body].concat())
}

fn ids(home: &Home) -> BTreeSet<String> {
    let runs = home.json(&["runs", "--all"]);
    let ids = list(&runs["runs"]).iter().map(|run| run["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[test]
fn uploads_reach_others_once() {
    let (machine, team, desk) = (Home::new(), Home::new(), Home::new());
    machine.import(&[run(1), run(2), run(3)]);
    let server = Server::start(&team);
    let url = format!("http://{}", server.address);
    let writer = token_file(&machine, &token(&team, "machine", "write"));
    let push = ["push", "--to", &url, "--token-file", &writer];
    assert_eq!(machine.ok(&push).lines().count(), 3);
    assert_eq!(ids(&team), ids(&machine));
    // nothing twice, by either way to ask
    assert_eq!(machine.ok(&push), "");
    machine.ok(&[&push[..], &["hour-1"]].concat());
    assert_eq!(ids(&team).len(), 3);
    // only what is new
    machine.import(&[run(4)]);
    assert_eq!(machine.ok(&push).trim(), run(4).info.id);
    let pull = ["pull", "--from", &url];
    assert_eq!(desk.ok(&pull).lines().count(), 4);
    assert_eq!(desk.ok(&pull), "");
    for id in ids(&machine) {
        let bundle = |home: &Home| home.ok(&["export", &id, "--with-identity"]);
        assert_eq!(bundle(&machine), bundle(&desk), "{id}");
        assert_eq!(bundle(&machine), bundle(&team), "{id}");
    }
    // a pushed run is data: nothing of it is executed or gone on with
    let (code, _, error) = team.run(&["run", &format!("--resume={}", run(1).info.id)]);
    assert!(code == 2 && error.contains("imported"), "{error}");
}

#[test]
fn refused_runs_stop_no_others() {
    let (machine, team) = (Home::new(), Home::new());
    machine.import(&[run(1), run(2), run(3)]);
    let mut other = run(1);
    other.launches.pop();
    team.import(&[other, run(4)]);
    team.ok(&["runs", "remove", &run(4).info.id]);
    team.import(&[run(5)]);
    let server = Server::start(&team);
    let url = format!("http://{}", server.address);
    let writer = token_file(&machine, &token(&team, "machine", "write"));
    let options = ["--token-file", &writer];
    let elsewhere = format!("{url}/elsewhere");
    let refused = machine.refuses(&["push", "--to", &elsewhere], "404");
    assert!(refused.contains("There is no page /elsewhere/api/v1/runs."), "{refused}");
    let some = [1, 2].map(|hour| run(hour).info.id);
    let some = some.each_ref().map(String::as_str);
    let push = [&["push", "--to", &url], &options[..], &some].concat();
    let error = machine.refuses(&push, "1 of 2 runs not transferred");
    assert!(error.contains("409"), "{error}");
    assert!(ids(&team).contains(some[1]));
    // the same identifier is no difference for sync, and a damaged run is none for the others
    damage(&machine, &run(3).info.id);
    machine.import(&[run(6)]);
    let sync = [&["sync", &url], &options[..]].concat();
    machine.refuses(&sync, &run(3).info.id);
    assert!(ids(&team).contains(&run(6).info.id));
    assert!(ids(&machine).contains(&run(5).info.id));
}

/// Changes a launch of a run.
pub fn damage(home: &Home, id: &str) {
    let store = rusqlite::Connection::open(home.store()).unwrap();
    let change = format!(
        "DROP TRIGGER launch_is_not_changed; UPDATE launch SET start_ns = start_ns + 1 WHERE run = \
         (SELECT number FROM run WHERE id = '{id}');"
    );
    let trigger: String = store
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'launch_is_not_changed'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    store.execute_batch(&format!("{change}{trigger}")).unwrap();
}

#[test]
fn sync_restores_no_removed_run() {
    let (machine, team) = (Home::new(), Home::new());
    machine.import(&[run(1), run(2)]);
    let server = Server::start(&team);
    let url = format!("http://{}", server.address);
    let writer = token_file(&machine, &token(&team, "machine", "write"));
    let sync = ["sync", &url, "--token-file", &writer];
    machine.ok(&sync);
    let secret = url.replace("http://", "http://ana:secret@");
    let (code, _, said) = machine.run(&["push", "--to", &secret]);
    assert!(code == 0 && said.contains("has all runs") && !said.contains("secret"), "{said}");
    let [gone, here] = [run(1), run(2)].map(|run| run.info.id);
    team.ok(&["runs", "remove", &gone]);
    machine.ok(&["runs", "label", &gone, "another"]);
    machine.ok(&["runs", "remove", &here]);
    let (_, _, said) = machine.run(&sync);
    assert!(said.contains(&format!("gritstone pull --from {url} {here}")), "{said}");
    assert_eq!(ids(&team), [here.clone()].into());
    assert_eq!(ids(&machine), [gone].into());
    machine.ok(&["pull", "--from", &url, &here]);
    assert!(ids(&machine).contains(&here));
}

#[test]
fn token_scopes_are_enforced() {
    let home = Home::new();
    home.import(&[run(1)]);
    let [reader, writer, admin] =
        ["read", "write", "admin"].map(|scope| token(&home, &format!("for-{scope}"), scope));
    // closed: behind a proxy, reading needs a token
    let server = Server::with(&home, &["--behind-proxy"]);
    let id = run(1).info.id;
    let bundle = write_bundle(&run(2));
    let by = |token: &str| format!("Bearer {token}");
    let read = |authorization: &str| {
        let path = format!("/runs/{id}");
        server.ask("GET", &path, &[("Authorization", authorization)]).status
    };
    let list =
        |token: &str| server.ask("GET", "/api/v1/runs", &[("Authorization", &by(token))]).status;
    let remove = |token: &str| {
        let path = format!("/api/v1/runs/{id}");
        server.ask("DELETE", &path, &[("Authorization", &by(token))]).status
    };
    let (most, last) = reader.split_at(reader.len() - 1);
    let wrong = format!("{most}{}", if last == "0" { "1" } else { "0" });
    assert_eq!(server.get("/").status, 401);
    assert!(server.get("/").header("www-authenticate").unwrap().starts_with("Basic "));
    assert_eq!(server.get("/health").status, 200);
    assert_eq!([read(&by(&reader)), read(&by(&writer)), read(&by(&admin))], [200, 403, 403]);
    assert_eq!([list(&reader), list(&writer), list(&admin)], [200, 200, 403]);
    for bad in ["", "Bearer", "Bearer ", &by(&wrong), &by("' OR 1=1 --"), "Negotiate x", "Basic x"]
    {
        assert_eq!(read(bad), 401, "{bad}");
    }
    let sends = |token: Option<&str>| send(&server, token, bundle.as_bytes()).status;
    assert_eq!(sends(None), 401);
    assert_eq!([sends(Some(&wrong)), sends(Some(&reader)), sends(Some(&admin))], [401, 403, 403]);
    assert_eq!(sends(Some(&writer)), 201);
    assert_eq!([remove(&wrong), remove(&reader), remove(&writer)], [401, 403, 403]);
    // a browser sends a password with whatever a page of another site makes it ask: it reads, and nothing else
    let basic = |token: &str| {
        use base64::Engine as _;
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("me:{token}"));
        format!("Basic {pair}")
    };
    assert_eq!([read(&basic(&reader)), read(&basic(&wrong))], [200, 401]);
    let path = format!("/api/v1/runs/{id}");
    let forged = server.ask("DELETE", &path, &[("Authorization", &basic(&admin))]);
    assert_eq!(forged.status, 401);
    assert_eq!(remove(&admin), 200);
    assert_eq!(remove(&admin), 404);
    assert_eq!(read(&by(&reader)), 404);
    // what is revoked is so at once, and for good
    home.ok("token revoke for-read");
    assert_eq!(read(&by(&reader)), 401);
    home.refuses("token revoke for-read", "no valid token");
    home.refuses("token create for-read --scope read", "existed");
    home.refuses("token create bad/name --scope read", "cannot name a token");
    let listed = home.ok("token list");
    assert!(listed.contains("for-write") && !listed.contains(&writer), "{listed}");
    // and no secret is in the store
    let stored = fs::read(home.store()).unwrap();
    for secret in [&reader, &writer, &admin] {
        let has = stored.windows(secret.len()).any(|bytes| bytes == secret.as_bytes());
        assert!(!has, "a token is stored");
    }
}

#[test]
fn invalid_uploads_leave_nothing() {
    let home = Home::new();
    let writer = token(&home, "writer", "write");
    let server = Server::start(&home);
    let send = |body: &[u8]| {
        let response = send(&server, Some(&writer), body);
        assert_eq!(server.page("/health"), "ok\n");
        response
    };
    let whole = write_bundle(&run(1));
    let mut unended = run(1);
    unended.info.elapsed_s = None;
    let mut named = run(1);
    named.info.id = "../../x".to_owned();
    let bomb = zstd::encode_all(&vec![b' '; 300 << 20][..], 1).unwrap();
    let deep = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let cases: [(&str, Vec<u8>); 9] = [
        ("nothing", vec![]),
        ("no text", vec![0xff; 1000]),
        ("truncated", whole.as_bytes()[..whole.len() / 2].to_vec()),
        ("changed", whole.replace("hour-1", "hour-2").into_bytes()),
        ("unended", write_bundle(&unended).into_bytes()),
        ("name", write_bundle(&named).into_bytes()),
        ("bomb", bomb),
        ("deep", deep.into_bytes()),
        ("deep within", format!("{{\"schema\":{}", "[".repeat(1 << 20)).into_bytes()),
    ];
    for (name, body) in cases {
        let response = send(&body);
        assert_eq!(response.status, 422, "{name}: {}", response.text());
        let printed: Value = serde_json::from_slice(&response.body).unwrap();
        assert!(printed["error"].is_string(), "{name}");
    }
    assert_eq!(ids(&home).len(), 0);
    assert_eq!(send(whole.as_bytes()).status, 201);
    assert_eq!(send(whole.as_bytes()).status, 200);
    // another run under its name
    let mut other = run(1);
    other.launches.pop();
    assert_eq!(send(write_bundle(&other).as_bytes()).status, 409);
    assert_eq!(ids(&home).len(), 1);
    // a body that is too long is not read, nor one without a valid token
    for (token, status) in [(writer.as_str(), 413), ("none", 401)] {
        let length = if status == 413 { 1_u64 << 40 } else { 1 << 20 };
        let head = format!(
            "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n"
        );
        assert_eq!(server.raw(head.as_bytes()).status, status);
    }
}

#[test]
fn killed_servers_lose_no_upload() {
    const MACHINES: u32 = 3;
    const RUNS: u32 = 8;
    let team = Home::new();
    let writer = token(&team, "all", "write");
    let machines: Vec<Home> = (0..MACHINES)
        .map(|machine| {
            let home = Home::new();
            let runs: Vec<RunData> = (1..=RUNS).map(|n| run(100 * machine + n)).collect();
            home.import(&runs);
            home
        })
        .collect();
    let sent: BTreeSet<String> = machines.iter().flat_map(ids).collect();
    let mut kills = 0;
    // each machine sends until all its runs are acknowledged; each server is killed after a growing time
    let address = std::sync::Mutex::new(String::new());
    let done = std::sync::atomic::AtomicUsize::new(0);
    thread::scope(|scope| {
        for home in &machines {
            let file = token_file(home, &writer);
            let (address, done) = (&address, &done);
            scope.spawn(move || {
                loop {
                    let url = format!("http://{}", address.lock().unwrap());
                    let (code, printed, _) =
                        home.run(&["push", "--to", &url, "--token-file", &file]);
                    if code == 0 && printed.is_empty() {
                        break;
                    }
                    thread::sleep(Duration::from_millis(5));
                }
                done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
        while done.load(std::sync::atomic::Ordering::SeqCst) < machines.len() {
            let mut server = Server::start(&team);
            server.address.clone_into(&mut address.lock().unwrap());
            // the last is left alone, or a slow machine would never end
            let patience = match kills {
                0..20 => Duration::from_millis(40 + 15 * kills),
                _ => Duration::from_secs(60),
            };
            let start = std::time::Instant::now();
            while start.elapsed() < patience
                && done.load(std::sync::atomic::Ordering::SeqCst) < machines.len()
            {
                thread::sleep(Duration::from_millis(5));
            }
            server.process.0.kill().unwrap();
            server.process.0.wait().unwrap();
            kills += 1;
        }
    });
    assert!(kills > 3, "{kills}");
    assert_eq!(ids(&team), sent);
    assert_eq!(list(&team.json(&["runs", "--all"])["runs"]).len(), sent.len());
    for home in &machines {
        for id in ids(home) {
            let bundle = |home: &Home| home.ok(&["export", &id, "--with-identity"]);
            assert_eq!(bundle(home), bundle(&team), "{id}");
        }
    }
}

#[test]
fn tokens_need_encryption() {
    let home = Home::with(&["copies"]);
    let file = token_file(&home, "secret");
    home.refuses(&["push", "--to", "http://bench.example", "--token-file", &file], "use https");
    home.refuses(&["push", "--to", "ftp://localhost", "--token-file", &file], "neither");
    home.refuses(&["push", "--to", "https://127.0.0.1:1", "--token-file", &file], "cannot reach");
    for token in ["sécret", "a\u{1}b", "two words"] {
        token_file(&home, token);
        home.refuses(
            &["push", "--to", "https://127.0.0.1:1", "--token-file", &file],
            "other letters",
        );
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    home.refuses(&["push", "--to", "http://127.0.0.1:1", "--token-file", &file], "chmod 600");
}

/// A root of certificates, and a server of 127.0.0.1 below it, in a folder.
fn certificates(folder: &Path) {
    let new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    for arguments in [
        format!("req -x509 {new} -keyout root.key -out root.pem -days 2 -subj /CN=root"),
        format!("req {new} -keyout key.pem -out asked.pem -subj /CN=server"),
        "x509 -req -in asked.pem -CA root.pem -CAkey root.key -CAcreateserial -out cert.pem -days 2 -extfile names"
            .to_owned(),
    ] {
        let mut openssl = Command::new(program(&["openssl"]));
        succeeds(openssl.args(arguments.split(' ')).current_dir(folder));
    }
    fs::set_permissions(folder.join("key.pem"), fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn uploads_use_the_trusted_certificate() {
    let (machine, team) = (Home::new(), Home::new());
    machine.import(&[run(1)]);
    certificates(team.path());
    let file = token_file(&machine, &token(&team, "machine", "read,write"));
    let certified = "--tls-cert cert.pem --tls-key key.pem";
    // on every address, since nothing can be read on the way
    let words = format!("serve --listen 0.0.0.0:0 {certified}");
    let mut server = Killed(start(&team, &words, &[]));
    let mut line = String::new();
    let out = server.0.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    assert!(line.starts_with("https://"), "{line}");
    let port = line.trim().trim_end_matches('/').rsplit_once(':').unwrap().1.to_owned();
    let url = format!("https://127.0.0.1:{port}");
    let root = team.path().join("root.pem").display().to_string();
    let push = ["push", "--to", &url, "--token-file", &file];
    machine.refuses(&push, "cannot reach");
    machine.refuses(&[&push[..], &["--ca-file", &file]].concat(), "has no certificates");
    let trusting = [&push[..], &["--ca-file", &root]].concat();
    assert_eq!(machine.ok(&trusting).trim(), run(1).info.id);
    assert_eq!(ids(&team), ids(&machine));
    // who speaks no TLS is not answered
    let mut plain = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    plain.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut printed = vec![];
    let _ = plain.read_to_end(&mut printed);
    assert!(!printed.starts_with(b"HTTP"));
    let swapped = "serve --listen 127.0.0.1:0 --tls-cert key.pem --tls-key key.pem";
    team.refuses(swapped, "no certificate");
    let key = team.path().join("key.pem");
    fs::set_permissions(key, fs::Permissions::from_mode(0o644)).unwrap();
    team.refuses(&format!("serve --listen 127.0.0.1:0 {certified}"), "chmod 600");
}

#[test]
fn push_restores_a_backup() {
    let (team, new) = (Home::new(), Home::new());
    team.import(&[run(1), run(2)]);
    let reader = token_file(&team, &token(&team, "backup", "read"));
    let server = Server::with(&team, &["--behind-proxy"]);
    let url = format!("http://{}", server.address);
    let backup = team.path().join("backup.db").display().to_string();
    let pull = ["--store", &backup, "pull", "--from", &url, "--token-file", &reader];
    assert_eq!(team.ok(&pull).lines().count(), 2);
    assert_eq!(team.ok(&pull), "");
    let writer = token_file(&new, &token(&new, "restore", "write"));
    let other = Server::start(&new);
    let url = format!("http://{}", other.address);
    let push = ["--store", &backup, "push", "--to", &url, "--token-file", &writer];
    assert_eq!(team.ok(&push).lines().count(), 2);
    for id in ids(&team) {
        let bundle = |home: &Home| home.ok(&["export", &id, "--with-identity"]);
        assert_eq!(bundle(&team), bundle(&new), "{id}");
    }
}

#[test]
fn systemd_unit_starts_a_server() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/serve/gritstone.service");
    let unit = fs::read_to_string(unit).unwrap();
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/gritstone "));
    let home = Home::new();
    fs::create_dir(home.path().join("gritstone")).unwrap();
    let state = home.path().display().to_string();
    let line = line.unwrap().replace("%S", &state).replace(":8484", ":0");
    let store = line.split(' ').nth(1).unwrap();
    home.refuses(&line, "token");
    home.ok(&["--store", store, "token", "create", "team", "--scope", "read"]);
    let server = Server::with_arguments(&home, &line);
    assert_eq!(server.page("/health"), "ok\n");
    assert_eq!(server.get("/").status, 401);
}

/// Every path of the API description is served as described, with no other status.
#[test]
fn openapi_matches_the_server() {
    let home = crate::serve::changed();
    home.import(&[run(101), run(102)]);
    let sides = [105, 106].map(|number| {
        let mut side = run(number);
        side.info.settings.trial = Some(TrialSide {
            trial: "trial".to_owned(),
            side: if number == 105 { "a" } else { "b" }.to_owned(),
            margin: 0.01,
            ..TrialSide::default()
        });
        side
    });
    home.import(&sides);
    let [writer, admin] = ["write", "admin"].map(|scope| token(&home, scope, scope));
    let server = Server::start(&home);
    let api = server.json("/api/v1/openapi");
    assert_eq!(api["openapi"], "3.1.0");
    let body = &api["paths"]["/api/v1/changes/{event}"]["post"]["requestBody"]["content"];
    assert_eq!(body["application/json"]["schema"]["type"], "object");
    assert!(api["paths"]["/api/v1/changes/{event}"]["post"]["responses"]["200"].is_null());
    assert!(api["paths"]["/"]["get"].is_object());
    let newest = run(102).info;
    let changes = server.json("/changes.json");
    let event = changes["events"][0]["id"].as_str().unwrap();
    let machine = &newest.machine.id;
    let mut seen = 0;
    for (path, methods) in api["paths"].as_object().unwrap() {
        let shown = match path.as_str() {
            "/trials/{run}" => &sides[0].info.id,
            _ => &newest.id,
        };
        let place = path
            .replace("{run}", shown)
            .replace("{script}", "charts.js")
            .replace("{system}", machine)
            .replace("{event}", event)
            .replace("{benchmark}", run(1).benchmarks[0].id.as_str());
        let query = match path.as_str() {
            "/compare" => format!("?base={}&run={}", run(101).info.id, newest.id),
            _ => String::new(),
        };
        for (method, what) in methods.as_object().unwrap() {
            let responses = what["responses"].as_object().unwrap();
            let response = match method.as_str() {
                "post" if path.starts_with("/api/v1/changes/") => post(
                    &server,
                    &place,
                    Some(&writer),
                    br#"{"state":"acknowledged","note":"known"}"#,
                ),
                "post" => send(&server, Some(&writer), write_bundle(&run(103)).as_bytes()),
                // last in order of paths and methods would be too late: it is there again by then
                "delete" => {
                    server.ask("DELETE", &place, &[("Authorization", &format!("Bearer {admin}"))])
                }
                _ => {
                    server.ask("GET", &format!("{place}{query}"), &[("Accept", "application/json")])
                }
            };
            let status = response.status.to_string();
            assert!(status.starts_with('2'), "{method} {place}: {status}");
            let printed = &responses[&status]["content"];
            let media = response.header("content-type").unwrap();
            let media = media.split(';').next().unwrap();
            assert!(printed[media].is_object(), "{method} {path}: {media} is not in {printed}");
            let schema = &printed[media]["schema"];
            let schema = schema["anyOf"].get(0).unwrap_or(schema);
            let wanted = &schema["properties"]["schema"]["const"];
            if wanted.is_string() {
                let value: Value = serde_json::from_slice(&response.body).unwrap();
                assert_eq!(value["schema"], *wanted, "{path}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 18, "{seen}");
}
