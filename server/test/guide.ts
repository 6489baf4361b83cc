import type { Document } from './documents.ts'

/** A block of commands, and what the comment before it says about running it. */
export interface Block {
  readonly line: number
  readonly text: string
  /**
   * `runs`: like any other. `goes on`: until it is stopped, as in a terminal of its own. `with a proxy`: where one is
   * installed. `not here`: it needs something that no test has, and says what.
   */
  readonly how: 'runs' | 'goes on' | 'with a proxy' | 'not here'
}

const MARKS: readonly (readonly [RegExp, Block['how']])[] = [
  [/^<!-- goes on: .+ -->$/, 'goes on'],
  [/^<!-- run where nginx or Caddy is installed -->$/, 'with a proxy'],
  [/^<!-- not run here: .+ -->$/, 'not here'],
]

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** The fenced blocks of commands, in their order. A comment before one that is no mark is a mistake. */
export function blocksOf({ path, text }: Document): Block[] {
  return [...text.matchAll(/(?:^(<!--.*-->)\n)?^```(?:sh|bash)\n([\s\S]*?)^```$/gm)].map((found) => {
    const [, comment, commands] = found
    const how = comment === undefined ? 'runs' : MARKS.find(([mark]) => mark.test(comment))?.[1]
    const line = lineOf(text, found.index)
    if (how === undefined) throw new Error(`${path}:${line}: ${comment} is no mark that the test knows`)
    return { line, text: commands!, how }
  })
}

/** Files that the page tells the reader to save: a block of another language after `<!-- file: name -->`. */
export const filesOf = ({ text }: Document): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)^```$/gm)].map(([, name, content]) => [
      name!,
      content!,
    ]),
  )

/** Commands that are shown in another way than as a fenced block would never be run. */
export const strayCommands = ({ text }: Document): string[] =>
  [
    ...text
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^(?: {4}|\t)(?:\$ )?(?:npx |jeton |curl |node |docker |kubectl ).*$/gm),
  ].map(([line]) => line)

/** Statuses that a block promises, as `# 401` behind a call. */
export const promisedStatuses = ({ text }: Block): string[] =>
  [...text.matchAll(/\s# (\d{3})\b/g)].map(([, status]) => status!)

/** Separates what the blocks print. */
export const MARKER = '@@block'

/** On a line of its own, whatever was printed before it. */
const mark = (name: number | string): string => `printf '\\n%s\\n' '${MARKER} ${name}'`

/** One shell that runs the blocks in turn, as a reader would: what one sets, the next one knows. */
export function scriptOf(blocks: readonly Block[]): string {
  const steps = blocks.map((block, i) => {
    const head = `${mark(i)}\n`
    if (block.how !== 'goes on') return head + block.text
    // A group of its own, so that all of it can be ended; the next block waits for its first word.
    return `${head}{ ${block.text}\n} > "said-${i}" 2>&1 &
groups="$groups -$!"
for try in $(seq 900); do [ -s "said-${i}" ] && break; sleep 0.1; done
tail -n +1 -f "said-${i}" & groups="$groups -$!"`
  })
  return `set -eu -m
groups=""
trap '[ -z "$groups" ] || kill -- $groups 2>/dev/null || true' EXIT
${steps.join('\n')}
${mark('end')}
read -r _ || true
`
}
