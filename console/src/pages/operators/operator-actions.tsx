import { Link } from '@tanstack/react-router'
import { api, read, type Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { shellWord } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { plural } from '../../components/number-text.ts'
import { EditOperator, type OperatorWithToken } from './operator-form.tsx'

type Operator = Schemas['Operator']

interface ActionsProps {
  readonly operator: Operator
  readonly isOwn: boolean
  readonly onToken: (operator: OperatorWithToken) => void
}

export const OperatorActions = ({ operator, isOwn, onToken }: ActionsProps) => (
  <div className="row operator-actions">
    <Link to="/sessions" search={{ operator: operator.id }} className="button quiet">
      Sessions
    </Link>
    <EditOperator operator={operator} />
    {isOwn ? <RotateOwn operator={operator} /> : <RotateToken operator={operator} onToken={onToken} />}
    {!isOwn && <Delete operator={operator} />}
  </div>
)

/** Sessions that end with the token. */
function Sessions({ operator }: Pick<ActionsProps, 'operator'>) {
  const { data } = useApi('/sessions', { query: { operator: operator.id, limit: 1 } })
  return (
    <p>
      The present token (…{operator.token_last4}) stops working at once
      {data
        ? `, and ${plural(data.total ?? 0, 'session')} of a browser ${data.total === 1 ? 'ends' : 'end'}`
        : ''}
      .
    </p>
  )
}

function RotateToken({ operator, onToken }: Omit<ActionsProps, 'isOwn'>) {
  const params = { path: { operator_id: operator.id } }
  return (
    <ConfirmDialog
      trigger={
        <Button look="quiet" aria-label={`Rotate token of ${operator.name}`}>
          Rotate token
        </Button>
      }
      title={`Rotate the token of ${operator.name}?`}
      consequence={<Sessions operator={operator} />}
      confirmLabel="Create new token"
      isDangerous
      onConfirm={async () => onToken(await read(api.POST('/operators/{operator_id}/regenerate', { params })))}
    />
  )
}

function Delete({ operator }: Pick<ActionsProps, 'operator'>) {
  const params = { path: { operator_id: operator.id } }
  return (
    <ConfirmDialog
      trigger={
        <Button look="quiet" aria-label={`Delete ${operator.name}`}>
          Delete
        </Button>
      }
      title={`Delete ${operator.name}?`}
      consequence={<Sessions operator={operator} />}
      confirmLabel="Delete"
      isDangerous
      onConfirm={() => read(api.DELETE('/operators/{operator_id}', { params }))}
    />
  )
}

/** A new token ends this session, so this page could not show it. The command line can. */
const RotateOwn = ({ operator }: Pick<ActionsProps, 'operator'>) => (
  <Dialog title="Rotate your token" trigger={<Button look="quiet">Rotate token</Button>}>
    {(close) => (
      <>
        <p>
          A new token ends all your sessions, this one included, so this page could not show it to you. The
          command line shows it:
        </p>
        <CodeBlock text={`jeton operator regenerate ${shellWord(operator.id)}`} />
        <div className="dialog-actions">
          <Button onPress={close}>Close</Button>
        </div>
      </>
    )}
  </Dialog>
)
