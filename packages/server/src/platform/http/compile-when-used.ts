/**
 * Compiles the validators and serializers of a route when they are first used. There are hundreds of them, most for
 * answers that a process never gives: compiled together, they were most of what a start takes.
 */
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { ValidateFunction } from 'ajv';
import type { FastifyServerOptions } from 'fastify';

export function validateWhenUsed(compile: () => ValidateFunction): ValidateFunction {
  let compiled: ValidateFunction | undefined;
  const validate = ((data: unknown) => {
    compiled ??= compile();
    const fits = compiled(data);
    validate.errors = compiled.errors ?? null;
    return fits;
  }) as ValidateFunction;
  return validate;
}

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

export const serializeWhenUsed: NonNullable<Factories['buildSerializer']> = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options);
  return (route) => {
    let compiled: ReturnType<typeof compile> | undefined;
    return (data) => {
      compiled ??= compile(route);
      return compiled(data);
    };
  };
};
