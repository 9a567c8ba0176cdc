/** A briefing whose markets are bytes that were written before reads as the route's own serializer would write it. */
import { Briefing, type Market } from '@bellwether/contract';
import { ANSWERS } from '@bellwether/contract/examples';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { createBriefingSender } from '../src/markets/market-bytes.ts';

const sample = ANSWERS.getBriefing?.body as Briefing;
const [market] = sample.opportunities.newMarkets as [Market, ...Market[]];
/** Text that would be split at the wrong place, if quotes were not escaped. */
const HOSTILE = '"opportunities":{"newMarkets":[{}],"recommendedSkills":[]} \\" ’\u2028';

const withMarkets = (...newMarkets: Market[]): Briefing => ({
  ...sample,
  agent: { ...sample.agent, name: HOSTILE },
  opportunities: { ...sample.opportunities, newMarkets },
});

test('with any number of markets, the first time and later, with any texts of strangers', async () => {
  const [plain, hostile] = [{ ...market }, { ...market, question: HOSTILE, description: HOSTILE }];
  const unlike = { ...market, id: '9', notInTheSchema: HOSTILE } as Market;
  const app = Fastify();
  const schema = { response: { 200: Briefing } };
  let answer = sample;
  const send = createBriefingSender();
  app.get('/sent', { schema }, (_, reply) => send(reply, answer));
  app.get('/plain', { schema }, () => answer);
  for (const newMarkets of [[], [plain], [hostile, plain], [plain, unlike, hostile], []]) {
    answer = withMarkets(...newMarkets);
    const [sent, expected] = await Promise.all(['/sent', '/plain'].map((url) => app.inject({ url })));
    expect(sent?.body).toBe(expected?.body);
    expect(sent?.headers['content-type']).toBe(expected?.headers['content-type']);
    expect(JSON.parse(sent?.body ?? '').opportunities.newMarkets).toHaveLength(newMarkets.length);
  }
  await app.close();
});
