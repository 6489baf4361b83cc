/** The store did not answer in time. The caller may retry. The outcome of a commit is unknown. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable'
}

/** The store answers but accepts no writes. `why` is public: it reveals no files, hosts or statements. */
export class StoreNotWritable extends StoreUnavailable {
  override readonly name = 'StoreNotWritable'
  readonly why: 'the disk is full' | 'the store is read-only' | 'the disk does not take writes'

  constructor(message: string, why: StoreNotWritable['why'], options?: ErrorOptions) {
    super(message, options)
    this.why = why
  }
}
