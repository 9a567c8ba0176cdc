/**
 * Names of the house in the form of a wallet's: its accounts and orders are named `house:…` inside, and clients expect an
 * address and a digest. One name always gives the same one, which no key can have made.
 */
import { createHash } from 'node:crypto';
import type { AccountId, OrderId } from '../paper-exchange.ts';

const ADDRESS_DIGITS = 40;
const isHex = (name: string): boolean => name.startsWith('0x');

const digestOf = (name: string): string =>
  createHash('sha256').update(`paper exchange|${name}`).digest('hex');

/** An account as an address. */
export const addressOfAccount = (account: AccountId): string =>
  isHex(account) ? account : `0x${digestOf(account).slice(0, ADDRESS_DIGITS)}`;

/** An order as a digest. */
export const digestOfOrder = (orderId: OrderId): string =>
  isHex(orderId) ? orderId : `0x${digestOf(orderId)}`;
