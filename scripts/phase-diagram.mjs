/**
 * Draws the state diagram of phases. The edges are found by asking the rules and the gates; only the places of the
 * boxes are given here.
 */
const NOW = 1_000_000;
const BOX = { width: 132, height: 44 };

/** Where each phase stands (centre of its box), and the two groups that edges may start from together. */
const PLACES = {
  Provisioning: [150, 110],
  Starting: [400, 110],
  Ready: [650, 110],
  Unknown: [900, 110],
  Stopping: [150, 350],
  Stopped: [400, 350],
  Completed: [650, 350],
  Error: [900, 350],
  Deleting: [525, 520],
  Deleted: [775, 520],
};
const GROUPS = [
  { name: "to run", members: ["Provisioning", "Starting", "Ready", "Unknown"], box: [50, 50, 950, 130] },
  { name: "kept", members: ["Stopping", "Stopped", "Completed", "Error"], box: [50, 290, 950, 130] },
];
const INTENT = { Stopping: "stopped", Stopped: "stopped", Deleting: "deleted", Deleted: "deleted" };

function* facts() {
  const base = {
    exists: true,
    deleting: false,
    workload: "present",
    running: null,
    ready: null,
    readiness: "signal",
    terminating: false,
    suspended: false,
    completed: false,
    bootstrapping: false,
    exitCode: null,
    endedBy: "unknown",
    finishedAt: null,
    instanceId: null,
    failureReason: null,
    failureClass: null,
    backendReason: null,
    message: null,
    observedAt: NOW,
    generation: null,
    stale: false,
    behind: false,
    conditions: [],
  };
  yield { ...base, exists: null };
  yield { ...base, exists: false, running: false };
  yield { ...base, deleting: true };
  const failures = [
    [null, null],
    ["NodeLost", "transient"],
    ["Expired", "terminal"],
    ["Killed", "terminal"],
    ["OwnershipConflict", "terminal"],
  ];
  for (const running of [true, false, null])
    for (const ready of [true, false])
      for (const terminating of [true, false])
        for (const suspended of [true, false])
          for (const [completed, exitCode] of [
            [false, null],
            [true, 0],
            [true, 1],
          ])
            for (const [failureReason, failureClass] of failures)
              yield {
                ...base,
                running,
                ready,
                terminating,
                suspended,
                completed,
                exitCode,
                failureReason,
                failureClass,
              };
}

/** Every move by a look at the backend: from -> to -> the rules that make it. */
function observedMoves({ derivePhase, phases }) {
  const moves = new Map();
  for (const observation of facts())
    for (const phase of phases)
      for (const deadline of [null, { deadlineAt: NOW, lastPhase: true }]) {
        const record = { phase, desired: INTENT[phase] ?? "running", since: 0, deadline };
        const decision = derivePhase({ record, observation, now: NOW });
        if (decision.phase === phase || phase === "Deleted") continue;
        add(moves, phase, decision.phase, decision.rule);
      }
  return moves;
}

/** Every move by an accepted operation of a user. */
function operationMoves({ allowedOperations, acceptOperation, phases }) {
  const moves = new Map();
  const observations = [null, ...facts()];
  for (const phase of phases)
    for (const observation of observations)
      for (const reason of [null, "MainProcessFailed"]) {
        const record = { phase, desired: INTENT[phase] ?? "running", since: 0, reason };
        const gates = allowedOperations({ record, observation, by: "user", now: NOW });
        for (const operation of ["start", "stop", "delete"]) {
          const next = acceptOperation(record, operation, gates[operation], { now: NOW }).record.phase;
          if (next !== phase) add(moves, phase, next, operation);
        }
      }
  return moves;
}

function add(moves, from, to, by) {
  const key = `${from}>${to}`;
  if (!moves.has(key)) moves.set(key, { from, to, by: new Set() });
  moves.get(key).by.add(by);
}

/** Bundles the edges that every member of a group has to one target outside of it. */
function bundled(moves) {
  const edges = [...moves.values()].map(({ from, to, by }) => ({ from, to, by: [...by] }));
  for (const group of GROUPS)
    for (const target of Object.keys(PLACES)) {
      const sources = group.members.filter((member) => member !== target);
      const mine = edges.filter(({ from, to }) => to === target && sources.includes(from));
      if (mine.length < sources.length || sources.length < 3) continue;
      for (const edge of mine) edges.splice(edges.indexOf(edge), 1);
      edges.push({ from: group.name, to: target, by: [...new Set(mine.flatMap(({ by }) => by))] });
    }
  return edges;
}

function rectangle(name) {
  const group = GROUPS.find((candidate) => candidate.name === name);
  if (group !== undefined) return group.box;
  const [x, y] = PLACES[name];
  return [x - BOX.width / 2, y - BOX.height / 2, BOX.width, BOX.height];
}

const centre = ([x, y, width, height]) => [x + width / 2, y + height / 2];

