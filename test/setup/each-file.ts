/** Runs before each test file: what the file leaves to be cleaned up is cleaned up after it. */
import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.ts';

afterAll(cleanUp);
