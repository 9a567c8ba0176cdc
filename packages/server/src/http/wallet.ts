import { checkCredentials, faucet, registerCredentials } from '@bellwether/contract';
import * as wallets from '../app/wallets.ts';
import type { Bind } from './routes.ts';

export function bindWallet(bind: Bind, needs: wallets.CredentialNeeds & wallets.FaucetNeeds): void {
  bind(registerCredentials, ({ caller, body }) => wallets.registerCredentials(needs, caller, body));
  bind(checkCredentials, ({ caller, query }) => wallets.checkCredentials(needs, caller, query.walletAddress));
  bind(faucet, ({ body }) => wallets.drawFaucet(needs, body));
}
