/**
 * The day after a recovery (`owners/recovery.ts`), for every route of owners: each operation declares whether it can be called then,
 * and one that declares nothing only when it reads.
 */
import type { Operation } from '@bellwether/contract';
import type { Recovery } from '../../domain/records.ts';
import { type Refusal, refusal } from '../refusal.ts';

type Declared = Pick<Operation, 'method' | 'duringRecovery'>;

/** @param body `undefined`: not yet read */
function isOpen({ method, duringRecovery }: Declared, body: unknown): boolean {
  if (duringRecovery === undefined) return method === 'GET';
  if (duringRecovery === true || body === undefined) return true;
  return (body as Readonly<Record<string, unknown>> | null)?.[duringRecovery.when] === true;
}

export const notDuringRecovery = ({ beganAt, endsAt }: Recovery): Refusal => {
  const [began, ends] = [beganAt, endsAt].map((at) => new Date(at).toISOString());
  return refusal(
    'during_recovery_not_allowed',
    `A recovery code was used at ${began}. Until ${ends} this account can read, pause, cancel and decline, and nothing else.`,
  );
};

/** @returns why the owner cannot do this now */
export const refusedInRecovery = (
  operation: Declared,
  owner: { readonly recovery: Recovery | null } | null,
  body: unknown,
): Refusal | null =>
  owner === null || owner.recovery === null || isOpen(operation, body)
    ? null
    : notDuringRecovery(owner.recovery);
