/**
 * Countries where tokenised Kalshi markets must not be offered: the list of DFlow's compliance page (reference §0). The
 * operator must enforce it, because the API does not. "Any territory under comprehensive US sanctions" is listed if it is
 * a separate country; Crimea, Donetsk and Luhansk belong to Ukraine, which is listed.
 */

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
  'AU', // Australia
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
  'FR', // France
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

/** @param code ISO 3166-1 alpha-2, in either case */
export const isBlockedCountry = (code: string): boolean => BLOCKED_COUNTRIES.has(code.trim().toUpperCase());
