//! Two ends of a network: the measured work is done, missing work gives no result, and a stranger on the listening side ends the launch.
//! Faults are planted in workloads that are started alone.

use crate::common::workload::{built, checks, is_right, shipped, workload_output};
use crate::common::{
    self, DISC, Home, alone, end_at_once, entries, eventually, measured, needs_root, note_data,
    ours, processes, result, start,
};
use crate::peer::listening_sockets;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A short launch of each program, by the file of its source.
const SHORT: [(&str, &str); 7] = [
    ("net/stream", "size=1024 streams=2"),
    ("net/rr", "size=64"),
    ("net/latency", "size=64 rate=5000"),
    ("net/connect", ""),
    ("net/transfer", "size=100000"),
    ("net/tls", "size=1024 openssl=/usr/bin/openssl"),
    ("net/http", "nginx=/usr/sbin/nginx http=/usr/bin/python3"),
];
const LITTLE: &str = "growth=0 target_ns=5000000 samples=2";

/// A fault, with the expected message; none: a check value is wrong.
type Planted<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

fn arguments(name: &str, over: &str, folder: &Path) -> String {
    let options = SHORT.iter().find(|(program, _)| *program == name);
    let options = options.map_or("", |(_, options)| options);
    let copy = match name {
        "net/transfer" => {
            format!("net/copy={}", shipped("net/copy", folder.join("copy")).display())
        }
        _ => String::new(),
    };
    format!("over={over} {options} {LITTLE} {copy}")
}

