/** Live: what happens to the agent, or the books of a market. A lost connection is opened again where it ended. */
import { type AgentEvent, type BellwetherClient, isProblem, type MarketEvent } from '@bellwether/sdk';
import type { Command } from 'commander';
import { usage } from '../cli-error.ts';
import { count, outcomeWord } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import { sideIn } from '../signing.ts';
import { columns, oneLine, outcomeText } from '../terminal.ts';

interface WatchOptions {
  readonly after?: string;
  readonly count?: number;
  /** YES, NO, or a name of the market's. */
  readonly outcome?: string;
  readonly venue?: string;
}

/** The fields of an event that people look at, in this order; the rest is in --json. */
const SHOWN_FIELDS = [
  'status',
  'side',
  'outcome',
  'price',
  'size',
  'orderSize',
  'filledSize',
  'fee',
  'change',
  'payout',
  'reason',
  'code',
  'severity',
  'venue',
  'message',
  'marketQuestion',
  'marketId',
  'orderId',
] as const;

function fieldsOf(data: Readonly<Record<string, unknown>>): string[] {
  const { outcomeName } = data;
  return SHOWN_FIELDS.flatMap((name) => {
    const value =
      name === 'outcome' && typeof data.outcome === 'string' && typeof outcomeName === 'string'
        ? outcomeText(data.outcome, outcomeName)
        : data[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
}

const clock = (iso: string): string => iso.slice(11, 19);

function agentLine(event: AgentEvent): string {
  const at = 'createdAt' in event ? clock(event.createdAt) : clock(new Date().toISOString());
  return columns(at, event.type, ...fieldsOf(event.data as Readonly<Record<string, unknown>>));
}

async function watchAgent(
  run: Run,
  client: BellwetherClient,
  { after, count: most }: WatchOptions,
): Promise<void> {
  let cursor = after;
  let seen = 0;
  const { signal } = run;
  try {
    for await (const event of client.events({ signal, ...(after === undefined ? {} : { after }) })) {
      run.output.item(event, () => agentLine(event));
      cursor = event.cursor;
      seen += 1;
      if (seen === most) break;
    }
  } catch (error) {
    // Where the desk does not take the cursor, nothing continues with it.
    if (isProblem(error, 'event_cursor_invalid', 'event_cursor_gone')) cursor = undefined;
    throw error;
  } finally {
    if (cursor !== undefined) run.output.say(`Continue with: bellwether watch --after ${oneLine(cursor)}`);
  }
}

type Level = { readonly price: string; readonly size: string };

/** The best prices, kept from whole books and what changes in them. */
class Best {
  readonly #levels = { bids: new Map<string, string>(), asks: new Map<string, string>() };

  whole(bids: readonly Level[], asks: readonly Level[]): void {
    this.#levels.bids = new Map(bids.map(({ price, size }) => [price, size]));
    this.#levels.asks = new Map(asks.map(({ price, size }) => [price, size]));
  }

  change(bids: readonly Level[], asks: readonly Level[]): void {
    for (const [side, levels] of [
      ['bids', bids],
      ['asks', asks],
    ] as const)
      for (const { price, size } of levels)
        if (Number(size) === 0) this.#levels[side].delete(price);
        else this.#levels[side].set(price, size);
  }

  parts(): string[] {
    const bid = [...this.#levels.bids].sort(([a], [b]) => Number(b) - Number(a))[0];
    const ask = [...this.#levels.asks].sort(([a], [b]) => Number(a) - Number(b))[0];
    const shown = (level: [string, string] | undefined) =>
      level === undefined ? '–' : `${level[0]} × ${level[1]}`;
    return [`bid ${shown(bid)}`, `ask ${shown(ask)}`];
  }
}

function marketLine(
  event: MarketEvent,
  names: ReadonlyMap<string, string>,
  books: Map<string, Best>,
): string | null {
  if (event.type === 'fresh') return null;
  const { tokenId } = event.data;
  const name = names.get(tokenId) ?? tokenId;
  if (event.type === 'gap')
    return columns(clock(new Date().toISOString()), name, `${event.data.reason}: ${event.data.message}`);
  const best = books.get(tokenId) ?? new Best();
  books.set(tokenId, best);
  if (event.type === 'book') best.whole(event.data.bids, event.data.asks);
  else best.change(event.data.bids, event.data.asks);
  return columns(clock(event.data.changedAt), name, ...best.parts());
}

async function watchMarkets(
  run: Run,
  client: BellwetherClient,
  markets: readonly string[],
  options: WatchOptions,
): Promise<void> {
  const { outcome: which, count: most, venue } = options;
  const names = new Map<string, string>();
  for (const id of markets) {
    const market = await client.getMarket(id, venue === undefined ? {} : { venue });
    const only = which === undefined ? null : sideIn(which, market);
    for (const [i, side] of (['YES', 'NO'] as const).entries()) {
      const tokenId = market.clobTokenIds[i];
      if (tokenId !== undefined && (only === null || only === side))
        names.set(tokenId, `${market.id} ${outcomeText(side, market.outcomes[i])}`);
    }
  }
  const books = new Map<string, Best>();
  let seen = 0;
  for await (const event of client.watchMarket([...names.keys()], { signal: run.signal })) {
    const line = marketLine(event, names, books);
    if (run.output.json || line !== null) {
      run.output.item(event, () => line ?? '');
      seen += 1;
    }
    if (seen === most) break;
  }
}

async function watch(run: Run, options: WatchOptions, markets: readonly string[]): Promise<void> {
  if (markets.length > 0 && options.after !== undefined)
    throw usage('--after resumes the events of the agent; a market begins with its whole book.');
  const client = await run.client();
  // A stream waits for a service that is away; the first answer must come.
  await run.waiting('Connecting', client.getMe());
  run.untilStopped();
  try {
    if (markets.length === 0) await watchAgent(run, client, options);
    else await watchMarkets(run, client, markets, options);
  } catch (error) {
    // Ctrl-C is how people end this command.
    if (run.stopReason === null) throw error;
  }
}

export function addWatchCommand(program: Command, start: Start): void {
  examples(
    program
      .command('watch')
      .description('live: what happens to the agent, or the books of markets; until Ctrl-C')
      .argument('[markets...]', 'books of these; without them the events of the agent')
      .option('--after <cursor>', 'begin after this event, without a gap')
      .option('--count <n>', 'end after so many', count)
      .option(
        '--outcome <outcome>',
        "only the book of YES or of NO; also by the venue's name of it",
        outcomeWord,
      )
      .option('--venue <name>', 'where the markets are')
      .action(
        action(start, {
          run: (run: Run, options: WatchOptions, markets: string[]) => watch(run, options, markets),
        }),
      ),
    'bellwether watch',
    'bellwether watch 101 --outcome YES',
    'bellwether watch --json | jq -c \'select(.type == "fill")\'',
  );
}
