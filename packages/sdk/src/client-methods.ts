/**
 * The client's methods, one for each operation of the contract that agents call. Path, parameters, body and whether a
 * call may be repeated come from the operation's declaration, and so do the types: a new operation needs no line here.
 *
 * A method takes the path's parameters, then the query or the body as one object, then `CallOptions`. What may be empty
 * may be left out.
 */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import type { Static, TSchema } from 'typebox';
import { needValue } from './errors.ts';

export interface CallOptions {
  /** Makes a changing call repeatable: the same key and body have one effect. */
  readonly idempotencyKey?: string;
  /** Sent as X-Request-ID and echoed in answers and logs. */
  readonly requestId?: string;
  readonly signal?: AbortSignal;
}

/** A fee: the contract takes any value, so that each fault is answered by its own code. */
export interface FeeCharge {
  /** Collateral as a decimal text, at most 6 decimals. */
  readonly amount: string;
  /** The wallet that pays: owner of the collateral account. */
  readonly fromAddress: string;
}

export type Values = Readonly<Record<string, unknown>>;

export interface CallParts {
  readonly params: Values;
  readonly query?: Values;
  readonly body?: unknown;
  readonly options: CallOptions;
}

type Call = (operation: Operation, parts: CallParts) => Promise<unknown>;

type Contract = typeof contract;
type Name = keyof Contract;

/** Second spellings of other operations, what other services call, and streams, which are methods of the client. */
const LEFT_OUT = [
  'getClaimByQuery',
  'listSkillsAlias',
  'revokeApiKeyByPost',
  'receiveWebhook',
  'events',
  'watchMarket',
] as const;

/** The operations that an agent calls, with or without its key. */
type OperationName = {
  [K in Name]: Contract[K] extends { readonly permission: 'agent' | 'public'; readonly tag: infer Tag }
    ? Tag extends 'owners'
      ? never
      : Exclude<K, (typeof LEFT_OUT)[number]>
    : never;
}[Name];

/** Input of an operation beside its path: its query or its body. */
type InputOf<O> = O extends { readonly query: infer Q extends TSchema }
  ? Static<Q>
  : O extends { readonly body: infer B extends TSchema }
    ? Static<B>
    : never;

/**
 * Methods that take one field by itself: `only` that field (`null`: none) and no others, or that field `first` and the
 * others after it.
 */
const BY_FIELD = {
  batchTrade: { only: 'orders' },
  cancelAll: { only: null },
  cancelOrder: { only: 'orderId' },
  checkCredentials: { only: 'walletAddress' },
  checkMarket: { first: 'marketId' },
  createApiKey: { only: 'keyName' },
  getCredentialChallenge: { only: 'address' },
  getDelegation: { only: 'walletAddress' },
  getLinkChallenge: { only: 'address' },
  getOrder: { only: null },
  listVenueBPositions: { only: 'userPublicKey' },
  listVenueBPositionsByPost: { only: 'userPublicKey' },
  prepareBatch: { only: 'intents' },
  unlinkWallet: { only: 'address' },
  updateSolAddress: { only: 'solAddress' },
} as const satisfies {
  readonly [K in OperationName]?:
    | { readonly only: keyof InputOf<Contract[K]> | null }
    | { readonly first: keyof InputOf<Contract[K]> };
};
type ByField = typeof BY_FIELD;

/** Names for the arguments that editors show. */
interface Labels<Value> {
  address: [address: Value];
  claimCode: [claimCode: Value];
  intents: [intents: Value];
  keyName: [keyName: Value];
  marketId: [marketId: Value];
  orderId: [orderId: Value];
  orders: [orders: Value];
  skillCode: [skillCode: Value];
  solAddress: [solAddress: Value];
  tokenId: [tokenId: Value];
  userPublicKey: [userPublicKey: Value];
  walletAddress: [walletAddress: Value];
}
type Labelled<Field, Value> = Field extends keyof Labels<Value> ? Labels<Value>[Field] : [id: Value];

type PathArguments<Path> = Path extends `${string}{${infer Field}}${infer Rest}`
  ? [...Labelled<Field, string>, ...PathArguments<Rest>]
  : [];

type Frozen<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;
type FieldArgument<Input, Field> = Field extends keyof Input
  ? Pick<Input, Field> extends Required<Pick<Input, Field>>
    ? Labelled<Field, Frozen<Input[Field]>>
    : Partial<Labelled<Field, Frozen<Exclude<Input[Field], undefined>>>>
  : [];

