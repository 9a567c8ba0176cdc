/**
 * Asks the person before an order above the threshold. The question is made of figures that were verified here and of ids,
 * never of a text that a stranger or the model wrote, and it asks for a yes, never for a secret.
 *
 * The answer comes with another request of the client, so what was asked about is sealed into the request's state: an
 * answer counts only for the order that the question was about, and only where this process asked it.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolProblem } from './tool-problem.ts';

/** Subject of a question, and the facts with which the next round makes the same order again. */
export interface AskedOrder {
  readonly orderId: string;
  readonly clientOrderId?: string;
}

interface State extends AskedOrder {
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
const KEY = 'confirm';

/** One for each process: it alone can have asked. */
export const stateCodec = createRequestStateCodec<State>({
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
  const state = context.mcpReq.requestState<State>();
  const isSameCall = state !== undefined && state.tool === toolName && state.args === hashOf(args);
  const asked = isSameCall ? state : null;
  return {
    asked,
    async request(order, question) {
      if (asked !== null && asked.orderId === order.orderId) {
        const response = inputResponse(context.mcpReq.inputResponses, KEY);
        if (response.kind === 'elicit') {
          if (response.action === 'accept' && response.content?.[KEY] === true) return null;
          throw declined();
        }
      }
      if (!canAsk(server, context)) throw notPossible();
      const payload: State = { ...order, tool: toolName, args: hashOf(args) };
      return inputRequired({
        inputRequests: {
          [KEY]: inputRequired.elicit({
            message: question,
            requestedSchema: {
              type: 'object',
              properties: { [KEY]: { type: 'boolean', title: 'Place this order', default: false } },
              required: [KEY],
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
