// Looks at reports in Chromium: no violation that axe-core knows, no page wider than the window, in light and dark, on a phone and a
// desk, folded and unfolded; filter, order and links work, and without script everything is there.
// usage: node check.js PAGE...    with axe-core and playwright-core beside it, and Debian's Chromium
"use strict";
const { chromium } = require("playwright-core");
const { pathToFileURL } = require("node:url");

const ARGUMENTS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const problems = [];

async function look(browser, file, width, colorScheme) {
  const where = `${file} at ${width}, ${colorScheme}`;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.on("pageerror", error => problems.push(`${where}: ${error}`));
  page.on("request", request => request.url().startsWith("file:") || problems.push(`${where}: fetches ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  await page.addScriptTag({ path: require.resolve("axe-core") });
  for (const open of [false, true]) {
    await page.evaluate(open => document.querySelectorAll("details").forEach(d => { d.open = open; }), open);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) { problems.push(`${where}: ${wide} px wider than the window`); }
  }
  const { violations } = await page.evaluate(() => axe.run());
  for (const { id, nodes } of violations) {
    problems.push(`${where}: ${id}: ${nodes[0].html.slice(0, 200)} (${nodes.length} in all)`);
  }
  await context.close();
}

// The results of a page that are seen.
const seen = page => page.evaluate(() =>
  [...document.querySelectorAll(".results > details")].filter(d => d.checkVisibility()).map(d => d.id));

async function use(browser, file) {
  const says = (what, holds) => holds || problems.push(`${file}: ${what}`);
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
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
  await page.goto(`${pathToFileURL(file).href}#${one}`);
  says("a link opens its details", await page.evaluate(id => document.getElementById(id).open, one));
  await page.close();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(pathToFileURL(file).href);
  says("all results are there without script", await plain.locator(".results > details").count() === all.length);
  says("no control that does nothing", !(await plain.locator(".bar").isVisible()));
  await context.close();
}

(async () => {
  const files = process.argv.slice(2);
  // with a profile of its own, which is removed
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
  for (const file of files) {
    for (const width of [390, 1280]) {
      for (const scheme of ["light", "dark"]) { await look(browser, file, width, scheme); }
    }
    await use(browser, file);
  }
  await browser.close();
  console.log(problems.join("\n"));
  process.exitCode = problems.length > 0 || files.length === 0 ? 1 : 0;
})();