fn work_is_done(name: &str, over: &str, more: &str) {
    let folder = tempfile::tempdir().unwrap();
    let workload = built(name, folder.path(), &[]);
    let line = format!("{} {more}", arguments(name, over, folder.path()));
    let printed = workload_output(&workload, folder.path(), &line);
    assert!(is_right(&printed), "{name}: {printed}");
    for key in ["near_cpu_ns", "far_cpu_ns", "near_cpu_share"] {
        assert!(printed.contains(&format!("param key={key} value=")), "{printed}");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn unix_sockets_carry_all_workloads() {
    for name in ["net/stream", "net/rr", "net/latency", "net/connect"] {
        work_is_done(name, "unix", "");
    }
    // a message that does not end where a word of a read does, and one that is larger than a read
    work_is_done("net/stream", "unix", "size=24");
    work_is_done("net/stream", "unix", "size=1000000");
    work_is_done("net/rr", "unix", "by=udp");
}

#[test]
#[ignore = "measures: make test-full"]
fn two_hosts_exchange_everything_as_root() {
    needs_root();
    for (name, _) in SHORT {
        work_is_done(name, "veth", "");
    }
    work_is_done("net/datagrams", "veth", "size=512");
    work_is_done("net/rr", "loopback", "by=udp");
    work_is_done("net/latency", "veth", "by=udp");
    work_is_done("net/stream", "loopback", "mss=536");
    work_is_done("net/tls", "loopback", "what=handshake");
    work_is_done("net/tls", "veth", "size=1000000");
    work_is_done("net/http", "veth", "size=65536 rate=500");
    work_is_done("net/http", "veth", "by=python connections=4 size=1");
    for size in ["0", "7", "65536", "65544"] {
        work_is_done("net/transfer", "veth", &format!("size={size} sync=yes"));
    }
}

/// One before OpenSSH 8.7, whose protocol the server refuses.
#[test]
#[ignore = "measures: make test-full"]
fn old_scp_is_skipped_as_root() {
    needs_root();
    let folder = tempfile::tempdir().unwrap();
    let workload = built("net/transfer", folder.path(), &[]);
    let old = "echo 'unknown option -- s' >&2\nexit 1";
    let scp = common::make_script(folder.path().join("scp"), old);
    let line = arguments("net/transfer", "veth", folder.path());
    let more = format!("by=scp ssh-keygen=/usr/bin/ssh-keygen scp={}", scp.display());
    let printed = workload_output(&workload, folder.path(), &format!("{line} {more}"));
    assert!(printed.contains("skip why=this scp cannot use SFTP"), "{printed}");
}

/// Copies files if the kernel has the file system; otherwise that is the reason of a skip.
#[test]
#[ignore = "measures: make test-full"]
fn network_file_systems_work_as_root() {
    needs_root();
    let known = fs::read_to_string("/proc/filesystems").unwrap();
    for (by, kind, direction) in
        [("9p", "9p", "to"), ("9p", "9p", "from"), ("nfs", "nfs4", "to"), ("nfs", "nfs4", "from")]
    {
        let folder = tempfile::tempdir().unwrap();
        let workload = built("net/transfer", folder.path(), &[]);
        let line = arguments("net/transfer", "veth", folder.path());
        let more = format!("by={by} direction={direction} cp=/bin/cp");
        let printed = workload_output(&workload, folder.path(), &format!("{line} {more}"));
        if printed.contains("skip why=on the server: ganesha.nfsd is missing") {
            assert!(by == "nfs" && !Path::new("/usr/bin/ganesha.nfsd").exists());
        } else if printed.contains(&format!("skip why=this kernel has no file system {kind}")) {
            assert!(!known.contains(&format!("\t{kind}\n")), "{printed}");
        } else {
            assert!(is_right(&printed), "{printed}");
        }
    }
}

fn gives_no_result(name: &str, over: &str, faults: &[Planted]) {
    for (file, right, wrong, why) in faults {
        let folder = tempfile::tempdir().unwrap();
        // nobody waits for ten seconds here
        let hurry = ("net/endpoints.h", "TIMEOUT_S = 10", "TIMEOUT_S = 1");
        let workload = built(name, folder.path(), &[hurry, (file, right, wrong)]);
        let line = arguments(name, over, folder.path());
        let printed = workload_output(&workload, folder.path(), &line);
        match why {
            Some(why) => assert!(
                printed.contains("fail errno=") && printed.contains(why),
                "{wrong}: {printed}"
            ),
            None => assert_eq!(checks(&printed), Some(false), "{wrong}: {printed}"),
        }
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn miscounting_receivers_give_no_result() {
    let stream = [
        (
            "net/messages.h",
            "reply->messages = number - order->first",
            "reply->messages = number - order->first + 1",
            None,
        ),
        (
            "net/messages.h",
            "reply->sum += sum_words(chunk, whole)",
            "reply->sum += sum_words(chunk, whole > 1 ? whole - 1 : whole)",
            None,
        ),
    ];
    gives_no_result("net/stream", "unix", &stream);
    let connect = [("net/connect.c", "replies++;", "replies += 2;", Some("connections"))];
    gives_no_result("net/connect", "unix", &connect);
}

#[test]
#[ignore = "measures: make test-full"]
fn wrong_bytes_give_no_result() {
    let faults = [
        // not the message that it should be
        (
            "net/stream.c",
            "message[0] = first + i;",
            "message[0] = first + i + (i == 1);",
            Some("message 1 of a stream is damaged or out of sequence"),
        ),
        // one bit in the middle of another
        (
            "net/stream.c",
            "message[0] = first + i;",
            "message[0] = first + i;\n\t\tmessage[64] ^= i == 1;",
            None,
        ),
        // more than was announced
        (
            "net/stream.c",
            "ok && set_nodelay(s, 1)",
            "ok && send_all(s, message, 8) && set_nodelay(s, 1)",
            Some("the server"),
        ),
    ];
    gives_no_result("net/stream", "unix", &faults);
}

#[test]
#[ignore = "measures: make test-full"]
fn lost_requests_give_no_result() {
    const LOST: &str = "no progress for 1 s";
    let gives = "if (!send_message(s))\n\t\t\tserver_fail(\"cannot send a reply";
    let lost = gives.replace("!send_message(s)", "number != 2 && !send_message(s)");
    let twice =
        gives.replace("!send_message(s)", "!send_message(s) || (number == 2 && !send_message(s))");
    let unasked = "replies++;\n\t\t}\n\t\tif (!send_message";
    let uncounted = unasked.replace("replies++", "replies += number != 2");
    let faults = [
        ("net/request_reply.h", gives, lost.as_str(), Some(LOST)),
        ("net/request_reply.h", unasked, uncounted.as_str(), Some("requests")),
    ];
    gives_no_result("net/rr", "unix", &faults);
    let unanswered = [("net/request_reply.h", gives, lost.as_str(), Some("requests within 1 s"))];
    gives_no_result("net/latency", "unix", &unanswered);
    // seen when it comes, after the region, or in the count, by when it comes
    let again = [("net/request_reply.h", gives, twice.as_str(), Some("request"))];
    gives_no_result("net/latency", "unix", &again);
}

#[test]
#[ignore = "measures: make test-full"]
fn damaged_datagrams_give_no_result_as_root() {
    needs_root();
    let send = "if (send(data, datagram, size, 0) != (ssize_t)size";
    let twice = send.replace("if (", "if ((sent == 9 && send(data, datagram, size, 0) < 0) || ");
    let sum = "datagram[size / 8 - 1] = constant_sum + datagram[0];";
    let damaged = sum.replace("datagram[0];", "datagram[0] + (sent == 9);");
    let faults = [
        ("net/datagrams.c", send, twice.as_str(), Some("datagram 9 arrived twice")),
        // without the token
        (
            "net/datagrams.c",
            "sum_words(datagram + 1, size / 8 - 2) + key",
            "sum_words(datagram + 1, size / 8 - 2)",
            Some("a datagram is damaged, or does not belong to this launch"),
        ),
        (
            "net/datagrams.c",
            sum,
            damaged.as_str(),
            Some("a datagram is damaged, or does not belong to this launch"),
        ),
    ];
    gives_no_result("net/datagrams", "veth", &faults);
}

#[test]
#[ignore = "measures: make test-full"]
fn changed_files_give_no_result_as_root() {
    needs_root();
    let write = "if (write(file, piece, (size_t)n) != n)";
    let changed = write.replace("if (", "piece[1] ^= done == 0;\n\t\tif (");
    let short = write.replace("(size_t)n) != n", "(size_t)n - (done == 0)) < 0");
    let faults = [
        ("net/transfer.c", write, changed.as_str(), None),
        (
            "net/transfer.c",
            "reply.bytes = receive_file(s, &request);",
            "reply.bytes = receive_file(s, &request) - 1;",
            Some("99999 of 100000 bytes arrived"),
        ),
        ("net/transfer.c", write, short.as_str(), None),
    ];
    gives_no_result("net/transfer", "veth", &faults);
}

#[test]
#[ignore = "measures: make test-full"]
fn forged_streams_give_no_result_as_root() {
    needs_root();
    let trusts = "ssl.trust(tls_context, \"certificate.pem\", NULL) == 1";
    let faults = [
        (
            "net/tls.c",
            "message[0] = first + i;",
            "message[0] = first + i + (i == 1);",
            Some("message 1 of a stream is damaged or out of sequence"),
        ),
        (
            "net/messages.h",
            "reply->sum += sum_words(chunk, whole)",
            "reply->sum += sum_words(chunk, whole > 1 ? whole - 1 : whole)",
            None,
        ),
        // a certificate without a trusted issuer
        ("net/openssl.h", trusts, "tls_context != NULL", Some("a handshake has failed")),
    ];
    gives_no_result("net/tls", "veth", &faults);
    // a connection that ends, and not as TLS has it
    let faults = [(
        "net/tls.c",
        "ssl.shut(tls);",
        "",
        Some("the server did not close the connection after its reply"),
    )];
    gives_no_result("net/tls", "veth what=handshake", &faults);
}

#[test]
#[ignore = "measures: make test-full"]
fn wrong_responses_give_no_result_as_root() {
    needs_root();
    let faults = [
        // one bit of what is expected
        (
            "net/http.c",
            "\t\tserver_fail(\"cannot write the file: %s\", strerror(errno));\n\tclose(s);",
            "\t\tserver_fail(\"cannot write the file: %s\", strerror(errno));\n\tpwrite(s, \"?\", 1, 5);\n\tclose(s);",
            Some("the body differs from the file"),
        ),
        (
            "net/http.c",
            "write(s, file, size) != (ssize_t)size",
            "write(s, file, size - 1) < 0",
            Some("Content-Length is 1023"),
        ),
        ("net/http.c", "GET /%s/file", "GET /%s/other", Some("status is not 200")),
        // asked twice, counted once
        (
            "net/http.c",
            "\"GET /%s/file HTTP/1.%d\\r\\nHost: %s\\r\\n\\r\\n\", secret, by == NGINX, parameter(c, \"address\", hosts[1])",
            "\"GET /%1$s/file HTTP/1.%2$d\\r\\nHost: %3$s\\r\\n\\r\\nGET /%1$s/file HTTP/1.%2$d\\r\\nHost: %3$s\\r\\n\\r\\n\", secret, by == NGINX, hosts[1]",
            Some("answer"),
        ),
    ];
    gives_no_result("net/http", "veth", &faults);
}

/// Far ends that violate the protocol, seen from the listening end.
#[test]
#[ignore = "measures: make test-full"]
fn near_end_strangers_end_launches() {
    let says = "send_all(s, token, sizeof token)";
    let faults = [
        (
            "net/endpoints.h",
            says,
            "(token[3] ^= 1, send_all(s, token, sizeof token))",
            Some("did not start with the token of this launch"),
        ),
        // says half of it, and waits
        (
            "net/endpoints.h",
            says,
            "send_all(s, token, 8) && sleep(3) == 0",
            Some("idle for 1 s, before its token was complete"),
        ),
        (
            "net/stream.c",
            "order = {.messages = messages,",
            "order = {.messages = UINT64_MAX,",
            Some("announces too many messages"),
        ),
        // begins a message, and does not go on
        (
            "net/stream.c",
            "ok = send_all(s, message, size);",
            "ok = send_all(s, message, 8) && sleep(3) == 0;",
            Some("a stream was closed"),
        ),
    ];
    gives_no_result("net/stream", "unix", &faults);
}

/// A process that the workload has started in another network, and the port at which it listens.
fn listening(workload: &Child) -> Option<(u32, u16)> {
    let path = format!("/proc/{0}/task/{0}/children", workload.id());
    let children = fs::read_to_string(path).ok()?;
    let mut pids = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    pids.find_map(|pid| Some((pid, listening_sockets(pid).first()?.1)))
}

/// Sends something to a listener from within its network, which only root can.
fn say_to((pid, port): (u32, u16), what: &str) {
    let line = format!("exec 3<>/dev/tcp/10.213.7.2/{port}; {what} >&3 2>/dev/null; sleep 30");
    let _ = Command::new("nsenter")
        .args([&format!("--net=/proc/{pid}/ns/net"), "timeout", "20", "bash", "-c", &line])
        .stderr(Stdio::null())
        .status();
}

/// Strangers during connections and transfers: their data are not written anywhere, and the launch reports them.
#[test]
#[ignore = "measures: make test-full"]
fn network_strangers_end_launches_as_root() {
    needs_root();
    const SILENT: &str = "before its request was complete";
    for (name, what, why) in [
        ("net/connect", "head -c 100 /dev/urandom", "did not start with the token"),
        ("net/connect", "head -c 5 /dev/zero", SILENT),
        ("net/connect", "cat /dev/urandom", "did not start with the token"),
        ("net/transfer", "cat /dev/zero", "did not start with the token"),
        ("net/transfer", "printf x", SILENT),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let hurry = ("net/endpoints.h", "TIMEOUT_S = 10", "TIMEOUT_S = 2");
        // copies give up later than the one to whom the stranger is silent
        let workload = built(name, folder.path(), &[hurry]);
        let line = arguments(name, "veth", folder.path());
        let line =
            line.replace(LITTLE, "growth=0 target_ns=200000000 samples=64 sample_ns=60000000000");
        let room = folder.path().join("room");
        fs::create_dir(&room).unwrap();
        let line = format!("exec {} {line} 3>&1", workload.display());
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .current_dir(&room)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut found = None;
        eventually("the far end listens", || {
            found = listening(&child);
            found.is_some()
        });
        let talks = std::thread::spawn(move || say_to(found.unwrap(), what));
        eventually("the launch ends", || child.try_wait().unwrap().is_some());
        let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        assert!(output.contains(why), "{name}, {what}: {output}");
        assert!(output.contains("fail errno="), "{output}");
        let files = entries(&room.join("far/received"));
        let strange = files.iter().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.parse::<u32>().is_err()
        });
        assert_eq!(strange.count(), 0, "{files:?}");
        let _ = talks.join();
    }
}

/// Networks of all processes.
fn networks() -> BTreeSet<PathBuf> {
    let network = |process: &PathBuf| fs::read_link(process.join("ns/net")).ok();
    entries(Path::new("/proc")).iter().filter_map(network).collect()
}

fn interfaces() -> BTreeSet<PathBuf> {
    entries(Path::new("/sys/class/net")).into_iter().collect()
}

#[test]
#[ignore = "measures: make test-full"]
fn kills_leave_no_network_as_root() {
    needs_root();
    let _turn = alone();
    let (before, faces) = (networks(), interfaces());
    for (seed, rows) in [
        "net/tcp/stream@4 net/tcp/connect",
        "net/transfer/1m net/udp/stream",
        "net/transfer@scp net/transfer@rsync",
        "net/transfer/0@http net/tcp/latency",
    ]
    .iter()
    .cycle()
    .take(16)
    .enumerate()
    {
        let home = Home { folder: tempfile::tempdir_in(DISC).unwrap() };
        let files = home.path().join("files");
        fs::create_dir(&files).unwrap();
        let line = format!("run {rows} --precision 0.01% --dir {}", files.display());
        let mut child = start(&home, &line, &[]);
        let wait = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        std::thread::sleep(Duration::from_millis(300 + wait % 4000));
        assert!(child.try_wait().unwrap().is_none(), "{rows}: it had ended");
        end_at_once(&mut child);
        eventually("everything that it started ends", || processes(&home) == 0);
        // other tests may have some for a while
        eventually("no network of it is there", || {
            networks().is_subset(&before) && interfaces() == faces
        });
        let (code, _, error) = home.run("doctor");
        assert!(code <= 1, "{error}");
        assert!(ours(&files).is_empty(), "{rows}: {:?}", ours(&files));
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn networks_leave_nothing_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let (before, faces) = (networks(), interfaces());
    let rows = [
        "net/tcp/128k",
        "net/tcp/stream@4",
        "net/tcp/128k@loopback",
        "net/unix/128k",
        "net/tcp/rr",
        "net/udp/rr",
        "net/tcp/connect",
        "net/udp/stream",
        "net/tcp/latency",
        "net/udp/latency",
        "net/transfer",
        "net/transfer/0",
        "net/transfer/0@scp",
        "net/transfer/0@rsync",
        "net/transfer/0@http",
        "net/remote-file/1k",
        "net/remote-file/1k@from",
        "net/tcp/128k@100mbit",
        "net/tcp/128k@loss",
        "net/tls/128k",
        "net/tls/handshake",
        "net/http/requests",
        "net/http/requests@python",
        "net/http/latency",
        "net/http/latency@python",
    ];
    let run = home.json(&format!("run {} --quick --dir {DISC}", rows.join(" ")));
    for id in rows {
        let data = note_data(measured(&run, id), "ends");
        assert!(data["cpu_ns"][0].as_f64().unwrap() > 0.0, "{id}: {data}");
        assert_eq!(data["lost"].is_null(), id != "net/udp/stream", "{data}");
    }
    // a link of 100 Mbit/s carries 12.5 MB/s with all headers, and what its buffer holds besides
    let link = result(&run, "net/tcp/128k@100mbit")["estimate"].as_f64();
    assert!((9.0..13.5).contains(&link.unwrap()), "{link:?}");
    let each = |id: &str| &note_data(result(&run, id), "ends")["each"];
    assert_eq!(each("net/udp/stream"), "byte");
    assert_eq!(each("net/tcp/rr"), "trip");
    assert_eq!(each("net/tcp/connect"), "connection");
    assert_eq!(processes(&home), 0);
    eventually("no network of it is there", || {
        networks().is_subset(&before) && interfaces() == faces
    });
}
