/** Runs before each test file: cleans up its resources after it. */
import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.ts';

afterAll(cleanUp);
