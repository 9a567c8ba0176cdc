/**
 * Binds the lists of a resource, each by the id of its operation: a list that the resource's use cases have is served, and
 * needs nothing here. The compiler holds its query and its items to the operation.
 */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import type { Static, TArray, TSchema } from 'typebox';
import type { Page } from '../app/page.ts';
import { paginate } from './pagination.ts';
import type { Bind, Input } from './routes.ts';

type Contract = typeof contract;
type ListOperation = Operation & { readonly permission: 'agent'; query: TSchema; response: TArray };
type ListId = { [K in keyof Contract]: Contract[K] extends ListOperation ? K : never }[keyof Contract];
type Query<K extends ListId> = Contract[K] extends { query: infer Q extends TSchema } ? Static<Q> : never;
type Item<K extends ListId> = Contract[K] extends { response: TArray<infer T> } ? Static<T> : never;

type Caller = Input<ListOperation>['caller'];

export type Lists = {
  readonly [K in ListId]?: (caller: Caller, query: Query<K>) => Promise<Page<Item<K>>>;
};

const operations = contract as unknown as Readonly<Record<ListId, ListOperation>>;
type AnyList = (caller: Caller, query: object) => Promise<Page<unknown>>;
interface Window {
  readonly limit?: number;
  readonly offset?: number;
  readonly cursor?: string;
}

export function bindLists(bind: Bind, lists: Lists): void {
  for (const [id, list] of Object.entries(lists) as [ListId, AnyList][]) {
    bind(operations[id], async ({ caller, query, request, reply }) => {
      const { limit = 0, offset = 0, cursor } = query as Window;
      const page = await list(caller, query as object);
      paginate(request, reply, page.total, {
        name: 'offset',
        previous: cursor === undefined && offset > 0 ? Math.max(0, offset - limit) : null,
        // By cursor, because what comes in meanwhile would shift an offset.
        next: null,
        cursor: page.cursor,
      });
      return [...page.items];
    });
  }
}
