/** Runs before each test file: shows what its processes warned of when a test fails, and cleans up its resources after it. */
import { afterAll, afterEach } from 'vitest';
import { cleanUp, troublesOfProcesses } from './clean-up.ts';

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  const troubles = troublesOfProcesses();
  if (troubles !== '') console.error(`What the processes of “${task.name}” said:\n${troubles}`);
});
afterAll(cleanUp);
