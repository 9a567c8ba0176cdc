/**
 * The venue's refusals in the desk's codes, and what an answer proves about an order (wire reference 2.5). 400, 401, 403,
 * 404, and 429 of its own limiter are proof that the order was not taken; every other answer without an understood success
 * proves nothing.
 */
import type { VenueRefusal } from '@bellwether/contract';
import type { VenueReply } from './http.ts';

/** In this order: the first that fits. Texts carry ids and figures. */
const TEXTS: readonly (readonly [RegExp, VenueRefusal])[] = [
  [/couldn't be fully filled|FOK orders are fully filled/i, 'fok_not_filled'],
  [/no orders found to match with FAK/i, 'fak_no_match'],
  [/only GTC and GTD order types/i, 'post_only_needs_gtc_or_gtd'],
  [/order crosses book|crosses the book/i, 'post_only_would_cross'],
  [/the allowance is not enough/i, 'allowance_missing'],
  [/not enough balance \/ allowance/i, 'insufficient_balance'],
  [/breaks minimum tick size rule/i, 'price_off_tick_grid'],
  [/lower than the minimum/i, 'size_below_minimum'],
  [/invalid amount for a marketable BUY/i, 'amount_below_minimum'],
  [/max accuracy of|the taker amount for a/i, 'amounts_too_precise'],
  [/invalid expiration/i, 'already_expired'],
  [/order_version_mismatch/i, 'order_version_refused'],
  [/use the deposit wallet flow/i, 'wallet_not_allowed'],
  [/address banned|closed only mode/i, 'account_restricted'],
  [/Trading restricted in your region/i, 'region_restricted'],
  [/signer address has to be the address of the API KEY/i, 'signer_not_of_api_key'],
  [/owner of the API KEY|Unauthorized|Invalid api key/i, 'credentials_refused'],
  [/not yet ready to process new orders/i, 'market_not_ready'],
  [/No orderbook exists/i, 'market_closed'],
  [/Rate limit exceeded for tokenId|Too Many Requests/i, 'venue_rate_limited'],
  [/invalid signature|invalid nonce|invalid fee rate|Invalid order payload/i, 'order_not_understood'],
  [/canceled in the CTF exchange contract/i, 'order_not_understood'],
];

/** Texts of a 400 that prove nothing: the order may be there, or may come to be. */
const NO_PROOF = /Duplicated|already been placed|context canceled|match delayed/i;

export type Verdict =
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail: string | null }
  /** `isThere`: the venue says that it has the order. */
  | { readonly kind: 'unknown'; readonly isThere: boolean };

const UNKNOWN: Verdict = { kind: 'unknown', isThere: false };
/** The venue does not always say why it answers 401. */
const CREDENTIALS_REFUSED: Verdict = { kind: 'rejected', reason: 'credentials_refused', detail: null };
const MAX_DETAIL_CHARS = 500;

const codeOf = (text: string): VenueRefusal | null => TEXTS.find(([form]) => form.test(text))?.[1] ?? null;

/** @param onUnmapped called with a text that the desk has no code for */
export function verdictOf(reply: VenueReply, onUnmapped: (text: string) => void): Verdict {
  const { status, limits } = reply;
  const text = errorTextOf(reply);
  if (NO_PROOF.test(text)) return { kind: 'unknown', isThere: /Duplicated|already been placed/i.test(text) };
  if (status === 429)
    return limits.remaining === null && limits.reset === null
      ? UNKNOWN
      : { kind: 'rejected', reason: 'venue_rate_limited', detail: null };
  if (status === 401 && codeOf(text) === null) return CREDENTIALS_REFUSED;
  if (status === 400 || status === 401 || status === 403 || status === 404) return refusal(text, onUnmapped);
  return UNKNOWN;
}

/** A text beside a 200: a refusal only where it is a known one. */
export function legVerdict(text: string, onUnmapped: (text: string) => void): Verdict {
  if (NO_PROOF.test(text)) return { kind: 'unknown', isThere: /Duplicated|already been placed/i.test(text) };
  if (codeOf(text) !== null) return refusal(text, onUnmapped);
  onUnmapped(text);
  return UNKNOWN;
}

function refusal(text: string, onUnmapped: (text: string) => void): Verdict {
  const known = codeOf(text);
  // It names the contract.
  if (known === 'allowance_missing') return { kind: 'rejected', reason: known, detail: plain(text) };
  if (known !== null) return { kind: 'rejected', reason: known, detail: null };
  onUnmapped(text);
  return { kind: 'rejected', reason: 'refused_by_venue', detail: plain(text) };
}

/** Word for word, without what could break a log or a page. */
const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  text.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, ' ').slice(0, MAX_DETAIL_CHARS);

export function errorTextOf({ value, text }: Pick<VenueReply, 'value' | 'text'>): string {
  if (typeof value === 'object' && value !== null) {
    const { error, errorMsg, error_msg, message } = value as Readonly<Record<string, unknown>>;
    const found = [error, errorMsg, error_msg, message].find((one) => typeof one === 'string' && one !== '');
    if (typeof found === 'string') return found;
  }
  return text;
}
