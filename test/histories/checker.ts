/**
 * Reads a history and says what in it breaks a promise of the desk, one sentence for each. Pure: the same history, the same sentences.
 */
import { checkBooks, checkSigned } from './books-rules.ts';
import { checkExitCalls, checkExitPlaces, checkToldExits } from './exit-rules.ts';
import {
  checkExitAlerts,
  checkExitEnds,
  checkExitGroups,
  checkExitHoldings,
  checkExitPrices,
  checkExitTimes,
} from './exit-sales-rules.ts';
import {
  checkAnswers,
  checkCanceled,
  checkDoubt,
  checkMoney,
  checkReceipts,
  checkVenue,
} from './final-rules.ts';
import type { History } from './history.ts';
import { checkApiKeys, checkEffects, checkKeys } from './key-rules.ts';
import { checkBriefings, checkListeners, checkLogs } from './log-rules.ts';
import { checkOrders, checkPrepared } from './order-rules.ts';
import {
  checkMoves,
  checkPayouts,
  checkPositionLimits,
  checkSetAnswers,
  checkSetNames,
  checkSetReserves,
} from './sets-rules.ts';
import { checkBudgets, checkStanding } from './standing-rules.ts';
import { checkApprovals, checkSilence, checkTimes } from './watched-rules.ts';

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
  checkCanceled,
  checkAnswers,
  checkVenue,
  checkMoney,
  checkBooks,
  checkSigned,
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
  checkSetNames,
  checkSetAnswers,
  checkSetReserves,
  checkMoves,
  checkPayouts,
  checkPositionLimits,
  checkTimes,
  checkSilence,
  checkApprovals,
];

export const check = (history: History): string[] => RULES.flatMap((rule) => rule(history));
