import { Link } from '@tanstack/react-router'
import { api, read, type Schemas } from '../api/client.ts'
import { Button } from './button.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import type { Column } from './data-table.tsx'
import { Id } from './id.tsx'
import { RelativeTime } from './relative-time.tsx'
import { durationText } from './time-text.ts'

type Token = Schemas['Token']

const keyColumn = (nameOf: (keyId: string) => string): Column<Token> => ({
  header: 'Key',
  cell: ({ key_id, project_id }) => (
    <Link to="/projects/$projectId/api-keys/$keyId" params={{ projectId: project_id, keyId: key_id }}>
      {nameOf(key_id)}
    </Link>
  ),
})

/** Columns of active tokens; without names, their key is left out. */
export const tokenColumns = (
  canRevoke: boolean,
  nameOf?: (keyId: string) => string,
): readonly Column<Token>[] => [
  { header: 'Token', cell: ({ id }) => <Id value={id} short /> },
  ...(nameOf ? [keyColumn(nameOf)] : []),
  { header: 'Scope', cell: ({ scope }) => scope },
  { header: 'Issued', cell: ({ issued_at }) => <RelativeTime at={issued_at} /> },
  { header: 'Expires in', align: 'end', cell: ({ expires_in }) => durationText(expires_in * 1000) },
  ...(canRevoke
    ? [
        {
          header: 'Actions',
          align: 'end' as const,
          isAction: true,
          cell: (token: Token) => <Revoke {...token} />,
        },
      ]
    : []),
]

const Revoke = ({ id, project_id }: Token) => (
  <ConfirmDialog
    trigger={<Button look="quiet">Revoke</Button>}
    title="Revoke this token?"
    consequence={
      <p>It stops working at once. The client that holds it gets 401 and must ask for a new one.</p>
    }
    confirmLabel="Revoke token"
    isDangerous
    onConfirm={() =>
      read(
        api.DELETE('/projects/{project_id}/tokens/{token_id}', {
          params: { path: { project_id, token_id: id } },
        }),
      )
    }
  />
)
