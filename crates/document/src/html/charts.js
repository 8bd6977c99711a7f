// Draws the histories of a page with uPlot: values at the pointer, zoom, pan, a logarithmic axis. Without it the drawings stay as they are.
"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const element = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
  };
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const start = script => {
    const { chart, links } = JSON.parse(script.textContent);
    const last = chart.points.length - 1;
    const figure = script.closest("figure");
    const still = figure.querySelector(".plots");
    const container = element("div", { className: "live-plot", tabIndex: 0 });
    container.setAttribute("role", "group");
    container.setAttribute("aria-label", still.getAttribute("aria-label") + ". Left and right arrows go from run to run, Enter opens one.");
    const readout = element("output", { className: "at-pointer" });
    const button = (text, label, act) => {
      const made = element("button", { type: "button", textContent: text, title: label, onclick: act });
      made.setAttribute("aria-label", label);
      return made;
    };
    const all = [0.5, last + 1.5];
    const isOneDay = new Set(chart.points.map(point => point.day)).size === 1;
    const when = point => (isOneDay ? point.time : point.day);
    let view = all;
    const show = ([min, max]) => {
      const span = Math.max(Math.min(max - min, last + 1), 1);
      const from = Math.min(Math.max(min, all[0]), all[1] - span);
      view = [from, from + span];
      plot.setScale("x", { min: view[0], max: view[1] });
    };
    const zoom = factor => { const [min, max] = view, half = (max - min) / 2 * factor, at = (min + max) / 2; show([at - half, at + half]); };
    const pan = factor => { const [min, max] = view, shift = (max - min) * factor; show([min + shift, max + shift]); };
    const logarithmic = element("input", { type: "checkbox", onchange: () => draw() });
    const bar = element("div", { className: "plot-bar" },
      button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
      button("◀", "Earlier runs", () => pan(-0.5)), button("▶", "Later runs", () => pan(0.5)),
      button("All", "All runs", () => show(all)),
      element("label", {}, logarithmic, " Logarithmic"));
    if (chart.points.some(point => point.y !== null && point.y <= 0)) { logarithmic.parentElement.hidden = true; }
    figure.insertBefore(element("div", { className: "chart" }, bar, container, readout), still);
    still.classList.add("drawn");

    const xs = chart.points.map((_, at) => at + 1);
    const ys = chart.points.map(point => (point.compared ? point.y : null));
    const ends = [0, 1].map(end => chart.points.map(point => (point.compared && point.interval ? point.interval[end] : null)));
    let plot = null, at = null;

    // as far as the estimates and usual intervals go; those of runs that are not compared where there are no others
    const range = () => {
      const [min, max] = view;
      const inside = chart.points.filter((point, i) => point.y !== null && i + 1 >= min && i + 1 <= max);
      if (inside.length === 0) { return [0, 1]; }
      const compared = inside.filter(point => point.compared);
      const shown = compared.length > 0 ? compared : inside;
      const halves = shown.filter(point => point.interval).map(point => (point.interval[1] - point.interval[0]) / 2).sort((a, b) => a - b);
      const half = halves.length > 0 ? halves[halves.length >> 1] : 0;
      const values = shown.map(point => point.y);
      const low = Math.min(...values), high = Math.max(...values);
      const room = Math.max(1.2 * half, (high - low) * 0.08, Math.abs(high) * 0.002);
      return [low > 0 && logarithmic.checked ? Math.max(low - room, low / 2) : low - room, high + room];
    };
    const marks = u => {
      const { ctx, bbox } = u, ratio = devicePixelRatio;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = color("--soft");
      ctx.font = `${12 * ratio}px system-ui, sans-serif`;
      ctx.textAlign = "center";
      for (const change of chart.changes) {
        const x = u.valToPos(change.x, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) { continue; }
        ctx.setLineDash([4 * ratio, 3 * ratio]);
        ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
        ctx.fillText(change.text, x, bbox.top - 4 * ratio);
      }
      ctx.setLineDash([]);
      // intervals that leave the axis
      const { min, max } = u.scales.y, size = 4 * ratio;
      ends.forEach((values, end) => values.forEach((value, i) => {
        const beyond = value !== null && (end === 0 ? value < min : value > max);
        const x = u.valToPos(i + 1, "x", true);
        if (!beyond || x < bbox.left || x > bbox.left + bbox.width) { return; }
        const tip = end === 0 ? bbox.top + bbox.height : bbox.top, foot = end === 0 ? tip - 1.6 * size : tip + 1.6 * size;
        ctx.beginPath(); ctx.moveTo(x, tip); ctx.lineTo(x - size, foot); ctx.lineTo(x + size, foot); ctx.fill();
      }));
      // a band needs two neighbors
      const hasBand = i => ends[0][i] !== null && ends[0][i] !== undefined;
      chart.points.forEach((point, i) => {
        const x = u.valToPos(i + 1, "x", true);
        if (!hasBand(i) || hasBand(i - 1) || hasBand(i + 1) || x < bbox.left || x > bbox.left + bbox.width) { return; }
        const [low, high] = point.interval.map(value => u.valToPos(Math.min(Math.max(value, min), max), "y", true));
        ctx.beginPath(); ctx.moveTo(x, low); ctx.lineTo(x, high);
        for (const y of [low, high]) { ctx.moveTo(x - size, y); ctx.lineTo(x + size, y); }
        ctx.stroke();
      });
      // runs that are not compared: hollow, at the edge where they are beyond the axis
      ctx.strokeStyle = color("--link");
      chart.points.forEach((point, i) => {
        const x = u.valToPos(i + 1, "x", true);
        if (point.compared || point.y === null || x < bbox.left || x > bbox.left + bbox.width) { return; }
        ctx.beginPath(); ctx.arc(x, u.valToPos(Math.min(Math.max(point.y, min), max), "y", true), size, 0, 2 * Math.PI); ctx.stroke();
      });
      ctx.restore();
    };
    const showReadout = index => {
      at = index ?? at;
      const point = chart.points[at];
      readout.textContent = point ? point.readout : "";
    };
    const open = () => { if (links[at]) { location.href = links[at]; } };

    const draw = () => {
      plot?.destroy();
      const line = color("--link"), soft = color("--soft"), rule = color("--rule");
      const axis = { stroke: soft, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, font: "12px system-ui, sans-serif" };
      const edge = { stroke: null, width: 0, points: { show: false } };
      plot = new uPlot({
        width: container.clientWidth || 600, height: 320, legend: { show: false }, padding: [18, 34, 0, 0],
        scales: { x: { time: false, range: () => view }, y: { distr: logarithmic.checked ? 3 : 1, range } },
        cursor: { drag: { x: true, y: false, setScale: false, dist: 5 }, points: { size: 8 }, bind: { dblclick: () => () => show(all) } },
        series: [{}, { stroke: line, width: 2, points: { show: last < 60, size: 5, fill: line } }, edge, edge],
        bands: [{ series: [3, 2], fill: line + "33" }],
        axes: [
          { ...axis, values: (_, splits) => splits.map(at => (Number.isInteger(at) && chart.points[at - 1] ? when(chart.points[at - 1]) : "")), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500], space: 90 },
          { ...axis, label: chart.label, labelFont: axis.font, size: 72, values: (_, splits) => splits.map(value => (value === null ? "" : value.toLocaleString("en-US", { maximumSignificantDigits: 6 }))) },
        ],
        hooks: {
          draw: [marks],
          setSelect: [u => {
            const { left, width } = u.select;
            if (width > 0) { show([u.posToVal(left, "x"), u.posToVal(left + width, "x")]); }
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }],
          setCursor: [u => { if (u.cursor.idx !== null && u.cursor.idx !== undefined) { showReadout(u.cursor.idx); } }],
        },
      }, [xs, ys, ends[0], ends[1]], container);
      container.plot = plot;
      show(view);
      // not at the end of a drag
      let pressed = 0;
      plot.over.addEventListener("mousedown", event => { pressed = event.clientX; });
      plot.over.addEventListener("click", event => { if (Math.abs(event.clientX - pressed) < 5) { open(); } });
    };
    container.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) {
        const next = Math.min(Math.max((at ?? last - step) + step, 0), last);
        const [min, max] = view;
        if (next + 1 < min || next + 1 > max) { pan(step / 2); }
        plot.setCursor({ left: plot.valToPos(next + 1, "x"), top: plot.valToPos(ys[next] ?? plot.scales.y.min, "y") });
        showReadout(next);
      } else if (event.key === "Enter") { open(); } else { return; }
      event.preventDefault();
    });
    draw();
    new ResizeObserver(() => { if (container.clientWidth > 0) { plot.setSize({ width: container.clientWidth, height: 320 }); } }).observe(container);
    dark.addEventListener("change", draw);
  };
  document.querySelectorAll("script.chart-data").forEach(start);
})();
