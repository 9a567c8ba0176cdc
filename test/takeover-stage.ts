/** Faults of the replica that leads, and traders on the others. */
import type { Market } from '@bellwether/sdk';
import { aMarket, marketBuy, type Trader } from './harness.ts';
import { kill, type ServiceProcess } from './service-process.ts';
import { databaseTarget, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

export interface Fault {
  /** The URL of the database for the process that will lead. */
  leaderUrl(databaseUrl: string): Promise<string>;
  begin(leader: ServiceProcess): void;
  end(leader: ServiceProcess): void;
}

export const freeze: Fault = {
  leaderUrl: async (url) => url,
  begin: (leader) => kill(leader.child.pid as number, 'SIGSTOP'),
  end: (leader) => kill(leader.child.pid as number, 'SIGCONT'),
};

/** Cuts the leader off from the database: nothing passes, and no connection ends. */
export function cutOff(): Fault {
  let proxy: TcpProxy;
  return {
    async leaderUrl(url) {
      const { target, urlAt } = databaseTarget(url);
      proxy = await startTcpProxy(target);
      return urlAt(proxy.port);
    },
    begin: () => proxy.stall(),
    end: () => proxy.resume(),
  };
}

export const aPurchase = async ({ client, signer }: Trader, amount: number, market?: Market) =>
  marketBuy({ signer }, market ?? (await aMarket(client)), amount);
