"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("charts").textContent);
  const color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  let charts = [];

  addEventListener("theme", draw);

  const folded = [];
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not([open]):not(.figures)")) { folded.push(part); part.open = true; }
  });
  addEventListener("afterprint", () => { for (const part of folded.splice(0)) part.open = false; });

  const axis = (more) => ({ stroke: color("quiet"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line") }, ...more });
  const plot = (id, options, values) => {
    const place = document.getElementById(id);
    if (!place) return;
    const size = { width: place.clientWidth, height: place.clientHeight };
    charts.push(new uPlot({ ...size, legend: { show: false }, cursor: { show: false }, ...options }, values, place));
  };

  const bins = data.similarities.near.length;
  const slider = document.getElementById("threshold");
  const drawThreshold = (chart) => {
    const x = Math.round(chart.valToPos(Number(slider.value), "x", true));
    const { top, height } = chart.bbox;
    chart.ctx.save();
    chart.ctx.strokeStyle = color("text");
    chart.ctx.lineWidth = 2 * devicePixelRatio;
    chart.ctx.setLineDash([6, 4]);
    chart.ctx.beginPath();
    chart.ctx.moveTo(x, top);
    chart.ctx.lineTo(x, top + height);
    chart.ctx.stroke();
    chart.ctx.restore();
  };

  const drawSimilarities = () => {
    const { near, refused } = data.similarities;
    const x = near.map((_, i) => (i + 0.5) / bins);
    const bars = uPlot.paths.bars({ size: [0.9, Infinity] });
    const total = near.map((n, i) => n + refused[i]);
    plot("chart-similarity", {
      scales: { x: { time: false, range: [0, 1] } },
      axes: [axis(), axis({ size: 64 })],
      series: [{}, { paths: bars, fill: color("near"), points: { show: false } },
        { paths: bars, fill: color("refused"), points: { show: false } }],
      hooks: { draw: [drawThreshold] },
    }, [x, total, refused]);
  };

  const drawRuns = () => {
    if (data.runs.length < 2) return;
    plot("chart-runs", {
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.min(1, most * 1.2) || 1] } },
      axes: [axis({ incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }), axis({ size: 60, values: (_, ticks) => ticks.map((y) => Math.round(y * 1000) / 10 + "%") })],
      series: [{}, { stroke: color("near"), width: 2, points: { show: true, size: 6, fill: color("near") } }],
    }, [data.runs.map((run) => run[0]), data.runs.map((run) => run[1])]);
  };

  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const showThreshold = () => {
    const at = Number(slider.value), first = Math.round(at * bins);
    const { near, refused } = data.similarities;
    const values = {
      at: at.toFixed(2), drop: sum(near.slice(first)) + sum(refused.slice(first)),
      less: sum(near.slice(0, first)), more: sum(refused.slice(first)),
    };
    document.getElementById("at").textContent = values.at;
    for (const [name, value] of Object.entries(values))
      for (const place of document.querySelectorAll(`[data-value="${name}"]`)) place.textContent = value.toLocaleString("en");
  };

  function draw() {
    for (const chart of charts) chart.destroy();
    charts = [];
    if (slider) drawSimilarities();
    drawRuns();
  }

  if (slider) {
    slider.oninput = () => { showThreshold(); charts[0].redraw(false); };
    showThreshold();
  }
  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(draw, 150); });
  draw();
})();
