import { Cross2Icon, FileIcon, UploadIcon } from '@radix-ui/react-icons'
import { useEffect, useId, useRef, useState, type DragEvent } from 'react'
import { useController, type FieldValues, type Path, type UseFormReturn } from 'react-hook-form'
import { useQueryClient } from '@tanstack/react-query'
import { inBytes } from '../../../ui-kit/format.ts'
import { toFault } from '../api/fault.ts'
import { refresh, useRead } from '../api/procedures.ts'
import { upload, type StoredFile } from '../api/upload.ts'
import { Button, IconButton } from './Button.tsx'
import { Labelled } from './form.tsx'

/** A file's id in a form: a file is dropped or chosen and uploaded at once, or one that is there already is taken. */
export function FileField<V extends FieldValues>({
  form,
  name,
  label,
  purpose,
  hint,
  optional,
}: {
  form: UseFormReturn<V>
  name: Path<V>
  label: string
  purpose: StoredFile['purpose']
  hint?: string
  optional?: boolean
}) {
  const { field, fieldState } = useController({ control: form.control, name })
  const id: string = field.value
  const { sending, fault, send, cancel } = useUpload(purpose, (file) => field.onChange(file.id))
  return (
    <Labelled label={label} hint={hint} optional={optional} fault={fault ?? fieldState.error?.message}>
      {(tied) => (
        <div>
          {sending !== null ? (
            <Sending name={sending.name} share={sending.share} cancel={cancel} />
          ) : id !== '' ? (
            <Chosen id={id} remove={() => field.onChange('')} />
          ) : (
            <Drop tied={tied} inputRef={field.ref} isPicture={purpose === 'picture'} take={send} />
          )}
          {sending === null && id === '' && <Uploaded purpose={purpose} choose={field.onChange} />}
        </div>
      )}
    </Labelled>
  )
}

function useUpload(purpose: StoredFile['purpose'], done: (file: StoredFile) => void) {
  const cache = useQueryClient()
  const [sending, setSending] = useState<{ name: string; share: number } | null>(null)
  const [fault, setFault] = useState<string>()
  const under = useRef<AbortController | null>(null)
  // A page that is left sends no further bytes.
  useEffect(() => () => under.current?.abort(), [])

  async function send(file: File): Promise<void> {
    const control = (under.current = new AbortController())
    setFault(undefined)
    setSending({ name: file.name, share: 0 })
    try {
      const progress = (share: number): void => setSending({ name: file.name, share })
      const stored = await upload(file, { purpose, progress, signal: control.signal })
      void refresh(cache, ['files.'])
      done(stored)
    } catch (error) {
      const { code, message } = toFault(error)
      if (code !== 'canceled') setFault(message)
    } finally {
      setSending(null)
    }
  }

  return { sending, fault, send: (file: File) => void send(file), cancel: () => under.current?.abort() }
}

interface DropProps {
  tied: { id: string; 'aria-invalid': boolean; 'aria-describedby': string | undefined }
  inputRef: (element: HTMLInputElement | null) => void
  isPicture: boolean
  take: (file: File) => void
}

/** The whole area takes a file that is dropped; the control in it is a file input, for the keyboard too. */
function Drop({ tied, inputRef, isPicture, take }: DropProps) {
  const [isOver, setOver] = useState(false)
  const first = (files: FileList | null): void => {
    const file = files?.[0]
    if (file !== undefined) take(file)
  }
  const over = (event: DragEvent, isOver: boolean): void => {
    event.preventDefault()
    setOver(isOver)
  }
  return (
    <div
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false)
        first(event.dataTransfer.files)
      }}
      className={`flex flex-wrap items-center gap-3 rounded-lg border border-dashed p-4 ${isOver ? 'border-accent bg-sunk' : 'border-line'}`}
    >
      <UploadIcon className="size-5 text-quiet" aria-hidden />
      <input
        type="file"
        {...tied}
        ref={inputRef}
        accept={isPicture ? 'image/png,image/jpeg,image/webp' : undefined}
        onChange={(event) => first(event.target.files)}
        className="min-w-0 flex-1 text-[0.8125rem] text-quiet file:mr-3 file:min-h-9 file:rounded-[7px] file:border file:border-line file:bg-paper file:px-3.5 file:font-medium file:text-ink"
      />
    </div>
  )
}

function Sending({ name, share, cancel }: { name: string; share: number; cancel: () => void }) {
  const percent = Math.floor(share * 100)
  const id = useId()
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line p-4">
      <div className="min-w-0 flex-1">
        <p id={id} className="truncate">
          {percent < 100 ? `Uploading ${name}: ${String(percent)} %` : `Checking ${name}`}
        </p>
        <progress aria-labelledby={id} value={percent} max={100} className="mt-2 h-1.5 w-full accent-accent" />
      </div>
      <Button small onClick={cancel}>
        Cancel upload
      </Button>
    </div>
  )
}

function Chosen({ id, remove }: { id: string; remove: () => void }) {
  const { data } = useRead('files.get', { id })
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line p-3">
      {data?.purpose === 'picture' ? (
        <img src={`/trpc/files/${data.id}`} alt="" width={48} height={48} className="size-12 rounded object-cover" />
      ) : (
        <FileIcon className="size-5 text-quiet" aria-hidden />
      )}
      <p className="min-w-0 flex-1 truncate">
        {data?.name ?? id}
        {data !== undefined && <span className="ml-2 text-quiet">{inBytes(data.bytes)}</span>}
      </p>
      <IconButton label="Choose another file" onClick={remove}>
        <Cross2Icon />
      </IconButton>
    </div>
  )
}

/** Files that are there already. */
function Uploaded({ purpose, choose }: { purpose: StoredFile['purpose']; choose: (id: string) => void }) {
  const { data } = useRead('files.list', { limit: 100 })
  const files = data?.files.filter((file) => file.purpose === purpose) ?? []
  if (files.length === 0) return null
  return (
    <select
      aria-label={purpose === 'picture' ? 'Uploaded pictures' : 'Uploaded files'}
      value=""
      onChange={(event) => choose(event.target.value)}
      className="field mt-2"
    >
      <option value="">Or choose an uploaded {purpose === 'picture' ? 'picture' : 'file'}</option>
      {files.map(({ id, name, bytes }) => (
        <option key={id} value={id}>
          {name} ({inBytes(bytes)})
        </option>
      ))}
    </select>
  )
}
