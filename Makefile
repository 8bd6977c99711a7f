# make run    sets up, builds, measures the suite `standard` with little effort, shows the tables and writes the report
# make check  formatting, lints, the rules of the repository and unit tests: a part of make test
# make test   sets up, and runs every check of the repository but those that have to measure
# make test-full [PART=rt]   those, or some of them: scripts/test-full
# make dist   builds what is handed on, into dist/: a static binary, its pages and completions, a Debian package; and tries it
# make docs   writes docs/benchmarks/ from the catalog; make test checks that it is up to date
# make book   the documents as pages: out/book/index.html
# RUN='...'   other arguments for `gritstone run`, for instance: make run RUN='byte/* iocall --budget 10m'

RUN ?= --quick
# The harness's own optimisation touches no figure: the kernels are C programs of their own.
PROFILE ?= quick
GRITSTONE = $(or $(CARGO_TARGET_DIR),target)/$(PROFILE)/gritstone
# tests that take root are left out by name where nobody is root
SKIP := $(shell [ "$$(id -u)" = 0 ] || echo --skip as_root)

.PHONY: run lint check test test-full dist docs book setup-run setup-test setup-test-full setup-book build

run: setup-run build
	$(GRITSTONE) run $(RUN)
	mkdir -p out
	$(GRITSTONE) report last --output out/report.html --output out/report.pdf

build:
	cargo build --profile $(PROFILE) --bin gritstone

# for all their commands: with another value, cargo builds the kernels and what needs them again
lint check test: export GRITSTONE_WERROR = 1

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# audits compile each planted workload several times: make test has them
check: setup-run lint
	cargo test --workspace --lib --bins -- $(SKIP) --skip command::audit

test: setup-test lint
	cargo clippy -p gritstone --no-default-features --quiet -- -D warnings
	scripts/check-c
	# a shell that starts this in the background, or nohup, has these signals ignored, and tests send them; the rules of the
	# repository (tidy, docgen, licenses) are tests of xtask
	env --default-signal=HUP,INT,QUIT cargo test --workspace -- $(SKIP)

test-full: setup-test-full
	env --default-signal=HUP,INT,QUIT scripts/test-full $(PART)

dist:
	@scripts/setup dist
	scripts/dist
	scripts/bare

docs:
	cargo xtask docgen

book: setup-book build
	GRITSTONE=$(GRITSTONE) scripts/book

setup-run:
	@scripts/setup run

setup-test:
	@scripts/setup test

setup-book:
	@scripts/setup book

setup-test-full:
	@scripts/setup test-full
