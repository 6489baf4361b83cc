/** One instruction, with continued lines joined. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

/** Reads the instructions of a Dockerfile. */
export const readInstructions = (text: string): Instruction[] =>
  text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, rest] = /^(\w+)\s+(.*)$/.exec(line)!
      return { name: name!.toUpperCase(), text: rest! }
    })

/** `A=1 B=2`, as in ENV. */
export const readVariables = (text: string): Record<string, string> =>
  Object.fromEntries(Array.from(text.matchAll(/(\w+)=(\S*)/g), ([, name, value]) => [name!, value!]))

const patternOf = (glob: string): RegExp => {
  const text = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**/', '(?:.*/)?')
    .replace(/(?<!\.)\*/g, '[^/]*')
  return new RegExp(`^${text}(/|$)`)
}

/** Whether a path of the checkout belongs to the build context, by the rules of a .dockerignore: the last match counts. */
export function contextFilter(ignore: string): (path: string) => boolean {
  const rules = ignore
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ pattern: patternOf(line.replace(/^!/, '')), isKept: line.startsWith('!') }))
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.isKept ?? true
}
