import { createWebhook, deleteWebhook, receiveWebhook, testWebhook } from '@bellwether/contract';
import type { FastifyInstance } from 'fastify';
import type { Bind } from '../platform/http/routes.ts';
import * as webhooks from './subscriptions.ts';

export function bindWebhooks(bind: Bind, needs: webhooks.WebhookNeeds): void {
  bind(createWebhook, ({ caller, body }) => webhooks.createWebhook(needs, caller, body));
  bind(deleteWebhook, ({ caller, params }) => webhooks.deleteWebhook(needs, caller, params.id));
  bind(testWebhook, ({ caller, params }) => webhooks.testWebhook(needs, caller, params.id));
}

/** Takes bodies of any media type as the bytes that they are: a signature fits nothing else. */
export function takeRawBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** Bound in a scope of its own, which takes raw bodies. */
export function bindInbound(bind: Bind, needs: webhooks.WebhookNeeds): void {
  bind(receiveWebhook, ({ params, body, request }) => {
    const signature = request.headers['x-signature'];
    return webhooks.receiveWebhook(needs, {
      source: params.source,
      signature: typeof signature === 'string' ? signature : undefined,
      body: body as Uint8Array,
    });
  });
}
