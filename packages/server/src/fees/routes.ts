import { chargeFee, chargeFeeByAgent, type FeeChargeResponse, getDelegation } from '@bellwether/contract';
import { deadlineOf } from '../platform/http/deadline.ts';
import { type Bind, type Input, markedAnswer } from '../platform/http/routes.ts';
import * as fees from './charge-fee.ts';
import { delegationOf } from './charge-fee.ts';

type ChargeInput = Pick<Input<typeof chargeFee>, 'body' | 'caller' | 'request' | 'reply'>;

export function bindFees(bind: Bind, needs: fees.FeeNeeds): void {
  const charge = async ({ body, caller, request, reply }: ChargeInput): Promise<FeeChargeResponse> => {
    const key = request.keyed?.key ?? null;
    const charged = await fees.chargeFee(needs, caller, body, {
      key,
      requestId: request.id,
      deadline: deadlineOf(request),
    });
    // The charge knows its key by itself: a kept answer would still tell of a transaction that was dropped since.
    request.hadNoEffect = true;
    return markedAnswer(reply, charged);
  };
  bind(chargeFee, charge);
  bind(chargeFeeByAgent, charge);
  bind(getDelegation, ({ caller, query }) => delegationOf(needs, caller, query.walletAddress));
}
