import { getLinkChallenge, linkWallet, unlinkWallet, updateSolAddress } from '@bellwether/contract';
import type { Deps } from '../app/deps.ts';
import * as links from '../app/wallet-link.ts';
import type { Bind } from './routes.ts';

export function bindWalletLink(bind: Bind, deps: Deps): void {
  bind(getLinkChallenge, ({ caller, query }) => links.linkChallenge(deps, caller, query.address));
  bind(linkWallet, ({ caller, body }) => links.linkWallet(deps, caller, body));
  bind(unlinkWallet, ({ caller, body }) => links.unlinkWallet(deps, caller, body.address));
  bind(updateSolAddress, ({ caller, body }) => links.updateSolAddress(deps, caller, body.solAddress));
}
