/** A tool: what it takes, what it answers, what it does. Every answer and every failure leaves through `callTool`. */
import type { CallToolResult, InputRequiredResult, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Approval } from './approval.ts';
import type { Desk } from './desk.ts';
import { StrangersTexts, UNTRUSTED } from './strangers-texts.ts';
import { type Problem, problemOf } from './tool-problem.ts';

/** What a tool may use while it runs. */
export interface Call {
  readonly desk: Desk;
  readonly texts: StrangersTexts;
  /** The client has given up the call. */
  readonly signal: AbortSignal;
  readonly approval: Approval;
}

type Shape = z.ZodRawShape;

export interface ToolKind<In extends z.ZodObject, Out extends Shape> {
  readonly name: string;
  readonly title: string;
  /** For the model; never made of anything that a stranger wrote. */
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: In;
  readonly output: Out;
  run(args: z.output<In>, call: Call): Promise<z.input<z.ZodObject<Out>> | InputRequiredResult>;
}

export interface Tool {
  readonly name: string;
  readonly config: {
    readonly title: string;
    readonly description: string;
    readonly annotations: ToolAnnotations;
    readonly inputSchema: z.ZodObject;
    readonly outputSchema: z.ZodObject;
  };
  readonly run: (args: unknown, call: Call) => Promise<object>;
}

export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: true };
export const ACTS: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

export function tool<In extends z.ZodObject, Out extends Shape>(kind: ToolKind<In, Out>): Tool {
  const { name, title, description, annotations, input, output } = kind;
  const outputSchema = z.object({ ...output, untrusted: UNTRUSTED.optional() });
  return {
    name,
    config: { title, description, annotations, inputSchema: input, outputSchema },
    run: (args, call) => kind.run(args as z.output<In>, call),
  };
}

const isInputRequired = (answer: object): answer is InputRequiredResult =>
  'resultType' in answer && answer.resultType === 'input_required';

function failure(problem: Problem, texts: StrangersTexts): CallToolResult {
  const text = JSON.stringify({ error: problem, ...texts.section() });
  return { isError: true, content: [{ type: 'text', text }] };
}

/** Never throws: what a thrown error says could be a stranger's text, or a secret. */
export async function callTool(
  one: Tool,
  args: unknown,
  open: (texts: StrangersTexts) => Promise<Call>,
): Promise<CallToolResult | InputRequiredResult> {
  const texts = new StrangersTexts();
  try {
    const answer = await one.run(args, await open(texts));
    if (isInputRequired(answer)) return answer;
    const structuredContent = { ...answer, ...texts.section() };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (error) {
    return failure(problemOf(error, texts), texts);
  }
}
