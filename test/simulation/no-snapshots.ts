/** Stands for the thread that writes the exchange's snapshots: without them an exchange recovers from its whole journal. */
export class SnapshotThread {
  readonly isOver = false;

  async write(): Promise<void> {}

  async stop(): Promise<void> {}
}
