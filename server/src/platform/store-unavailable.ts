/** The store did not answer, or not in time. The caller may try again; nothing is known about the outcome of a commit. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable'
}

/** The store answers and takes no writes. `why` is for everyone: it tells nothing of files, hosts or statements. */
export class StoreNotWritable extends StoreUnavailable {
  override readonly name = 'StoreNotWritable'
  readonly why: 'the disk is full' | 'the store is read-only' | 'the disk does not take writes'

  constructor(message: string, why: StoreNotWritable['why'], options?: ErrorOptions) {
    super(message, options)
    this.why = why
  }
}
