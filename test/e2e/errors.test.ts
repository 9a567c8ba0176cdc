/**
 * Bad input, a row per code: each gets its documented status and code, never a 500. The last test compares the rows
 * with the registry, so a new code without a row fails.
 */
import * as contract from '@bellwether/contract';
import { ERRORS, type ErrorCode, type Operation } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../packages/server/src/platform/http/routes.ts';
import { quoteAliases } from '../../packages/server/src/quoting/routes.ts';
import { restingOrder } from '../harness.ts';
import { ORDER_ROWS } from './error-rows-orders.ts';
import { REQUEST_ROWS } from './error-rows-requests.ts';
import { changed, negRisk, trade, trader, useStage } from './errors-stage.ts';

useStage();

const CASES = [...REQUEST_ROWS, ...ORDER_ROWS];

/** Codes that a single request cannot cause; each names the test that causes it. */
const TESTED_IN: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_target: 'edge-targets.test.ts',
  host_not_allowed: 'edge-targets.test.ts',
  headers_too_large: 'edge-connections.test.ts',
  request_timeout: 'edge-connections.test.ts',
  idempotency_limit_reached: 'edge-limits.test.ts',
  api_key_limit_reached: 'edge-limits.test.ts',
  skill_limit_reached: 'edge-limits.test.ts',
  wallet_limit_reached: 'edge-limits.test.ts',
  client_order_id_already_used: 'client-order-ids.test.ts',
  internal_error: 'unit test of the error handler',
  service_unavailable: 'crash tests',
  overloaded: 'overload.test.ts',
  history_too_fine: 'history.test.ts',
  max_open_orders_exceeded: 'max-open-orders.test.ts',
  approval_required: 'approvals.test.ts',
  approval_not_required: 'approvals.test.ts',
  approval_not_found: 'approvals.test.ts',
  approval_gone: 'approvals.test.ts',
  receipt_not_found: 'receipts.test.ts',
  idempotency_in_flight: 'trade.test.ts, simultaneous duplicates',
  order_outcome_unknown: 'doubt.test.ts',
  market_not_active: 'coherence.test.ts',
  market_version_not_supported: 'coherence.test.ts',
  tick_size_not_supported: 'coherence.test.ts',
  claim_required: 'safeguards.test.ts: live venues only',
  locked_by_owner: 'owners.test.ts',
  passkey_challenge_expired: 'owners.test.ts',
  passkey_rejected: 'owners.test.ts',
  exit_price_out_of_range: 'exits.test.ts',
  believed_bid_required: 'domain/exits.test.ts',
  exit_liquidity_required: 'exits.test.ts',
  exit_trigger_out_of_range: 'exits.test.ts',
  exit_order_already_used: 'exits.test.ts',
  exit_not_found: 'exits.test.ts',
  exit_gone: 'exits.test.ts',
  exit_limit_reached: 'exits-kept.test.ts',
  passkey_not_found: 'passkeys.test.ts',
  another_passkey_required: 'passkeys.test.ts',
  passkey_limit_reached: 'passkeys.test.ts',
  recovery_code_invalid: 'recovery-code.test.ts',
  recovery_code_not_found: 'recovery-code.test.ts',
  recovery_not_found: 'recovery-code.test.ts',
  during_recovery_not_allowed: 'recovery-code.test.ts',
  agent_already_claimed: 'owners.test.ts',
  agent_not_found: 'owners.test.ts',
  operator_disabled: 'skills.test.ts',
  skill_not_found: 'skills.test.ts',
  skill_queue_full: 'skills.test.ts',
  paper_only: 'live venues only',
  event_cursor_invalid: 'events.test.ts',
  event_cursor_gone: 'events.test.ts',
  stream_limit_reached: 'events.test.ts',
  webhook_disabled: 'webhooks.test.ts, an endpoint that failed for long',
  delegation_insufficient: 'fees.test.ts',
  blocked_by_policy: 'fees.test.ts',
  conversion_not_supported: 'convert-sets.test.ts',
  signing_failed: 'charge-fee.test.ts',
  broadcast_failed: 'fee-on-chain.test.ts',
  fee_outcome_unknown: 'charge-fee.test.ts',
};

const OPERATIONS = (Object.values(contract) as readonly unknown[]).filter(
  (value): value is Operation =>
    typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value,
);
const namesOf = quoteAliases('kalshi');

const NO_OPERATION: ReadonlySet<string> = new Set(['route_not_found', 'method_not_allowed']);

/** Where a request arrived; a path without parameters wins. */
function operationAt(method: string, instance: string): Operation | undefined {
  const fits = (path: string): boolean =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(instance);
  const found = OPERATIONS.filter(
    (operation) => operation.method === method && [operation.path, ...namesOf(operation.path)].some(fits),
  );
  return found.find(({ path }) => !path.includes('{')) ?? found[0];
}

describe('bad input', () => {
  test.each(CASES)('%s: %s', async (code, _why, run) => {
    const { method, status, body, headers } = await run();
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: ERRORS[code].status,
      code,
      detail: expect.any(String),
    });
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({
      type: expect.stringMatching(new RegExp(`^http://localhost:\\d+/docs/errors/${code}$`)),
      status: ERRORS[code].status,
      message: body.detail,
      fix: expect.any(String),
    });
    expect(body.requestId).toBe(headers.get('x-request-id'));
    // An observed code is declared, unless no operation was reached.
    if (NO_OPERATION.has(code)) return;
    const operation = operationAt(method, body.instance);
    expect(operation === undefined ? [] : errorCodes(operation)).toContain(code);
  });

  test('all invalid fields are reported together', async () => {
    const { body } = await trade({
      outcome: 'MAYBE',
      orderSize: '5',
      price: 2,
      order: { salt: -1, side: 'HOLD' },
    });
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining([
        'marketConditionId',
        'marketQuestion',
        'outcome',
        'orderSize',
        'price',
        'order.salt',
        'order.side',
        'order.maker',
        'order.signature',
      ]),
    );
  });

  test('all incoherent fields are reported together, the first one as the code', async () => {
    const { body } = await changed({ orderSize: 11, price: 0.02, tickSize: '0.1', negRisk: true });
    expect(body.code).toBe('order_size_mismatch');
    expect(body.errors.map(({ code }: { code: string }) => code)).toEqual([
      'order_size_mismatch',
      'price_mismatch',
      'tick_size_mismatch',
      'neg_risk_mismatch',
    ]);
  });

  test('the wrong contract is diagnosed: a neg-risk market signed for the plain one', async () => {
    const request = await restingOrder(trader, { ...negRisk, negRisk: false });
    const { status, body } = await trade({ ...request, negRisk: true });
    expect(status).toBe(400);
    expect(body.detail).toBe('Invalid order payload');
    expect(body.diagnosis).toMatchObject({
      check: 'verifying_contract',
      signedFor: expect.stringContaining('version 2'),
    });
  });

  test('every code of the registry has a row here or a test in another file', () => {
    const covered = new Set([...CASES.map(([code]) => code), ...Object.keys(TESTED_IN)]);
    expect(Object.keys(ERRORS).filter((code) => !covered.has(code as ErrorCode))).toEqual([]);
  });
});
