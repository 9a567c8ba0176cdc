/** What an operator reads of all replicas at once. */
export interface OperatorFacts {
  readonly replicas: number;
  readonly leader: { readonly replicaId: string; readonly since: number } | null;
  readonly inDoubt: number;
  /** When the oldest order in doubt was created. */
  readonly oldestInDoubtAt: number | null;
  readonly webhookDeliveries: number;
  readonly webhooksDisabled: number;
  readonly marketsToRedeem: number;
  readonly skillsToReview: number;
}

export interface OperatorReads {
  /** @param doubtBefore orders without an answer that were created before are in doubt */
  facts(doubtBefore: Readonly<Record<'signed' | 'quoted', number>>): Promise<OperatorFacts>;
}
