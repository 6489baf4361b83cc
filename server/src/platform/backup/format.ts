import { type Static, Type } from 'typebox'

/** Raised when older versions can no longer read the file. */
export const FORMAT = 1

export const BackupHead = Type.Object({
  jeton_backup: Type.Literal(FORMAT),
  /** Version of Jeton that wrote the backup. */
  program: Type.String(),
  /** ISO 8601. */
  taken_at: Type.String(),
  /** Label of the source store. The backup can be restored into either engine. */
  store: Type.String(),
  /** Migrations that the store had applied. */
  migrations: Type.Array(Type.String()),
})
export type BackupHead = Static<typeof BackupHead>

/** A line before the rows of each table. */
export const BackupTable = Type.Object({
  table: Type.String(),
  columns: Type.Immutable(
    Type.Array(Type.Object({ name: Type.String(), type: Type.Enum(['text', 'bigint', 'bytes']) })),
  ),
})
export type BackupTable = Static<typeof BackupTable>

/** The last line. A file without it is incomplete. */
export const EndLine = Type.Object({
  end: Type.Object({
    rows: Type.Integer(),
    /** Ids of the encryption keys that some values were encrypted with. */
    encryption_keys: Type.Array(Type.String()),
  }),
  /** Checksum of all bytes before this line, uncompressed. */
  sha256: Type.String(),
})
export type EndLine = Static<typeof EndLine>
export type BackupTail = EndLine['end']

export type BackupRow = readonly (string | number | Uint8Array | null)[]

type Columns = BackupTable['columns']

/** Bytes become base64. Integers stay numbers, which JSON keeps exactly up to 2^53. */
export const encodeRow = (row: BackupRow): string =>
  JSON.stringify(
    row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value)),
  )

const FITS: Readonly<Record<Columns[number]['type'], (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  bytes: (value) => typeof value === 'string',
  bigint: (value) => Number.isSafeInteger(value),
}

/** Returns undefined if the row does not match its columns. */
export function decodeRow(row: readonly unknown[], columns: Columns): BackupRow | undefined {
  if (row.length !== columns.length) return undefined
  const fits = columns.every(({ type }, i) => row[i] === null || FITS[type](row[i]))
  if (!fits) return undefined
  return columns.map(({ type }, i) =>
    type === 'bytes' && row[i] !== null
      ? Buffer.from(row[i] as string, 'base64')
      : (row[i] as string | number | null),
  )
}
