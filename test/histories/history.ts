/**
 * A history: what clients asked of a desk and were answered, what listeners heard, and what was true in the end. It is written while
 * the clients work, one line of JSON each, so that a run that failed can be checked again. Times are of one monotonic clock, that of the
 * recording process. Money is bigint in micro-units; a line holds it as text such as "25000000n".
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { FinalFacts } from './final-facts.ts';

/** A client's request. Names of agents, keys and wallets are those of the desk. */
export type Operation =
  /** `amount`: what the safeguards count of a BUY as it is signed; `null`: of a SELL, which only the desk can say. */
  | {
      readonly kind: 'place';
      readonly agent: string;
      readonly orderId: string;
      readonly amount: bigint | null;
      /** Of an order that its owner may have to approve: what is not signed and changes it. */
      readonly type?: string;
    }
  | { readonly kind: 'prepare'; readonly agent: string; readonly name: string }
  | { readonly kind: 'cancel'; readonly agent: string; readonly orderId: string }
  | { readonly kind: 'read order'; readonly agent: string; readonly orderId: string }
  | { readonly kind: 'list open orders'; readonly agent: string }
  | {
      readonly kind: 'leave exit';
      readonly agent: string;
      readonly orderId: string;
      readonly trigger: LeftTrigger;
    }
  | { readonly kind: 'read exit'; readonly agent: string; readonly exitId: string }
  | { readonly kind: 'list exits'; readonly agent: string }
  | { readonly kind: 'cancel exit'; readonly agent: string; readonly exitId: string }
  | { readonly kind: 'resume exit'; readonly agent: string; readonly exitId: string }
  | { readonly kind: 'change settings'; readonly agent: string; readonly changes: Readonly<Settings> }
  | SetOperation
  | { readonly kind: 'redeem'; readonly agent: string; readonly market: string }
  | { readonly kind: 'read usage'; readonly agent: string }
  | { readonly kind: 'create api key'; readonly agent: string; readonly name: string }
  | { readonly kind: 'revoke api key'; readonly agent: string; readonly apiKey: string }
  | { readonly kind: 'use api key'; readonly agent: string; readonly apiKey: string }
  | { readonly kind: 'briefing'; readonly agent: string; readonly chain: string }
  /** The owner's. */
  | {
      readonly kind: 'approve' | 'decline' | 'shorten approval';
      readonly agent: string;
      readonly approvalId: string;
    };

/** Full sets of a market under the agent's own name; `amount`: sets, or of a conversion NO shares. */
export interface SetOperation {
  readonly kind: 'split' | 'merge' | 'convert';
  readonly agent: string;
  readonly name: string;
  /** Its condition. */
  readonly market: string;
  readonly amount: bigint;
}

/** What a history must know of an exit's trigger. */
export type LeftTrigger =
  /** Milliseconds from the call on, by the client's clock. */
  | { readonly kind: 'time'; readonly dueInMs: number }
  | { readonly kind: 'price' }
  /** Nothing in a run makes it hold. */
  | { readonly kind: 'never' };

/** Safeguards that the workloads change. */
export interface Settings {
  readonly tradingPaused?: boolean;
  readonly maxTradeAmount?: bigint;
  readonly maxTradesPerDay?: number;
  readonly dailyTradeAmountLimit?: bigint;
  /** `null`: none. */
  readonly maxPositionValue?: bigint | null;
  /** The pause that only the owner can end. */
  readonly ownerPaused?: boolean;
  readonly approvalAbove?: bigint;
  readonly silenceSeconds?: number | null;
}

/** Parts of an answer that are checked. */
export interface Answer {
  /** The whole of it, in one form: two answers are the same exactly when these are. */
  readonly whole: string;
  /** The service said that it repeats the first answer to the Idempotency-Key. */
  readonly isReplay: boolean;
  /** Result of a placed order or a cancel. */
  readonly success?: boolean;
  /** Result of a cancel: it is recorded, so that the next read shows it. */
  readonly isRecorded?: boolean;
  /** Why an order was not canceled. */
  readonly reason?: string;
  readonly status?: string;
  readonly filled?: bigint;
  readonly fees?: bigint;
  /** Orders of a list. */
  readonly orderIds?: readonly string[];
  readonly isWhole?: boolean;
  readonly trades?: number;
  readonly tradedAmount?: bigint;
  readonly apiKey?: string;
  readonly exitId?: string;
  /** Order of a split, merge or conversion. */
  readonly setId?: string;
  /** Collateral that a redemption says it paid. */
  readonly paid?: bigint;
  /** Exits of a list, with their status. */
  readonly exits?: readonly (readonly [exitId: string, status: string])[];
  /** Orders of a briefing that changed since the last one, with their status. */
  readonly changed?: readonly (readonly [orderId: string, status: string])[];
}

