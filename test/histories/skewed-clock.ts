/** Loaded before a replica's own code: its clock differs from the machine's by CLOCK_SKEW_MS, its timers do not. */
const skewMs = Number(process.env.CLOCK_SKEW_MS ?? 0);
const Real = Date;
const now = (): number => Real.now() + skewMs;

globalThis.Date = new Proxy(Real, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  apply: () => new Real(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
