/** Something that the search found. */
export interface Hit {
  readonly title: string
  readonly detail?: string
  /** Where it leads: a route with its parameters. */
  readonly link: {
    readonly to: string
    readonly params?: Readonly<Record<string, string>>
    readonly search?: Readonly<Record<string, string>>
  }
}

export interface SearchContext {
  readonly projectId: string | undefined
  /** Others are refused what only admins may read. */
  readonly isAdmin: boolean
  readonly signal: AbortSignal
}

/**
 * Turns text that somebody pasted into pages. Each page lists its own in `recognisers.ts` of its folder. A secret goes into
 * the body of a request, never into a URL.
 */
export interface Recogniser {
  /** The thing that it finds, for the hint below the field: "request id". */
  readonly finds: string
  readonly pattern: RegExp
  readonly find: (text: string, context: SearchContext) => Promise<readonly Hit[]> | readonly Hit[]
}
