/** The owner of agents: a person with one passkey, whose browser talks to both replicas. Each act is a recorded call. */
import { canonicalJson } from '@bellwether/contract';
import { BellwetherClient } from '@bellwether/sdk';
import { Visitor } from '../passkey.ts';
import type { Agent } from './agents.ts';
import type { Answer, Operation, Outcome, Recorder } from './history.ts';
import type { Place } from './place.ts';

const TIMEOUT_MS = 8_000;

/** An answer of a passkey to the challenge of one approval. */
export type Word = ReturnType<Visitor['signature']>;

/** The request failed, or was refused: `status` is 0 where no answer came. */
class NotDone extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

const outcomeOf = (error: unknown): Outcome => {
  if (!(error instanceof NotDone)) throw error;
  const { status, code } = error;
  return status >= 400 && status < 500 ? { kind: 'refused', code } : { kind: 'unknown', why: code };
};

export class Owner {
  readonly #recorder: Recorder;
  /** At each replica, with the session and the passkey of the first. */
  readonly #browsers: readonly [Visitor, Visitor];

  private constructor(recorder: Recorder, browsers: readonly [Visitor, Visitor]) {
    this.#recorder = recorder;
    this.#browsers = browsers;
  }

  /** Registers, and claims the agent. */
  static async of({ urls, link }: Place, recorder: Recorder, agent: Agent): Promise<Owner> {
    const open = async (nth: 0 | 1): Promise<Visitor> =>
      new Visitor({ url: await link(nth) }, `http://localhost:${new URL(urls[nth]).port}`);
    const browsers = [await open(0), await open(1)] as const;
    const owner = new Owner(recorder, browsers);
    await browsers[0].register('Ada');
    browsers[1].passkey = browsers[0].passkey;
    browsers[1].cookie = browsers[0].cookie;
    const { claimCode } = await new BellwetherClient({ baseUrl: urls[0], apiKey: agent.apiKey }).getMe();
    await owner.#send(0, '/owner/claim', { claimCode });
    return owner;
  }

  /** Nothing is decided by it. `null`: there is none, or no answer came. */
  async word(nth: number, approvalId: string): Promise<Word | null> {
    try {
      const { challenge } = await this.#send(nth, `/owner/approvals/${approvalId}/passkey-options`);
      return this.#browser(nth).signature(challenge);
    } catch (error) {
      outcomeOf(error);
      return null;
    }
  }

  approve({ agentId: agent }: Agent, approvalId: string, nth: number, word: Word): Promise<Outcome> {
    return this.#call({ kind: 'approve', agent, approvalId }, () =>
      this.#send(nth, `/owner/approvals/${approvalId}/approve`, word),
    );
  }

  decline({ agentId: agent }: Agent, approvalId: string, nth: number): Promise<Outcome> {
    return this.#call({ kind: 'decline', agent, approvalId }, () =>
      this.#send(nth, `/owner/approvals/${approvalId}/decline`, {}),
    );
  }

  /** As many wait as may: one that was not decided makes room. */
  async declineWaiting(agent: Agent, nth: number): Promise<void> {
    const { body } = await this.#browser(nth)
      .send('GET', '/owner/approvals?status=waiting')
      .catch(() => ({ body: null }));
    const waiting: readonly { readonly approvalId: string }[] = Array.isArray(body) ? body : [];
    for (const { approvalId } of waiting) await this.decline(agent, approvalId, nth);
  }

  pause({ agentId: agent }: Agent, ownerPaused: boolean, nth: number): Promise<Outcome> {
    return this.#call({ kind: 'change settings', agent, changes: { ownerPaused } }, () =>
      this.#send(nth, `/owner/agents/${agent}/pause`, { paused: ownerPaused }),
    );
  }

  /** An approval lasts ten minutes, which is longer than a run: it is made shorter in its row. */
  shorten({ sql }: Place, { agentId: agent }: Agent, approvalId: string, ms: number): Promise<Outcome> {
    return this.#call({ kind: 'shorten approval', agent, approvalId }, async () => {
      await sql`update approvals set approved_until = ${new Date(Date.now() + ms)}
        where approval_id = ${approvalId} and decision = 'approved'`;
      return {};
    });
  }

  #browser(nth: number): Visitor {
    return this.#browsers[(nth % 2) as 0 | 1];
  }

  async #send(nth: number, path: string, body?: unknown) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NotDone(0, 'timeout')), TIMEOUT_MS);
    });
    const sent = this.#browser(nth)
      .send('POST', path, body)
      .catch(() => {
        throw new NotDone(0, 'broken');
      });
    const { status, body: answer } = await Promise.race([sent, late]).finally(() => clearTimeout(timer));
    if (status !== 200) throw new NotDone(status, String(answer?.code));
    return answer;
  }

  #call(operation: Operation, work: () => Promise<object>): Promise<Outcome> {
    const answered = async (): Promise<Answer> => {
      const body = await work();
      const { status } = body as { readonly status?: string };
      return {
        whole: canonicalJson(body) ?? '',
        isReplay: false,
        ...(status === undefined ? {} : { status }),
      };
    };
    return this.#recorder.call({ client: 'the owner', operation }, answered, outcomeOf);
  }
}