/** `unknown`: it may have had its effect, may have it at any later time, or never. */
export type Outcome =
  | { readonly kind: 'ok'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly code: string; readonly approvalId?: string }
  | { readonly kind: 'unknown'; readonly why: string };

export interface Call {
  readonly line: 'call';
  readonly id: number;
  readonly client: string;
  readonly operation: Operation;
  /** Idempotency-Key and a name of the body, where one was sent. */
  readonly key?: { readonly route: string; readonly key: string; readonly body: string };
  readonly invokedAt: number;
  readonly returnedAt: number;
  readonly outcome: Outcome;
}

/** An event that a listener received; `via` says what promises hold for it. */
export interface Heard {
  readonly line: 'heard';
  readonly listener: string;
  readonly via: 'stream' | 'webhook';
  readonly agent: string;
  readonly at: number;
  readonly event: LoggedEvent;
}

/** One event of an agent's log. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly orderId?: string;
  readonly tradeId?: string;
  readonly exitId?: string;
}

export interface Run {
  readonly line: 'run';
  readonly seed: number;
  readonly setUp: SetUpName;
}
export type SetUpName = 'paper' | 'live';

export interface History {
  readonly run: Run;
  readonly calls: readonly Call[];
  readonly heard: readonly Heard[];
  readonly facts: FinalFacts;
}

type Line = Run | Call | Heard | ({ readonly line: 'facts' } & FinalFacts);

const MICRO_TEXT = /^-?\d+n$/;
const toLine = (line: Line): string =>
  `${JSON.stringify(line, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}\n`;
const fromLine = (text: string): Line =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === 'string' && MICRO_TEXT.test(value) ? BigInt(value.slice(0, -1)) : value,
  );

/** Takes down a history while it happens, in memory and in a file. */
export class Recorder {
  readonly #file: string | null;
  readonly run: Run;
  readonly calls: Call[] = [];
  readonly heard: Heard[] = [];
  #next = 1;

  /** @param file `null`: in memory only */
  constructor(file: string | null, run: Run) {
    this.#file = file;
    this.run = run;
    this.#write(run);
  }

  now(): number {
    return performance.now();
  }

  /** Calls, and records what came of it. Never throws: `judge` makes an outcome of an error. */
  async call(
    what: Pick<Call, 'client' | 'operation' | 'key'>,
    work: () => Promise<Answer>,
    judge: (error: unknown) => Outcome,
  ): Promise<Outcome> {
    const id = this.#next;
    this.#next += 1;
    const invokedAt = this.now();
    const outcome = await work().then((answer): Outcome => ({ kind: 'ok', answer }), judge);
    const call: Call = { line: 'call', id, ...what, invokedAt, returnedAt: this.now(), outcome };
    this.calls.push(call);
    this.#write(call);
    return outcome;
  }

  hear(heard: Omit<Heard, 'line' | 'at'>): void {
    const line: Heard = { line: 'heard', ...heard, at: this.now() };
    this.heard.push(line);
    this.#write(line);
  }

  end(facts: FinalFacts): History {
    this.#write({ line: 'facts', ...facts });
    return { run: this.run, calls: this.calls, heard: this.heard, facts };
  }

  #write(line: Line): void {
    if (this.#file !== null) appendFileSync(this.#file, toLine(line));
  }
}

/** @throws Error with a sentence when the file holds no whole history */
export function readHistory(file: string): History {
  let run: Run | null = null;
  let facts: FinalFacts | null = null;
  const calls: Call[] = [];
  const heard: Heard[] = [];
  for (const [index, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (text === '') continue;
    let line: Line;
    try {
      line = fromLine(text);
    } catch {
      throw new Error(`line ${index + 1} of ${file} is no JSON: name a file that test:histories wrote`);
    }
    if (line.line === 'run') run = line;
    else if (line.line === 'facts') facts = line;
    else if (line.line === 'call') calls.push(line);
    else if (line.line === 'heard') heard.push(line);
  }
  if (run === null) throw new Error(`${file} holds no history: its first line does not name a run`);
  if (facts === null)
    throw new Error(
      `${file} holds no whole history: the run ended before it had looked at what is true in the end`,
    );
  return { run, calls, heard, facts };
}
