/** Parts of a request, as text that is not checked yet. */
import type { FastifyRequest } from 'fastify';
import { WireError } from './wire-error.ts';

/** '' when it is missing or was sent more than once. */
export function parameter(request: FastifyRequest, name: string): string {
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

/** @throws WireError for what is no JSON */
export function jsonOf(text: string, fault = 'Invalid payload'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireError(400, fault);
  }
}
