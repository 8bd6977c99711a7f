/* app/hilo: concurrent simulations of logic circuits by an installed event-driven simulator (hp-1987, section 2, figure 2.5).
 *
 * The Verilog is compiled once, untimed: by iverilog for vvp, or by verilator to a program. Each simulation has its own seed and must print
 * the checksum of its results, which is also computed here, independently. Parameters: circuit=isor, mc6800, resource or wcs; users=;
 * iverilog= and vvp=, or verilator= (paths).
 */
#define _GNU_SOURCE
#include "isor.h"
#include "mc6800.h"
#include "resource.h"
#include "wcs.h"

static const struct logic *const circuits[] = {&isor, &mc6800, &resource, &wcs};
static const struct logic *circuit;
static const char *vvp;

static void compile(struct context *c)
{
	const char *verilator = parameter(c, "verilator", NULL), *iverilog = parameter(c, "iverilog", "/usr/bin/iverilog");
	const char *const by_verilator[] = {verilator, "--binary", "-Wno-fatal", "-Mdir", "built", "-o", "circuit", "--top-module", "top", "circuit.v", NULL};
	const char *const by_iverilog[] = {iverilog, "-o", "circuit.vvp", "circuit.v", NULL};
	const char *const *argv = verilator != NULL ? by_verilator : by_iverilog;
	struct simulation compiler = {.directory = "."};
	FILE *verilog = open_file(c, &compiler, "circuit.v", "we");
	if (verilog == NULL)
		return;
	circuit->write(verilog);
	if (fclose(verilog) != 0)
		failed(c, "write");
	for (int i = 0; argv[i] != NULL; i++)
		snprintf(compiler.word[i], sizeof *compiler.word, "%s", argv[i]);
	if (start_simulation(c, &compiler)) {
		wait_for(c, &compiler);
		check_exit(c, &compiler);
	}
}

static void setup(struct context *c)
{
	const char *name = parameter(c, "circuit", "mc6800");
	for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++)
		if (strcmp(name, circuits[i]->name) == 0)
			circuit = circuits[i];
	if (circuit == NULL)
		wrong_arguments(c, "circuit=%s is not isor, mc6800, resource or wcs", name);
	vvp = parameter(c, "verilator", NULL) != NULL ? NULL : parameter(c, "vvp", "/usr/bin/vvp");
	setup_simulations(c);
	compile(c);
}

static void write_input(struct context *c, struct simulation *s)
{
	int words = 0;
	(void)c;
	s->seed = (s->seed & 0xffffffff) | 1; /* xorshift requires a nonzero state */
	if (vvp != NULL) {
		snprintf(s->word[words++], sizeof *s->word, "%s", vvp);
		snprintf(s->word[words++], sizeof *s->word, "../circuit.vvp");
	} else
		snprintf(s->word[words++], sizeof *s->word, "../built/circuit");
	snprintf(s->word[words], sizeof *s->word, "+seed=%08x", (unsigned)s->seed);
}

/* The checksum is in the first line; verilator appends the position of $finish. */
static void check_output(struct context *c, const struct simulation *s, char *text)
{
	char expected[32];
	snprintf(expected, sizeof expected, "checksum %08x\n", (unsigned)circuit->checksum((uint32_t)s->seed));
	size_t length = strlen(expected);
	if (strncmp(text, expected, length) != 0 || (vvp != NULL && text[length] != '\0'))
		failed_because(c, "output", "the simulator printed '%.60s' for seed %08x; expected %.17s", text, (unsigned)s->seed, expected);
}

const struct kernel kernel = {.name = "app/hilo",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .children = CHILDREN_ALONE,
			      .single = 1};
