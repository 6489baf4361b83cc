import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The projects with the longest files. */
const LONGEST = ['faults', 'processes', 'console', 'fuzz']

const rankOf = ({ project }: TestSpecification): number => {
  const index = LONGEST.indexOf(project.name)
  return index === -1 ? LONGEST.length : index
}

/** Starts the longest files first. If one of them started last, the other cores would wait for it. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
