/**
 * Why a figure is what it is, where another is ahead or a target is missed: from CPU profiles (200 µs) and heap
 * snapshots of the same loops, on the machine of the results. By a figure's id, or its first word. Percentages are shares of samples that
 * were not idle.
 */
const reasons = {
  "deadline-create":
    "a raw timer keeps nothing; a deadline checks its options, and builds a state that can be stored, a runner, an alarm and its place in the heap of alarms: a dozen objects, five of them numbers of the state. In a profile of create and dispose 52 % is the garbage collector, which copies what stays twice, 15 % taking alarms out of the heap. With a young generation so large that nothing is collected meanwhile it is 0.8 to 1.0 µs, where it was 1.3; collections included 1.7 to 2.0 µs, where it was 2.4 to 3.1 in the same process. Below the collector's share only less that lives would help. The target's ratio is to a raw timer of 3 µs: here that is 1 µs, and two thirds of it are less than the state alone.",
  "deadline-bytes": "a raw timer has no state: no phase, windows, marks, ceiling or version.",
  "deadline-progress":
    "a report is decided without a new state while nobody is to be told of it: that is 0.30 µs over 100 000 where a state for each was 1.30 µs in the same minute. Of that a reading of the clock is 0.07 µs, the rest is looking at objects that are not in the cache: over a single deadline it is 0.09 µs altogether. The target's ratio is to a raw timer that takes 2.8 µs to clear and set: here that is 1 µs, and a ninth of it hardly more than the clock. Once a second the state is made that is told and stored, which is not in this figure. No host timer is touched.",
  "deadline-first": "it begins a mark, for which room is made.",
  "deadline-duplicate":
    "expiry comes before everything, so the clock is read, which is 0.07 µs and alone most of the target; then the latest mark is compared. Over a single deadline that is 0.01 to 0.02 µs; over 100 000 the objects have to come from memory first, which was 0.02 to 0.1 µs more on a machine that others used as well. By hand it is one comparison of numbers without a clock.",
  "deadline-cancel":
    "it is taken out of the heap of alarms, and its listeners and news held back are settled. The keys of the heap lie together, which took a third off.",
  expire:
    "an expiry decides, makes the expired state with its reason and sentence, and tells a listener with its facts; a raw timer calls a function. In a profile of 30 000 the garbage collector is 23 %, the limits and the next instant (`deadlineAt`, `#nextWake`, `limitedBy`) 12 %, the rest spread thin.",
  "late-p50":
    "raw timers fire up to 1 ms early; never being early costs that millisecond (an alarm that woke early sleeps on for at least 1 ms).",
  "late-p99":
    "wall time on a machine whose cores are shared. In three runs on a busy machine raw timers had 80, 41 and 3 ms and Slipway 104, 77 and 19 ms, which is 16 to 36 ms later; on a quiet one the difference was 1 ms. An expiry takes about four times the CPU of a raw timer (above), and 23 % of its profile are collections of a heap with all live states; how much of the difference is the scheduler was not told apart.",
  "late-over": "the same difference as in the line before.",
  "first-try":
    "by hand and cockatiel call the function and look at its result. A profile of `retryBootstrap` has 11 % in the garbage collector (the options, the run, its record, the attempt) and 17 % in reading the clock at the start, which a failure would tell; the rest is spread over making these and the await. A retrier reads the clock at the end as well, for its status.",
  "first-try-near": "see above. cockatiel takes no time and keeps no history.",
  "first-try-async":
    "work that returns a promise is raced against its own limit (10 s) and the end of the run, which the others do not do: an alarm is set and disposed, and as it is the only one the host's timer with it (`startTimer`, `unenroll`, `insert`: 19 % of a profile); 32 % is the garbage collector, 18 % the clock. With other runs or deadlines under way the host timer is there already.",
  retry:
    "a failure is judged by the tables (`classify` by itself: the table below), remembered with its explanation and told in a status; the rest is p-retry, which turns the loop, and an alarm. In a profile no single part is above 5 % but the garbage collector (19 %).",
  heap: "a heap snapshot of 2000 that wait has, for each: 0.83 kB arrays, 0.22 kB call sites and 0.37 kB text, which belong to the error and its stack and are in every library's figure; 0.56 kB closures and 0.50 kB their contexts, of p-retry's loop and abort-controller-x's promises; 0.18 kB generators of p-retry; 0.39 kB plain objects, among them the failure that status and snapshot tell; 0.11 kB each for the run and its record, 0.06 kB the alarm. p-retry is inside, so its own share cannot be saved; cockatiel, async-retry and the loop by hand keep no history and cannot be aborted while they wait.",
  "heap-class": "as above, and the retrier itself with its place for listeners.",
  "heap-many": "as above.",
  "abort-one":
    "not profiled. Between the abort and the caller lie the hub, the run's settlement and p-retry's own loop; the ways that end in many are the ones that were made fast.",
  derive:
    "the switch answers a name and checks nothing; zod with the switch checks the types and explains nothing. `derivePhase` weighs age, session, deadline and evidence, and says which rule decided and why.",
  sweep:
    "bound by memory: over records and observations that a store and a backend just gave, which lie together, it took 46 to 89 ms in a loaded minute, over the same records as each reconcile left them in the heap 116 to 174 ms. The switch reads fewer facts of each.",
  condition:
    "by hand five fields are compared; a condition has five more and those of newer peers, and a twin or a foreign writer's reason must not be stored as it is. A condition that an acceptable update restated is remembered, so that what says the same is only compared.",
  progress:
    "by hand one number is changed in place: no state to keep, no subject of parts, no time, nobody told. A new state a report is what lets a tracker be stored.",
  size: "the tables by folder and by module below say what it is. Of `retry` a third is the tables of `classify` (codes, phrases and their explanations), and a tenth the libraries under it; `retryBootstrap` alone still needs most of both. Of `phase` a third is the observers of the backends, which fall away where they are not imported, and the rules with their sentences are 22 %: `derivePhase` with `allowedOperations` alone is within 8 kB. Of `deadline` the pure functions alone are within 8 kB; the class adds the runners (in process, and with a commit), the clock, eventemitter3, and about 0.5 kB for progress without a state of its own. Of `conditions` without its catalog three fifths are the authoring tools and their sentences, which run in builds and tests and fall away where they are not imported.",
  import:
    "of the four dependencies the root entry loads three. Two of them are CommonJS, for which Node starts a lexer (4 ms for an empty file) and reads file by file: eventemitter3 by itself is about 11 ms, p-retry 6 ms; of abort-controller-x one file is loaded instead of fifteen, which saved 25 ms. zod is not loaded. The chunks that the entries share cost about 11 ms over one file. The library's own code in one file, with nothing else, is about 20 ms: two thirds are parsing it, one third making tables, of which freezing and checking the reason catalogs is most; minified about 3 ms less. The table below has the dependencies alone, and the same code with them in one file.",
};

export const reasonFor = (id) => reasons[id] ?? reasons[id.split(/[ -]/)[0]];
