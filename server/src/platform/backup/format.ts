/** Raised when older programs could not read it any more. */
export const FORMAT = 1

export interface BackupHead {
  readonly jeton_backup: number
  /** Version of the program that made it. */
  readonly program: string
  /** ISO 8601. */
  readonly taken_at: string
  /** Where it comes from, for people; it can be restored into either engine. */
  readonly store: string
  /** What the store had been brought up to. */
  readonly migrations: readonly string[]
}

/** A line before the rows of each table. */
export interface BackupTable {
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'bigint' | 'bytes' }[]
}

export interface BackupTail {
  readonly rows: number
  /** Ids of the encryption keys without which some values in it cannot be read. */
  readonly encryption_keys: readonly string[]
}

/** The last line: without it the file is not whole. */
export interface EndLine {
  readonly end: BackupTail
  /** Of every byte before this line, uncompressed. */
  readonly sha256: string
}

export type BackupRow = readonly (string | number | Uint8Array | null)[]

type Columns = BackupTable['columns']

/** Bytes as base64; whole numbers as they are, which JSON keeps up to 2^53. */
export const encodeRow = (row: BackupRow): string =>
  JSON.stringify(
    row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value)),
  )

const FITS: Readonly<Record<Columns[number]['type'], (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  bytes: (value) => typeof value === 'string',
  bigint: (value) => Number.isSafeInteger(value),
}

/** Undefined where the row does not fit its columns. */
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
