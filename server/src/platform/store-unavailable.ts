/** The store did not answer, or not in time. The caller may try again; nothing is known about the outcome of a commit. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
