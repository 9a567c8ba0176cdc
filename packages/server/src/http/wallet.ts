import { checkCredentials, faucet, registerCredentials } from '@bellwether/contract';
import type { Deps } from '../app/deps.ts';
import * as wallets from '../app/wallets.ts';
import type { Bind } from './routes.ts';

export function bindWallet(bind: Bind, deps: Deps): void {
  bind(registerCredentials, ({ caller, body }) => wallets.registerCredentials(deps, caller, body));
  bind(checkCredentials, ({ caller, query }) => wallets.checkCredentials(deps, caller, query.walletAddress));
  bind(faucet, ({ body }) => wallets.drawFaucet(deps, body));
}
