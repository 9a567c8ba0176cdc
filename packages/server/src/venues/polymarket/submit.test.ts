import { expect, test } from 'vitest';
import type { VenueReply } from './http.ts';
import { createModes } from './submit.ts';

const SIGNER = `0x${'22'.repeat(20)}` as never;
const RESTART: VenueReply = {
  status: 425,
  value: undefined,
  text: '',
  limits: { remaining: null, reset: null, tier: null, retryAfterMs: null },
};

test('orders that meet one restart together pause trading as briefly as one; the next restart longer', () => {
  let now = 1_000_000;
  const modes = createModes({ now: () => now });
  const pauseMs = () => (modes.pause({ postOnly: false, signer: SIGNER })?.until ?? now) - now;
  for (let nth = 0; nth < 20; nth += 1) modes.note(RESTART, SIGNER);
  expect(pauseMs()).toBe(1_000);
  now += 1_000;
  expect(pauseMs()).toBe(0);
  modes.note(RESTART, SIGNER);
  modes.note(RESTART, SIGNER);
  expect(pauseMs()).toBe(2_000);
});
