import { convertSets, mergeSets, relaySet, type SetResponse, splitSets } from '@bellwether/contract';
import { noteRefusal } from '../platform/http/metrics.ts';
import { deadlineOf } from '../platform/http/request-deadline.ts';
import { type Bind, type Input, markedAnswer } from '../platform/http/routes.ts';
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
    const placed = await placeSet(needs, call);
    if (!placed.isRepeated) noteRefusal(request, 'signed orders', placed.answer);
    return markedAnswer(reply, placed);
  };
  bind(splitSets, (input) => place('split', input));
  bind(mergeSets, (input) => place('merge', input));
  bind(convertSets, (input) => place('convert', input));
  bind(relaySet, async ({ caller, body, reply }) =>
    markedAnswer(reply, await relaySigned(needs, caller, body)),
  );
}
