import { arch, cpus, platform, totalmem } from "node:os";
import { format, judge } from "./harness.mjs";
import { pRetryVersion, versions } from "./peers.mjs";
import { reasonFor } from "./reasons.mjs";

const table = (heads, rows) =>
  [
    `| ${heads.join(" | ")} |`,
    `|${heads.map(() => "---").join("|")}|`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");

const mainOf = ({ own = "slipway" }) => own;

/** The contenders that are ahead of Slipway in a figure where less is better; what is written by hand does less. */
function ahead(one) {
  if (one.isSigned) return [];
  const mine = one.values[mainOf(one)];
  return Object.entries(one.values)
    .filter(([name, value]) => name !== mainOf(one) && !isOurs(name) && value < mine * 0.95)
    .map(([name]) => name);
}
const isOurs = (name) => ["slipway", "BootstrapRetrier", "reused"].includes(name);

function targetRow(one) {
  const { value, ratio, met } = judge(one);
  const measured = ratio === undefined ? "" : `${ratio.toFixed(2)} × ${one.target.than}`;
  return [one.figure, one.target.text, format(value, one.unit), measured, met ? "met" : "**missed**"];
}

function figureRow(one) {
  const mine = one.values[mainOf(one)];
  const others = Object.entries(one.values)
    .filter(([name]) => name !== mainOf(one))
    .map(([name, value]) => {
      const ratio =
        one.unit !== "" && !one.isSigned && value > 0 && mine > 0 ? ` (${(mine / value).toFixed(2)} ×)` : "";
      return `${name} ${format(value, one.unit)}${ratio}`;
    });
  return [one.figure, format(mine, one.unit), others.join(", ") || "–"];
}

/** What is missed, or in which another is ahead, gathered by the reason. */
function explanations(results) {
  const byReason = new Map();
  for (const one of results.flatMap(({ figures }) => figures)) {
    const missed = one.target !== undefined && !judge(one).met;
    const leaders = ahead(one);
    if (!missed && leaders.length === 0) continue;
    const what = [missed && "target missed", leaders.length > 0 && `ahead: ${leaders.join(", ")}`];
    const why = reasonFor(one.id) ?? "not looked into.";
    const about = `${one.figure} (${what.filter(Boolean).join("; ")})`;
    byReason.set(why, [...(byReason.get(why) ?? []), about]);
  }
  return [...byReason].map(([why, about]) => `- **${about.join("; ")}**: ${why}`);
}

function section({ title, figures, tables, notes }) {
  const blocks = [
    `## ${title}`,
    table(["figure", "Slipway", "others (Slipway's multiple of it)"], figures.map(figureRow)),
    ...tables.flatMap(({ title: name, rows }) => {
      const heads = Object.keys(rows[0]);
      return [
        `${name}:`,
        table(
          heads,
          rows.map((row) => heads.map((head) => row[head])),
        ),
      ];
    }),
    ...notes,
  ];
  return blocks.join("\n\n");
}

export function page(results, { loads, seconds }) {
  const peers = Object.entries({ "p-retry": pRetryVersion(), ...versions });
  const judged = results.flatMap(({ figures }) => figures).filter(({ target }) => target !== undefined);
  const [cpu] = cpus();
  const load = `${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
  return `# Results of the benchmarks

Written by \`npm run bench\`. Times are on-CPU time of the process unless they say otherwise, medians of interleaved rounds; ratios travel between machines, times do not. Where a target was set as a time beside a peer's time, the ratio of the two is what is judged.

${table(
  ["", ""],
  [
    ["date", new Date().toISOString().slice(0, 10)],
    [
      "machine",
      `${cpu.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${arch()}`,
    ],
    ["Node", process.versions.node],
    ["load average meanwhile", `${load} on ${cpus().length} cores, from other work on the machine`],
    ["peers", peers.map(([name, version]) => `${name} ${version}`).join(", ")],
    ["duration", `${seconds} s`],
  ],
)}

## Targets

${table(["figure", "target", "Slipway", "ratio", ""], judged.map(targetRow))}

## Where another is ahead, or a target is missed, and why

${explanations(results).join("\n")}

${results.map(section).join("\n\n")}
`;
}
