/** The salt that makes of a client's own order id always the same order, so that a retry cannot become a second one. */
import { hashText } from './eip712.ts';

/** JSON carries the salt as a number. */
const SALT_BITS = 53n;

/**
 * The first 53 bits of keccak256 over the UTF-8 text `bellwether order salt v1`, the agent's id and the client's order id,
 * joined by line breaks. Another agent that uses the same id has another salt.
 * @example
 * saltOf(agentId, 'entry-17'); // the same two always give the same number
 */
export function saltOf(agentId: string, clientOrderId: string): number {
  const digest = hashText(`bellwether order salt v1\n${agentId}\n${clientOrderId}`);
  return Number(new DataView(digest.buffer, digest.byteOffset).getBigUint64(0) >> (64n - SALT_BITS));
}
