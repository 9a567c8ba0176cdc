/** Every tool. None resumes trading or an exit, raises a limit of orders, or passes what the owner has locked. */
import type { Tool } from '../tool.ts';
import { getBriefing } from './briefing.ts';
import { cancelExit, closePosition, leaveExit, listExits } from './exits.ts';
import { configureAgent, getPortfolio, listPositions, pauseTrading, redeem } from './holdings.ts';
import { readJournal } from './journal.ts';
import { lookAtMarket } from './look-at-market.ts';
import { cancelOrders, getOrder, listOrders } from './orders.ts';
import { checkOrder, placeOrder } from './place-order.ts';
import { QuoteShelf, quoteTool, tradeQuoteTool } from './quoted.ts';
import { searchMarkets } from './search-markets.ts';
import { convertSets, mergeSets, splitSets } from './sets.ts';
import { waitForEvent } from './wait-for-event.ts';

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
