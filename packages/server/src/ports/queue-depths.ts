export interface QueueDepths {
  /** By the name of the queue. */
  read(): Promise<Readonly<Record<string, number>>>;
}