type Whole<O, Input> = O extends { readonly body: TSchema }
  ? Record<never, never> extends Input
    ? [body?: Input]
    : [body: Input]
  : Record<never, never> extends Input
    ? [query?: Input]
    : [query: Input];

/** Bodies whose schema takes any value, so that each fault is answered by its own code. */
interface NarrowerBodies {
  chargeFee: FeeCharge;
  chargeFeeByAgent: FeeCharge;
}

type InputArguments<K extends OperationName, Input = InputOf<Contract[K]>> = [Input] extends [never]
  ? []
  : K extends keyof NarrowerBodies
    ? [body: NarrowerBodies[K]]
    : K extends keyof ByField
      ? ByField[K] extends { readonly first: infer Field extends keyof Input }
        ? [...FieldArgument<Input, Field>, ...Whole<Contract[K], Omit<Input, Field>>]
        : ByField[K] extends { readonly only: infer Field }
          ? FieldArgument<Input, Field>
          : never
      : Whole<Contract[K], Input>;

/** Methods whose answer depends on what is asked. */
interface OwnMethods {
  /** With `validateOnly` nothing is left, and the signature, if there is one, stays here. */
  leaveExit: {
    (
      body: contract.ExitRequest & { readonly validateOnly: true },
      options?: CallOptions,
    ): Promise<contract.LeftExit>;
    (
      body: contract.ExitRequest,
      options?: CallOptions,
    ): Promise<contract.LeftExit & { readonly exitId: string }>;
  };
}

type PathOf<O> = O extends { readonly path: infer Path } ? Path : never;
type AnswerOf<O> = O extends { readonly response: infer R extends TSchema } ? Static<R> : never;

export type ClientMethods = {
  readonly [K in keyof Pick<Contract, OperationName>]: K extends keyof OwnMethods
    ? OwnMethods[K]
    : (
        ...args: [...PathArguments<PathOf<Contract[K]>>, ...InputArguments<K>, options?: CallOptions]
      ) => Promise<AnswerOf<Contract[K]>>;
};

/**
 * The codes with which the service can refuse a method: those of the operation, and those that any request can have.
 * For `switch (error.code)` behind `isProblem(error)`.
 */
export type ProblemCode<Method extends keyof ClientMethods> =
  | Contract[Method]['errors'][number]
  | contract.RequestErrorCode;

const leftOut: ReadonlySet<string> = new Set(LEFT_OUT);

const isOffered = (name: string, value: unknown): value is Operation => {
  if (typeof value !== 'object' || value === null || !('permission' in value)) return false;
  const { permission, tag } = value as Operation;
  return (permission === 'agent' || permission === 'public') && tag !== 'owners' && !leftOut.has(name);
};

/** Other values would be sent as the words "undefined" or "[object Object]". */
const PATH_TEXT = {
  what: 'a text',
  fits: (value: unknown) => typeof value === 'string' || typeof value === 'number',
};

type AnyShape = { readonly only: string | null } | { readonly first: string };
const shapes: Readonly<Record<string, AnyShape | undefined>> = BY_FIELD;

/** `null` is no options, too. */
const optionsOf = (given: unknown): CallOptions => (given ?? {}) as CallOptions;

/** A method's arguments as parts of a request. */
function partsOf(name: string, { path, query, body }: Operation, args: readonly unknown[]): CallParts {
  const rest = [...args];
  const params = Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => {
      const value = rest.shift();
      needValue(name, field as string, value, PATH_TEXT);
      return [field, value];
    }),
  );
  if (query === undefined && body === undefined) return { params, options: optionsOf(rest[0]) };
  const shape = shapes[name];
  let input: unknown;
  if (shape === undefined) input = rest.shift() ?? {};
  else if ('first' in shape) input = { [shape.first]: rest.shift(), ...(rest.shift() as object | undefined) };
  else input = shape.only === null ? {} : { [shape.only]: rest.shift() };
  const options = optionsOf(rest[0]);
  return body === undefined ? { params, query: input as Values, options } : { params, body: input, options };
}

class Methods {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  static {
    for (const [name, operation] of Object.entries(contract)) {
      if (!isOffered(name, operation)) continue;
      const value = async function (this: Methods, ...args: readonly unknown[]): Promise<unknown> {
        return this.#call(operation, partsOf(name, operation, args));
      };
      Object.defineProperty(value, 'name', { value: name });
      Object.defineProperty(Methods.prototype, name, { value, configurable: true, writable: true });
    }
  }
}

export const OperationMethods = Methods as unknown as new (call: Call) => ClientMethods;
