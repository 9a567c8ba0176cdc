import { getLinkChallenge, linkWallet, unlinkWallet, updateSolAddress } from '@bellwether/contract';
import * as links from '../app/wallet-link.ts';
import type { Bind } from './routes.ts';

export function bindWalletLink(bind: Bind, needs: links.WalletLinkNeeds): void {
  bind(getLinkChallenge, ({ caller, query }) => links.linkChallenge(needs, caller, query.address));
  bind(linkWallet, ({ caller, body }) => links.linkWallet(needs, caller, body));
  bind(unlinkWallet, ({ caller, body }) => links.unlinkWallet(needs, caller, body.address));
  bind(updateSolAddress, ({ caller, body }) => links.updateSolAddress(needs, caller, body.solAddress));
}
