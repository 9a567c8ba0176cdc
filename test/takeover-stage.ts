/** Faults of the replica that leads, and traders on the others. */
import {
  BellwetherClient,
  createVenueCredentials,
  credentialRequest,
  type Market,
  Signer,
} from '@bellwether/sdk';
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

/** Registered at one process, with credentials from its door. */
export async function traderAt(process: Pick<ServiceProcess, 'url'>): Promise<Trader> {
  const { apiKeyCode, agentId } = await new BellwetherClient({ baseUrl: process.url }).registerAgent({
    name: 'Traveller',
  });
  const signer = Signer.generate();
  const client = new BellwetherClient({ baseUrl: process.url, apiKey: apiKeyCode });
  const credentials = await createVenueCredentials({ clobUrl: `${process.url}/paper/clob`, signer });
  await client.registerCredentials(credentialRequest(signer, credentials));
  return {
    client,
    apiKey: apiKeyCode,
    agentId,
    signer,
    signatureType: 0,
    funder: signer.address.toLowerCase(),
  };
}

export const aPurchase = async ({ client, signer }: Trader, amount: number, market?: Market) =>
  marketBuy({ signer }, market ?? (await aMarket(client)), amount);
