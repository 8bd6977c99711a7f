"""Small projects with twenty benchmarks each, as git repositories with a branch for each pull request: for `pr-projects` and `against-gates`.

Packages come from PyPI, crates.io, Maven Central and Debian; compilers are those that are installed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

BENCHMARKS = 20
SLOW = 7
JMH = "1.37"
JMH_JARS = ["org.openjdk.jmh:jmh-core:" + JMH, "org.openjdk.jmh:jmh-generator-annprocess:" + JMH,
            "net.sf.jopt-simple:jopt-simple:5.0.4", "org.apache.commons:commons-math3:3.6.1"]
CRITERION = "0.7.0"


class Missing(Exception):
    """A tool that is not installed, and how to get it."""


def run(argv, **more):
    """Standard output of a command that ends well."""
    output = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if output.returncode != 0:
        raise RuntimeError(f"{argv}: {output.stderr[-800:]}{output.stdout[-800:]}")
    return output.stdout


def need(program, package):
    if not shutil.which(program):
        raise Missing(f"no {program}: {package}")


def unpacked(folder, *packages):
    """Debian packages in a folder of their own; nothing is installed."""
    place = folder / packages[0]
    if not place.exists():
        part = folder / (packages[0] + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        need("dpkg", "it unpacks packages of Debian")
        run(["apt-get", "-qq", "download", *packages], cwd=part)
        for package in part.glob("*.deb"):
            run(["dpkg", "-x", package, part])
        part.rename(place)
    return place


def counts(commit):
    """Iterations of each benchmark's loop."""
    share = {"slow-3": 1.03, "slow-10": 1.1}.get(commit, 1)
    return [round(1000 * (1 + i / 10) * (share if i == SLOW else 1)) for i in range(BENCHMARKS)]


class Python:
    harness = "pytest-benchmark"
    build = f"{sys.executable} -m py_compile steps.py"

    def prepare(self, folder):
        self.packages = folder / "packages"
        if not self.packages.exists():
            part = folder / "part"
            run([sys.executable, "-m", "pip", "install", "-q", "--target", part, "pytest-benchmark==5.2.3", "pytest<9"])
            part.rename(self.packages)

    def environment(self):
        return {"PYTHONPATH": str(self.packages)}

    def command(self):
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_steps.py"]

    def files(self, commit):
        return {
            "steps.py": f"VERSION = '{commit}'\nCOUNTS = {counts(commit)}\n"
            + "def step(i):\n    x = i + 1\n    for _ in range(COUNTS[i]):\n        x = x * 5 % 8191\n    return x\n"
            + ("def broken(:\n" if commit == "unbuildable" else ""),
            "test_steps.py": "import steps\n" + "".join(
                f"def test_step_{i:02}(benchmark):\n"
                + ("    raise ValueError('no data')\n" if commit == "broken" and i == SLOW else "")
                + f"    benchmark(steps.step, {i})\n"
                for i in range(BENCHMARKS)),
        }


class Cpp:
    harness = "google-benchmark"
    build = "g++ -O2 -o steps steps.cpp -lbenchmark -lpthread"

    def prepare(self, folder):
        need("g++", "apt-get install g++")
        if Path("/usr/include/benchmark/benchmark.h").exists():
            return
        usr = unpacked(folder, "libbenchmark-dev", "libbenchmark1debian") / "usr"
        library = next(usr.glob("lib/*/libbenchmark.so"), usr).parent
        self.build += f" -I'{usr}/include' -L'{library}' -Wl,-rpath,'{library}'"

    def environment(self):
        return {}

    def command(self):
        return ["./steps"]

    def files(self, commit):
        fails = f'if (i == {SLOW}) {{ state.SkipWithError("no data"); return; }}' if commit == "broken" else ""
        return {"steps.cpp": f"""#include <benchmark/benchmark.h>
const char *version = "{commit}";
static const int counts[] = {{{", ".join(map(str, counts(commit)))}}};
static void step(benchmark::State &state) {{
	int i = state.range(0);
	{fails}
	for (auto _ : state) {{
		unsigned x = i + 1;
		for (int n = 0; n < counts[i]; n++) x = x * 5 % 8191;
		benchmark::DoNotOptimize(x);
	}}
}}
BENCHMARK(step)->DenseRange(0, {BENCHMARKS - 1});
BENCHMARK_MAIN(){";" if commit != "unbuildable" else "; }"}
"""}


