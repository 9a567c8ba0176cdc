/** Where replicas find the one that leads, and what they announce to each other about the lead. */

export interface Leader {
  readonly url: string;
  readonly replica: string;
}

export interface LeaderBoard {
  publish(url: string): Promise<void>;
  /** `null`: no leader is recorded yet. `mine`: this replica recorded itself. */
  find(): Promise<(Leader & { readonly mine: boolean }) | null>;
  isAlone(): Promise<boolean>;
  announce(news: LeadNews): Promise<void>;
  onNews(listener: (news: LeadNews) => void): Promise<() => void>;
}

export type LeadNews = 'leaving' | 'prepared' | 'free';
