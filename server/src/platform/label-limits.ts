import { MAX_LABEL_VALUES, NO_PROJECT, OTHER } from '../contract/metrics.ts'

export type Labels = Readonly<Record<string, string>>

/** Values that stand for no id, and take no place of one. */
const RESERVED: readonly string[] = [OTHER, NO_PROJECT]

type Limited = keyof typeof MAX_LABEL_VALUES

/**
 * Limits how many ids become values of a label: the first ones stay, all later ones are `other`. Metrics of one process share it,
 * so that a project has its own series in all of them or in none.
 */
export class LabelLimits {
  readonly #max: Readonly<Record<Limited, number>>
  readonly #known: Readonly<Record<Limited, Set<string>>> = { project: new Set(), destination: new Set() }

  constructor(max: Readonly<Record<Limited, number>> = MAX_LABEL_VALUES) {
    this.#max = max
  }

  limit(labels: Labels): Labels {
    const { project, destination } = labels
    if (project === undefined && destination === undefined) return labels
    return {
      ...labels,
      ...(project !== undefined && { project: this.#valueOf('project', project) }),
      ...(destination !== undefined && { destination: this.#valueOf('destination', destination) }),
    }
  }

  #valueOf(label: Limited, value: string): string {
    const known = this.#known[label]
    if (RESERVED.includes(value) || known.has(value)) return value
    if (known.size >= this.#max[label]) return OTHER
    known.add(value)
    return value
  }
}
