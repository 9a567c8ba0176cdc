/** Approvals that the owner's agents asked for; the frame counts those that wait, the view decides on them. */
import type { Approval } from '@bellwether/contract';
import { type Resource, useResource } from '../desk/resource.ts';

const MOST = 100;

export const useApprovals = (status: 'waiting' | null): Resource<readonly Approval[]> =>
  useResource<readonly Approval[]>(
    `/owner/approvals?limit=${MOST}${status === null ? '' : `&status=${status}`}`,
    {
      // An approved order that is placed makes its approval used.
      on: ({ type }) => type.startsWith('approval.') || (status === null && type.startsWith('order.')),
      everyMs: 60_000,
    },
  );
