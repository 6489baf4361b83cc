type Path = readonly (string | number)[]

/** The description of a field, by its path in the body. */
export type Describe = (path: Path) => string | undefined

interface NodeProps {
  readonly value: unknown
  readonly path: Path
  readonly describe: Describe
}

/** The body and its parts; what is in them opens on demand. */
const OPEN_DEPTH = 1

/** Characters that change the direction or the look of the text around them are shown as escapes. */
const escaped = (text: string): string =>
  text.replace(
    /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** A JSON value whose objects open and close. Everything in it is text, whatever it contains. */
export const JsonTree = ({ value, describe }: Omit<NodeProps, 'path'>) => (
  <div className="json mono">
    <Node value={value} path={[]} describe={describe} />
  </div>
)

function Node({ value, path, describe }: NodeProps) {
  if (typeof value !== 'object' || value === null) return <Leaf value={value} />
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((one, index) => [index, one])
    : Object.entries(value)
  if (entries.length === 0) return <span className="dim">{Array.isArray(value) ? '[]' : '{}'}</span>
  const own = (name: string | number) => <Name name={name} description={describe([...path, name])} />
  return (
    <ul>
      {entries.map(([name, one]) => (
        <li key={name}>
          {isBranch(one) ? (
            <details open={path.length < OPEN_DEPTH}>
              <summary>
                {own(name)} <span className="dim">{previewOf(one)}</span>
              </summary>
              <Node value={one} path={[...path, name]} describe={describe} />
            </details>
          ) : (
            <>
              {own(name)} <Node value={one} path={[...path, name]} describe={describe} />
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0

/** Name or id of a closed object, else how much is in it. */
function previewOf(value: object): string {
  if (Array.isArray(value)) return `[${value.length}]`
  const { name, code, id } = value as Record<string, unknown>
  const shown = [name, code, id].find((one) => typeof one === 'string')
  return shown ? escaped(shown as string).slice(0, 60) : `{${Object.keys(value).length}}`
}

const Name = ({ name, description }: { name: string | number; description: string | undefined }) =>
  description ? (
    <abbr className="json-name" title={description}>
      {escaped(String(name))}
    </abbr>
  ) : (
    <span className="json-name">{escaped(String(name))}</span>
  )

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return <bdi className="json-text">"{escaped(value)}"</bdi>
  return <span className="json-other">{String(value)}</span>
}
