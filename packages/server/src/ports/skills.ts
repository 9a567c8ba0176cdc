/** Skills as a briefing names them. */
export interface SkillBrief {
  readonly skillCode: string;
  /** What trades name in skillSlug. */
  readonly skillSlug: string;
  readonly skillName: string;
  readonly description: string;
}

/** Approved and visible skills worth a look, best first; few, and from memory: every heartbeat asks. */
export type RecommendedSkills = () => Promise<readonly SkillBrief[]>;
