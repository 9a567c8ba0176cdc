/**
 * Stands for the sandbox of venue B in a simulation: its chain computes in a thread of its own, which no scheduler of this process can
 * hold. Venue B answers that it is not available; nothing of venue A depends on it.
 */
import { registerSandboxDoors, SANDBOX_PATHS, SANDBOX_SCHEMA } from '../../packages/sandbox/src/sandbox.ts';

export { registerSandboxDoors, SANDBOX_PATHS, SANDBOX_SCHEMA };

const away = async (): Promise<never> => {
  throw new Error('venue B is not simulated');
};

export const openSandbox = async () => ({
  venue: { credit: async () => {} },
  request: away,
  ask: away,
  close: async () => {},
});

export const prepareSandbox = () => ({ ready: Promise.resolve(), take: () => null, end: () => {} });
