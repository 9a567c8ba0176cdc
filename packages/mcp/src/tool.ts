/** A tool: what it takes and what it does. Every answer and every failure leaves through `callTool`. */

import { createHash, randomBytes } from 'node:crypto';
import type { Micro } from '@bellwether/contract/decimals';
import { BellwetherApiError, BellwetherConnectionError } from '@bellwether/sdk';
import { provesNoEffect, SpendingLimitReached, type SpendingStanding } from '@bellwether/sdk/keystore';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { money, OrderRefused, type Problem, problemOf, StrangersTexts, ToolProblem } from './answer.ts';
import type { Desk } from './desk.ts';

/** Everything that a tool may use while it runs. */
export interface Call {
  readonly desk: Desk;
  readonly texts: StrangersTexts;
  /** The client has given up the call. */
  readonly signal: AbortSignal;
  readonly approval: Approval;
}

interface ToolKind<In extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** For the model; never made of anything that a stranger wrote. */
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: In;
  /** Sentences about arguments that do not fit together, besides all else that is wrong with them. */
  contradictions?(args: Partial<z.output<In>>): string[];
  run(args: z.output<In>, call: Call): Promise<object>;
}

export interface Tool {
  readonly name: string;
  readonly config: {
    readonly title: string;
    readonly description: string;
    readonly annotations: ToolAnnotations;
    readonly inputSchema: ReturnType<typeof listedInput>;
  };
  /** @throws ToolProblem with everything that is wrong with the arguments */
  readonly run: (args: unknown, call: Call) => Promise<object>;
}

/** What the protocol says by default (an open world) is left out: every list of tools would say it again. */
export const READS: ToolAnnotations = { readOnlyHint: true };
export const ACTS: ToolAnnotations = { readOnlyHint: false, destructiveHint: true };

export function tool<In extends z.ZodObject>(kind: ToolKind<In>): Tool {
  const { name, title, description, annotations, input } = kind;
  return {
    name,
    config: { title, description, annotations, inputSchema: listedInput(input) },
    run: (args, call) => kind.run(readArguments(kind, args), call),
  };
}

/**
 * Describes the arguments for `tools/list`, made once for all connections. It lets every value pass: `callTool` refuses wrong ones, with code and fix like
 * all that is refused, where the library would answer a sentence alone.
 */
function listedInput(input: z.ZodObject) {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    // The format says it in ten characters instead of three hundred.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return {
    '~standard': {
      version: 1,
      vendor: 'bellwether',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  } as const;
}

const MOST_SHOWN = 10;

function readArguments<In extends z.ZodObject>(kind: ToolKind<In>, args: unknown): z.output<In> {
  const isRecord = typeof args === 'object' && args !== null && !Array.isArray(args);
  const given = isRecord ? meant(kind.input, args) : (args ?? {});
  const parsed = kind.input.safeParse(given);
  const wrong = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => sentencesOf(issue, given)),
    ...(isRecord ? (kind.contradictions?.(given as Partial<z.output<In>>) ?? []) : []),
  ];
  if (parsed.success && wrong.length === 0) return parsed.data;
  const names = Object.keys(kind.input.shape);
  throw new ToolProblem({
    code: 'invalid_request',
    message: wrong.slice(0, MOST_SHOWN).join('; ').concat('.'),
    fix: `Correct the arguments and call ${kind.name} again; nothing was done. It takes ${names.join(', ') || 'none'}.`,
  });
}

/** One decimal number and nothing else: no exponent, no other base, no comma, and no more digits than a number keeps. */
const DECIMAL = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/;
const DIGITS_OF_NUMBER = 15;

/**
 * The arguments as they are meant: clients write a number or a truth value as text, and an id as a number, and a weak model repeats what
 * was refused. What has one meaning is taken; everything else stays as it is, and is judged.
 */
const meant = (input: z.ZodObject, given: object): object =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Object.hasOwn(input.shape, name) ? valueMeant(input.shape[name], value) : value,
    ]),
  );

function valueMeant(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return valueMeant(schema.unwrap(), value);
  if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null && !Array.isArray(value))
    return meant(schema, value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => valueMeant(schema.element, item));
  if (schema instanceof z.ZodString) return Number.isSafeInteger(value) ? String(value) : value;
  if (typeof value !== 'string') return value;
  if (schema instanceof z.ZodNumber)
    return DECIMAL.test(value) && value.replaceAll(/\D/g, '').length <= DIGITS_OF_NUMBER
      ? Number(value)
      : value;
  const isTruth = schema instanceof z.ZodBoolean || (schema instanceof z.ZodLiteral && schema.value === true);
  return isTruth && (value === 'true' || value === 'false') ? value === 'true' : value;
}

