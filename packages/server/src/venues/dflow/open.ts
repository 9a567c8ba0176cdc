/** Opens venue B: on the sandbox, or on the real services. */
import { SANDBOX_PATHS } from '@bellwether/sandbox/paths';
import { VenueMoves } from '../../domain/unavailable.ts';
import { fetchSend, HttpUnavailable } from '../../platform/outbound/http.ts';
import type { OpenVenue, VenueTools } from '../configured.ts';
import { creditOnce } from '../paper/index.ts';
import { createSolanaChain } from '../solana/index.ts';
import type { Venue } from '../venue.ts';
import { createDflowVenue } from './dflow-venue.ts';
import { sandboxDoors } from './doors.ts';
import { refusalOfCountry } from './jurisdictions.ts';
import { maintenanceEnd } from './maintenance.ts';
import type { DflowSettings, LiveDflow } from './settings.ts';

/** Stands for the sandbox in addresses: what answers is this process, or the replica that leads. */
const SANDBOX = 'http://sandbox';

export function openDflow(settings: DflowSettings, tools: VenueTools): OpenVenue {
  const { live } = settings;
  return {
    venue: live === null ? onSandbox(settings, tools) : onSolana(settings, live, tools),
    // A live venue leaves the sandbox as it is: a door of it that is named stays open.
    doors: (doorTools) => sandboxDoors({ ...doorTools, paper: tools.paper }),
  };
}

const commonOf = (settings: DflowSettings, { clock, log }: VenueTools) => ({
  ...{ id: settings.name, clock, log },
  ...{ slippageBps: settings.slippageBps, priceImpactPercent: settings.priceImpactPercent },
  geography: { countryHeader: settings.countryHeader, refusalOf: refusalOfCountry },
});

/** Nothing has looked at a call that meets a move, so it is made again once the sandbox has arrived. */
function asMove(error: unknown): never {
  throw error instanceof VenueMoves ? new HttpUnavailable('the sandbox', 'moving') : error;
}

function onSandbox(settings: DflowSettings, tools: VenueTools): Venue {
  const { paper, clock, log, openDoors } = tools;
  const { sandbox, sandboxStatus } = paper;
  const arrived = () => paper.sandboxKnown('desk');
  const credit = async (wallet: string): Promise<void> => {
    await arrived();
    await sandbox.credit(wallet).catch(async (error: unknown) => {
      if (!(error instanceof VenueMoves)) throw error;
      await arrived();
      await sandbox.credit(wallet);
    });
  };
  const venue = createDflowVenue({
    ...{ ...commonOf(settings, tools), arrived },
    backend: 'paper',
    // Its status says whether it keeps them.
    maintenanceEnd: () => null,
    metadataUrl: SANDBOX + SANDBOX_PATHS.metadata,
    tradeUrl: SANDBOX + SANDBOX_PATHS.trade,
    proofUrl: SANDBOX + SANDBOX_PATHS.trade,
    apiKey: null,
    exchangeStatusUrl: `${SANDBOX}${SANDBOX_PATHS.metadata}/trade-api/v2/exchange/status`,
    send: (request) => sandbox.request(request).catch(asMove),
    chain: createSolanaChain({
      ask: (method, params) => sandbox.ask(method, params).catch(asMove),
      ...{ clock, log, arrived },
    }),
    paper: { credit: creditOnce(credit) },
    ...(openDoors.has('solana') ? { openRpcPath: SANDBOX_PATHS.rpc } : {}),
  });
  const status = (asker?: 'proxy') => {
    const said = sandboxStatus(asker);
    return said === 'ready' ? venue.status() : said;
  };
  return { ...venue, status };
}

const onSolana = (settings: DflowSettings, live: LiveDflow, tools: VenueTools): Venue =>
  createDflowVenue({
    ...commonOf(settings, tools),
    ...live,
    backend: 'live',
    maintenanceEnd,
    exchangeStatusUrl: live.statusUrl,
    send: fetchSend,
    chain: createSolanaChain({ url: live.rpcUrl, send: fetchSend, clock: tools.clock, log: tools.log }),
  });
