/* app/hilo: logic circuits simulated by an event-driven simulator of the machine, several at once (hp-1987, section 2, figure 2.5).
 *
 * The Verilog is compiled once, untimed: by iverilog for vvp, or by verilator to a program. Each simulation has its seed and
 * must print the checksum of the results that the circuit must have, which is computed here without it. Parameters:
 * circuit=isor, mc6800, resource or wcs; users=; iverilog= and vvp=, or verilator= (paths).
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
	FILE *verilog = file_of(c, &compiler, "circuit.v", "we");
	if (verilog == NULL)
		return;
	circuit->write(verilog);
	if (fclose(verilog) != 0)
		failed(c, "write");
	for (int i = 0; argv[i] != NULL; i++)
		snprintf(compiler.word[i], sizeof *compiler.word, "%s", argv[i]);
	if (start(c, &compiler)) {
		wait_for(c, &compiler);
		ended_well(c, &compiler);
	}
}

static void setup(struct context *c)
{
	const char *name = parameter(c, "circuit", "mc6800");
	for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++)
		if (strcmp(name, circuits[i]->name) == 0)
			circuit = circuits[i];
	if (circuit == NULL)
		wrong_arguments(c, "circuit=%s is none of isor, mc6800, resource and wcs", name);
	vvp = parameter(c, "verilator", NULL) != NULL ? NULL : parameter(c, "vvp", "/usr/bin/vvp");
	set_up_simulations(c);
	compile(c);
}

static void write_input(struct context *c, struct simulation *s)
{
	int words = 0;
	(void)c;
	s->seed = (s->seed & 0xffffffff) | 1; /* 0 would draw nothing but 0 */
	if (vvp != NULL) {
		snprintf(s->word[words++], sizeof *s->word, "%s", vvp);
		snprintf(s->word[words++], sizeof *s->word, "../circuit.vvp");
	} else
		snprintf(s->word[words++], sizeof *s->word, "../built/circuit");
	snprintf(s->word[words], sizeof *s->word, "+seed=%08x", (unsigned)s->seed);
}

/* The checksum stands in the first line; verilator adds where it ended. */
static void judge(struct context *c, const struct simulation *s, char *text)
{
	char right[32];
	snprintf(right, sizeof right, "checksum %08x\n", (unsigned)circuit->checksum((uint32_t)s->seed));
	size_t length = strlen(right);
	if (strncmp(text, right, length) != 0 || (vvp != NULL && text[length] != '\0'))
		failed_because(c, "output", "the simulator printed '%.60s' for seed %08x, and %.17s is right", text, (unsigned)s->seed, right);
}

const struct kernel kernel = {.name = "app/hilo",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .children = CHILDREN_ALONE,
			      .single = 1};
