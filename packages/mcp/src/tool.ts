/** A tool: what it takes and what it does. Every answer and every failure leaves through `callTool`. */
import type { CallToolResult, InputRequiredResult, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Approval } from './approval.ts';
import type { Desk } from './desk.ts';
import { StrangersTexts } from './strangers-texts.ts';
import { type Problem, problemOf, ToolProblem } from './tool-problem.ts';

/** Everything that a tool may use while it runs. */
export interface Call {
  readonly desk: Desk;
  readonly texts: StrangersTexts;
  /** The client has given up the call. */
  readonly signal: AbortSignal;
  readonly approval: Approval;
}

export interface ToolKind<In extends z.ZodObject> {
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
const NAME = /^\w{1,40}$/;

function sentencesOf(issue: z.core.$ZodIssue, given: unknown): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, MOST_SHOWN)
      .map((key) => `${NAME.test(key) ? key : 'an argument'} is unknown to this tool`);
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
