/** Settings of a desk for a live venue, the stand-alone exchange or the venue in a box. */
export const liveEnvironment = (venueUrl: string): Readonly<Record<string, string>> => ({
  VENUE_A_BACKEND: 'live',
  VENUE_A_ORDER_PROFILE: 'polymarket',
  VENUE_A_DOUBT_S: '5',
  POLYMARKET_CLOB_URL: `${venueUrl}/paper/clob`,
  POLYMARKET_GAMMA_URL: `${venueUrl}/paper/gamma`,
  POLYMARKET_DATA_URL: `${venueUrl}/paper/data`,
  POLYMARKET_SITE_URL: venueUrl,
  POLYMARKET_RELAYER_URL: `${venueUrl}/paper/relayer`,
  POLYMARKET_WS_URL: `${venueUrl.replace(/^http/, 'ws')}/paper/ws`,
  PAPER_WORLD: 'off',
  PAPER_DOORS: 'off',
});
