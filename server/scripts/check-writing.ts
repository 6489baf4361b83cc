/** Checks what can be checked of how we write: private words, long sentences, openings, headings, commit subjects. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAX_WORDS = 40
const MAX_SUBJECT = 72

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

const OPENING = /^(Whoever|What|Who|That which|Of (?:a|an|the|these|those|several|two)) /

interface Finding {
  readonly path: string
  readonly line: number
  readonly says: string
}

const listFiles = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

function* wordsIn(path: string, text: string): Generator<Finding> {
  for (const [word, instead] of Object.entries(WORDS))
    for (const { index } of text.matchAll(new RegExp(`\\b${word}\\b`, 'gi')))
      yield { path, line: lineAt(text, index), says: `"${word}": write ${instead}` }
}

function* sentencesIn(path: string, text: string): Generator<Finding> {
  const isQuestion = (sentence: string) => sentence.endsWith('?')
  for (const { 0: sentence, index } of text.matchAll(
    /[A-Z][^.!?:;|\n]*(?:\n(?![\n#|>-]|\d+\.)[^.!?:;|\n]*)*[.!?:;]/g,
  )) {
    const words = sentence.split(/\s+/).length
    const line = lineAt(text, index)
    if (words > MAX_WORDS) yield { path, line, says: `a sentence of ${words} words: split it` }
    if (OPENING.test(sentence) && !isQuestion(sentence))
      yield { path, line, says: `"${sentence.slice(0, 30)}…": name the subject first` }
  }
}

/** Keeps the length of lines, so that line numbers stay right. */
const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ' ')).replace(/`[^`\n]*`/g, 'code')

/** Comments of a source file, each on its own lines. */
const commentsOf = (text: string): string =>
  text
    .split('\n')
    .map((line) => /^\s*(?:\/\*\*|\*(?!\/)|\/\/) ?(.*?)(?:\*\/)?$/.exec(line)?.[1] ?? '')
    .join('\n')
    .replace(/`[^`\n]*`/g, 'code')

function checkFile(path: string): Finding[] {
  const text = readFileSync(ROOT + path, 'utf8')
  if (path.endsWith('.md')) {
    const prose = withoutCode(text)
    return [...wordsIn(path, prose), ...sentencesIn(path, prose)]
  }
  return [...wordsIn(path, text), ...sentencesIn(path, commentsOf(text))]
}

function checkSubjects(): Finding[] {
  const log = execFileSync('git', ['log', '-20', '--no-merges', '--format=%h %s'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return log
    .split('\n')
    .filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)
    .filter(([, subject]) => subject.length > MAX_SUBJECT)
    .map(([commit]) => ({ path: commit, line: 0, says: `a subject of more than ${MAX_SUBJECT} characters` }))
}

const files = listFiles(
  '*.md',
  'server/src/**/*.ts',
  'server/test/**/*.ts',
  'server/scripts/*.ts',
  'bench/**/*.ts',
).filter((path) => path !== 'server/scripts/check-writing.ts')
const findings = [...files.flatMap(checkFile), ...checkSubjects()]
for (const { path, line, says } of findings) process.stdout.write(`${path}:${line}: ${says}\n`)
process.stdout.write(
  findings.length === 0 ? 'the writing follows the rules\n' : `${findings.length} findings\n`,
)
process.exit(findings.length === 0 ? 0 : 1)
