import { DownloadIcon } from '@radix-ui/react-icons'
import { useState } from 'react'
import { toFault } from '../api/fault.ts'
import { toast } from '../shell/toast.ts'
import { Button } from './Button.tsx'
import { saveCsv, type FileColumn } from './columns.tsx'
import { inCounts } from './values.tsx'

/** Saves a list as a CSV file. `load` reads all of its rows, or as many as a file may have. */
export function Export<Row>({
  name,
  columns,
  disabled,
  load,
}: {
  name: string
  columns: readonly FileColumn<Row>[]
  disabled: boolean
  load: () => Promise<{ rows: readonly Row[]; isWhole: boolean }>
}) {
  const [busy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      const { rows, isWhole } = await load()
      const taken = columns.flatMap(({ title, csv }) => (csv === undefined ? [] : [{ title, csv }]))
      saveCsv(name, [taken.map(({ title }) => title), ...rows.map((row) => taken.map(({ csv }) => csv(row)))])
      if (!isWhole) {
        const text = `The file has the newest ${inCounts(rows.length)} rows. Choose a shorter period for the others.`
        toast({ tone: 'bad', text })
      }
    } catch (error) {
      toast({ tone: 'bad', text: `Export failed. ${toFault(error).message}` })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="quiet" small disabled={disabled} busy={busy} onClick={() => void save()}>
      <DownloadIcon /> CSV
    </Button>
  )
}
