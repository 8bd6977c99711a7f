# Common parts of the scripts that compare our benchmarks with other programs in one table; they source it.
#
# They define `ours` and `theirs`, which print lines "WHAT WHO FIGURE", WHO being "ours" or another program. A program that fails prints no
# figure, and the table has none.

# Exits unless these are installed: PROGRAM=PACKAGE...
need() {
	local pair missing=
	for pair; do
		command -v "${pair%%=*}" >/dev/null || missing+=" ${pair#*=}"
	done
	[ -z "$missing" ] || { echo "${0##*/}: missing programs; install with: sudo apt-get install$missing" >&2; exit 2; }
}

# The binary to test, with a private home and a temporary folder.
begin() {
	gritstone=${GRITSTONE:-${CARGO_TARGET_DIR:-target}/release/gritstone}
	[ -x "$gritstone" ] || { echo "${0##*/}: no $gritstone: cargo build --release, or GRITSTONE=FILE" >&2; exit 2; }
	gritstone=$(realpath "$gritstone") work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	export XDG_DATA_HOME=$work/data TMPDIR=$work
	cpus=$(taskset -cp $$ | sed 's/.*: //')
	cpu=${cpus##*[,-]} # ours take the last of the CPUs that there are, where one is enough
}

# Keeps the CPUs from halting until the script ends, as cyclictest does: they poll for work. A halted CPU of a virtual machine is woken by
# the hypervisor, in a time that changes from minute to minute, which would dominate programs that wait for each other. Needs root.
awake() {
	exec {latency}>/dev/cpu_dma_latency
	printf '\0\0\0\0' >&"$latency"
}

# Other programs use the CPU that ours choose for one process, or both CPUs that we may use.
one() { taskset -c "$cpu" "$@"; }
two() { taskset -c "$cpus" "$@"; }

# Seconds of a program by the difference of two amounts of work, which cancels start-up.
less_start() { # AMOUNT FACTOR COMMAND-THAT-PRINTS-SECONDS
	local few many
	few=$("${@:3}" "$1") many=$("${@:3}" $(($1 * $2)))
	awk -v few="$few" -v many="$many" -v n="$1" -v k="$2" 'BEGIN { printf "%.6f", (many - few) / (n * (k - 1)) * 1e9 }'
}

say() { echo "$1 $2 $3"; }

both() { ours; theirs; }

# Ours and theirs in turns, N times.
rounds() { # N [FUNCTION THAT PRINTS BOTH]
	local round
	for ((round = 1; round <= $1; round++)); do
		"${2:-both}" | sed "s/^/$round /" >>"$work/said"
		echo "round $round of $1" >&2
	done
}

# The table, from lines "WHAT WHO|quantity|row|program": medians with their range over the rounds, and the ratios by round. The range of
# four rounds contains the median with a probability of 87.5%, that of six with 97%, for any distribution.
table() {
	echo "| quantity | benchmark | Gritstone | program | other | other / Gritstone |"
	echo "| --- | --- | --- | --- | --- | --- |"
	awk "$(<scripts/beside/format_number.awk)"'
		function said(x, n, digits,    i, j, v) {
			for (i = 2; i <= n; i++) {
				v = x[i]
				for (j = i; j > 1 && x[j - 1] > v; j--) x[j] = x[j - 1]
				x[j] = v
			}
			return n ? format_number((x[int((n + 1) / 2)] + x[int(n / 2) + 1]) / 2, digits) " (" format_number(x[1], digits) " to " format_number(x[n], digits) ")" : "no result"
		}
		function figures(what, who,    x, i, n) {
			for (i = 1; i <= last; i++) if ((i, what, who) in value) x[++n] = value[i, what, who]
			return said(x, n, 4)
		}
		function ratios(what, who,    x, i, n) {
			for (i = 1; i <= last; i++)
				if ((i, what, who) in value && (i, what, "ours") in value) x[++n] = value[i, what, who] / value[i, what, "ours"]
			return n ? said(x, n, 3) : ""
		}
		FILENAME != "-" { if (NF == 4 && $4 + 0 > 0) { value[$1, $2, $3] = $4; last = $1 }; next }
		{
			split($0, field, "|"); split(field[1], key, " ")
			printf "| %s | %s | %s | `%s` | %s | %s |\n", field[2], field[3], figures(key[1], "ours"), field[4],
				figures(key[1], key[2]), ratios(key[1], key[2])
		}' "$work/said" -
}
