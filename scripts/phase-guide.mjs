/**
 * Generates the guide of phases from the rules themselves: the rule table, the gate tables and the state diagram.
 *
 *   npm run build && node scripts/phase-guide.mjs [--check]
 *
 * A test renders both files again and compares, so a rule cannot change without its guide.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { renderDiagram } from "./phase-diagram.mjs";

const NOTICE =
  "<!-- Generated from src/phase by scripts/phase-guide.mjs: change the rules, then run it again. -->";

const cell = (text) => text.replaceAll("|", "\\|");

/** A table whose columns are padded, as the formatter of this repository writes them. */
function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  return [line(cells[0]), line(widths.map((width) => "-".repeat(width))), ...cells.slice(1).map(line)].join(
    "\n",
  );
}

function gateTable(rules) {
  return table(
    ["#", "Gate rule", "When", "Answer", "Why"],
    rules.map(({ name, condition, route, reason, rationale }, index) => [
      String(index + 1),
      `\`${name}\``,
      condition,
      route === null ? `refused: \`${reason}\`` : `allowed, route \`${route}\``,
      rationale,
    ]),
  );
}

function ruleTables(rules) {
  const groups = [...new Set(rules.map(({ group }) => group))];
  return groups
    .map((group) => {
      const rows = rules.filter((rule) => rule.group === group);
      return [
        `### ${group}`,
        "",
        table(
          ["#", "Rule", "When", "Then", "Looks at", "Why"],
          rows.map((rule) => [
            String(rules.indexOf(rule) + 1),
            `\`${rule.name}\``,
            rule.condition,
            rule.outcome,
            rule.uses.map((fact) => `\`${fact}\``).join(", "),
            rule.rationale,
          ]),
        ),
      ].join("\n");
    })
    .join("\n\n");
}

function phaseTable({ phases, phaseNumber }) {
  const meaning = {
    Provisioning: "The first start is not finished, or something that was ready is not ready now.",
    Starting: "A later start is not finished.",
    Ready: "Usable.",
    Stopping: "A stop was asked for or seen; something may still execute.",
    Stopped: "Nothing executes, identity and workspace are kept, start is open.",
    Completed: "The run ended by itself with success. Never replayed by itself.",
    Error: "The run or its preparation failed. Stop or start leads out; delete always.",
    Deleting: "A delete is in progress.",
    Deleted: "The backend object is gone after a delete.",
    Unknown: "Evidence is missing or contradicts itself, and there is no record that it is safe to hold.",
  };
  return table(
    ["Phase", "On the wire", "Meaning"],
    phases.map((phase) => [
      `\`${phase}\``,
      phase === "Deleted" ? "none" : String(phaseNumber(phase)),
      meaning[phase],
    ]),
  );
}

/** The two generated files, by their path in the repository. */
export function renderGuide(library) {
  const { phaseRules, startRules, stopRules, deleteRules } = library;
  const guide = `${NOTICE}

# Phases

What a backend shows is turned into _facts_ by an observer; facts and the gateway's _record_ are turned into one _phase_
by the table below. The first rule whose condition holds decides; the last one always holds. Every decision carries the
name of its rule, the facts that it looked at and the evidence that was left out, and \`slipway explain\` prints all of
it for raw backend JSON:

\`\`\`sh
docker inspect my-sandbox | npx --no-install slipway explain docker
kubectl get sandbox,pod -o json | npx --no-install slipway explain sandbox --record record.json
\`\`\`

A list that holds no pod proves nothing about pods. To show an empty backend, give them apart, as
\`{ "sandbox": …, "pods": { "items": [] } }\`.

![State diagram](phases.svg)

${phaseTable(library)}

Observers drop evidence of another run before the rules see it (an exit before the start was asked for, an object that
names another instance) and mark what is left as \`stale\`. A fact that is unknown is \`null\`: it is neither false nor an
error, and it never moves a phase. Time alone moves a phase only through a deadline that the record stores.

## The rule table

${ruleTables(phaseRules)}

## The gates

Which operation is open follows from the same record and facts. Delete is always open, and from every phase that start
refuses, stop leads to one that it accepts, once the backend shows that nothing runs. A pinned isolation backend that is
not selected, or a cleanup that is still owed, keeps start closed until it is settled; what was lost with its compute
object (\`ComputeResourceMissing\`) can only be deleted, unless the driver removes compute when it stops. \`fresh\`, \`resume\`
and \`restart\` keep identity and workspace; \`retry\` is the same operation again; \`noop\` makes no driver call.

### Start

${gateTable(startRules)}

### Stop

${gateTable(stopRules)}

### Delete

${gateTable(deleteRules)}
`;
  return { "docs/phases.md": guide, "docs/phases.svg": renderDiagram(library) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = process.argv.includes("--check");
  const library = await import("slipway/phase");
  for (const [path, text] of Object.entries(renderGuide(library))) {
    const file = new URL(`../${path}`, import.meta.url);
    if (!check) writeFileSync(file, text);
    else if (readFileSync(file, "utf8") !== text) {
      console.error(`${path} is not what the rules say: run node scripts/phase-guide.mjs`);
      process.exitCode = 1;
    }
  }
}
