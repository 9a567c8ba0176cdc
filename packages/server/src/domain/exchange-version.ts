/** Adds the exchange's version to records of orders for ExchangeV3, beside `orderVersion` 2. It follows from the token, so nothing has to be stored. */
import { exchangeVersionOf } from '@bellwether/protocol';

export const saysExchange = (tokenId: string): { readonly exchangeVersion?: 3 } =>
  exchangeVersionOf(BigInt(tokenId)) === 3 ? { exchangeVersion: 3 } : {};
