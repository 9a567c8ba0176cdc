/** Cuts the messages between a service and PostgreSQL where the simulation may stop them (protocol 3.0, "Message Formats"). */

const SYNC = 0x53;
const QUERY = 0x51;
const TERMINATE = 0x58;
const PARSE = 0x50;
const BIND = 0x42;
const PROTOCOL_3 = 196_608;
export const SYNC_MESSAGE = Buffer.from([SYNC, 0, 0, 0, 4]);

/** Messages that the server answers as a whole: up to a Sync, a query, the startup message, or the end. */
export interface Unit {
  readonly bytes: Buffer;
  readonly readsClock: boolean;
  readonly endsSessions: boolean;
  readonly listens: boolean;
  readonly isEnd: boolean;
}

type UnitFacts = { -readonly [K in 'readsClock' | 'endsSessions' | 'listens']: boolean };
const nothing = (): UnitFacts => ({ readsClock: false, endsSessions: false, listens: false });

/** Cuts what a service sends into units. */
export class Requests {
  #bytes = Buffer.alloc(0);
  #isStarted = false;
  /** Where the next message begins, behind those of the present unit. */
  #at = 0;
  #facts = nothing();
  /** Names of prepared statements that read the clock. */
  readonly #clockStatements = new Set<string>();

  push(chunk: Buffer): Unit[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const units: Unit[] = [];
    for (;;) {
      const rest = this.#bytes.subarray(this.#at);
      const header = this.#isStarted ? 1 : 0;
      if (rest.length < header + 4) return units;
      const length = header + rest.readInt32BE(header);
      if (rest.length < length) return units;
      const type = this.#isStarted ? rest[0] : undefined;
      if (type === PARSE || type === QUERY || type === BIND) this.#read(type, rest.subarray(5, length));
      this.#at += length;
      if (type === undefined || type === SYNC || type === QUERY || type === TERMINATE) {
        const bytes = Buffer.from(this.#bytes.subarray(0, this.#at));
        units.push({
          bytes: this.#isStarted ? bytes : withoutTimeouts(bytes),
          ...this.#facts,
          isEnd: type === TERMINATE,
        });
        this.#isStarted = true;
        this.#facts = nothing();
        this.#bytes = this.#bytes.subarray(this.#at);
        this.#at = 0;
      }
    }
  }

  #read(type: number, body: Buffer): void {
    const end = body.indexOf(0);
    const first = body.toString('latin1', 0, end);
    const second = body.toString('latin1', end + 1, body.indexOf(0, end + 1));
    const text = type === QUERY ? first : type === PARSE ? second : '';
    if (type === BIND && this.#clockStatements.has(second)) this.#facts.readsClock = true;
    if (text.includes('clock_timestamp')) {
      this.#facts.readsClock = true;
      if (type === PARSE && first !== '') this.#clockStatements.add(first);
    }
    if (/^listen /i.test(text)) this.#facts.listens = true;
    if (text.includes('pg_terminate_backend')) this.#facts.endsSessions = true;
  }
}

/** Cuts what the server sends into messages. */
export class Answers {
  #bytes: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const messages: Buffer[] = [];
    let at = 0;
    while (this.#bytes.length >= at + 5) {
      const length = 1 + this.#bytes.readInt32BE(at + 1);
      if (this.#bytes.length < at + length) break;
      messages.push(Buffer.from(this.#bytes.subarray(at, at + length)));
      at += length;
    }
    this.#bytes = this.#bytes.subarray(at);
    return messages;
  }
}

const [READY, KEY, IDLE] = ['Z', 'K', 'I'].map((type) => type.charCodeAt(0));

export const isReady = (message: Buffer): boolean => message[0] === READY;
/** Whether a transaction is open, by a message that says that the server is ready. */
export const isWithinTransaction = (ready: Buffer): boolean => ready[5] !== IDLE;
/** @returns the session's process at the server, where the message tells it */
export const pidIn = (message: Buffer): number | null => (message[0] === KEY ? message.readInt32BE(5) : null);

/** Settings by which the server would end a session after some real time. */
const TIMEOUTS: ReadonlySet<string> = new Set(['statement_timeout', 'idle_in_transaction_session_timeout']);
const STARTUP_HEAD_BYTES = 8;

/** A startup message without the settings that end sessions and statements. */
function withoutTimeouts(startup: Buffer): Buffer {
  if (startup.readInt32BE(4) !== PROTOCOL_3) return startup;
  const words = startup.toString('latin1', STARTUP_HEAD_BYTES).split('\0');
  const kept: string[] = [];
  for (let nth = 0; nth + 1 < words.length && words[nth] !== ''; nth += 2)
    if (!TIMEOUTS.has(words[nth] as string)) kept.push(words[nth] as string, words[nth + 1] as string);
  const body = Buffer.from(`${kept.join('\0')}\0\0`, 'latin1');
  const head = Buffer.from(startup.subarray(0, STARTUP_HEAD_BYTES));
  head.writeInt32BE(STARTUP_HEAD_BYTES + body.length, 0);
  return Buffer.concat([head, body]);
}
