/** Checks the rules of writing that a program can check: private words, sentences, identifiers and commit subjects. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAX_WORDS_IN_DOCS = 40
const MAX_WORDS_IN_COMMENTS = 40
const MAX_SUBJECT = 72

/** Generated from texts of the API reference. */
const GENERATED = 'sdk/src/generated/'

/** The last commit before subjects were checked. */
const SUBJECTS_SINCE = '06cc975'

const CHECKED = ['*.md', '*.ts', '*.tsx', 'server/bin/*.js', 'console/scripts/*.js', 'deploy/*', '.ci/run']
/** The changelog quotes old words, this file lists them, and one file is generated. */
const EXEMPT = ['CHANGELOG.md', 'server/scripts/check-writing.ts', 'console/src/api/schema.ts']

/** Words of a private dialect, with the common word to use instead. */
const WORDS: Readonly<Record<string, string>> = {
  house: 'architecture',
  mend: 'fix',
  mends: 'fixes',
  mended: 'fixed',
  anew: 'again',
  whoever: 'name the actor',
  alike: 'the same',
  fortune: 'luck',
  patience: 'timeout',
  brought: 'sent',
  journey: 'flow or walkthrough',
  journeys: 'flows or walkthroughs',
}

/** Phrases of the same dialect. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:is|are|was|were) told\b/gi, 'name what is sent, shown or reported'],
  [/\bon record\b/gi, 'write "recorded" or "stored"'],
  [/\bdead at once\b/gi, 'write "stops working immediately"'],
  [/\bunder way\b/gi, 'write "running" or "in progress"'],
  [/\b(?:what|those) (?:is|are|was|were) there\b/gi, 'name the thing that exists'],
  [/\b(?:is|are) to be (?:taken|sent|had)\b/gi, 'use the active voice'],
  [/\bfor want of\b/gi, 'write "because there is no"'],
  [/\bthe wrong way\b|\bthe way out\b/gi, 'write "the remedy"'],
]

/** Parts of identifiers that have a common word. */
const NAME_PARTS: Readonly<Record<string, string>> = {
  anew: 'again',
  mend: 'fix',
  whoever: 'the actor',
  brought: 'sent or bundled',
  fortune: 'the outcome',
  house: 'the module',
}
const NAME_ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/_MOST$/, 'write MAX_…'],
  [/_LEAST$/, 'write MIN_…'],
  [/_AT_ONCE$/, 'write …_PER_BATCH or MAX_CONCURRENT_…'],
  [/^LONGEST_|^LARGEST_/, 'write MAX_…'],
]

const OPENING = /^(?:Whoever|What|Who|That which|Of (?:a|an|the|these|those|several|two)) /

interface Finding {
  readonly path: string
  readonly line: number
  readonly says: string
}

const git = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean)

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

function* wordsIn(path: string, text: string): Generator<Finding> {
  const words = Object.entries(WORDS).map(
    ([word, instead]) => [new RegExp(`\\b${word}\\b`, 'gi'), `write ${instead}`] as const,
  )
  for (const [pattern, instead] of [...words, ...PHRASES])
    for (const { 0: found, index } of text.matchAll(pattern))
      yield { path, line: lineAt(text, index), says: `"${found}": ${instead}` }
}

