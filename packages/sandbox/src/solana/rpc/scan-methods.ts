/** Methods that look at all accounts: of a program, of a mint, and in all. */
import { parseBase58, parseBase64Strict } from '@bellwether/protocol';
import { readToken } from '../token-accounts.ts';
import type { ProgramFilter } from '../types.ts';
import { accountJson, accountViewOf, uiTokenAmount } from './account-json.ts';
import { tokenAt } from './account-methods.ts';
import { atSlot, type MethodContext, type Methods } from './methods.ts';
import { Options, type Params } from './params.ts';
import { invalidParam } from './rpc-error.ts';

const MAX_FILTERS = 4;
const MAX_FILTER_BYTES = 128;
/** The database’s largest whole number; no account is as large. */
const MAX_INT = 2n ** 31n - 1n;
const TOKEN_ACCOUNT_BYTES = 165;
const LARGEST = 20;
const COMPARED_ENCODINGS = ['base58', 'base64'] as const;

export const SCAN_METHODS: Methods = {
  getProgramAccounts,
  getTokenLargestAccounts: async (params, { chain }) => {
    params.options(1, chain.slot());
    const mint = params.address(0);
    const { decimals } = tokenAt(chain, mint, 'mint');
    const largest = await chain.archive.largestTokenAccounts(mint, LARGEST);
    return atSlot(
      chain,
      largest.flatMap(({ address, account }) => {
        const token = readToken(account);
        return token?.kind === 'account' ? [{ address, ...uiTokenAmount(token.amount, decimals) }] : [];
      }),
    );
  },
  // No account is locked away from circulation.
  getSupply: async (params, { chain }) => {
    params.options(0, chain.slot());
    const total = await chain.archive.supply();
    return atSlot(chain, { total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [] });
  },
};

async function getProgramAccounts(params: Params, context: MethodContext): Promise<unknown> {
  const { chain, budget } = context;
  const program = params.address(0);
  const options = params.options(1, chain.slot());
  const view = accountViewOf(options);
  const most = budget.mostTokenAccounts;
  const found = await chain.archive.accountsOfProgram(program, {
    ...filterOf(options),
    most: Math.min(most + 1, Number(MAX_INT)),
  });
  if (found.length > most) throw invalidParam(`${program} has more than ${most} such accounts; add filters`);
  const accounts = found.map(({ address, account }) => ({
    pubkey: address,
    account: accountJson(account, view, context),
  }));
  return options.flag('withContext') ? atSlot(chain, accounts) : accounts;
}

function filterOf(options: Options): Omit<ProgramFilter, 'most'> {
  const filters = options.has('filters') ? options.list('filters', MAX_FILTERS) : [];
  const sizes: number[] = [];
  const bytes: ProgramFilter['bytes'][number][] = [];
  for (const filter of filters) {
    const one = new Options(filter);
    const size = one.whole('dataSize');
    const compared = one.nested('memcmp');
    if (size !== undefined) sizes.push(Number(size > MAX_INT ? -1n : size));
    else if (compared !== undefined) bytes.push(comparedOf(compared));
    else if (one.flag('tokenAccountState')) sizes.push(TOKEN_ACCOUNT_BYTES);
    else throw invalidParam('a filter is {dataSize}, {memcmp} or {tokenAccountState: true}');
  }
  const [size, ...others] = sizes;
  // No account has two sizes.
  if (others.some((other) => other !== size)) return { size: -1, bytes };
  return size === undefined ? { bytes } : { size, bytes };
}

function comparedOf(options: Options): ProgramFilter['bytes'][number] {
  const encoding = options.choice('encoding', COMPARED_ENCODINGS, 'base58');
  const text = options.text('bytes');
  const offset = Number(options.whole('offset') ?? 0n);
  const bytes =
    encoding === 'base64' ? parseBase64Strict(text) : text.length > 200 ? null : parseBase58(text);
  if (bytes === null || bytes.length > MAX_FILTER_BYTES || offset > 2 ** 30)
    throw invalidParam(`memcmp compares at most ${MAX_FILTER_BYTES} bytes, in ${encoding}`);
  return { offset, bytes };
}
