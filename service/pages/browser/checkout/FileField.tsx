import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { firstText } from '../../../ui-kit/format.ts'
import { uploadedIn } from '../../../ui-kit/uploaded.ts'
import { openUploads, type UploadFault } from '../../../ui-kit/uploads.ts'
import { bytes as sizeOf, say } from '../words/say.ts'
import type { ControlProps } from './Fields.tsx'
import { FILE_LIMIT, FILLED, UPLOADING } from './form.ts'
import { Warning } from './Icons.tsx'

/** The field of a checkout, once the page's script has started. `url`: the checkout's public address. */
export function fileFieldAt(url: string) {
  const { pathname: home } = new URL(url)
  const { href: pages } = new URL('.', url)
  return (props: ControlProps) => <FileField {...props} home={home} pages={pages} />
}

/**
 * A file, or a link to one. The field with the link is the form's value in both cases, so that a draft, another device and
 * a link that fills in the form need nothing of their own.
 */
export function FileField({ field, common: { id, name, ...more }, home, pages }: Props) {
  const link = useRef<HTMLInputElement>(null)
  const { value, setValue, doing, bytes, send, remove } = useUpload(link, firstText(field), home)
  const [isTyped, setTyped] = useState(false)
  const isLocked = more['readOnly'] === true
  const uploaded = pages === undefined ? null : uploadedIn(value, pages)
  const isSending = doing !== null && 'name' in doing
  const isLink = isTyped || isLocked || (uploaded === null && value !== '')
  return (
    <div class="upload">
      {isSending ? (
        <Shown name={say('form.fileSending', { name: doing.name })} part={doing.part} remove={remove} />
      ) : uploaded !== null ? (
        <Shown name={uploaded} bytes={bytes} remove={isLocked ? null : remove} />
      ) : null}
      <div class="upload-choice" hidden={isSending || isLocked}>
        <input
          {...more}
          id={id}
          class="unseen"
          type="file"
          disabled={home === undefined}
          onInput={(event) => event.stopPropagation()}
          onChange={(event) => {
            // The form's own fields have not changed yet.
            event.stopPropagation()
            const [file] = event.currentTarget.files ?? []
            if (file !== undefined) void send(file)
            // The same file can be chosen again after it was refused.
            event.currentTarget.value = ''
          }}
        />
        <label class="button button-plain" for={id}>
          {say(value === '' ? 'form.fileChoose' : 'form.fileOther')}
        </label>
        {!isLink && uploaded === null && (
          <button type="button" class="link" onClick={() => setTyped(true)}>
            {say('form.fileOrLink')}
          </button>
        )}
      </div>
      <input
        ref={link}
        name={name}
        type="url"
        inputmode="url"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-label={say('form.fileLink')}
        placeholder={field.placeholder ?? 'https://'}
        hidden={uploaded !== null || isSending || !isLink}
        readOnly={isLocked}
        defaultValue={firstText(field)}
        onInput={(event) => {
          if (event.currentTarget.value !== UPLOADING) setValue(event.currentTarget.value)
        }}
      />
      {doing !== null && 'fault' in doing && <Fault fault={doing.fault} />}
    </div>
  )
}

/** What is written into the field of the link, and what is under way. */
function useUpload(link: RefObject<HTMLInputElement | null>, first: string, home: string | undefined) {
  const under = useRef<AbortController | null>(null)
  const [value, setValue] = useState(first)
  const [doing, setDoing] = useState<Doing>(null)
  // Known until the page is loaded again.
  const [bytes, setBytes] = useState<number | null>(null)

  /** As if the customer had typed it. */
  const write = (text: string): void => {
    if (link.current === null) return
    link.current.value = text
    link.current.dispatchEvent(new Event('input', { bubbles: true }))
    if (text !== UPLOADING) setValue(text)
  }
  const end = (): void => {
    under.current?.abort()
    under.current = null
  }
  useEffect(() => {
    const control = link.current
    const read = (): void => {
      if (control === null) return
      // What was under way when the page was left has to be chosen again.
      if (control.value === UPLOADING) control.value = ''
      setValue(control.value)
    }
    control?.addEventListener(FILLED, read)
    return () => {
      control?.removeEventListener(FILLED, read)
      end()
    }
  }, [])

  const send = async (file: File): Promise<void> => {
    if (home === undefined) return
    end()
    const stop = (under.current = new AbortController())
    write(UPLOADING)
    setDoing({ name: file.name, part: 0 })
    const onPart = (part: number): void => setDoing({ name: file.name, part })
    const result = await openUploads(home)(file, { stop: stop.signal, onPart })
    if (stop.signal.aborted) return
    under.current = null
    setDoing('url' in result ? null : result)
    setBytes('url' in result ? file.size : null)
    write('url' in result ? result.url : '')
  }
  const remove = (): void => {
    end()
    setDoing(null)
    write('')
  }
  return { value, setValue, doing, bytes, send, remove }
}

interface ShownFile {
  name: string
  bytes?: number | null
  /** How much of it has been sent; absent where it is there. */
  part?: number
  remove: (() => void) | null
}

function Shown({ name, bytes = null, part, remove }: ShownFile) {
  return (
    <p class="upload-file" role="status">
      <span>
        {name}
        {bytes !== null && <span class="upload-size"> {sizeOf(bytes)}</span>}
        {part !== undefined && <progress max={1} value={part} aria-label={name} />}
      </span>
      {remove !== null && (
        <button type="button" class="link" onClick={remove}>
          {say('form.fileRemove')}
        </button>
      )}
    </p>
  )
}

function Fault({ fault }: { fault: UploadFault }) {
  return (
    <p class="fault" role="alert">
      <Warning />
      {fault === 'large' ? say('form.fileTooLarge', { limit: FILE_LIMIT }) : say(FAULTS[fault])}
    </p>
  )
}

const FAULTS = { empty: 'form.fileEmpty', full: 'form.fileNoRoom', failed: 'form.fileFailed' } as const

type Doing = { name: string; part: number } | { fault: UploadFault } | null

interface Props extends ControlProps {
  /** The checkout's own path. Absent until the page's script has started. */
  home?: string
  /** Where the forms are, with a slash at its end. */
  pages?: string
}
