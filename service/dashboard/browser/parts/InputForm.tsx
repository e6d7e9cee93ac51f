import type { ReactNode } from 'react'
import { firstText, shownNames, type FormField } from '../../../ui-kit/format.ts'
import { Labelled } from './form.tsx'

export type FormValues = Readonly<Record<string, string | boolean>>

interface InputFieldsProps {
  fields: readonly FormField[]
  values: FormValues
  change: (values: FormValues) => void
  /** Errors by field name. */
  faults?: Readonly<Record<string, string>>
}

/** A form built from a list of fields; `children` are below them. */
export function InputForm({
  submit,
  children,
  ...inputs
}: InputFieldsProps & { submit: () => Promise<void>; children: ReactNode }) {
  return (
    <form
      noValidate
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        // The caller shows the error.
        submit().catch(() => undefined)
      }}
    >
      <InputFields {...inputs} />
      {children}
    </form>
  )
}

export function InputFields({ fields, values, change, faults = {} }: InputFieldsProps) {
  const shown = shownNames(fields, (field) => values[field.name] ?? initialValue(field))
  return (
    <div className="space-y-4">
      {fields.map((field, place) =>
        !shown.has(field.name) ? null : (
          <InputField
            // While a person edits the list, two fields may have the same name.
            key={place}
            field={field}
            value={values[field.name] ?? initialValue(field)}
            fault={faults[field.name]}
            change={(value) => change({ ...values, [field.name]: value })}
          />
        ),
      )}
    </div>
  )
}

interface InputFieldProps {
  field: FormField
  value: string | boolean
  fault: string | undefined
  change: (value: string | boolean) => void
}

function InputField({ field, value, fault, change }: InputFieldProps) {
  const { label, type, required, placeholder, options, description } = field
  const isCheckbox = type === 'boolean'
  const text = typeof value === 'string' ? value : ''
  const onChange = (event: { target: { value: string } }): void => change(event.target.value)
  return (
    <Labelled
      label={label === '' ? 'Untitled field' : label}
      hint={description ?? undefined}
      fault={fault}
      optional={!required && !isCheckbox}
      beside={isCheckbox}
    >
      {(tied) => {
        const common = { ...tied, 'aria-required': required }
        if (isCheckbox) {
          return (
            <input
              {...common}
              className="size-4 accent-accent"
              type="checkbox"
              checked={value === true}
              onChange={(event) => change(event.target.checked)}
            />
          )
        }
        if (type === 'select') {
          return (
            <select {...common} className="field" value={text} onChange={onChange}>
              <option value="">Choose…</option>
              {(options ?? []).map((option, place) => (
                <option key={place} value={option}>
                  {option}
                </option>
              ))}
            </select>
          )
        }
        const written = { ...common, className: `field ${type === 'json' ? 'font-mono text-[0.8125rem]' : ''}` }
        if (type === 'textarea' || type === 'json')
          return <textarea {...written} rows={4} placeholder={placeholder ?? ''} value={text} onChange={onChange} />
        return (
          <input
            {...written}
            type={TYPES[type] ?? 'text'}
            inputMode={type === 'number' ? 'decimal' : undefined}
            placeholder={placeholder ?? (type === 'url' || type === 'file' ? 'https://' : '')}
            value={text}
            onChange={onChange}
          />
        )
      }}
    </Labelled>
  )
}

const TYPES: Readonly<Record<string, string>> = { url: 'url', file: 'url', email: 'email', date: 'date' }

function initialValue(field: FormField): string | boolean {
  return field.type === 'boolean' ? field.default === true : firstText(field)
}

/** The inputs in the service's form: an empty field is left out. */
export function toInputs(fields: readonly FormField[], values: FormValues): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const value = values[field.name] ?? initialValue(field)
      if (value === '') return []
      // The service explains the error of an invalid number.
      if (field.type === 'number' && !Number.isNaN(Number(value))) return [[field.name, Number(value)]]
      return [[field.name, value]]
    }),
  )
}

/** The reverse: the inputs of an earlier run as form values. */
export function toFormValues(inputs: Readonly<Record<string, unknown>>): FormValues {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'boolean' ? value : JSON.stringify(value),
    ]),
  )
}
