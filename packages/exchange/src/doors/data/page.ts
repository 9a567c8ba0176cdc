/** The envelope of version 2's pages. */
interface Page {
  readonly data: readonly unknown[];
  readonly pagination: {
    readonly limit: number;
    readonly offset: 0;
    readonly has_more: boolean;
    readonly next_cursor: string | null;
  };
}

export const pageOf = (data: readonly unknown[], limit: number, next: string | undefined): Page => ({
  data,
  pagination: { limit, offset: 0, has_more: next !== undefined, next_cursor: next ?? null },
});
