/** Two replicas of the desk on one database, which are killed, frozen and started again. */
import { readConfig } from '../../packages/server/src/config.ts';
import { type Service, startService } from '../../packages/server/src/service.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

const MASTER_KEY = 'a5'.repeat(32);
const START_WITHIN_MS = 120_000;
const RESTART_AFTER_MS = 700;
const PORTS = [8_080, 8_081] as const;
/** So fast that some markets end within seconds, and most not within hours. */
export const WORLD_SPEED = 120;

export interface Replica {
  readonly process: SimulatedProcess;
  readonly url: string;
  /** `null` while it starts. */
  service: Service | null;
}

export class Desk {
  readonly #world: World;
  readonly #environment: Readonly<Record<string, string>>;
  readonly replicas: Replica[] = [];
  #starts = 0;
  #isOver = false;

  constructor(world: World, environment: Readonly<Record<string, string>>) {
    this.#world = world;
    this.#environment = environment;
  }

  urlOf(nth: number): string {
    return `http://127.0.0.1:${PORTS[nth % PORTS.length]}`;
  }

  /** Starts a replica; resolves when it listens. */
  async start(nth: number): Promise<Service> {
    this.#starts += 1;
    const process = this.#world.process(`replica ${nth} #${this.#starts}`);
    const config = readConfig({
      ...{ PORT: String(PORTS[nth]), LOG_LEVEL: 'fatal', RATE_LIMITS: 'off', MASTER_KEY },
      ...{ PAPER_WORLD: 'off', PAPER_SPEED: String(WORLD_SPEED), DATABASE_POOL: '4' },
      ...{
        WEBHOOKS_ALLOW_LOOPBACK: 'on',
        PAPER_GTD_MIN_LEAD_S: '3',
        REPLICA_URL: `http://127.0.0.1:${PORTS[nth]}`,
      },
      ...this.#environment,
    });
    const replica: Replica = { process, url: this.urlOf(nth), service: null };
    this.replicas[nth] = replica;
    const onFatal = () => void this.restart(nth, process);
    replica.service = await this.#world.scheduler.within(process, () => startService(config, { onFatal }));
    return replica.service;
  }

  /** As a supervisor does with a process that has ended. */
  async restart(nth: number, expected: SimulatedProcess): Promise<void> {
    if (expected.isDead) return;
    await this.#world.kill(expected);
    this.#world.scheduler.after(RESTART_AFTER_MS, 'restart', () => this.#startAgain(nth), undefined);
  }

  #startAgain(nth: number): void {
    if (this.#isOver) return;
    const tried = () => this.replicas[nth]?.process as SimulatedProcess;
    this.start(nth).catch(() => this.restart(nth, tried()));
  }

  async startBoth(): Promise<void> {
    for (const nth of PORTS.keys()) await this.#world.until(this.start(nth), START_WITHIN_MS);
  }

  /** Steps the paper exchange of the replica that leads; nothing while none does. */
  async moveWorld(): Promise<void> {
    for (const { process, service } of this.replicas) {
      if (service === null || process.isDead || process.isFrozen) continue;
      const { exchange } = service;
      if (exchange !== null)
        await this.#world.scheduler.within(process, () => exchange.step().catch(() => {}));
    }
  }

  async killAll(): Promise<void> {
    this.#isOver = true;
    for (const { process } of this.replicas) if (!process.isDead) await this.#world.kill(process);
  }
}
