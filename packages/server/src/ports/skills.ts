/** The registry of skills. */
export interface SkillBrief {
  readonly skillCode: string;
  /** The value of `skillSlug` in trades. */
  readonly skillSlug: string;
  readonly skillName: string;
  /** Plain and short. */
  readonly description: string;
}

/** A few approved and visible skills, best first; from memory, because every heartbeat reads them. */
export type RecommendedSkills = () => Promise<readonly SkillBrief[]>;

export type ReviewStatus = 1 | 2 | 3;

export interface SkillRow {
  readonly skillCode: string;
  readonly slug: string;
  readonly skillName: string;
  /** 0: the service itself. */
  readonly userId: bigint;
  readonly agentId: string | null;
  /** 1 official, 2 partner. */
  readonly category: 1 | 2;
  readonly version: string;
  readonly author: string;
  readonly description: string;
  readonly difficultyLevel: number;
  readonly installCount: number;
  readonly howItWorks: string;
  readonly hubUrl: string;
  readonly githubUrl: string;
  /** 1 shipped with the service, 2 submitted by an agent. */
  readonly createSource: 1 | 2;
  readonly reviewStatus: ReviewStatus;
  readonly reviewRemark: string;
  readonly isVisible: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SkillPage {
  readonly rows: readonly SkillRow[];
  readonly total: number;
}

export interface SkillStore {
  /** Approved and visible, official ones first; of one submitter when named. */
  listed(filter: {
    readonly category?: 1 | 2;
    readonly userId?: bigint;
    readonly limit: number;
    readonly offset: number;
  }): Promise<SkillPage>;
  byCode(skillCode: string): Promise<SkillRow | null>;
  /** Deletes the owner's oldest refused skill to make room. `queue_full`: too many wait; `full`: too many in all. */
  submit(
    skill: SkillRow,
    limits: { readonly pending: number; readonly total: number },
  ): Promise<'submitted' | 'queue_full' | 'full'>;
  /** Oldest first. */
  byReviewStatus(
    status: ReviewStatus,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<SkillPage>;
  /** @returns `null` when there is no such skill */
  review(
    skillCode: string,
    change: Partial<
      Pick<SkillRow, 'reviewStatus' | 'reviewRemark' | 'isVisible' | 'category' | 'difficultyLevel'>
    >,
    at: number,
  ): Promise<SkillRow | null>;
}
