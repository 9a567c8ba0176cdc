/** Which failures of a trade prove that it had no effect, so that what was reserved for it may be given back. */

/** Fields of a `BellwetherApiError` that count; this folder loads without the client. */
interface ProvenRefusal {
  readonly name: string;
  readonly status: number;
  readonly code: string;
}

/**
 * Only for a call that was tried once (`maxRetries: 0`): a refusal that follows a try without an answer proves nothing about that
 * try. 408 and 409 speak of a request or an order that is there already, except where another order has the name; an answer
 * without a code of the service is a proxy's.
 * @example
 * const send = () => client.placeTrade(order);
 * await send().catch((error) => (provesNoEffect(error) ? null : client.getOrder(orderIdOf(order))));
 */
export function provesNoEffect(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'BellwetherApiError') return false;
  const { status, code } = error as unknown as ProvenRefusal;
  if (code === 'unknown') return false;
  if (code === 'client_order_id_already_used') return true;
  return code === 'overloaded' || (status >= 400 && status < 500 && status !== 408 && status !== 409);
}
