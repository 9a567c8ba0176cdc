import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/earlier-database/record.ts'], testTimeout: 600_000, hookTimeout: 600_000 },
});