/** The point where the line from the centre of a box to a point leaves the box. */
function border([x, y, width, height], [px, py]) {
  const [cx, cy] = centre([x, y, width, height]);
  const dx = px - cx;
  const dy = py - cy;
  const scale = Math.min(
    dx === 0 ? Infinity : width / 2 / Math.abs(dx),
    dy === 0 ? Infinity : height / 2 / Math.abs(dy),
  );
  return [cx + dx * scale, cy + dy * scale];
}

const round = (value) => Math.round(value * 10) / 10;

/** A path from one box to another, bent to one side so that the way back and the other kind do not cover it. */
function path(edge, shift) {
  const group = GROUPS.find(({ name }) => name === edge.from);
  const to = rectangle(edge.to);
  const [tx, ty] = centre(to);
  if (group !== undefined && group.members.includes(edge.to)) {
    // From the group to one of its members: a short arrow from the frame's upper edge.
    const top = group.box[1];
    return `M ${round(tx + shift)} ${top} L ${round(tx + shift)} ${round(ty - BOX.height / 2)}`;
  }
  if (group !== undefined) {
    const [x, y, width, height] = group.box;
    const down = ty > y;
    const sx = Math.min(Math.max(tx + shift, x + 20), x + width - 20);
    return `M ${round(sx)} ${down ? y + height : y} L ${round(tx + shift)} ${round(down ? ty - BOX.height / 2 : ty + BOX.height / 2)}`;
  }
  const from = rectangle(edge.from);
  const [fx, fy] = centre(from);
  const length = Math.hypot(tx - fx, ty - fy);
  const far = length > 260 ? length * 0.16 : 0;
  const bend = (far + Math.abs(shift) * 2 + 10) * (shift < 0 ? -1 : 1);
  const middle = [(fx + tx) / 2 - ((ty - fy) / length) * bend, (fy + ty) / 2 + ((tx - fx) / length) * bend];
  const [sx, sy] = border(from, middle);
  const [ex, ey] = border(to, middle);
  return `M ${round(sx)} ${round(sy)} Q ${round(middle[0])} ${round(middle[1])} ${round(ex)} ${round(ey)}`;
}

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function draw(edges, kind, shift) {
  return edges
    .sort((a, b) => `${a.from}>${a.to}`.localeCompare(`${b.from}>${b.to}`))
    .map(
      (edge) =>
        `  <path class="${kind}" d="${path(edge, shift)}" marker-end="url(#${kind})"><title>${escape(`${edge.from} to ${edge.to}: ${edge.by.join(", ")}`)}</title></path>`,
    )
    .join("\n");
}

export function renderDiagram(library) {
  const observed = bundled(observedMoves(library));
  const operated = bundled(operationMoves(library));
  const frames = GROUPS.map(
    ({ name, box: [x, y, width, height] }) =>
      `  <rect class="group" x="${x}" y="${y}" width="${width}" height="${height}" rx="14"/>\n  <text class="caption" x="${x + 12}" y="${y + height - 10}">${name}</text>`,
  );
  const boxes = Object.entries(PLACES).map(([name, [x, y]]) => {
    const [left, top, width, height] = rectangle(name);
    return `  <rect class="phase" x="${left}" y="${top}" width="${width}" height="${height}" rx="8"/>\n  <text class="name" x="${x}" y="${y + 5}">${name}</text>`;
  });
  const arrow = (id, colour) =>
    `    <marker id="${id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M 0 0 L 8 4 L 0 8 z" fill="${colour}"/></marker>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1050 640" font-family="sans-serif" role="img" aria-label="State diagram of sandbox phases">
  <style>
    .phase { fill: #ffffff; stroke: #1f2937; stroke-width: 1.5; }
    .group { fill: #f3f4f6; stroke: #9ca3af; stroke-dasharray: 5 4; }
    .name { font-size: 15px; text-anchor: middle; fill: #111827; }
    .caption { font-size: 12px; fill: #6b7280; }
    .seen { fill: none; stroke: #6b7280; stroke-width: 1.4; }
    .asked { fill: none; stroke: #1d4ed8; stroke-width: 2; }
  </style>
  <defs>
${arrow("seen", "#6b7280")}
${arrow("asked", "#1d4ed8")}
  </defs>
  <rect width="1050" height="640" fill="#ffffff"/>
${frames.join("\n")}
${draw(observed, "seen", -14)}
${draw(operated, "asked", 14)}
${boxes.join("\n")}
  <path class="seen" d="M 60 600 L 110 600" marker-end="url(#seen)"/>
  <text class="caption" x="120" y="604">by a look at the backend (rules), with the intent that goes with the phase</text>
  <path class="asked" d="M 60 622 L 110 622" marker-end="url(#asked)"/>
  <text class="caption" x="120" y="626">by an accepted operation (gates); an arrow from a frame starts at every phase in it</text>
</svg>
`;
}
