import { getLinkChallenge, linkWallet, unlinkWallet, updateSolAddress } from '@bellwether/contract';
import type { Bind } from '../platform/http/routes.ts';
import * as links from './wallet-link.ts';

export function bindWalletLink(bind: Bind, needs: links.WalletLinkNeeds): void {
  bind(getLinkChallenge, ({ caller, query }) => links.linkChallenge(needs, caller, query.address));
  bind(linkWallet, ({ caller, body }) => links.linkWallet(needs, caller, body));
  bind(unlinkWallet, ({ caller, body }) => links.unlinkWallet(needs, caller, body.address));
  bind(updateSolAddress, ({ caller, body }) => links.updateSolAddress(needs, caller, body.solAddress));
}
