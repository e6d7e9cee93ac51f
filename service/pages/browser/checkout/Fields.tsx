import type { ComponentType } from 'preact'
import { firstText } from '../../../ui-kit/format.ts'
import type { Field } from '../../model.ts'
import { say } from '../words/say.ts'
import { FILE_LIMIT } from './form.ts'
import { Warning } from './Icons.tsx'

/** The seller's form fields. */
export function Fields({
  fields,
  errors,
  locked = false,
  shown = null,
}: {
  fields: readonly Field[]
  errors: Readonly<Record<string, string>>
  /** The values of all, or of these, are shown and cannot be changed. */
  locked?: boolean | ReadonlySet<string> | undefined
  /** The names of those that are shown; null for all. */
  shown?: ReadonlySet<string> | null
}) {
  return (
    <div class="fields">
      {fields.map((field) => (
        // Hidden and not removed, so that a value comes back with its field.
        <div key={field.name} hidden={shown !== null && !shown.has(field.name)}>
          <One
            field={field}
            error={errors[field.name] ?? null}
            locked={typeof locked === 'boolean' ? locked : locked.has(field.name)}
          />
        </div>
      ))}
    </div>
  )
}

function One({ field, error, locked }: { field: Field; error: string | null; locked: boolean }) {
  const { name, label, type, required, description } = field
  const id = `field-${name}`
  const hint = hintOf(field)
  const described = [hint !== null && `${id}-hint`, error !== null && `${id}-error`].filter(Boolean).join(' ')
  const common = {
    id,
    name,
    'aria-required': required,
    'aria-invalid': error !== null,
    ...(described === '' ? {} : { 'aria-describedby': described }),
    // Only texts can be read-only.
    ...(!locked ? {} : type === 'boolean' || type === 'select' ? { disabled: true } : { readOnly: true }),
  }
  const fault = error !== null && (
    <p class="fault" id={`${id}-error`}>
      <Warning />
      {error}
    </p>
  )
  if (type === 'boolean') {
    return (
      <div class="field">
        <label class="tick">
          <input {...INPUTS.boolean} {...common} defaultChecked={field.default === true} />
          <span>{label}</span>
        </label>
        {description != null && (
          <p class="hint hint-tick" id={`${id}-hint`}>
            {description}
          </p>
        )}
        {fault}
      </div>
    )
  }
  return (
    <div class="field">
      <label for={id}>
        {label}
        {!required && !locked && <span class="optional">{say('common.optional')}</span>}
      </label>
      {hint !== null && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <Control field={field} common={common} />
      {fault}
    </div>
  )
}

function Control({ field, common }: ControlProps) {
  const { type, options, placeholder } = field
  if (type === 'file') return FileField && <FileField field={field} common={common} />
  const filled = firstText(field)
  if (type === 'select') {
    return (
      <div class="select">
        <select {...common}>
          <option value="" selected={filled === ''}>
            {placeholder ?? say('form.choose')}
          </option>
          {options?.map((option) => (
            <option key={option} value={option} selected={option === filled}>
              {option}
            </option>
          ))}
        </select>
      </div>
    )
  }
  const text = { ...common, ...(placeholder == null ? {} : { placeholder }) }
  if (type === 'textarea') return <textarea rows={4} {...text} defaultValue={filled} />
  if (type === 'json') return <textarea rows={5} class="code" spellcheck={false} {...text} defaultValue={filled} />
  return <input {...INPUTS[type]} {...text} defaultValue={filled} />
}

export interface ControlProps {
  field: Field
  common: { id: string; name: string } & Record<string, unknown>
}

let FileField: ComponentType<ControlProps> | null = null

/** Only forms with files load what such a field is made of. */
export function haveFileFields(component: ComponentType<ControlProps>): void {
  FileField = component
}

/** The keyboard that a phone shows, and what the browser may autofill. */
const INPUTS = {
  text: { type: 'text' },
  boolean: { type: 'checkbox' },
  number: { type: 'text', inputmode: 'decimal', autocomplete: 'off' },
  url: { type: 'url', inputmode: 'url', autocomplete: 'url', autocapitalize: 'off', spellcheck: false },
  email: { type: 'email', inputmode: 'email', autocomplete: 'email', autocapitalize: 'off', spellcheck: false },
  date: { type: 'date' },
} as const

function hintOf({ type, description }: Field): string | null {
  if (description != null) return description
  return type === 'file' ? say('form.fileHint', { limit: FILE_LIMIT }) : null
}
