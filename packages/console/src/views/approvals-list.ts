/** What the owner's agents asked to approve; the frame counts what waits, the view decides on it. */
import type { Approval } from '@bellwether/contract';
import { type Resource, useResource } from '../desk/resource.ts';

export const useApprovals = (status: 'waiting' | null): Resource<readonly Approval[]> =>
  useResource<readonly Approval[]>(`/owner/approvals${status === null ? '' : `?status=${status}`}`, {
    on: ({ type }) => type.startsWith('approval'),
    everyMs: 60_000,
  });
