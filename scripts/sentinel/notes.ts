/** How the sentinel asks, and how it notes what differs. */
import { setTimeout as pause } from 'node:timers/promises';
import type { VenueCall, VenueHttp, VenueReply } from '../../packages/server/src/venues/polymarket/http.ts';
import { type Difference, differencesFrom, type Shape, shown } from './shapes.ts';

const TRIES = 3;
const BETWEEN_TRIES_MS = 700;

export interface SentinelServices {
  readonly clob: VenueHttp;
  readonly gamma: VenueHttp;
  readonly data: VenueHttp;
  /** `null`: not looked at. */
  readonly site: VenueHttp | null;
  readonly relayer: VenueHttp | null;
  readonly socketUrl: string;
}

type Service = 'clob' | 'gamma' | 'data' | 'site' | 'relayer';
export type Row = Readonly<Record<string, unknown>>;

export const rowOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null ? (value as Row) : {};

/** Notes of what was asked and what differed. */
export class Notes {
  readonly differences: Difference[] = [];
  readonly services: SentinelServices;

  constructor(services: SentinelServices) {
    this.services = services;
  }

  async ask(service: Service, call: VenueCall): Promise<{ reply: VenueReply | null; where: string }> {
    const where = `${service} ${call.method ?? 'GET'} ${call.path}`;
    const http = this.services[service];
    if (http === null) return { reply: null, where };
    try {
      return { reply: await http.ask(call), where };
    } catch (error) {
      this.note('silent', where, '', 'an answer', (error as Error).message);
      return { reply: null, where };
    }
  }

  note(kind: Difference['kind'], where: string, field: string, promised: string, found: unknown): void {
    const text = typeof found === 'string' ? found : shown(found);
    this.differences.push({ kind, where, field, promised, found: text });
  }

  shape(shape: Shape, value: unknown, where: string, isComplete = false): void {
    this.differences.push(...differencesFrom(shape, value, { where, isComplete }));
  }

  reads(check: (value: unknown) => unknown, value: unknown, where: string): void {
    if (check(value) === null) this.note('unreadable', where, '', 'what the adapter reads', value);
  }

  status(reply: VenueReply, promised: number, where: string): boolean {
    if (reply.status === promised) return true;
    this.note('value', where, 'status', String(promised), String(reply.status));
    return false;
  }

  async refusal(service: Service, call: VenueCall, status: number, text: string): Promise<void> {
    const { reply, where } = await this.ask(service, call);
    if (reply === null || !this.status(reply, status, where)) return;
    const error = rowOf(reply.value).error;
    if (typeof error !== 'string' || !error.toLowerCase().includes(text.toLowerCase()))
      this.note('value', where, 'error', text, reply.value);
  }

  /** Only what differs in every one of several tries. */
  async stable(
    where: string,
    compare: () => Promise<readonly [string, string, unknown] | null>,
  ): Promise<void> {
    let found: readonly [string, string, unknown] | null = null;
    for (let nth = 0; nth < TRIES; nth++) {
      if (nth > 0) await pause(BETWEEN_TRIES_MS);
      found = await compare();
      if (found === null) return;
    }
    if (found !== null) this.note('value', where, ...found);
  }

  async value(service: Service, call: VenueCall): Promise<unknown> {
    return (await this.services[service]?.ask(call).catch(() => null))?.value;
  }
}
