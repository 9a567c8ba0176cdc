/**
 * Countries where tokenised Kalshi markets must not be offered: the list of DFlow's compliance page (reference §0). The
 * operator must enforce it, because the API does not. "Any territory under comprehensive US sanctions" is listed if it is
 * a separate country; Crimea, Donetsk and Luhansk belong to Ukraine, which is listed. What names no country is never taken
 * for one that is not on the list.
 */

import { plainText } from '../../domain/untrusted-text.ts';

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
