/**
 * Loaded into the measured service: its paper world has BENCH_MARKETS open markets instead of its usual hundred. A slot
 * of the plan is a place for one market, and a world keeps the plan of its founding, so a longer plan is enough: every
 * market is listed, quoted and traded as usual.
 */
const { BENCH_ROOT, BENCH_MARKETS } = process.env;
if (BENCH_ROOT === undefined || BENCH_MARKETS === undefined)
  throw new Error('BENCH_ROOT and BENCH_MARKETS are required');

interface Slot {
  readonly horizon: string;
  readonly markets: number;
}

const { SLOTS } = (await import(`${BENCH_ROOT}/packages/exchange/src/world/slots.ts`)) as { SLOTS: Slot[] };
/** Markets that end during a measurement would make place for new ones. */
const LASTING = new Set(['days', 'weeks', 'months']);
const plan = SLOTS.filter(({ horizon, markets }) => markets === 1 && LASTING.has(horizon));
const missing = Number(BENCH_MARKETS) - SLOTS.reduce((sum, { markets }) => sum + markets, 0);
for (let i = 0; i < missing; i += 1) SLOTS.push(plan[i % plan.length] as Slot);

export {};
