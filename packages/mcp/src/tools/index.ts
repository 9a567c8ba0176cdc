/** Every tool. None resumes trading or an exit, raises a limit of orders, or passes what the owner has locked. */
import type { Tool } from '../tool.ts';
import { getBriefing, readJournal, waitForEvent } from './briefing.ts';
import { cancelExit, closePosition, leaveExit, listExits } from './exits.ts';
import {
  configureAgent,
  convertSets,
  getPortfolio,
  listPositions,
  mergeSets,
  pauseTrading,
  redeem,
  splitSets,
} from './holdings.ts';
import { lookAtMarket, searchMarkets } from './markets.ts';
import { cancelOrders, checkOrder, getOrder, listOrders, placeOrder } from './orders.ts';
import { QuoteShelf, quoteTool, tradeQuoteTool } from './quoted.ts';

/** One list for a process: its connections share the quotes. */
export function createTools(): readonly Tool[] {
  const shelf = new QuoteShelf();
  return [
    searchMarkets,
    lookAtMarket,
    checkOrder,
    placeOrder,
    cancelOrders,
    closePosition,
    leaveExit,
    listExits,
    cancelExit,
    listOrders,
    getOrder,
    listPositions,
    getPortfolio,
    getBriefing,
    splitSets,
    mergeSets,
    convertSets,
    redeem,
    quoteTool(shelf),
    tradeQuoteTool(shelf),
    readJournal,
    waitForEvent,
    configureAgent,
    pauseTrading,
  ];
}
