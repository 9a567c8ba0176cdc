import {
  checkCredentials,
  createPaperCredentials,
  faucet,
  getCredentialChallenge,
  registerCredentials,
} from '@bellwether/contract';
import type { Bind } from '../platform/http/routes.ts';
import * as paper from './paper-credentials.ts';
import * as wallets from './wallets.ts';

export function bindWallet(bind: Bind, needs: paper.PaperCredentialNeeds & wallets.FaucetNeeds): void {
  bind(registerCredentials, ({ caller, body }) => wallets.registerCredentials(needs, caller, body));
  bind(checkCredentials, ({ caller, query }) => wallets.checkCredentials(needs, caller, query.walletAddress));
  bind(getCredentialChallenge, ({ caller, query }) =>
    paper.credentialChallenge(needs, caller, query.address),
  );
  bind(createPaperCredentials, ({ caller, body }) => paper.createPaperCredentials(needs, caller, body));
  bind(faucet, ({ body }) => wallets.drawFaucet(needs, body));
}