/** A sentence may continue on the next lines of a paragraph, but not over a list item, heading, quote or table. */
const SENTENCE = /[A-Z][^.!?:;|\n]*(?:\n(?!\s*(?:\n|[#|>*-]|\d+\.))[^.!?:;|\n]*)*[.!?:;]/g

function* sentencesIn(path: string, text: string, maxWords: number): Generator<Finding> {
  for (const { 0: sentence, index } of text.matchAll(SENTENCE)) {
    const words = sentence.split(/\s+/).length
    const line = lineAt(text, index)
    if (words > maxWords) yield { path, line, says: `a sentence of ${words} words: split it` }
    if (OPENING.test(sentence) && !sentence.endsWith('?'))
      yield { path, line, says: `"${sentence.slice(0, 30).replaceAll('\n', ' ')}…": name the subject first` }
  }
}

const DECLARATION = /\b(?:const|let|function\*?|class|interface|type|enum)\s+([A-Za-z_$][\w$]*)/g
const FILE_NAME = /([^/]+)\.[a-z]+$/

/** Splits `sealSecretsAnew` and `KEPT_AT_ONCE` into lower-case words. */
const partsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_\-.]+/)

function* namesIn(path: string, text: string): Generator<Finding> {
  const declared = [...text.matchAll(DECLARATION)].map(({ 1: name = '', index }) => [name, index] as const)
  for (const [name, index] of [[FILE_NAME.exec(path)?.[1] ?? '', 0] as const, ...declared]) {
    const line = lineAt(text, index)
    for (const part of partsOf(name))
      if (Object.hasOwn(NAME_PARTS, part)) yield { path, line, says: `${name}: write ${NAME_PARTS[part]}` }
    for (const [ending, instead] of NAME_ENDINGS)
      if (ending.test(name)) yield { path, line, says: `${name}: ${instead}` }
  }
}

/** Replaces text by blanks, so that line numbers stay right. */
const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

const withoutCode = (text: string): string =>
  text
    .replace(/^```[\s\S]*?^```$/gm, blank)
    .replace(/`[^`\n]*`/g, 'code')
    .replace(/\]\([^)\n]*\)/g, ']')

/** Comments of a source file, each on its own lines. Code between two comments ends a sentence. */
const commentsOf = (text: string): string =>
  text
    .split('\n')
    .map((line) => /^\s*(?:\/\*\*?|\*(?!\/)|\/\/) ?(.*?)(?:\*\/)?$/.exec(line)?.[1] ?? '\f')
    .join('\n')
    .replace(/\n\f/g, '.\n')
    .replace(/`[^`\n]*`/g, 'code')

/** Values of a wire format, such as `'not_invalidated'`, and URLs keep their words. */
const withoutValues = (text: string): string => text.replace(/'[a-z_]+'|https?:\/\/\S+/g, blank)

function checkFile(path: string): Finding[] {
  const text = readFileSync(ROOT + path, 'utf8')
  if (path.endsWith('.md')) {
    const prose = withoutCode(text)
    return [...wordsIn(path, prose), ...sentencesIn(path, prose, MAX_WORDS_IN_DOCS)]
  }
  const isSource = /\.[jt]sx?$/.test(path)
  return [
    ...wordsIn(path, withoutValues(text)),
    ...(isSource ? sentencesIn(path, commentsOf(text), MAX_WORDS_IN_COMMENTS) : []),
    ...(isSource ? namesIn(path, text) : []),
  ]
}

/** Verbs in the third person or the past, and gerunds, are not imperative. */
const NOT_IMPERATIVE =
  /^(?:(?!Bring |Need |Feed |Embed |Speed )[A-Z][a-z]+(?:ed|ing)|Adds|Fixes|Removes|Renames|Makes|Uses|Updates|Changes|Moves) /

function checkSubjects(): Finding[] {
  return git('log', '--no-merges', '--format=%h %s', `${SUBJECTS_SINCE}..HEAD`).flatMap((entry) => {
    const [commit = '', ...words] = entry.split(' ')
    const subject = words.join(' ')
    const says = [
      subject.length > MAX_SUBJECT && `a subject of ${subject.length} characters: at most ${MAX_SUBJECT}`,
      NOT_IMPERATIVE.test(subject) && `"${subject}": use the imperative`,
    ]
    return says.filter((one) => one !== false).map((one) => ({ path: commit, line: 0, says: one }))
  })
}

/** False in a shallow clone, which does not have the commit. */
function hasHistory(): boolean {
  try {
    return git('cat-file', '-t', SUBJECTS_SINCE)[0] === 'commit'
  } catch {
    return false
  }
}

const files = git('ls-files', ...CHECKED).filter(
  (path) => !EXEMPT.includes(path) && !path.startsWith(GENERATED),
)
const findings = [...files.flatMap(checkFile), ...(hasHistory() ? checkSubjects() : [])]
for (const { path, line, says } of findings) process.stdout.write(`${path}:${line}: ${says}\n`)
process.stdout.write(
  findings.length === 0 ? 'the writing follows the rules\n' : `${findings.length} findings\n`,
)
process.exit(findings.length === 0 ? 0 : 1)
