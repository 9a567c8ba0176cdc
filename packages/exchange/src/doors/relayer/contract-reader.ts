/** Reads what calls of the venue's contracts say: the other direction of the protocol package's encoders, for what they make. */
import {
  type Address,
  asAddress,
  type ContractCall,
  CTF_COLLATERAL_ADAPTER,
  convertCall,
  mergeCall,
  NEG_RISK_COLLATERAL_ADAPTER,
  POSITION_ROUTER,
  parseAddress,
  parseHex,
  redeemCall,
  redeemPositionCall,
  SAFE_MULTISEND,
  splitCall,
} from '@bellwether/protocol';

/** What a call does to the paper exchange; `approval`: nothing, for every contract may move paper money. */
export type CallEffect =
  | { readonly kind: 'split' | 'merge' | 'convert'; readonly conditionId: string; readonly amount: bigint }
  | { readonly kind: 'redeem'; readonly conditionId: string }
  | { readonly kind: 'approval' };

const WORD = 64;
const SELECTOR = 10;
/** Hex digits of the 29 bytes of an event. */
const EVENT = 58;
const APPROVALS: ReadonlySet<string> = new Set(['0x095ea7b3', '0xa22cb465']);

/** The nth word after the selector; `null`: there is none. */
const wordAt = (data: string, nth: number): string | null => {
  const word = data.slice(SELECTOR + nth * WORD, SELECTOR + (nth + 1) * WORD);
  return /^[0-9a-f]{64}$/.test(word) ? word : null;
};
const numberAt = (data: string, nth: number): bigint | null => {
  const word = wordAt(data, nth);
  return word === null ? null : BigInt(`0x${word}`);
};

/** `null`: the paper exchange does not know the call. Known is only what the protocol package would have made. */
export function effectOf({ to, data }: ContractCall): CallEffect | null {
  if (APPROVALS.has(data.slice(0, SELECTOR))) return { kind: 'approval' };
  const isRouted = to === POSITION_ROUTER;
  const condition = wordAt(data, isRouted ? 0 : 2);
  if (condition === null) return null;
  const conditionId = `0x${condition}`;
  const negRisk = to === NEG_RISK_COLLATERAL_ADAPTER;
  if (!isRouted && !negRisk && to !== CTF_COLLATERAL_ADAPTER) return null;
  const same = (made: () => ContractCall): boolean => {
    try {
      const call = made();
      return call.to === to && call.data === data;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  };
  const amount = numberAt(data, isRouted ? 1 : 4);
  if (amount !== null) {
    if (same(() => splitCall({ conditionId, negRisk }, amount)))
      return { kind: 'split', conditionId, amount };
    if (same(() => mergeCall({ conditionId, negRisk }, amount)))
      return { kind: 'merge', conditionId, amount };
  }
  const [outcome, shares] = [numberAt(data, 1), numberAt(data, 2)];
  // Event and place in it, which together are the condition.
  const named = `0x${condition.slice(0, EVENT)}${(wordAt(data, 1) ?? '').slice(-4)}00`;
  if (isRouted && shares !== null && same(() => convertCall({ conditionId: named, negRisk: true }, shares)))
    return { kind: 'convert', conditionId: named, amount: shares };
  const isRedemption = isRouted
    ? outcome !== null &&
      shares !== null &&
      same(() => redeemPositionCall(conditionId, { outcome: outcome === 0n ? 0 : 1, amount: shares }))
    : same(() => redeemCall(conditionId, negRisk));
  return isRedemption ? { kind: 'redeem', conditionId } : null;
}

/** The calls that a proxy wallet's factory forwards: kind, target, value, offset, length and bytes of each. */
export function callsOfProxyData(data: string): readonly ContractCall[] | null {
  const count = numberAt(data, 1);
  if (count === null || count === 0n || count > 20n) return null;
  const base = 2;
  const calls: ContractCall[] = [];
  for (let nth = 0; nth < Number(count); nth += 1) {
    const offset = numberAt(data, base + nth);
    if (offset === null || offset % 32n !== 0n || offset > 1_000_000n) return null;
    const at = base + Number(offset) / 32;
    const call = callAt(data, { target: at + 1, bytes: at + 4 });
    if (call === null) return null;
    calls.push(call);
  }
  return calls;
}

function callAt(
  data: string,
  { target, bytes }: { readonly target: number; readonly bytes: number },
): ContractCall | null {
  const [word, length] = [wordAt(data, target), numberAt(data, bytes)];
  if (word === null || length === null || length > 100_000n) return null;
  const from = SELECTOR + (bytes + 1) * WORD;
  const hex = data.slice(from, from + 2 * Number(length));
  const to = parseAddress(`0x${word.slice(24)}`);
  return to === null || hex.length !== 2 * Number(length) ? null : { to, data: `0x${hex}` };
}

/** The calls of a Safe: one, or those of the pinned multisend. */
export function callsOfSafe(to: Address, data: string, isDelegate: boolean): readonly ContractCall[] | null {
  if (!isDelegate) return parseHex(data) === null ? null : [{ to, data: data as `0x${string}` }];
  if (to !== SAFE_MULTISEND) return null;
  const length = numberAt(data, 1);
  if (length === null || length > 100_000n) return null;
  const packed = data.slice(SELECTOR + 2 * WORD, SELECTOR + 2 * WORD + 2 * Number(length));
  const calls: ContractCall[] = [];
  // Operation 1 byte, target 20, value 32, length 32.
  for (let at = 0; at < packed.length; ) {
    const target = parseAddress(`0x${packed.slice(at + 2, at + 42)}`);
    const size = packed.slice(at + 106, at + 170);
    if (target === null || !/^[0-9a-f]{64}$/.test(size) || calls.length >= 20) return null;
    const end = at + 170 + 2 * Number(BigInt(`0x${size}`));
    if (end > packed.length) return null;
    calls.push({ to: asAddress(target), data: `0x${packed.slice(at + 170, end)}` });
    at = end;
  }
  return calls.length === 0 ? null : calls;
}
