/** The claim look-up, for its two readers: a program gets the record, a person the page. */
import { ERRORS, getClaim, getClaimByQuery } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lookUpClaim } from '../agents/index.ts';
import { type Identities, sessionTokens } from '../platform/http/identify.ts';
import { elsewhere, errorPage, type Site, sendPage, wantsHtml } from '../platform/http/layout.ts';
import type { Bind } from '../platform/http/routes.ts';
import { Refusal } from '../platform/refusal.ts';
import { claimPage } from './claim-page.ts';
import { claimPreview, type OwnedAgentNeeds } from './owned-agents.ts';

export function bindClaims(
  bind: Bind,
  needs: OwnedAgentNeeds & { readonly publicUrl: string },
  { ownerOf }: Pick<Identities, 'ownerOf'>,
  siteOf: () => Site,
): void {
  const showPage = async (code: string | undefined, request: FastifyRequest, reply: FastifyReply) => {
    const site = siteOf();
    const path = `/agents/claim${code === undefined ? '' : `/${encodeURIComponent(code)}`}`;
    const there = elsewhere(request, site, path);
    if (there !== null) return reply.redirect(there, 302);
    try {
      const [preview, owner] = await Promise.all([
        claimPreview(needs, code),
        ownerOf(sessionTokens(request, needs.publicUrl)),
      ]);
      return sendPage(reply, 200, claimPage(site, { ...preview, owner, claimCode: code ?? '' }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const [{ code: refused, detail }] = error.denials;
      const text = `${detail} ${ERRORS[refused].fix}`;
      return sendPage(reply, ERRORS[refused].status, errorPage(site, ERRORS[refused].title, text));
    }
  };
  const claim = async (code: string | undefined, request: FastifyRequest, reply: FastifyReply) => {
    // One address, two readers: a shared cache must not mix them up.
    reply.header('vary', 'accept, origin').header('cache-control', 'no-store');
    return wantsHtml(request) ? showPage(code, request, reply) : lookUpClaim(needs, code);
  };
  bind(getClaim, ({ params, request, reply }) => claim(params.claimCode, request, reply));
  bind(getClaimByQuery, ({ query, request, reply }) => claim(query.claimCode, request, reply));
}
