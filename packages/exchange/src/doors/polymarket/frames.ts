/** Frames that clients send on the venue's sockets. Wire reference 4.1 and 4.2. What is none of these is ignored, as at the venue. */
import { conditionIdOfBothWidths } from '@bellwether/protocol';

export type ClientFrame =
  | { readonly kind: 'ping' }
  | {
      readonly kind: 'market';
      readonly tokens: readonly string[];
      readonly wantsDump: boolean;
      readonly wantsCustom: boolean;
    }
  | { readonly kind: 'user'; readonly auth: FrameAuth; readonly markets: readonly string[] }
  | {
      readonly kind: 'change';
      readonly operation: 'subscribe' | 'unsubscribe';
      readonly tokens: readonly string[];
      readonly markets: readonly string[];
    };

export interface FrameAuth {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

/** Most tokens, or markets, of one socket. */
export const MOST_SUBSCRIPTIONS = 500;
const TOKEN = /^[0-9]{1,78}$/;
const CONDITION = /^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i;
const MOST_AUTH_CHARS = 200;

type Json = Readonly<Record<string, unknown>>;

const texts = (value: unknown, form: RegExp): string[] =>
  Array.isArray(value)
    ? [...new Set(value.filter((one): one is string => typeof one === 'string' && form.test(one)))]
    : [];

/** @returns null for what is no frame of the venue's */
export function readFrame(text: string): ClientFrame | null {
  if (text === 'PING') return { kind: 'ping' };
  let frame: Json;
  try {
    frame = JSON.parse(text) as Json;
  } catch {
    return null;
  }
  if (typeof frame !== 'object' || frame === null) return null;
  const tokens = texts(frame.assets_ids, TOKEN);
  const markets = texts(frame.markets, CONDITION).map((market) =>
    conditionIdOfBothWidths(market.toLowerCase()),
  );
  const { operation, type } = frame;
  if (operation === 'subscribe' || operation === 'unsubscribe')
    return { kind: 'change', operation, tokens, markets };
  // The official clients write the channel's name in either case.
  const channel = typeof type === 'string' ? type.toLowerCase() : '';
  if (channel === 'market')
    return {
      kind: 'market',
      tokens,
      wantsDump: frame.initial_dump !== false,
      wantsCustom: frame.custom_feature_enabled === true,
    };
  if (channel !== 'user') return null;
  const auth = authOf(frame.auth);
  return auth === null ? null : { kind: 'user', auth, markets };
}

function authOf(value: unknown): FrameAuth | null {
  const { apiKey, secret, passphrase } = (value ?? {}) as Json;
  const isText = (part: unknown): part is string =>
    typeof part === 'string' && part.length <= MOST_AUTH_CHARS;
  return isText(apiKey) && isText(secret) && isText(passphrase) ? { apiKey, secret, passphrase } : null;
}
