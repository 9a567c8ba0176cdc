/** Opens venue B: on the sandbox, or on the real services. */

import { registerSandboxDoors } from '@bellwether/sandbox';
import { SANDBOX_PATHS } from '@bellwether/sandbox/paths';
import { VenueMoves } from '../../domain/unavailable.ts';
import { plainText } from '../../domain/untrusted-text.ts';
import { fetchSend, HttpUnavailable } from '../../platform/outbound/http.ts';
import type { Door, DoorTools, OpenVenue, VenueTools } from '../configured.ts';
import { creditOnce } from '../paper/index.ts';
import { createSolanaChain } from '../solana/index.ts';
import type { Venue } from '../venue.ts';
import { createDflowVenue } from './dflow-venue.ts';
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

// The sandbox's doors, as this process serves them: from its own sandbox while it leads, through the replica that leads otherwise.

interface Parts extends DoorTools, Pick<VenueTools, 'paper'> {}

function sandboxDoors({ paper, guard, forward, relayAt }: Parts): readonly Door[] {
  const leadKnown = () => paper.sandboxKnown('external');
  const sendOn = forward(Object.values(SANDBOX_PATHS), leadKnown);
  return (['dflow', 'solana'] as const).map((name) => ({
    name,
    prefix: '',
    register(app) {
      // A socket is relayed frame by frame, not sent on as one request.
      app.addHook('preHandler', async (request, reply) =>
        request.headers.upgrade === undefined
          ? sendOn.call(app, request, reply)
          : leadKnown().catch(() => {}),
      );
      return registerSandboxDoors(app, {
        find: () => paper.local()?.sandbox.current() ?? null,
        guard,
        doors: new Set([name]),
        relay: relayAt(SANDBOX_PATHS.rpc),
      });
    },
  }));
}

// Countries where tokenised Kalshi markets must not be offered: the list of DFlow's compliance page (reference §0). The
// operator must enforce it, because the API does not. "Any territory under comprehensive US sanctions" is listed if it is
// a separate country; Crimea, Donetsk and Luhansk belong to Ukraine, which is listed. What names no country is never taken
// for one that is not on the list.

/** ISO 3166-1 alpha-2. */
const BLOCKED_COUNTRIES: ReadonlySet<string> = new Set([
  'US', // United States, and its territories
  'AS',
  'GU',
  'MP',
  'PR',
  'UM',
  'VI',
  'AF', // Afghanistan
  'DZ', // Algeria
  'AO', // Angola
  'AU', // Australia, and its territories
  ...['CC', 'CX', 'HM', 'NF'],
  'BY', // Belarus
  'BE', // Belgium
  'BO', // Bolivia
  'BG', // Bulgaria
  'BF', // Burkina Faso
  'CM', // Cameroon
  'CA', // Canada
  'CF', // Central African Republic
  'CI', // Côte d'Ivoire
  'CU', // Cuba
  'CD', // DR Congo
  'ET', // Ethiopia
  'FR', // France, and its parts overseas
  ...['BL', 'GF', 'GP', 'MF', 'MQ', 'NC', 'PF', 'PM', 'RE', 'TF', 'WF', 'YT'],
  'HT', // Haiti
  'IR', // Iran
  'IQ', // Iraq
  'IT', // Italy
  'KE', // Kenya
  'LA', // Laos
  'LB', // Lebanon
  'LY', // Libya
  'ML', // Mali
  'MC', // Monaco
  'MZ', // Mozambique
  'MM', // Myanmar
  'NA', // Namibia
  'NI', // Nicaragua
  'NE', // Niger
  'KP', // North Korea
  'CN', // PR China
  'PL', // Poland
  'RU', // Russia
  'SG', // Singapore
  'SO', // Somalia
  'SS', // South Sudan
  'SD', // Sudan
  'CH', // Switzerland
  'SY', // Syria
  'TW', // Taiwan
  'TH', // Thailand
  'UA', // Ukraine
  'AE', // UAE
  'GB', // United Kingdom
  'VE', // Venezuela
  'YE', // Yemen
  'ZW', // Zimbabwe
]);

/** Every assigned code of ISO 3166-1 alpha-2: not `XX` or `T1`, by which proxies say that they do not know. */
const ASSIGNED: ReadonlySet<string> = new Set(
  [
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ',
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO',
    'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE',
    'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO',
    'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW',
    'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM',
    'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW',
  ].flatMap((line) => line.split(' ')),
);

/** Codes that are often written for another. */
const ALIASES: Readonly<Record<string, string>> = { UK: 'GB' };

const MAX_SHOWN_CHARS = 40;

/**
 * Why nothing may be bought from a country.
 * @param said by the proxy, in either case; `null`: nothing
 * @returns `null`: it may
 */
export function refusalOfCountry(said: string | null): string | null {
  const word = (said ?? '').trim().toUpperCase();
  const country = Object.hasOwn(ALIASES, word) ? ALIASES[word]! : word;
  if (BLOCKED_COUNTRIES.has(country))
    return `Nothing can be bought on this venue from the country ${country}.`;
  if (ASSIGNED.has(country)) return null;
  const what = word === '' ? 'no country' : `"${plainText(word, MAX_SHOWN_CHARS)}", which is not one country`;
  return `A purchase on this venue needs the country that it comes from as one code of ISO 3166, and the proxy of this desk names ${what}. Call without a VPN or an anonymizing network; else ask the desk's operator.`;
}

// The exchange's weekly maintenance: Thursdays 03:00 to 05:00 New York time, in all seasons. Reference §2.10.

const ZONE = 'America/New_York';
const DAY = 'Thu';
const FROM_HOUR = 3;
const TO_HOUR = 5;

const HOUR_MS = 3_600_000;

/** @param at epoch milliseconds @returns when the maintenance that goes on ends; `null`: none does */
export function maintenanceEnd(at: number): number | null {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: ZONE,
    weekday: 'short',
    hour: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(at);
  const partOf = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const hour = Number(partOf('hour'));
  if (partOf('weekday') !== DAY || hour < FROM_HOUR || hour >= TO_HOUR) return null;
  // New York is whole hours from UTC, and its clocks change on Sundays.
  return at - (at % HOUR_MS) + (TO_HOUR - hour) * HOUR_MS;
}