/** A name that the model gave is shown only where it is a word. */
const FIELD_NAME = /^\w{1,40}$/;

function sentencesOf(issue: z.core.$ZodIssue, given: unknown): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, MOST_SHOWN)
      .map((key) => `${FIELD_NAME.test(key) ? key : 'an argument'} is unknown to this tool`);
  const [name] = issue.path;
  if (name === undefined) return ['the arguments are an object'];
  const isMissing = issue.path.length === 1 && !Object.hasOwn(given as object, name);
  const path = issue.path.join('.');
  const value = (given as Readonly<Record<PropertyKey, unknown>>)[name];
  // A larger number has lost digits before it came here.
  if (issue.code === 'invalid_type' && issue.expected === 'string' && typeof value === 'number')
    return [`${path}: send it as a string, with every digit`];
  return [
    isMissing ? `${path} is missing` : `${path}: ${issue.message.replace(/^Invalid (input|option): /, '')}`,
  ];
}

const isInputRequired = (answer: object): answer is InputRequiredResult =>
  'resultType' in answer && answer.resultType === 'input_required';

/** Once, as text: every client reads it, and structured content beside it would double it. */
const say = (answer: object): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(answer) }],
});

/** Never throws: what a thrown error says could be a stranger's text, or a secret. */
export async function callTool(
  one: Tool,
  args: unknown,
  open: (texts: StrangersTexts) => Promise<Call>,
): Promise<CallToolResult | InputRequiredResult> {
  const texts = new StrangersTexts();
  let backend = {};
  try {
    const call = await open(texts);
    backend = { backend: call.desk.backends.shown() };
    const answer = await one.run(args, call);
    return isInputRequired(answer) ? answer : say({ ...answer, ...backend, ...texts.section() });
  } catch (error) {
    const problem: Problem = problemOf(error, texts);
    return { isError: true, ...say({ error: problem, ...backend, ...texts.section() }) };
  }
}

// Arguments and figures that several tools share.

export const MARKET = z
  .string()
  .min(1)
  .max(200)
  .describe('id from search_markets; or condition id, token id, ticker');
export const VENUE = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,50}$/)
  .optional()
  .describe('default: the first venue');
export const EITHER_VENUE = VENUE.describe('default: all venues');
export const OUTCOME = z.string().min(1).max(100).describe('YES, NO, or its name in untrusted.texts');
export const SIDE = z.enum(['BUY', 'SELL']);
export const limitOf = (fallback: number, most: number) => z.int().min(1).max(most).default(fallback);
export const CLIENT_ORDER_ID = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/)
  .optional();

export const CANCEL_AFTER_MS = z.int().min(100).max(604_800_000).optional();

export const REASONING = z.string().max(1000).optional().describe("why, for the owner's journal");
const MILLIONTHS = 1e6;
export const quantityOf = (most: number) =>
  z
    .number()
    .positive()
    .max(most)
    .refine((value) => Number((value * MILLIONTHS).toFixed(3)) % 1 === 0, 'has at most six decimals');
export const QUANTITY = quantityOf(1e12);

/** The limit of this machine for a UTC day. `spent` is reserved by the orders of the day, also by those that were canceled. */
export const spendingOf = ({ day, limit, spent, left }: SpendingStanding) => ({
  day,
  limit: money(limit),
  spent: money(spent),
  left: money(left),
});

// Asks the person before an order above the threshold. The question is made of figures that were verified here and of ids,
// never of a text that a stranger or the model wrote, and it asks for a yes, never for a secret.
//
// The answer comes with another request of the client, so what was asked about is sealed into the request's state: an
// answer counts only for the order that the question was about, and only where this process asked it.

/** Subject of a question, and the facts with which the next round makes the same order again. */
export interface AskedOrder {
  readonly orderId: string;
  readonly clientOrderId?: string;
}

interface AskedState extends AskedOrder {
  readonly tool: string;
  /** The arguments of the call. */
  readonly args: string;
}

export interface Approval {
  /** The order of an earlier round of this call. */
  readonly asked: AskedOrder | null;
  /**
   * @returns `null` when the person agreed to this order; else what the tool has to answer
   * @throws ToolProblem when the person declined, or cannot be asked
   */
  request(order: AskedOrder, question: string): Promise<InputRequiredResult | null>;
}

const ANSWER_SECONDS = 600;
const CONFIRM_KEY = 'confirm';

/** One for each process: it alone can have asked. */
export const stateCodec = createRequestStateCodec<AskedState>({
  key: randomBytes(32),
  ttlSeconds: ANSWER_SECONDS,
});

const hashOf = (args: unknown): string => createHash('sha256').update(JSON.stringify(args)).digest('hex');

interface Elicitation {
  readonly form?: unknown;
  readonly url?: unknown;
}

