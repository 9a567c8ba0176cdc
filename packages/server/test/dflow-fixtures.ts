/** Values captured from DFlow: reference §1.3. Tests override single fields. */

export const TICKER = 'KXEPLGAME-26FEB18WOLARS-WOL';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const CASH = 'CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH';
export const MINTS = {
  ledger: '5UHoukpeVPQbmSUaAPWnkXEKZMrjSmwTqqaD8eXmvKNn',
  yes: 'CA7FMbzNTfeR7jkLzF113bBJupKwq98cixaQtc3b3frb',
  no: 'D7ibW7tu2kvzfbDS78gF5i9UZTye7pqTP63yxYd43No3',
} as const;

/** A buy of 11 contracts that took 948096 atoms of USDC. */
export const CAPTURED_BUY = { contracts: 11n, price: 800, paid: 948_096n } as const;

export const capturedMarket = (changes: object = {}, rail: object = {}) => ({
  ticker: TICKER,
  eventTicker: 'KXEPLGAME-26FEB18WOLARS',
  marketType: 'binary',
  title: 'Wolverhampton vs Arsenal Winner?',
  subtitle: '',
  yesSubTitle: 'Wolverhampton',
  noSubTitle: 'Wolverhampton',
  openTime: 1_770_000_000,
  closeTime: 1_771_444_800,
  expirationTime: 1_771_455_600,
  status: 'active',
  result: '',
  yesBid: '0.0700',
  yesAsk: '0.0800',
  noBid: '0.9200',
  noAsk: '0.9300',
  volume: 12345,
  volumeFp: '12345.50',
  volume24hFp: '345.00',
  openInterest: 9000,
  openInterestFp: '9000.00',
  canCloseEarly: true,
  earlyCloseCondition: '',
  fractionalTradingEnabled: false,
  rulesPrimary: 'If Wolverhampton wins, the market resolves to Yes.',
  rulesSecondary: '',
  accounts: {
    [USDC]: {
      marketLedger: MINTS.ledger,
      yesMint: MINTS.yes,
      noMint: MINTS.no,
      isInitialized: true,
      redemptionStatus: null,
      ...rail,
    },
    [CASH]: { marketLedger: 'other', yesMint: 'other', noMint: 'other', isInitialized: false },
  },
  ...changes,
});
