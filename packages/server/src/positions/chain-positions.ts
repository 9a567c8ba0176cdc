import { listVenueBPositions, listVenueBPositionsByPost } from '@bellwether/contract';
import { paginate } from '../platform/http/pagination.ts';
import type { Bind } from '../platform/http/routes.ts';
import { type ChainPositionNeeds, chainPositions } from './quoted-positions.ts';

export function bindChainPositions(bind: Bind, needs: ChainPositionNeeds): void {
  bind(listVenueBPositions, async ({ caller, query, request, reply }) => {
    const positions = await chainPositions(needs, caller, query.userPublicKey);
    paginate(request, reply, positions.length);
    return positions;
  });
  bind(listVenueBPositionsByPost, async ({ caller, body, request, reply }) => {
    const positions = await chainPositions(needs, caller, body.userPublicKey);
    paginate(request, reply, positions.length);
    return positions;
  });
}