/** A bare `{}` is a client of before there were kinds: it shows forms. */
function canAsk(server: McpServer, context: ServerContext): boolean {
  const { envelope } = context.mcpReq;
  const capabilities =
    (envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
    server.server.getClientCapabilities();
  const elicitation = (capabilities as { elicitation?: Elicitation } | undefined)?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

export function approvalFor(
  toolName: string,
  args: unknown,
  { server, context }: { readonly server: McpServer; readonly context: ServerContext },
): Approval {
  const state = context.mcpReq.requestState<AskedState>();
  const isSameCall = state !== undefined && state.tool === toolName && state.args === hashOf(args);
  const asked = isSameCall ? state : null;
  return {
    asked,
    async request(order, question) {
      if (asked !== null && asked.orderId === order.orderId) {
        const response = inputResponse(context.mcpReq.inputResponses, CONFIRM_KEY);
        if (response.kind === 'elicit') {
          if (response.action === 'accept' && response.content?.[CONFIRM_KEY] === true) return null;
          throw declined();
        }
      }
      if (!canAsk(server, context)) throw notPossible();
      const payload: AskedState = { ...order, tool: toolName, args: hashOf(args) };
      return inputRequired({
        inputRequests: {
          [CONFIRM_KEY]: inputRequired.elicit({
            message: question,
            requestedSchema: {
              type: 'object',
              properties: { [CONFIRM_KEY]: { type: 'boolean', title: 'Place this order', default: false } },
              required: [CONFIRM_KEY],
            },
          }),
        },
        requestState: await stateCodec.mint(payload, context),
      });
    },
  };
}

const declined = (): ToolProblem =>
  new ToolProblem({
    code: 'declined_by_person',
    message: 'The person did not agree to this order. Nothing was placed.',
    fix: 'Do not place it again unless the person asks for it.',
  });

const notPossible = (): ToolProblem =>
  new ToolProblem({
    code: 'approval_not_possible',
    message:
      'An order of this amount needs the agreement of the person, and this client cannot ask. Nothing was placed.',
    fix: 'Order less, or tell the person: a client with elicitation can ask, and BELLWETHER_CONFIRM_ABOVE in its configuration sets from which amount.',
  });

// The one way in which an order leaves: within the spending limit, with the agreement of the person above the threshold,
// counted on disk before it is signed, under a name that is made of what is signed. It stays counted after any answer of the desk:
// the desk has the signed order then.

interface Spending<Answer> {
  readonly order: AskedOrder;
  /** Name in problems, where the order's id is not that of the desk. Default `order`. */
  readonly shownAs?: Partial<AskedOrder>;
  /** In the spending limit: made of what is signed, once `prepare` has run. Default the order's id, where that is its digest. */
  readonly countedAs?: () => string | null;
  readonly cost: Micro;
  readonly stake: Micro;
  readonly question: () => string;
  /** Steps that have to succeed before anything is reserved. The person has agreed by then. */
  readonly prepare?: () => Promise<void>;
  /** Signs and sends. Tried once. */
  readonly send: () => Promise<Answer>;
}

export async function spend<Answer>(
  { desk, signal, approval }: Call,
  {
    order,
    shownAs = order,
    countedAs = () => order.orderId,
    cost,
    stake,
    question,
    prepare,
    send,
  }: Spending<Answer>,
): Promise<{ readonly ask: InputRequiredResult } | { readonly answer: Answer }> {
  // The person is not asked about an order that the limit would refuse.
  const standing = desk.limit.standing();
  const before = countedAs();
  if (cost > standing.left && (before === null || !desk.limit.isReserved(before)))
    throw new SpendingLimitReached(cost, standing);
  if (stake > desk.config.confirmAbove) {
    const ask = await approval.request(order, question());
    if (ask !== null) return { ask };
  }
  await prepare?.();
  // From here on the call goes on when its client has left: the order is on its way.
  signal.throwIfAborted();
  if (cost > 0n) desk.limit.reserve(countedAs() ?? order.orderId, cost);
  try {
    return { answer: await send() };
  } catch (error) {
    if (provesNoEffect(error)) throw new OrderRefused(error, shownAs);
    if (error instanceof BellwetherApiError || error instanceof BellwetherConnectionError)
      throw inDoubt(shownAs);
    throw error;
  }
}

const inDoubt = ({ orderId, clientOrderId }: Partial<AskedOrder>): ToolProblem =>
  new ToolProblem({
    code: 'order_outcome_unknown',
    message:
      'The order was sent, and no answer says what became of it. It stays reserved in the spending limit.',
    fix: 'Call the same tool again with the same terms and this clientOrderId (or the same quoteId): it is the same order and is executed at most once. Do not place it under another name.',
    ...(orderId === undefined ? {} : { orderId }),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
  });
