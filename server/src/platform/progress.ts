/** Receives the progress of long work, step by step. After a deadlock the work may begin again with `plan`. */
export interface Progress {
  /** The number of steps that follow. */
  plan(steps: number): void
  begin(step: string): void
  /** Rows that are done, and of how many if that is known. */
  update(rows: number, of?: number): void
  end(): void
}
