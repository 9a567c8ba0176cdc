/** Which tokens the outcomes of a market of venue B are, from the venue's own public metadata; never through the service. */
/** The collateral of the markets that are traded here. */
const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** DFlow's metadata of real markets that needs no key. */
const VENUE_METADATA_ORIGIN = 'https://dev-prediction-markets-api.dflow.net';

const TIMEOUT_MS = 5_000;
const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export interface VenueMintOptions {
  /** Default the venue's own host. */
  readonly metadataUrl?: string;
  readonly fetch?: typeof fetch;
}

/** @returns [YES, NO], or `null` when the venue does not answer, or does not list the market */
export async function venueMints(
  ticker: string,
  { metadataUrl = VENUE_METADATA_ORIGIN, fetch: send = fetch }: VenueMintOptions = {},
): Promise<readonly [yes: string, no: string] | null> {
  try {
    const url = `${metadataUrl.replace(/\/+$/, '')}/api/v1/market/${encodeURIComponent(ticker)}`;
    const response = await send(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) return null;
    const market = (await response.json()) as {
      readonly ticker?: unknown;
      readonly accounts?: Readonly<Record<string, { readonly yesMint?: unknown; readonly noMint?: unknown }>>;
    };
    const { yesMint, noMint } = market.accounts?.[USDC_MINT] ?? {};
    const isMint = (value: unknown): value is string => typeof value === 'string' && MINT.test(value);
    return market.ticker === ticker && isMint(yesMint) && isMint(noMint) && yesMint !== noMint
      ? [yesMint, noMint]
      : null;
  } catch {
    return null;
  }
}
