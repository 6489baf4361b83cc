import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Loaded } from './loaded.tsx'
import { EmptyState, type EmptyStateProps } from './notices.tsx'
import { Pager, type Pages } from './pager.tsx'

export interface Column<T> {
  readonly header: string
  readonly cell: (row: T) => ReactNode
  /** Numbers end at the same edge. */
  readonly align?: 'end'
  /** Hides the header where the cell says enough, such as a button. */
  readonly isAction?: boolean
}

export interface List<T> extends Pages {
  readonly data: readonly T[]
}

interface DataTableProps<T> {
  /** Names the table for screen readers. */
  readonly label: string
  readonly query: UseQueryResult<List<T>>
  readonly columns: readonly Column<T>[]
  readonly rowKey: (row: T) => string
  readonly empty: EmptyStateProps
}

/**
 * A list of the API, page by page. On narrow screens each row becomes a block with the headers as labels, so that nothing
 * scrolls sideways.
 */
export function DataTable<T>({ label, query, columns, rowKey, empty }: DataTableProps<T>) {
  return (
    <Loaded query={query} lines={6}>
      {(list) =>
        list.data.length === 0 ? (
          <EmptyState {...empty} />
        ) : (
          <>
            <Rows label={label} rows={list.data} columns={columns} rowKey={rowKey} />
            <Pager pages={list} shown={list.data.length} />
          </>
        )
      }
    </Loaded>
  )
}

interface RowsProps<T> extends Pick<DataTableProps<T>, 'label' | 'columns' | 'rowKey'> {
  readonly rows: readonly T[]
}

/** The table alone, for rows that are not a list of the API. */
export const Rows = <T,>({ label, rows, columns, rowKey }: RowsProps<T>) => (
  <table className="table" aria-label={label}>
    <thead>
      <tr>
        {columns.map(({ header, align, isAction }) => (
          <th key={header} scope="col" className={align}>
            <span className={isAction ? 'visually-hidden' : undefined}>{header}</span>
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={rowKey(row)}>
          {columns.map(({ header, cell, align, isAction }) => (
            <td key={header} className={align} data-label={isAction ? undefined : header}>
              <div>{cell(row)}</div>
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