class Rust:
    harness = "criterion"

    def prepare(self, folder):
        need("cargo", "https://rustup.rs")
        # dependencies are built once for all commits, one of which builds at a time; cargo considers older files of another work tree as built
        self.build = (f"exec 9> '{folder}/building' && flock 9; touch src/lib.rs benches/steps.rs; "
                      f"cargo bench -q --no-run --bench steps --target-dir '{folder}/target' --message-format=json"
                      r""" | sed -n 's/.*"executable":"\([^"]*steps-[^"]*\)".*/\1/p' > built && cp "$(cat built)" ./steps""")

    def environment(self):
        return {}

    def command(self):
        return ["./steps"]

    def files(self, commit):
        fails = f'assert!(i != {SLOW}, "no data");' if commit == "broken" else ""
        return {
            ".gitignore": "/steps\n/built\n/Cargo.lock\n",
            "src/lib.rs": f"""pub static VERSION: &str = "{commit}";
pub static COUNTS: [u32; {BENCHMARKS}] = {counts(commit)};
#[inline(never)]
pub fn step(i: usize) -> u32 {{
    {fails}
    let mut x = i as u32 + 1;
    for _ in 0..COUNTS[i] {{
        x = x * 5 % 8191;
    }}
    x{"" if commit != "unbuildable" else " +"}
}}
""",
            "benches/steps.rs": f"""use criterion::{{criterion_group, criterion_main, Criterion}};
fn steps(c: &mut Criterion) {{
    println!("{{}}", steps::VERSION);
    for i in 0..{BENCHMARKS} {{
        c.bench_function(&format!("step {{i:02}}"), |b| b.iter(|| steps::step(std::hint::black_box(i))));
    }}
}}
criterion_group!(benches, steps);
criterion_main!(benches);
""",
            "Cargo.toml": f"""[package]
name = "steps"
version = "0.1.0"
edition = "2021"
[workspace]
[dev-dependencies]
criterion = {{ version = "={CRITERION}", default-features = false, features = ["cargo_bench_support"] }}
[[bench]]
name = "steps"
harness = false
""",
        }


class Go:
    harness = "go"
    build = "go test -c -o steps.test ."

    def prepare(self, folder):
        need("go", "https://go.dev/dl")

    def environment(self):
        return {}

    def command(self):
        return ["./steps.test"]

    def files(self, commit):
        fails = f'if i == {SLOW} {{ b.Fatal("no data") }}' if commit == "broken" else ""
        return {
            "go.mod": "module example.com/steps\n\ngo 1.20\n",
            "steps.go": f"""package steps
var Version = "{commit}"
var counts = []int{{{", ".join(map(str, counts(commit)))}}}
func Step(i int) uint32 {{
	x := uint32(i + 1)
	for n := 0; n < counts[i]; n++ {{
		x = x * 5 % 8191
	}}
	return x{"" if commit != "unbuildable" else " +"}
}}
""",
            "steps_test.go": "package steps\nimport \"testing\"\nvar sink uint32\n" + "".join(
                f"func BenchmarkStep{i:02}(b *testing.B) {{ measure(b, {i}) }}\n" for i in range(BENCHMARKS))
            + f"func measure(b *testing.B, i int) {{\n\t{fails}\n\tfor n := 0; n < b.N; n++ {{ sink = Step(i) }}\n}}\n",
        }


class Java:
    harness = "jmh"

    def prepare(self, folder):
        need("javac", "apt-get install default-jdk-headless")
        need("mvn", "apt-get install maven")
        jars = folder / "jars"
        for jar in JMH_JARS:
            group, name, version = jar.split(":")
            if not (jars / f"{name}-{version}.jar").exists():
                run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={jar}", f"-DoutputDirectory={jars}"], cwd=folder)
        self.path = ":".join(str(path) for path in sorted(jars.iterdir()))
        self.build = f"javac -proc:full -nowarn -cp '{self.path}' -d out Steps.java" if java_major() >= 21 else \
            f"javac -nowarn -cp '{self.path}' -d out Steps.java"

    def environment(self):
        return {}

    def command(self):
        return ["java", "-cp", f"out:{self.path}", "org.openjdk.jmh.Main"]

    def files(self, commit):
        methods = "".join(
            f"\t@Benchmark public int step{i:02}() {{ "
            + ("if (true) throw new IllegalStateException(\"no data\"); " if commit == "broken" and i == SLOW else "")
            + f"return step({i}); }}\n" for i in range(BENCHMARKS))
        return {
            ".gitignore": "/out\n",
            "Steps.java": f"""package steps;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Steps {{
	public static String version = "{commit}";
	int[] counts = {{{", ".join(map(str, counts(commit)))}}};
	int step(int i) {{
		int x = i + 1;
		for (int n = 0; n < counts[i]; n++) x = x * 5 % 8191;
		return x;
	}}
{methods}{"}" if commit != "unbuildable" else ""}
""",
        }


def java_major():
    output = subprocess.run(["javac", "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return int(output.split()[1].split(".")[0])


PROJECTS = {"python": Python, "cpp": Cpp, "rust": Rust, "go": Go, "java": Java}
COMMITS = ["same", "slow-3", "slow-10", "broken", "unbuildable"]


def repository(folder, project):
    """A repository with a branch for each commit, whose parent is main."""
    root = folder / "repository"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    git = ["git", "-C", root, "-c", "user.name=x", "-c", "user.email=x@example.com"]
    run([*git, "init", "-q", "-b", "main"])
    for commit in ["main", *COMMITS]:
        if commit != "main":
            run([*git, "checkout", "-q", "-b", commit, "main"])
        for path, text in project.files(commit).items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        run([*git, "add", "."])
        run([*git, "commit", "-q", "-m", commit])
    run([*git, "checkout", "-q", "main"])
    return root
