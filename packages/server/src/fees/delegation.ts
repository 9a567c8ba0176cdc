/** Reads what a wallet has delegated to the platform, and what it would have to approve. Never signs. */
import type { Delegation } from '@bellwether/contract';
import { formatMicro, MICRO_DECIMALS, type Micro } from '@bellwether/contract/decimals';
import { parseSolanaAddress, SOLANA_PROGRAMS, type SolanaAddress } from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Caller } from '../domain/records.ts';
import { refusal } from '../platform/refusal.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { Venues } from '../venues/venue.ts';
import type { SigningProvider } from './signing-provider.ts';

export interface DelegationNeeds {
  readonly agents: AgentStore;
  readonly venues: Venues;
  readonly signing: SigningProvider;
  /** Where fees go. */
  readonly feeWallet: SolanaAddress;
  readonly maxFeeCharge: Micro;
  /** The JSON-RPC of the paper chain; `null` on a live one, or while its door is shut. */
  readonly paperRpcUrl: string | null;
}

/** @param asked the agent's solAddress when left out @throws Refusal, ChainUnavailable */
export async function delegationOf(
  needs: DelegationNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<Delegation> {
  const { signing } = needs;
  const { chain, collateralMint } = quotingVenue(needs).quotes;
  const wallet = await walletOf(needs, caller, asked);
  const [tokenAccount, account] = await Promise.all([
    chain.tokenAddress(wallet, collateralMint),
    chain.tokenAccount(wallet, collateralMint),
  ]);
  const isOurs = account !== null && account.delegate === signing.address && !account.frozen;
  return {
    walletAddress: wallet,
    delegate: signing.address,
    feeWallet: needs.feeWallet,
    mint: collateralMint,
    tokenProgram: SOLANA_PROGRAMS.token,
    decimals: MICRO_DECIMALS,
    tokenAccount,
    exists: account !== null,
    balance: formatMicro(account?.amount ?? 0n),
    delegatedAmount: formatMicro(isOurs ? account.delegatedAmount : 0n),
    maxFeeCharge: formatMicro(needs.maxFeeCharge),
    rpcUrl: needs.paperRpcUrl,
  };
}

async function walletOf(
  { agents }: DelegationNeeds,
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
