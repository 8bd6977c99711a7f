/* app/spice: circuit simulation by an installed SPICE (hp-1987, section 2, table 2.1).
 *
 * The program reads a netlist and prints voltages over time, which are checked against an analysis of the circuit: operating points and
 * slew rates of amplifiers, states of a counter. Parameters: circuit=ua741, mosamp2 or greycode; users=; ngspice= or gnucap= (path of the
 * simulator).
 */
#define _GNU_SOURCE
#include "greycode.h"
#include "mosamp2.h"
#include "ua741.h"

static const struct circuit *const circuits[] = {&ua741, &mosamp2, &greycode};
static const struct circuit *circuit;
static const char *simulator;
static int is_gnucap, rows;
static struct table table;

static void setup(struct context *c)
{
	const char *name = parameter(c, "circuit", "mosamp2");
	for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++)
		if (strcmp(name, circuits[i]->name) == 0)
			circuit = circuits[i];
	if (circuit == NULL)
		wrong_arguments(c, "circuit=%s is not ua741, mosamp2 or greycode", name);
	is_gnucap = parameter(c, "gnucap", NULL) != NULL;
	simulator = parameter(c, is_gnucap ? "gnucap" : "ngspice", "/usr/bin/ngspice");
	rows = (int)lround(circuit->stop / circuit->step) + 1;
	setup_simulations(c);
}

static void write_input(struct context *c, struct simulation *s)
{
	FILE *netlist = open_file(c, s, "circuit.cir", "we");
	if (netlist == NULL)
		return;
	fprintf(netlist, "%s, seed %#llx\n", circuit->name, (unsigned long long)s->seed);
	if (!is_gnucap) /* gnucap prints at regular times by default */
		fputs(".options interp\n", netlist);
	circuit->write(netlist, s->seed);
	fputs(".end\n", netlist);
	if (fclose(netlist) != 0)
		failed(c, "write");
	snprintf(s->word[0], sizeof *s->word, "%s", simulator);
	snprintf(s->word[1], sizeof *s->word, "-b");
	snprintf(s->word[2], sizeof *s->word, "circuit.cir");
}

static void check_output(struct context *c, const struct simulation *s, char *text)
{
	read_tables(&table, text, circuit->step);
	circuit->check_output(c, &table, rows, s->seed);
}

const struct kernel kernel = {.name = "app/spice",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .children = CHILDREN_ALONE,
			      .single = 1};
