// Looks at reports and at pages of a server in Chromium: no violation that axe-core knows, no page wider than the window, in light and
// dark, on a phone and a desk, folded and unfolded; nothing that the policy of the server refuses; filter, order and links work, and
// without script everything is there.
// usage: node check.js PAGE...    a file or a URL; with axe-core and playwright-core beside it, and Debian's Chromium
// SHOTS=DIR keeps a picture of every look; LIVE=URL is the page of a run that is measured meanwhile; CHANGE=URL and TOKEN are the page of a
// new change and a token that may write
"use strict";
const { chromium } = require("playwright-core");
const { writeFileSync } = require("node:fs");
const { pathToFileURL } = require("node:url");

const ARGUMENTS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const WIDTHS = [390, 1280, 1920];
const SCHEMES = ["light", "dark"];
const problems = [];
const { SHOTS, LIVE, CHANGE, TOKEN } = process.env;

const address = page => (page.startsWith("http://") ? page : pathToFileURL(page).href);
const base = page => (page.startsWith("http://") ? new URL(page).origin : "file:");

async function look(browser, file, width, colorScheme) {
  const where = `${file} at ${width}, ${colorScheme}`;
  // axe-core is no script of the page: what its policy refuses is looked for in `use`
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  const page = await context.newPage();
  page.on("pageerror", error => problems.push(`${where}: ${error}`));
  page.on("request", request => request.url().startsWith(base(file)) || problems.push(`${where}: fetches ${request.url()}`));
  await page.goto(address(file));
  if (SHOTS) {
    const name = `${file.replace(/^.*\/\/[^/]*|[^\w]+/g, "-").slice(0, 120)}-${width}-${colorScheme}.png`;
    await page.screenshot({ path: `${SHOTS}/${name}`, fullPage: true });
  }
  for (const open of [false, true]) {
    await page.evaluate(open => document.querySelectorAll("details").forEach(d => { d.open = open; }), open);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) { problems.push(`${where}: ${wide} px wider than the window`); }
    const cut = await page.evaluate(() => [...document.querySelectorAll(".plot.scaled")].filter(plot =>
      plot.checkVisibility() && plot.clientWidth > plot.parentElement.clientWidth).map(plot => plot.getAttribute("aria-labelledby")));
    if (cut.length > 0) { problems.push(`${where}: drawings are cut: ${cut}`); }
  }
  // its rules look at widths or at colors, and take most of the time: two looks have both
  if (width !== WIDTHS[2] && (width === WIDTHS[0]) === (colorScheme === SCHEMES[0])) { await audit(page, where); }
  await context.close();
}

async function audit(page, where) {
  await page.addScriptTag({ path: require.resolve("axe-core") });
  const { violations } = await page.evaluate(() => axe.run());
  for (const { id, nodes } of violations) {
    problems.push(`${where}: ${id}: ${nodes[0].html.slice(0, 200)} (${nodes.length} in all)`);
  }
}

// The results of a page that are seen.
const seen = page => page.evaluate(() =>
  [...document.querySelectorAll(".results > details")].filter(d => d.checkVisibility()).map(d => d.id));

async function use(browser, file) {
  const says = (what, holds) => holds || problems.push(`${file}: ${what}`);
  const page = await browser.newPage();
  page.on("console", message => says(`says: ${message.text()}`, message.type() !== "error"));
  await page.goto(address(file));
  const all = await seen(page);
  if (all.length === 0) { return; }
  const one = all[all.length - 1];
  await page.getByLabel("Filter").fill("pipe");
  const some = await seen(page);
  const named = await page.evaluate(ids => ids.every(id =>
    document.getElementById(id).firstElementChild.textContent.toLowerCase().includes("pipe")), some);
  says("the filter shows what it is asked for", named && some.length < all.length);
  await page.getByLabel("Filter").fill("");
  await page.getByLabel("Order").selectOption("wide");
  const widths = await page.evaluate(() => [...document.querySelectorAll(".results")].map(list =>
    [...list.querySelectorAll(":scope > details")].map(d => Number(d.dataset.wide))));
  says("the widest come first", widths.every(list => list.every((wide, at) => at === 0 || wide <= list[at - 1])));
  await page.getByLabel("Order").selectOption("");
  says("the order of categories comes back", String(await seen(page)) === String(all));
  await page.goto(`${address(file)}#${one}`);
  says("a link opens its details", await page.evaluate(id => document.getElementById(id).open, one));
  await page.close();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(address(file));
  says("all results are there without script", await plain.locator(".results > details").count() === all.length);
  says("no control that does nothing", !(await plain.locator(".bar").isVisible()));
  await context.close();
}

