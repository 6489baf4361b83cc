import { type EventKind, wireOf } from '../../contract/event-kinds.ts'
import { plain, plural } from '../format.ts'
import { coloured, type Io, printLine, remark } from '../io.ts'
import { type Change, type FieldChange, labelOf, type Plan } from './change.ts'

const SIGNS = { create: '+', update: '~', regenerate: '~', delete: '-' } as const
const COLOURS = { create: 'green', update: 'yellow', regenerate: 'yellow', delete: 'red' } as const

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.length > 0 ? plain(value.join(', ')) : 'none'
  return plain(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Event kinds as people write them in the file. */
const inFile = ({ field, from, to }: FieldChange): FieldChange => {
  const named = (value: unknown) => (field === 'events' && value ? (value as EventKind[]).map(wireOf) : value)
  return { field, from: named(from), to: named(to) }
}

const fieldLine = (action: Change['action'], { field, from, to }: FieldChange): string =>
  action === 'create' ? `${field}: ${shown(to)}` : `${field}: ${shown(from)} → ${shown(to)}`

/** Prints each change with its fields, for people and for the log of a pipeline. It contains no secret. */
export function printPlan(io: Io, { changes }: Plan): void {
  for (const change of changes) {
    const { action, fields, stops } = change
    const line = `${SIGNS[action]} ${plain(labelOf(change))}${action === 'regenerate' ? ': new secret' : ''}`
    printLine(io, coloured(io, COLOURS[action], line))
    for (const one of fields)
      if (action !== 'create' || one.field !== 'name') printLine(io, `    ${fieldLine(action, inFile(one))}`)
    if (stops) printLine(io, `    ${plain(stops)}`)
  }
}

const counted = (count: number, noun: string): string => `${count} ${count === 1 ? noun : plural(noun)}`

/** `1 project, 2 keys and 1 webhook`. */
export function countedNouns(changes: readonly Change[]): string {
  const byNoun = [...Map.groupBy(changes, ({ noun }) => noun)]
  return new Intl.ListFormat('en-GB').format(byNoun.map(([noun, all]) => counted(all.length, noun)))
}

const MAX_LISTED = 10
export const listed = (labels: readonly string[]): string => {
  const more = labels.length - MAX_LISTED
  return labels.slice(0, MAX_LISTED).map(plain).join(', ') + (more > 0 ? `, and ${more} more` : '')
}

/** Notes on stderr: what the plan leaves alone, and what it waits for. */
export function printNotes(io: Io, { notInFile, missingCampaigns, notes }: Plan): void {
  if (notInFile.length > 0)
    remark(io, `Not in the file, and left alone: ${listed(notInFile)}. To delete them: --prune`)
  for (const { project, distribution, campaign } of missingCampaigns)
    remark(
      io,
      plain(
        `Project ${JSON.stringify(project)} has no loyalty campaign ${JSON.stringify(campaign)}, which distribution ${JSON.stringify(distribution)} names. Create it (POST /v1/loyalties), then apply again.`,
      ),
    )
  for (const note of notes) remark(io, plain(note))
}

/** For programs. Bodies are left out: they may contain header values. */
export const planJson = ({ changes, missingCampaigns, notInFile }: Plan, done: number) => ({
  changes: changes.map(({ body, ...change }) => change),
  changes_made: done,
  missing_campaigns: missingCampaigns,
  not_in_file: notInFile,
})
