/**
 * Compiles the validators and serializers of a route when they are first used. There are hundreds of them, most for
 * answers that a process never gives: compiled together, they were most of what a start takes.
 *
 * A process that starts several services, one after the other, compiles each schema once.
 */
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { ValidateFunction } from 'ajv';
import type { FastifyServerOptions } from 'fastify';

/** Compiled functions by the text of their schema. */
class Compiled<Result> {
  readonly #bySchema = new Map<string, Result>();

  get(schema: string, compile: () => Result): Result {
    const known = this.#bySchema.get(schema) ?? compile();
    this.#bySchema.set(schema, known);
    return known;
  }
}

const validators = new Compiled<ValidateFunction>();
const serializers = new Compiled<(data: unknown) => string>();

/** @param name tells apart validators that treat the same schema in different ways */
export function validateWhenUsed(
  name: string,
  schema: object,
  compile: () => ValidateFunction,
): ValidateFunction {
  let compiled: ValidateFunction | undefined;
  const validate = ((data: unknown) => {
    compiled ??= validators.get(name + JSON.stringify(schema), compile);
    const fits = compiled(data);
    validate.errors = compiled.errors ?? null;
    return fits;
  }) as ValidateFunction;
  return validate;
}

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

export const serializeWhenUsed: NonNullable<Factories['buildSerializer']> = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options);
  const shared = JSON.stringify(schemas);
  return (route) => {
    let compiled: ReturnType<typeof compile> | undefined;
    return (data) => {
      compiled ??= serializers.get(shared + JSON.stringify(route.schema), () => compile(route));
      return compiled(data);
    };
  };
};
