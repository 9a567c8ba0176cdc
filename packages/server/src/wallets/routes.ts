import {
  checkCredentials,
  createPaperCredentials,
  faucet,
  getCredentialChallenge,
  getLinkChallenge,
  linkWallet,
  registerCredentials,
  unlinkWallet,
  updateSolAddress,
} from '@bellwether/contract';
import type { Bind } from '../platform/http/routes.ts';
import * as links from './wallet-link.ts';
import * as paper from './wallets.ts';
import * as wallets from './wallets.ts';

export function bindWallet(bind: Bind, needs: paper.WalletNeeds): void {
  bind(registerCredentials, ({ caller, body }) => wallets.registerCredentials(needs, caller, body));
  bind(checkCredentials, ({ caller, query }) => wallets.checkCredentials(needs, caller, query.walletAddress));
  bind(getCredentialChallenge, ({ caller, query }) =>
    paper.credentialChallenge(needs, caller, query.address),
  );
  bind(createPaperCredentials, ({ caller, body }) => paper.createPaperCredentials(needs, caller, body));
  bind(faucet, ({ body }) => wallets.drawFaucet(needs, body));
}

export function bindWalletLink(bind: Bind, needs: paper.WalletNeeds): void {
  bind(getLinkChallenge, ({ caller, query }) => links.linkChallenge(needs, caller, query.address));
  bind(linkWallet, ({ caller, body }) => links.linkWallet(needs, caller, body));
  bind(unlinkWallet, ({ caller, body }) => links.unlinkWallet(needs, caller, body.address));
  bind(updateSolAddress, ({ caller, body }) => links.updateSolAddress(needs, caller, body.solAddress));
}
