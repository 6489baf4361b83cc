import type { Resource } from '../resolve.ts'

export type Noun = 'key' | 'webhook' | 'distribution'

/** A field as it is shown. Header values are never in it. */
export interface FieldChange {
  readonly field: string
  readonly from?: unknown
  readonly to: unknown
}

/** One step of an apply. */
export interface Change {
  readonly action: 'create' | 'update' | 'regenerate' | 'delete'
  readonly noun: Noun | 'project'
  readonly project: string
  readonly name: string
  /** Undefined for a resource that does not exist yet. */
  readonly id?: string
  readonly fields: readonly FieldChange[]
  /** Body of the request that creates or updates it. It may contain header values, so it is never printed. */
  readonly body: Readonly<Record<string, unknown>>
  /** Consequences of deleting it. */
  readonly stops?: string
}

/** A resource that the file and the server both have. */
export interface Match {
  readonly noun: Noun
  readonly project: string
  readonly name: string
  readonly id: string
  readonly current: Resource
}

export interface Plan {
  readonly changes: readonly Change[]
  readonly matches: readonly Match[]
  /** Ids by name, of the projects that exist. */
  readonly projectIds: ReadonlyMap<string, string>
  /** Distributions that wait for their campaign. */
  readonly missingCampaigns: readonly { project: string; distribution: string; campaign: string }[]
  /** Labels of resources that --prune would delete. */
  readonly notInFile: readonly string[]
  readonly notes: readonly string[]
}

/** A webhook without a name has its URL as label. */
export const labelOf = ({ noun, name, project }: Pick<Change, 'noun' | 'name' | 'project'>): string =>
  noun === 'project'
    ? `project ${JSON.stringify(name)}`
    : `${noun} ${JSON.stringify(name)} in ${JSON.stringify(project)}`
