"""Readers and senders of scripts/load-serve: asks a server for its pages, and prints how long they take as a table."""
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

from load_common import quantile, renamed

BINARY, STORE, BUNDLE, NAME, RUNS, SIZE, STORED, COMPUTED = sys.argv[1:9]
READERS = int(os.environ.get("READERS", 50))
SENDERS = int(os.environ.get("SENDERS", 20))
SECONDS = float(os.environ.get("SECONDS_EACH", 20))
ASKED_MS = 200
# pages of a kind whose first answer is timed
FIRST = 20


def ask(address, path, body=None, token=None):
    """The status and the answer, and the milliseconds until all of it was there."""
    start = time.monotonic()
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("POST" if body else "GET", path, body, headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, text, 1000 * (time.monotonic() - start)


def gritstone(*words):
    done = subprocess.run([BINARY, "--store", STORE, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


bundle = open(BUNDLE).read()
launches = min(100, json.loads(bundle.splitlines()[-1])["end"]["launches"])
print(f"\n{NAME}: {RUNS} runs of {launches} launches stored in {STORED} s, results computed in {COMPUTED} s; "
      f"{int(SIZE) / int(RUNS) / launches:.0f} bytes a launch without results\n", flush=True)
token = gritstone("token", "create", "load", "--scope", "write").strip()
listed = json.loads(gritstone("runs", "--all", "--format", "json"))["runs"]
newest, before, system = listed[0]["id"], listed[1]["id"], listed[0]["machine_id"]
pages = {
    "overview": "/",
    "overview, JSON": "/overview.json",
    "run": f"/runs/{newest}",
    "two runs": f"/compare?base={before}&run={newest}",
    "benchmark": "/benchmarks/byte/syscall?runs=100",
    "system": f"/systems/{system}",
    "search": "/search?q=quick",
    "changes": "/changes.atom",
    "metrics": "/metrics",
    "health": "/health",
    "list of runs": "/api/v1/runs",
}
# pages that have not been asked for
others = [run["id"] for run in listed[2:]]
words = ["byte", "loop", "sieve", "syscall", "fcall", "empty", "assign", "overhead", "xeon", "epyc", "vm", "run", "2026", "linux", "kvm", "gcc", "debian", "ext4", "cores", "quick"]
fresh = {
    "run": [f"/runs/{run}" for run in others[:FIRST]],
    "two runs": [f"/compare?base={run}&run={newest}" for run in others[:FIRST]],
    "benchmark": [f"/benchmarks/byte/syscall?runs={20 + runs}" for runs in range(FIRST)],
    "system": [f"/systems/{one}" for one in dict.fromkeys(run["machine_id"] for run in listed[1:]) if one != system][:FIRST],
    "search": [f"/search?q={word}" for word in words[:FIRST]],
}
server = subprocess.Popen([BINARY, "--store", STORE, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
address = server.stdout.readline().strip().removeprefix("http://").rstrip("/")

# a thread computes changes once
start = time.monotonic()
while ask(address, "/changes.json")[0] != 200:
    time.sleep(0.2)
digest = time.monotonic() - start
first = {}
for name, path in pages.items():
    times = [ask(address, path)[2] for path in fresh.get(name, [path])]
    first[name] = statistics.median(times) if times else float("nan")
alone = {}
for name, path in pages.items():
    times = []
    for _ in range(11):
        status, text, took = ask(address, path)
        if status != 200:
            sys.exit(f"{path}: {status} {text[:300]}")
        times.append(took)
    alone[name] = statistics.median(times)

# unchanged pages, by wrk, which keeps its connections open; the server has a CPU of its own if there are two
cpus = os.sched_getaffinity(0)


def pin(cpus):
    for task in os.listdir(f"/proc/{server.pid}/task"):
        os.sched_setaffinity(int(task), cpus)


pin({min(cpus)})
unchanged = {}
for name, path in pages.items():
    if shutil.which("wrk") is None:
        break
    wrk = ["wrk", "-t1", f"-c{READERS}", "-d5s", "--latency", "-H", "Accept-Encoding: gzip", f"http://{address}{path}"]
    said = subprocess.run(["taskset", "-c", str(max(cpus)), *wrk], capture_output=True, text=True).stdout
    rate, tail = (re.search(wanted, said) for wanted in (r"Requests/sec:\s+(\S+)", r"(?m)^\s+99%\s+(\S+)"))
    if rate is None or "Non-2xx" in said:
        sys.exit(f"{path}: {said}")
    unchanged[name] = [rate.group(1), tail.group(1)]
pin(cpus)

many = {name: [] for name in pages}
busy = {name: 0 for name in pages}
acknowledged, wrong, lock, until = [], [], threading.Lock(), time.monotonic() + SECONDS


def read(at):
    names = list(pages)
    while time.monotonic() < until:
        name = names[at % len(names)]
        at += 1
        status, _, took = ask(address, pages[name])
        with lock:
            if status == 200:
                many[name].append(took)
            elif status == 503:
                busy[name] += 1
            else:
                wrong.append(f"{name}: {status}")


def send(at):
    number = at
    while time.monotonic() < until:
        sent = f"20270101-000000-{number:08x}"
        status, text, _ = ask(address, "/api/v1/runs", renamed(bundle, sent), token)
        if status in (200, 201):
            with lock:
                acknowledged.append(sent)
            number += SENDERS
        elif status == 503:
            time.sleep(0.1)
        else:
            with lock:
                wrong.append(f"sending: {status} {text[:300]}")
            return


threads = [threading.Thread(target=read, args=(at,)) for at in range(READERS)]
threads += [threading.Thread(target=send, args=(at,)) for at in range(SENDERS)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
server.terminate()
server.wait()

print(f"| page | first answer, ms | one reader: median, ms | {READERS} readers, {SENDERS} senders: median, ms | 99%, ms | answered | refused (503) |")
print("| --- | --- | --- | --- | --- | --- | --- |")
for name in pages:
    times = many[name] or [float("nan")]
    print(f"| {name} | {first[name]:.0f} | {alone[name]:.0f} | {statistics.median(times):.0f} | {quantile(times, 0.99):.0f} | {len(many[name])} | {busy[name]} |")
if unchanged:
    print(f"\n| page, unchanged, {READERS} readers | requests/s | 99% |\n| --- | --- | --- |")
    for name, (rate, tail) in unchanged.items():
        print(f"| {name} | {float(rate):,.0f} | {tail} |")
stored = [run["id"] for run in json.loads(gritstone("runs", "--all", "--format", "json"))["runs"]]
lost = [sent for sent in acknowledged if stored.count(sent) != 1]
print(f"\nwhat changed was computed in {digest:.0f} s; {len(acknowledged)} runs were sent in {SECONDS:.0f} s, {len(lost)} of them are missing or doubled",
      flush=True)
slow = [name for name, took in alone.items() if took >= ASKED_MS]
if slow:
    print(f"slower than {ASKED_MS} ms: {', '.join(slow)}", flush=True)
if wrong:
    print(f"{len(wrong)} wrong answers, the first: {wrong[0]}", flush=True)
sys.exit(bool(slow or lost or wrong or not acknowledged))
