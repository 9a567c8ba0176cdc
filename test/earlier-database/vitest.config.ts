import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/earlier-database/record.ts'],
    globalSetup: ['test/setup/global.ts'],
    setupFiles: ['test/setup/each-file.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
