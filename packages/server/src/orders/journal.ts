import {
  ALL_VENUES,
  getLeaderboard,
  getRiskSettings,
  listAgentTrades,
  listTradesByStrategy,
  resetRiskSettings,
  updateRiskSettings,
} from '@bellwether/contract';
import { readSettings, resetSettings, type SettingsNeeds, updateSettings } from '../agents/index.ts';
import { sendPage } from '../platform/http/pagination.ts';
import type { Bind } from '../platform/http/routes.ts';
import * as journal from './trades-journal.ts';

const DEFAULT_TRADES = 50;
const DEFAULT_ENTRIES = 20;

export function bindJournal(bind: Bind, needs: journal.JournalNeeds & SettingsNeeds): void {
  bind(listAgentTrades, async ({ caller, query, request, reply }) => {
    const page = await journal.agentTrades(needs, caller, query);
    const { limit = DEFAULT_TRADES, offset = 0, venue = ALL_VENUES } = query;
    return { total: page.total, limit, offset, venue, trades: sendPage(request, reply, query, page) };
  });
  bind(listTradesByStrategy, ({ caller }) => journal.tradesByStrategy(needs, caller));
  bind(getLeaderboard, ({ query }) => journal.leaderboard(needs, query.limit ?? DEFAULT_ENTRIES));

  bind(getRiskSettings, ({ caller }) => readSettings(needs, caller));
  bind(updateRiskSettings, ({ caller, body }) => updateSettings(needs, caller, body));
  bind(resetRiskSettings, ({ caller }) => resetSettings(needs, caller));
}
