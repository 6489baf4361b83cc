import type { Schemas } from '../../api/client.ts'
import { plural } from '../../components/number-text.ts'
import { changesOf, type FieldChange } from './change.ts'

const MAX_SHOWN = 3

const Field = ({ field, before, after }: FieldChange) => (
  <li>
    <span className="dim">{field}</span>{' '}
    {before !== undefined && (
      <del>
        <bdi>{before}</bdi>
      </del>
    )}
    {before !== undefined && after !== undefined && ' → '}
    {after !== undefined && (
      <ins>
        <bdi>{after}</bdi>
      </ins>
    )}
  </li>
)

const Fields = ({ changes }: { changes: readonly FieldChange[] }) => (
  <ul className="changes">
    {changes.map((change) => (
      <Field key={change.field} {...change} />
    ))}
  </ul>
)

/** Before and after of a change. A resource that was created or removed as a whole is folded. */
export function ChangeCell({ entry: { before, after } }: { entry: Schemas['AuditEntry'] }) {
  const changes = changesOf(before, after)
  if (changes.length === 0) return <span className="dim">no field</span>
  const isWhole = before === null || after === null
  const shown = isWhole ? [] : changes.slice(0, MAX_SHOWN)
  const folded = changes.slice(shown.length)
  const verb = before === null ? 'new: ' : after === null ? 'removed: ' : 'and '
  return (
    <>
      {shown.length > 0 && <Fields changes={shown} />}
      {folded.length > 0 && (
        <details>
          <summary className="dim">
            {verb}
            {plural(folded.length, isWhole ? 'field' : 'more', isWhole ? 'fields' : 'more')}
          </summary>
          <Fields changes={folded} />
        </details>
      )}
    </>
  )
}
