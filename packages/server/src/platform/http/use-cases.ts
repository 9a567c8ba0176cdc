/**
 * Binds the use cases of a resource, each by the id of its operation. What needs nothing of the request but who calls and what
 * was sent is served by being in that table; the compiler holds its input and its answer to the operation. An operation whose
 * answer is a list may answer one page of it.
 */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import type { Static, TArray, TSchema } from 'typebox';
import type { Page, PageQuery } from './page.ts';
import { sendPage } from './pagination.ts';
import type { Bind, Input } from './routes.ts';

type Contract = typeof contract;
type AgentOperation = Operation & { readonly permission: 'agent' };
type Id = { [K in keyof Contract]: Contract[K] extends AgentOperation ? K : never }[keyof Contract];
type InputOf<O extends Operation> = Pick<Input<O>, 'caller' | 'params' | 'query' | 'body'>;
type AnswerOf<O extends Operation> =
  O['response'] extends TArray<infer T extends TSchema>
    ? readonly Static<T>[] | Page<Static<T>>
    : Static<O['response']>;

export type UseCases = {
  readonly [K in Id]?: Contract[K] extends AgentOperation
    ? (input: InputOf<Contract[K]>) => Promise<AnswerOf<Contract[K]>>
    : never;
};

const operations = contract as unknown as Readonly<Record<Id, AgentOperation>>;
type AnyUseCase = (input: InputOf<AgentOperation>) => Promise<object>;

const isPage = (operation: Operation, answer: object): answer is Page<unknown> =>
  (operation.response as { type?: string }).type === 'array' && !Array.isArray(answer);

export function bindUseCases(bind: Bind, useCases: UseCases): void {
  for (const [id, useCase] of Object.entries(useCases) as [Id, AnyUseCase][]) {
    const operation = operations[id];
    bind(operation, async ({ caller, params, query, body, request, reply }) => {
      const answer = await useCase({ caller, params, query, body });
      if (!isPage(operation, answer)) return answer;
      return sendPage(request, reply, query as PageQuery, answer);
    });
  }
}
