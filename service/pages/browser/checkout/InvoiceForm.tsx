import { useId, useState } from 'preact/hooks'
import { isRecord } from '../../../ui-kit/provider.ts'
import { say, type PlainKey } from '../words/say.ts'
import { Warning } from './Icons.tsx'
import { textOf } from './report.ts'

/** Who the invoice is for. `send`: null once it is issued. */
export function InvoiceForm({ send, cancel }: { send: (buyer: object) => Promise<unknown>; cancel: () => void }) {
  const id = useId()
  const [fault, setFault] = useState<string | null>(null)
  const [sending, setSending] = useState(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [name, address, country, taxId] = FIELDS.map(({ name: field }) => textOf(form, field).trim())
    setSending(true)
    setFault(say('invoice.noAnswer'))
    const refusal = await send({ name, address, country: country?.toUpperCase(), taxId: taxId === '' ? null : taxId })
    setSending(false)
    if (refusal === null) setFault(null)
    else if (isRecord(refusal) && isRecord(refusal['body'])) {
      const { error } = refusal['body']
      if (typeof error === 'string') setFault(error)
    }
  }
  return (
    <form class="report" onSubmit={(event) => void submit(event)} aria-label={say('invoice.ask')}>
      <div class="fields">
        {FIELDS.map(({ name, text, ...rest }) => (
          <div class="field" key={name}>
            <label for={`${id}-${name}`}>
              {say(text)}
              {!rest.required && <span class="optional">{say('common.optional')}</span>}
            </label>
            {name === 'address' ? (
              <textarea id={`${id}-${name}`} name={name} rows={3} {...rest} />
            ) : (
              <input id={`${id}-${name}`} name={name} {...rest} />
            )}
          </div>
        ))}
      </div>
      <p class="fine">{say('invoice.hint')}</p>
      {fault !== null && !sending && (
        <p class="fault" role="alert">
          <Warning />
          {fault}
        </p>
      )}
      <button type="submit" class="button" disabled={sending}>
        {say('invoice.issue')}
      </button>
      <button type="button" class="button button-plain" onClick={cancel}>
        {say('common.cancel')}
      </button>
    </form>
  )
}

interface BuyerField {
  name: string
  text: PlainKey
  required: boolean
  maxLength: number
  pattern?: string
  autocomplete?: string
}

const FIELDS: readonly BuyerField[] = [
  { name: 'name', text: 'invoice.name', required: true, maxLength: 200, autocomplete: 'organization' },
  { name: 'address', text: 'invoice.address', required: true, maxLength: 500, autocomplete: 'street-address' },
  {
    name: 'country',
    text: 'invoice.country',
    required: true,
    maxLength: 2,
    pattern: '[A-Za-z]{2}',
    autocomplete: 'country',
  },
  { name: 'taxId', text: 'invoice.taxId', required: false, maxLength: 60 },
]
