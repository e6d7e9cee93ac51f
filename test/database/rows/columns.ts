import type pg from 'pg'

/** A column as a statement's description has it. */
export interface Column {
  name: string
  oid: number
  /** Taken unchanged from a table's column that allows null. */
  nullable: boolean
}

/** Has the server parse a statement, and nothing more: it neither plans nor runs it. */
export async function columnsOf(client: pg.PoolClient, text: string): Promise<Column[]> {
  const fields = await new Promise<Field[]>((resolve, reject) => {
    client.query(new Description(text, resolve, reject))
  })
  const { rows } = await client.query<{ table: number; column: number }>(
    `SELECT attrelid::int AS table, attnum::int AS column FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
     WHERE attrelid = ANY ($1::int[]) AND NOT attnotnull AND c.relkind IN ('r', 'p')`,
    [fields.map(({ tableID }) => tableID)],
  )
  return fields.map(({ name, dataTypeID, tableID, columnID }) => ({
    name,
    oid: dataTypeID,
    nullable: rows.some(({ table, column }) => table === tableID && column === columnID),
  }))
}

interface Field {
  name: string
  dataTypeID: number
  tableID: number
  columnID: number
}

/** As the driver's own cursors do it: something that is submitted and hears what the server answers. */
class Description implements pg.Submittable {
  private fields: Field[] = []
  readonly text: string
  private readonly resolve: (fields: Field[]) => void
  private readonly reject: (error: Error) => void

  constructor(text: string, resolve: (fields: Field[]) => void, reject: (error: Error) => void) {
    this.text = text
    this.resolve = resolve
    this.reject = reject
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: '', text: this.text, types: [] }, true)
    connection.describe({ type: 'S', name: '' }, true)
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.fields = fields
  }

  handleError(error: Error): void {
    this.reject(error)
  }

  handleReadyForQuery(): void {
    this.resolve(this.fields)
  }
}
