import { convertSets, mergeSets, relaySet, type SetResponse, splitSets } from '@bellwether/contract';
import { noteRefusal } from '../platform/http/metrics.ts';
import { deadlineOf } from '../platform/http/request-deadline.ts';
import { type Bind, type Input, markRepeated } from '../platform/http/routes.ts';
import { type PlaceSetNeeds, placeSet } from './place-set.ts';
import { type RelaySetNeeds, relaySigned } from './relay-set.ts';
import type { SetKind } from './set-terms.ts';

export function bindSets(bind: Bind, needs: PlaceSetNeeds & RelaySetNeeds): void {
  const place = async (
    kind: SetKind,
    { caller, body, request, reply }: Input<typeof splitSets | typeof mergeSets | typeof convertSets>,
  ): Promise<SetResponse> => {
    const deadline = deadlineOf(request);
    const trace = request.trace?.trade();
    const call = { caller, kind, request: body, requestId: request.id, deadline, trace };
    const { answer, isRepeated } = await placeSet(needs, call);
    if (isRepeated) markRepeated(reply);
    else noteRefusal(request, 'signed orders', answer);
    return answer;
  };
  bind(splitSets, (input) => place('split', input));
  bind(mergeSets, (input) => place('merge', input));
  bind(convertSets, (input) => place('convert', input));
  bind(relaySet, ({ caller, body }) => relaySigned(needs, caller, body));
}
