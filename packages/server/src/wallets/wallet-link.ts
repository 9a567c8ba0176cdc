/**
 * Links wallets to owners by a signed challenge. The signature is proof of the key: it wins over everything that was registered
 * before, by whomever.
 */
import {
  CHALLENGE_PURPOSES,
  LIMITS,
  type LinkChallenge,
  type LinkRequest,
  type LinkResult,
  type SolAddressResult,
  type UnlinkResult,
} from '@bellwether/contract';
import { type Address, type SolanaAddress, walletKindsOf } from '@bellwether/protocol';
import { isInDoubt, isOpen } from '../domain/lifecycle.ts';
import type { Caller, OrderRow } from '../domain/records.ts';
import { within } from '../domain/unavailable.ts';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, venueOf, venuesFor } from '../venues/asking.ts';
import {
  type ChallengePurpose,
  challengeUsed,
  credentialIdentity,
  newChallenge,
  provedBy,
  tooManyWallets,
  type WalletNeeds,
  walletOf,
} from './wallets.ts';

const CREDIT_PATIENCE_MS = 2_000;
const PURPOSE: ChallengePurpose = { name: 'wallet link challenge v1', ...CHALLENGE_PURPOSES.link };

export const linkChallenge = async (
  needs: WalletNeeds,
  caller: Caller,
  asked: string,
): Promise<LinkChallenge> =>
  newChallenge(needs, { caller, wallet: walletOf(asked, 'address'), purpose: PURPOSE });

export async function linkWallet(
  needs: WalletNeeds,
  caller: Caller,
  request: LinkRequest,
): Promise<LinkResult> {
  const wallet = walletOf(request.address, 'address');
  const { signer, expiresAt } = provedBy(needs, { caller, wallet, purpose: PURPOSE }, request);
  const outcome = await needs.walletLinks.link({
    caller,
    address: wallet.address,
    kind: wallet.kind,
    signer,
    challenge: { nonce: request.nonce, expiresAt },
    at: needs.clock.now(),
    maxWallets: LIMITS.walletsPerOwner,
    reseal: (credential, userId) =>
      needs.secrets.seal(
        needs.secrets.open(
          credential.sealed,
          credentialIdentity(credential.userId, credential.walletAddress),
        ),
        credentialIdentity(userId, credential.walletAddress),
      ),
  });
  if (outcome.kind === 'full') throw tooManyWallets('address');
  if (outcome.kind !== 'linked') throw challengeUsed();
  if (wallet.kind === 'solana') await credit(needs, wallet.address);
  const canceled =
    wallet.kind === 'evm' && outcome.formerOwners.length > 0
      ? await cancelFormerOrders(needs, outcome.formerOwners, signer as Address)
      : { orders: [], left: 0 };
  return {
    success: true,
    walletAddress: request.address,
    wallet_address: request.address,
    walletOwnership: 'external',
    message: linkedMessage(outcome.moved.length, canceled.orders.length, canceled.left),
    moved: [...outcome.moved],
    canceledOrders: canceled.orders,
  };
}

/** Paper money for a Solana wallet. Without it the link holds all the same: the first quote credits the wallet, too. */
async function credit(needs: HasVenues, wallet: SolanaAddress): Promise<void> {
  const credits = venuesFor(needs, wallet).flatMap(({ paper }) =>
    paper === undefined ? [] : [paper.credit(wallet)],
  );
  await Promise.all(credits.map((one) => within(CREDIT_PATIENCE_MS, one)));
}

function linkedMessage(moved: number, canceled: number, left: number): string {
  if (moved === 0) return 'The wallet is linked.';
  const parts = [
    `The wallet is linked; ${moved === 1 ? 'one wallet' : `${moved} wallets`} moved from another owner.`,
  ];
  if (canceled > 0) parts.push(`Open orders of that owner's agents were canceled: ${canceled}.`);
  if (left > 0) parts.push(`Orders of that owner's agents that could not be canceled yet: ${left}.`);
  return parts.join(' ');
}

/**
 * The new owner could not cancel what the former one's agents left open, so it is canceled here. After the move: an
 * answer that fails to come must not undo it.
 */
async function cancelFormerOrders(
  needs: WalletNeeds,
  formerOwners: readonly bigint[],
  eoa: Address,
): Promise<{ orders: string[]; left: number }> {
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  const wallets = new Set<string>([eoa, proxy, safe, deposit.beacon, deposit.uups]);
  const open: OrderRow[] = [];
  let left = 0;
  for (const owner of formerOwners) {
    for (const row of await needs.orders.openOfOwner(owner)) {
      if (!wallets.has(row.funder)) continue;
      if (isInDoubt(row.status)) left += 1;
      else if (isOpen(row.status)) open.push(row);
    }
  }
  const orders: string[] = [];
  for (const rows of Map.groupBy(open, ({ venue, funder }) => `${venue} ${funder}`).values()) {
    const [{ venue, funder }] = rows as [OrderRow, ...OrderRow[]];
    const ids = rows.map((row) => row.orderId);
    const answer = await venueOf(needs, venue, funder)
      .cancel?.orders(funder, ids)
      .catch(() => undefined);
    const canceled = answer?.kind === 'answered' ? answer.canceled : [];
    orders.push(...canceled);
    left += ids.length - canceled.length;
  }
  return { orders, left };
}

/** The agent's own wallet; without one the only wallet that there is. @throws Refusal wallet_required, naming them; wallet_not_found */
async function walletMeant(needs: WalletNeeds, caller: Caller): Promise<string> {
  const [unlinkable, agent] = await Promise.all([
    needs.walletLinks.unlinkable(caller),
    needs.agents.byId(caller.agentId),
  ]);
  const own = unlinkable.find(({ wallets }) => wallets.some((wallet) => wallet === agent?.walletAddress));
  if (own !== undefined) return own.key;
  const [only, ...others] = unlinkable;
  if (only === undefined)
    throw refusal('wallet_not_found', 'The owner of this agent has no wallet to unlink.');
  if (others.length === 0) return only.key;
  const named = [only, ...others].flatMap(({ wallets }) => wallets);
  throw refusal(
    'wallet_required',
    `There are several wallets; name the one to unlink: ${named.join(', ')}.`,
    {
      path: 'address',
    },
  );
}

/** @param asked the wallet; when left out the agent's own, or the only one that there is */
export async function unlinkWallet(
  needs: WalletNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<UnlinkResult> {
  const wallet = walletOf(asked ?? (await walletMeant(needs, caller)), 'address');
  const gone = await needs.walletLinks.unlink(caller, wallet.address);
  if (gone.length === 0)
    throw refusal('wallet_not_found', 'The owner of this agent has no such wallet.', { path: 'address' });
  const wallets = new Set(gone);
  const open = (await needs.orders.openOfOwner(caller.userId)).filter(
    (row) => wallets.has(row.walletAddress) || wallets.has(row.funder),
  );
  return {
    success: true,
    message: `Unlinked, with stored credentials deleted: ${gone.join(', ')}.${
      open.length === 0 ? '' : ` Orders still open, to be canceled as before: ${open.length}.`
    }`,
  };
}

export async function updateSolAddress(
  needs: WalletNeeds,
  caller: Caller,
  asked: string,
): Promise<SolAddressResult> {
  const wallet = walletOf(asked, 'solAddress');
  await needs.walletLinks.setSolAddress(caller.agentId, wallet.address);
  if (wallet.kind === 'solana') await credit(needs, wallet.address);
  return {
    success: true,
    solAddress: wallet.address,
    message: 'Quotes of venue B are made for this wallet from now on.',
  };
}
