/** What a wallet has delegated to the platform, and what it would have to approve. Reads, and never signs. */
import type { Delegation } from '@bellwether/contract';
import { formatMicro, MICRO_DECIMALS } from '@bellwether/contract/decimals';
import { parseSolanaAddress, SOLANA_PROGRAMS, type SolanaAddress } from '@bellwether/protocol';
import type { Caller } from '../../ports/stores.ts';
import type { Deps } from '../deps.ts';
import { refusal } from '../refusal.ts';
import { quotingVenue } from '../venues.ts';

type DelegationDeps = Pick<
  Deps,
  'agents' | 'venues' | 'signing' | 'feeWallet' | 'maxFeeCharge' | 'paperRpcUrl'
>;

/** @param asked the agent's solAddress when left out @throws Refusal, ChainUnavailable */
export async function delegationOf(
  deps: DelegationDeps,
  caller: Caller,
  asked: string | undefined,
): Promise<Delegation> {
  const { signing } = deps;
  const { chain, collateralMint } = quotingVenue(deps).quotes;
  const wallet = await walletOf(deps, caller, asked);
  const [tokenAccount, account] = await Promise.all([
    chain.tokenAddress(wallet, collateralMint),
    chain.tokenAccount(wallet, collateralMint),
  ]);
  const isOurs = account !== null && account.delegate === signing.address && !account.frozen;
  return {
    walletAddress: wallet,
    delegate: signing.address,
    feeWallet: deps.feeWallet,
    mint: collateralMint,
    tokenProgram: SOLANA_PROGRAMS.token,
    decimals: MICRO_DECIMALS,
    tokenAccount,
    exists: account !== null,
    balance: formatMicro(account?.amount ?? 0n),
    delegatedAmount: formatMicro(isOurs ? account.delegatedAmount : 0n),
    maxFeeCharge: formatMicro(deps.maxFeeCharge),
    rpcUrl: deps.paperRpcUrl,
  };
}

async function walletOf(
  { agents }: DelegationDeps,
  caller: Caller,
  asked: string | undefined,
): Promise<SolanaAddress> {
  const text = asked ?? (await agents.byId(caller.agentId))?.solAddress ?? null;
  if (text === null) {
    throw refusal(
      'from_address_required',
      'The agent has no Solana address: name a wallet with walletAddress, or set one with POST /wallet/update-sol-address.',
      { path: 'walletAddress' },
    );
  }
  const address = parseSolanaAddress(text);
  if (address === null)
    throw refusal('invalid_solana_address', 'walletAddress is not base58 of 32 bytes.', {
      path: 'walletAddress',
    });
  return address;
}
