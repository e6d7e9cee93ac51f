import { useId } from 'react'
import { asSentence, firstText, type AskedField } from '../../../ui-kit/fields.ts'

export type Filled = Readonly<Record<string, string | boolean>>

/** The form that a field list makes, whoever wrote the list. */
export function InputForm({
  fields,
  values,
  faults = {},
  fill,
}: {
  fields: readonly AskedField[]
  values: Filled
  faults?: Readonly<Record<string, string>>
  fill: (name: string, value: string | boolean) => void
}) {
  return (
    <div className="space-y-4">
      {fields.map((field, place) => (
        <InputField
          // While it is written a list may have a name twice.
          key={place}
          field={field}
          value={values[field.name] ?? beginning(field)}
          fault={faults[field.name]}
          fill={(value) => fill(field.name, value)}
        />
      ))}
    </div>
  )
}

function InputField({
  field,
  value,
  fault,
  fill,
}: {
  field: AskedField
  value: string | boolean
  fault: string | undefined
  fill: (value: string | boolean) => void
}) {
  const id = useId()
  const { label, type, required, placeholder, options, description } = field
  const described = [description == null ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`].join(' ').trim()
  const tied = {
    id,
    'aria-invalid': fault !== undefined,
    'aria-describedby': described === '' ? undefined : described,
    'aria-required': required,
    className: `field ${type === 'json' ? 'font-mono text-[0.8125rem]' : ''}`,
  }
  const change = (event: { target: { value: string } }): void => fill(event.target.value)
  const text = typeof value === 'string' ? value : ''
  const notes = (
    <>
      {fault !== undefined && (
        <p id={`${id}-fault`} className="mt-1 text-[0.8125rem] text-bad">
          {asSentence(fault)}
        </p>
      )}
      {description != null && (
        <p id={`${id}-hint`} className="mt-1 text-[0.8125rem] text-quiet">
          {description}
        </p>
      )}
    </>
  )
  if (type === 'boolean') {
    return (
      <div>
        <label htmlFor={id} className="flex items-center gap-2.5">
          <input
            {...tied}
            className="size-4 accent-accent"
            type="checkbox"
            checked={value === true}
            onChange={(event) => fill(event.target.checked)}
          />
          {label}
        </label>
        {notes}
      </div>
    )
  }
  return (
    <div>
      <div className="mb-1 flex items-baseline justify-between gap-2">
        <label htmlFor={id} className="font-medium break-words">
          {label === '' ? 'Without a label' : label}
        </label>
        {!required && <span className="text-xs text-quiet">Optional</span>}
      </div>
      {type === 'select' ? (
        <select {...tied} value={text} onChange={change}>
          <option value="">Choose…</option>
          {(options ?? []).map((option, place) => (
            <option key={place} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : type === 'textarea' || type === 'json' ? (
        <textarea {...tied} rows={4} placeholder={placeholder ?? ''} value={text} onChange={change} />
      ) : (
        <input
          {...tied}
          type={TYPES[type] ?? 'text'}
          inputMode={type === 'number' ? 'decimal' : undefined}
          placeholder={placeholder ?? (type === 'url' || type === 'file' ? 'https://' : '')}
          value={text}
          onChange={change}
        />
      )}
      {notes}
    </div>
  )
}

const TYPES: Readonly<Record<string, string>> = { url: 'url', file: 'url', email: 'email' }

function beginning(field: AskedField): string | boolean {
  return field.type === 'boolean' ? field.default === true : firstText(field)
}

/** As the service reads it: what was left empty is left out. */
export function toInputs(fields: readonly AskedField[], values: Filled): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const value = values[field.name] ?? beginning(field)
      if (value === '') return []
      // What is no number stays a text, of which the service then says what it must be.
      if (field.type === 'number' && !Number.isNaN(Number(value))) return [[field.name, Number(value)]]
      return [[field.name, value]]
    }),
  )
}

/** The way back, to fill a form with what was given before. */
export function toFilled(inputs: Readonly<Record<string, unknown>>): Filled {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'boolean' ? value : JSON.stringify(value),
    ]),
  )
}