// A chart: the run at the pointer and by keyboard, zoom by a drag and by a button, a logarithmic axis; without script the drawing is there.
async function chart(browser, file) {
  const says = (what, holds) => holds || problems.push(`${file}: ${what}`);
  const page = await browser.newPage();
  page.on("console", message => says(`says: ${message.text()}`, message.type() !== "error"));
  await page.goto(address(file));
  const [drawn, given] = [await page.locator(".live-plot").count(), await page.locator("script.chart-data").count()];
  says(`${given} charts are drawn, not ${drawn}`, drawn === given);
  says("the history of a benchmark is a chart", drawn > 0 || !/\/benchmarks\/./.test(file));
  if (drawn === 0) { await page.close(); return; }
  const place = page.locator(".live-plot").first();
  const range = () => place.evaluate(of => of.plot.scales.x.max - of.plot.scales.x.min);
  const said = page.locator(".at-pointer").first();
  const over = place.locator(".u-over");
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(of => of.textContent.startsWith("Run "), await said.elementHandle());
  const whole = await range();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(50);
  const part = await range();
  says("a drag zooms", part < whole * 0.5);
  says("a drag opens no run", address(file) === page.url());
  await page.getByRole("button", { name: "Later runs" }).first().click();
  says("panning keeps the range", Math.abs(await range() - part) < 1e-6);
  await page.getByRole("button", { name: "All runs" }).first().click();
  says("all runs come back", await range() === whole);
  await page.getByLabel("Logarithmic").first().check();
  says("the axis is logarithmic", await place.evaluate(of => of.plot.scales.y.distr) === 3);
  await place.focus();
  await page.keyboard.press("ArrowLeft");
  const before = await said.textContent();
  await page.keyboard.press("ArrowLeft");
  says("arrows go from run to run", before !== await said.textContent());
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\//);
  await page.close();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(address(file));
  says("the drawing is there without script", await plain.locator("figure svg").first().isVisible());
  await context.close();
}

// A change by keyboard from new over assigned to fixed.
async function triage(browser, change) {
  const says = (what, holds) => holds || problems.push(`${change}: ${what}`);
  const page = await browser.newPage();
  page.on("console", message => says(`says: ${message.text()}`, message.type() !== "error" || /401/.test(message.text())));
  await page.goto(change);
  const state = async (word, fields, wanted) => {
    await page.locator("[name=state]").focus();
    await page.keyboard.type(word);
    for (const [label, text] of Object.entries(fields)) {
      await page.getByLabel(label, { exact: true }).focus();
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text);
    }
    await page.keyboard.press("Enter");
    await page.locator("dd", { hasText: new RegExp(`^${wanted}$`) }).waitFor();
  };
  await page.getByLabel("Note", { exact: true }).fill("x");
  await page.getByLabel("Token").fill("wrong");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".triage output", { hasText: /token/i }).waitFor();
  await state("assigned", { "Assigned to": "ana", Note: "", Token: TOKEN }, "assigned");
  await state("fixed", { Note: "commit 3f1c2ab" }, "fixed");
  says("all that was said is there", await page.locator("tbody", { hasText: "commit 3f1c2ab" }).count() === 1);
  await page.close();
}

// From the first page by keyboard to a search, from there to a run, and to a comparison with another, without script.
async function walk(browser, first) {
  const says = (what, holds) => holds || problems.push(`${first}: ${what}`);
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(first);
  await page.getByLabel("Search").focus();
  await page.keyboard.type("before");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/search\?q=before$/);
  await page.locator("main a[href^='/runs/']").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\//);
  says("a run is the report", await page.locator(".results > details").count() > 0);
  await page.getByRole("button", { name: "Compare" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/compare\?run=.*&base=/);
  await page.getByRole("combobox", { name: "Family", exact: true }).selectOption("byte");
  await page.getByRole("combobox", { name: "Effect", exact: true }).selectOption("1");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/family=byte/);
  const others = await page.locator("tbody th a").evaluateAll(all => all.filter(a => !a.textContent.startsWith("byte/")).length);
  says("a family is shown alone", others === 0);
  await page.locator("tbody th a").first().click();
  await page.waitForURL(/\/benchmarks\/byte\//);
  says("a history is drawn", await page.locator("figure svg").count() > 0);
  await context.close();
}

// A run that is being measured: its launches are counted, and the page is that of the whole run when it has ended. Whoever measures waits for the
// file `open` before the first launch, and for `counted` before the end.
async function follow(browser, live) {
  const says = (what, holds) => holds || problems.push(`${live}: ${what}`);
  const page = await browser.newPage();
  page.on("console", message => says(`says: ${message.text()}`, message.type() !== "error"));
  await page.goto(live);
  await page.getByRole("status").getByText("0 launches so far").waitFor();
  writeFileSync("open", "");
  await page.getByRole("status").getByText(/[1-9]\d* launch(es)? so far, the last of /).waitFor({ timeout: 120000 });
  writeFileSync("counted", "");
  await page.locator("[data-events]").waitFor({ state: "detached", timeout: 120000 });
  says("the whole run is there", await page.locator(".results > details").count() > 0);
  await page.close();
}

(async () => {
  const files = process.argv.slice(2);
  // with a profile of its own, which is removed
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
  for (const file of files) {
    const start = Date.now();
    for (const width of WIDTHS) {
      for (const scheme of SCHEMES) { await look(browser, file, width, scheme); }
    }
    await use(browser, file);
    await chart(browser, file);
    console.error(`${file}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
  }
  if (CHANGE) { await triage(browser, CHANGE); }
  if (LIVE) { await follow(browser, LIVE); }
  const first = files.find(file => file.startsWith("http://"));
  if (first) { await walk(browser, new URL(first).origin); }
  await browser.close();
  console.log(problems.join("\n"));
  process.exitCode = problems.length > 0 || files.length === 0 ? 1 : 0;
})();
