/**
 * Reads a history and says what in it breaks a promise of the desk, one sentence for each. Pure: the same history, the same sentences.
 */
import { checkExitCalls, checkExitPlaces, checkToldExits } from './exit-rules.ts';
import {
  checkExitAlerts,
  checkExitEnds,
  checkExitGroups,
  checkExitHoldings,
  checkExitPrices,
  checkExitTimes,
} from './exit-sales-rules.ts';
import { checkDoubt, checkMoney, checkReceipts, checkVenue } from './final-rules.ts';
import type { History } from './history.ts';
import { checkApiKeys, checkEffects, checkKeys } from './key-rules.ts';
import { checkBriefings, checkListeners, checkLogs } from './log-rules.ts';
import { checkOrders, checkPrepared } from './order-rules.ts';
import { checkBudgets, checkStanding } from './standing-rules.ts';

const RULES = [
  checkOrders,
  checkPrepared,
  checkKeys,
  checkApiKeys,
  checkEffects,
  checkStanding,
  checkBudgets,
  checkListeners,
  checkLogs,
  checkBriefings,
  checkDoubt,
  checkVenue,
  checkMoney,
  checkReceipts,
  checkExitCalls,
  checkExitEnds,
  checkExitGroups,
  checkExitHoldings,
  checkExitPlaces,
  checkExitPrices,
  checkExitTimes,
  checkToldExits,
  checkExitAlerts,
];

export const check = (history: History): string[] => RULES.flatMap((rule) => rule(history));
