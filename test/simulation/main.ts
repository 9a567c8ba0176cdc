import { real } from './chance.ts';
import { Server } from './world.ts';

const { planOf, sentenceOf } = await import('./plan.ts');
const { runPlan } = await import('./run.ts');
const server = await Server.start();
const [seed = 1, count = 300, worlds = 1] = process.argv.slice(2).map(Number);
for (let nth = 0; nth < worlds; nth += 1) {
  const begun = real.now();
  const plan = planOf(seed + nth, 'paper', count);
  const ran = await runPlan(server, plan, {
    trace: process.env.TRACE === '1',
    onHistory: (h) => {
      if (process.env.CALLS) {
        const c: Record<string, number> = {};
        for (const { operation, outcome } of h.calls) {
          const k = `${operation.kind} ${outcome.kind} ${(outcome as any).code ?? (outcome as any).why ?? (outcome as any).answer?.status ?? ''}`;
          c[k] = (c[k] ?? 0) + 1;
        }
        console.log(c);
      }
    },
  });
  console.log(seed + nth, ran, Math.round(real.now() - begun), 'ms');
  void sentenceOf;
}
await server.stop();
process.exit(0);
