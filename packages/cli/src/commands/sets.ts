/**
 * `split` and `merge`: full sets of a market out of collateral, and back; `convert`: NO shares of a market into YES shares of the others
 * of its event. Nothing is signed for them on paper; at a live venue they are transactions that the wallet's owner signs. The name makes
 * each of them one order, however often it is sent.
 */
import { randomUUID } from 'node:crypto';
import type { BellwetherClient } from '@bellwether/sdk';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { positive } from '../options.ts';
import { action, examples, type Run, type Start } from '../run.ts';
import {
  place,
  relayAsked,
  requireAsked,
  requireSpending,
  reserveSpending,
  transactionText,
} from '../signing.ts';
import { afterApproval } from './order-intent.ts';

interface SetOptions {
  readonly venue?: string;
  readonly reasoning?: string;
  readonly source?: string;
  readonly clientOrderId?: string;
  readonly yes?: boolean;
}

const KINDS = {
  split: {
    does: 'make full sets, one YES and one NO share each, of collateral',
    send: (client: BellwetherClient, request: SetRequest) => client.splitSets(request),
    words: ({ amount, marketId }: SetRequest) =>
      `Split ${amount} collateral into ${amount} YES and ${amount} NO of ${marketId}`,
  },
  merge: {
    does: 'make collateral of full sets; possible while trading is paused',
    send: (client: BellwetherClient, request: SetRequest) => client.mergeSets(request),
    words: ({ amount, marketId }: SetRequest) =>
      `Merge ${amount} YES and ${amount} NO of ${marketId} into ${amount} collateral`,
  },
  convert: {
    does: 'make YES shares of all other markets of an event of NO shares of one',
    send: (client: BellwetherClient, request: SetRequest) => client.convertSets(request),
    words: ({ amount, marketId }: SetRequest) =>
      `Convert ${amount} NO of ${marketId} into ${amount} YES of each other market of its event`,
  },
} as const;
type SetKind = keyof typeof KINDS;
type SetRequest = Parameters<BellwetherClient['splitSets']>[0] & { readonly marketId: string };

const MICRO = 1e6;

function again(kind: SetKind, { marketId, amount, clientOrderId, venue }: SetRequest): string {
  const where = venue === undefined ? '' : ` --venue '${venue}'`;
  return `bellwether ${kind} '${marketId.replaceAll("'", '')}' ${amount} --client-order-id '${clientOrderId}'${where}`;
}

/** This order as the desk knows it; another one that had the name before was refused. @throws CliError while it knows none */
async function known(client: BellwetherClient, kind: SetKind, { clientOrderId, amount }: SetRequest) {
  const orders = await client.listOrders({ clientOrderId, limit: 20 });
  const same = orders.filter((one) => one.orderType === kind.toUpperCase() && one.orderSize === amount);
  const found = same.find(({ status }) => status !== 'rejected') ?? same[0];
  if (found === undefined) throw new CliError('refused', 'order_not_found', 'The desk knows no such order.');
  return found;
}

async function send(run: Run, kind: SetKind, request: SetRequest) {
  const client = await run.client();
  // Made of all that is sent: the desk takes another amount under this name for another order.
  if (kind === 'split')
    reserveSpending(run, `split ${JSON.stringify(request)}`, BigInt(Math.round(request.amount * MICRO)));
  const repeated = again(kind, request);
  try {
    return await place(run, {
      send: (once) => KINDS[kind].send(once, request),
      look: () => known(client, kind, request),
      advice: `The same order again has no second effect: ${repeated}`,
    });
  } catch (error) {
    throw afterApproval(error, repeated);
  }
}

async function sets(
  run: Run,
  kind: SetKind,
  { clientOrderId = randomUUID(), yes, ...labels }: SetOptions,
  terms: Pick<SetRequest, 'marketId' | 'amount'>,
): Promise<void> {
  const request: SetRequest = { clientOrderId, ...terms, ...labels };
  if (kind === 'split')
    requireSpending(run, BigInt(Math.round(terms.amount * MICRO)), `split ${JSON.stringify(request)}`);
  if (yes !== true) await run.confirm(`${KINDS[kind].words(request)}?`);
  const placed = await send(run, kind, request);
  const client = await run.client();
  // What is known of an order names no transactions; the same order again has them, and no second effect.
  const first =
    'answer' in placed
      ? placed.answer
      : placed.found.status === 'live'
        ? await KINDS[kind].send(client, request)
        : placed.found;
  const { marketId, amount } = terms;
  const asked = { action: { kind, amount }, marketId, venue: labels.venue };
  const isForRelayer = 'relay' in first && first.status === 'unsigned' && first.relay !== undefined;
  const answer = isForRelayer ? await relayAsked(run, client, { answer: first, ...asked }) : first;
  if ('success' in answer ? !answer.success : answer.status === 'rejected')
    throw new CliError(
      'refused',
      answer.errorCode ?? 'venue_refused',
      answer.errorMessage ?? 'The venue refused.',
      { fix: answer.fix ?? undefined, orderId: answer.orderId },
    );
  const unsigned =
    answer.status === 'unsigned' ? await requireAsked(run, client, { answer, ...asked }) : null;
  const transactions = unsigned === null ? {} : { transactions: unsigned.transactions };
  run.output.answer({ ...answer, ...transactions, clientOrderId }, () =>
    [
      run.output.facts([
        ['status', answer.status],
        ['sets', 'amount' in answer ? answer.amount : answer.filledSize],
        ['wallet', answer.walletAddress],
        ['order id', answer.orderId],
        ['client order id', clientOrderId],
      ]),
      ...(unsigned === null ? [] : [transactionText(run, unsigned)]),
    ].join('\n\n'),
  );
}

export function addSetCommands(program: Command, start: Start): void {
  for (const kind of Object.keys(KINDS) as SetKind[])
    examples(
      program
        .command(kind)
        .description(KINDS[kind].does)
        .argument('<market>', 'market id, condition id, slug or token id')
        .argument('<amount>', kind === 'convert' ? 'how many NO shares' : 'how many sets', positive)
        .option('--venue <name>', 'where the market is, when its id alone does not say')
        .option('--reasoning <text>', "kept in the agent's journal")
        .option('--source <label>', "kept in the agent's journal")
        .option(
          '--client-order-id <id>',
          'your own name for it: the same again has no second effect, another one under it is refused',
        )
        .option('--yes', 'do not ask; for programs')
        .action(
          action(start, {
            run: (run: Run, options: SetOptions, marketId: string, amount: number) =>
              sets(run, kind, options, { marketId, amount }),
          }),
        ),
      `bellwether ${kind} 101 25`,
    );
}
