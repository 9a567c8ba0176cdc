/** Methods that read accounts, mainly token accounts. */
import { readToken, TOKEN_PROGRAMS } from '../token-accounts.ts';
import type { LocalChain, TokenFilter } from '../types.ts';
import { accountJson, accountViewOf, uiTokenAmount } from './account-json.ts';
import { atSlot, decimalsIn, type Methods } from './methods.ts';
import { asAddress, type Options } from './params.ts';
import { invalidParam } from './rpc-error.ts';

const MAX_ACCOUNTS_PER_CALL = 100;

export const ACCOUNT_METHODS: Methods = {
  getBalance: (params, { chain }) => {
    const address = params.address(0);
    params.options(1, chain.slot());
    return atSlot(chain, chain.account(address)?.lamports ?? 0n);
  },
  getAccountInfo: (params, context) => {
    const { chain } = context;
    const address = params.address(0);
    const view = accountViewOf(params.options(1, chain.slot()));
    return atSlot(chain, accountJson(chain.account(address), view, context));
  },
  getMultipleAccounts: (params, context) => {
    const { chain } = context;
    const addresses = params.list(0, MAX_ACCOUNTS_PER_CALL).map(asAddress);
    const view = accountViewOf(params.options(1, chain.slot()), 'base64');
    return atSlot(
      chain,
      addresses.map((address) => accountJson(chain.account(address), view, context)),
    );
  },
  getTokenAccountBalance: (params, { chain }) => {
    params.options(1, chain.slot());
    const account = chain.account(params.address(0));
    if (account === null) throw invalidParam('could not find account');
    const token = readToken(account);
    if (token?.kind !== 'account') throw invalidParam('not a Token account');
    const { amount, mint } = token;
    return atSlot(chain, uiTokenAmount(amount, decimalsIn(chain)(mint)));
  },
  getTokenAccountsByOwner: (params, context) => {
    const { chain } = context;
    const { mostTokenAccounts: most } = context.budget;
    const owner = params.address(0);
    const filter = filterOf(chain, params.options(1, chain.slot()));
    const view = accountViewOf(params.options(2, chain.slot()));
    const found = chain.tokenAccountsOf(owner, { ...filter, most: most + 1 });
    if (found.length > most)
      throw invalidParam(`${owner} has more than ${most} such token accounts; name a mint`);
    return atSlot(
      chain,
      found.map(({ address, account }) => ({
        pubkey: address,
        account: accountJson(account, view, context),
      })),
    );
  },
};

function filterOf(chain: LocalChain, options: Options): TokenFilter {
  const [mint, programId] = [options.address('mint'), options.address('programId')];
  if ((mint === undefined) === (programId === undefined))
    throw invalidParam('the filter must have either mint or programId');
  if (mint !== undefined) {
    if (chain.account(mint) === null) throw invalidParam('could not find mint');
    return { mint };
  }
  if (programId === undefined || !TOKEN_PROGRAMS.has(programId))
    throw invalidParam('unrecognized Token program id');
  return { programId };
}
