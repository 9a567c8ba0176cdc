/** A place in the order history as an opaque text: stays where it is, however many orders come in front of it. */
import { refusal } from './refusal.ts';

export interface OrderPlace {
  readonly createdAt: number;
  readonly orderId: string;
}

const PLACE = /^(\d{1,15})\.(0x[0-9a-f]{64})$/;

export const cursorOf = ({ createdAt, orderId }: OrderPlace): string =>
  Buffer.from(`${createdAt}.${orderId}`).toString('base64url');

/** @throws Refusal invalid_request */
export function placeOf(cursor: string): OrderPlace {
  const match = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (match === null)
    throw refusal('invalid_request', 'cursor: take it from the Link header of the page before.', {
      path: 'cursor',
    });
  return { createdAt: Number(match[1]), orderId: match[2] as string };
}
