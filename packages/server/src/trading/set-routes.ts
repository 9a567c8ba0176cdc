import { mergeSets, type SetRequest } from '@bellwether/contract';
import { deadlineOf } from '../platform/http/request-deadline.ts';
import { type Bind, markRepeated } from '../platform/http/routes.ts';
import { type PlaceSetNeeds, placeSet } from './place-set.ts';
import type { SetKind } from './set-terms.ts';

export function bindSets(bind: Bind, needs: PlaceSetNeeds): void {
  const place = (kind: SetKind) =>
    (async ({ caller, body, request, reply }) => {
      const deadline = deadlineOf(request);
      const trace = request.trace?.trade();
      const call = { caller, kind, request: body as SetRequest, requestId: request.id, deadline, trace };
      const { answer, isRepeated } = await placeSet(needs, call);
      if (isRepeated) markRepeated(reply);
      return answer;
    }) satisfies Parameters<typeof bind<typeof mergeSets>>[1];
  bind(mergeSets, place('merge'));
}
