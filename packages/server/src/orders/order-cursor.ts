/** A place in the order history as an opaque text: stays where it is, however many orders come in front of it. */
import { LAST_MS } from '@bellwether/contract';
import { refusal } from '../platform/refusal.ts';

export interface OrderPlace {
  readonly createdAt: number;
  readonly orderId: string;
}

/** Ids of signed orders are digests, those of quoted orders the quotes' ids. */
const PLACE = /^(\d{1,15})\.(0x[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const cursorOf = ({ createdAt, orderId }: OrderPlace): string =>
  Buffer.from(`${createdAt}.${orderId}`).toString('base64url');

/** @throws Refusal invalid_request */
export function placeOf(cursor: string): OrderPlace {
  const [, createdAt, orderId] = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const at = Number(createdAt);
  if (orderId === undefined || at > LAST_MS)
    throw refusal('invalid_request', 'cursor: take it from the Link header of the page before.', {
      path: 'cursor',
    });
  return { createdAt: at, orderId };
}
