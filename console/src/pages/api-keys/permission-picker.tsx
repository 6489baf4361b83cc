import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Loaded } from '../../components/loaded.tsx'
import { AREAS, areaOf, BROWSERS, MORE } from './scope-areas.ts'

type Scope = Schemas['Scope']

interface PermissionPickerProps {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: string[]) => void
}

const TITLES = [...AREAS.map(([title]) => title), BROWSERS, MORE]

/** Scopes by area, each with the paths that it opens. */
export function PermissionPicker({ chosen, onChange }: PermissionPickerProps) {
  const scopes = useApi('/scopes')
  const toggle = (name: string, isChosen: boolean) =>
    onChange(isChosen ? [...chosen, name] : chosen.filter((one) => one !== name))
  return (
    <Loaded query={scopes}>
      {({ data }) => (
        <div className="stack">
          {TITLES.map((title) => (
            <fieldset key={title} className="area">
              <legend>{title}</legend>
              <div className="checks">
                {data
                  .filter((scope) => areaOf(scope) === title)
                  .map((scope) => (
                    <Choice
                      key={scope.name}
                      scope={scope}
                      isChosen={chosen.includes(scope.name)}
                      onChange={(isChosen) => toggle(scope.name, isChosen)}
                    />
                  ))}
              </div>
            </fieldset>
          ))}
          <Opened paths={data.filter(({ name }) => chosen.includes(name)).map(({ path }) => path)} />
        </div>
      )}
    </Loaded>
  )
}

interface ChoiceProps {
  readonly scope: Scope
  readonly isChosen: boolean
  readonly onChange: (isChosen: boolean) => void
}

const Choice = ({ scope, isChosen, onChange }: ChoiceProps) => (
  <label title={`Opens ${scope.path}`}>
    <input type="checkbox" checked={isChosen} onChange={({ target }) => onChange(target.checked)} />
    {scope.name}
  </label>
)

function Opened({ paths }: { paths: readonly string[] }) {
  if (paths.length === 0) return <p className="dim">Nothing is chosen: this key opens no path.</p>
  return (
    <p className="small">
      Opens <span className="mono">{paths.join('  ')}</span>
    </p>
  )
}
