import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { asSentence } from '../../../ui-kit/format.ts'
import { toFault } from '../api/fault.ts'
import { sentenceOf } from '../api/procedures.ts'
import { toast } from '../shell/toast.ts'
import { Button, type Variant } from './Button.tsx'
import { Notice } from './states.tsx'
import { changedOf } from './texts.ts'

/** When the service refuses a form, the typed text stays, and each error is shown at its field. */
export function Form<V extends FieldValues>({
  form,
  submit,
  act,
  variant = 'main',
  cancel,
  full = false,
  aside,
  children,
}: {
  form: UseFormReturn<V>
  submit: (values: V) => Promise<unknown>
  act: string
  variant?: Variant
  cancel?: () => void
  /** The only action of the page: its button is as wide as the form. */
  full?: boolean
  /** Another action, beside the button. */
  aside?: ReactNode
  children: ReactNode
}) {
  const { errors, isSubmitting } = form.formState
  const send = submitting(form, submit)
  return (
    <form
      noValidate
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSubmitting) void send(event)
      }}
    >
      {errors.root?.message !== undefined && <Notice tone="bad">{errors.root.message}</Notice>}
      {children}
      <div className="flex flex-wrap justify-end gap-2 pt-1">
        {aside}
        {cancel !== undefined && <Button onClick={cancel}>Cancel</Button>}
        <Button type="submit" variant={variant} busy={isSubmitting} className={full ? 'w-full' : ''}>
          {act}
        </Button>
      </div>
    </form>
  )
}

/** Validates and sends a form's values; earlier errors are cleared first. */
export function submitting<V extends FieldValues>(form: UseFormReturn<V>, submit: (values: V) => Promise<unknown>) {
  return form.handleSubmit(async (values) => {
    try {
      await submit(values)
    } catch (error) {
      showFault(form, error)
    }
  })
}

/** Sends what was edited since the form was opened or last saved: another tab, the API or a colleague may have changed the rest. */
export async function saveEdited<V extends FieldValues, Body extends object>(
  form: UseFormReturn<V>,
  values: V,
  { toBody, merged, save }: Saving<V, Body>,
): Promise<void> {
  const changed = changedOf(toBody(values), toBody(form.formState.defaultValues as V), merged)
  if (Object.keys(changed).length === 0) toast({ tone: 'good', text: 'No changes to save.' })
  else {
    await save(changed)
    form.resetDefaultValues(values)
  }
}

interface Saving<V, Body> {
  toBody: (values: V) => Body
  /** The parts of the body of which the API changes only the fields sent. */
  merged?: readonly (keyof Body)[]
  save: (changed: Partial<Body>) => Promise<unknown>
}

/** Each error is shown at the field that it names; errors without a visible field are shown above the form. */
function showFault<V extends FieldValues>(form: UseFormReturn<V>, error: unknown): void {
  const fault = toFault(error)
  const left: string[] = []
  const blamed = new Set<string>()
  for (const [named, sentence] of Object.entries(fault.details)) {
    const name = fieldOf(form, named.replace(/^body\./, ''))
    if (name === null) left.push(`${named}: ${sentence}`)
    else {
      form.setError(name, { message: sentence })
      blamed.add(name)
    }
  }
  // In the order of the page, which is not the service's order.
  const first = [...form.control._names.mount].find((name) => blamed.has(name))
  if (first !== undefined) form.setFocus(first as Path<V>)
  if (left.length > 0) form.setError('root', { message: left.join('. ') })
  else if (blamed.size === 0 && !fault.isSessionOver) form.setError('root', { message: sentenceOf(fault) })
}

/** An error in one line of a field (`tools.allow.2`) is shown at the whole field. */
function fieldOf<V extends FieldValues>(form: UseFormReturn<V>, named: string): Path<V> | null {
  for (let name = named; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    if (isField(form.control._fields, name)) return name as Path<V>
  }
  return null
}

/** In the form's nested record of fields, a real field has a `_f`, whose `mount` says whether it is on the page. */
function isField(fields: unknown, name: string): boolean {
  return [...name.split('.'), '_f', 'mount'].reduce<unknown>(inside, fields) === true
}

function inside(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[name] : undefined
}

interface Common<V extends FieldValues> {
  form: UseFormReturn<V>
  name: Path<V>
  label: string
  hint?: ReactNode
  optional?: boolean
}

export type TextFieldOf<V extends FieldValues> = Omit<Common<V>, 'form'> & {
  mono?: boolean
  unit?: string
  /** Called with the text while it is typed. */
  typed?: (text: string) => void
} & Omit<InputHTMLAttributes<HTMLInputElement>, 'form' | 'name'>

/** Several plain text fields, one after the other. */
export function TextFields<V extends FieldValues>(props: {
  form: UseFormReturn<V>
  fields: readonly TextFieldOf<V>[]
}) {
  return props.fields.map((field) => <TextField key={field.name} form={props.form} {...field} />)
}

export function TextField<V extends FieldValues>({
  form,
  name,
  label,
  hint,
  optional,
  mono = false,
  unit,
  typed,
  ...rest
}: TextFieldOf<V> & { form: UseFormReturn<V> }) {
  return (
    <Labelled label={label} hint={hint} optional={optional} fault={faultOf(form, name)}>
      {(tied) => (
        <span className="relative block">
          <input
            type="text"
            {...rest}
            {...tied}
            {...form.register(name, {
              onChange: (event: { target: { value: string } }) => typed?.(event.target.value),
            })}
            className={`field ${mono ? 'font-mono text-[0.8125rem]' : ''} ${unit === undefined ? '' : 'pr-14 tabular-nums'}`}
          />
          {unit !== undefined && (
            <span
              aria-hidden
              className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-xs text-quiet"
            >
              {unit}
            </span>
          )}
        </span>
      )}
    </Labelled>
  )
}

/** An amount in USDC, sent as typed: the service explains too many decimals better than a browser does. */
export function AmountField<V extends FieldValues>(field: Common<V> & { placeholder?: string }) {
  return <TextField {...field} unit="USDC" inputMode="decimal" autoComplete="off" />
}

export function TextArea<V extends FieldValues>({
  form,
  name,
  label,
  hint,
  optional,
  mono = false,
  ...rest
}: Common<V> & { mono?: boolean } & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'form' | 'name'>) {
  return (
    <Labelled label={label} hint={hint} optional={optional} fault={faultOf(form, name)}>
      {(tied) => (
        <textarea
          rows={4}
          {...rest}
          {...tied}
          {...form.register(name)}
          className={`field block ${mono ? 'font-mono text-[0.8125rem]' : ''}`}
        />
      )}
    </Labelled>
  )
}

export function Choice<V extends FieldValues>({
  form,
  name,
  label,
  hint,
  optional,
  options,
  ...rest
}: Common<V> & { options: readonly (readonly [string, string])[] } & Omit<
    SelectHTMLAttributes<HTMLSelectElement>,
    'form' | 'name'
  >) {
  return (
    <Labelled label={label} hint={hint} optional={optional} fault={faultOf(form, name)}>
      {(tied) => (
        <select {...rest} {...tied} {...form.register(name)} className="field">
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

export function Check<V extends FieldValues>({ form, name, label, hint }: Common<V>) {
  return (
    <Labelled label={label} hint={hint} fault={faultOf(form, name)} beside>
      {(tied) => <input type="checkbox" {...tied} {...form.register(name)} className="size-4 shrink-0 accent-accent" />}
    </Labelled>
  )
}

function faultOf<V extends FieldValues>(form: UseFormReturn<V>, name: Path<V>): string | undefined {
  return form.getFieldState(name, form.formState).error?.message
}

interface Tied {
  id: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}

interface LabelledProps {
  label: string
  hint?: ReactNode
  fault: string | undefined
  optional?: boolean | undefined
  /** The label is beside the control instead of above it. */
  beside?: boolean
  children: (tied: Tied) => ReactNode
}

/** A control with its label, hint and error, linked for screen readers. */
export function Labelled({ label, hint, fault, optional = false, beside = false, children }: LabelledProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`]
  const control = children({
    id,
    'aria-invalid': fault !== undefined,
    'aria-describedby': described.join(' ').trim() || undefined,
  })
  return (
    <div className="min-w-0">
      {beside ? (
        <div className="flex items-center gap-2.5">
          {control}
          <label htmlFor={id}>{label}</label>
        </div>
      ) : (
        <>
          <div className="mb-1 flex items-baseline justify-between gap-2">
            <label htmlFor={id} className="font-medium break-words">
              {label}
            </label>
            {optional && <span className="text-xs text-quiet">Optional</span>}
          </div>
          {control}
        </>
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} className="mt-1 text-[0.8125rem] text-bad">
          {asSentence(fault)}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-[0.8125rem] text-quiet">
          {hint}
        </p>
      )}
    </div>
  )
}

/** The field for a new password. */
export function NewPassword<V extends FieldValues & { newPassword: string }>({
  form,
  autoFocus = false,
}: {
  form: UseFormReturn<V>
  autoFocus?: boolean
}) {
  return (
    <TextField
      form={form}
      name={'newPassword' as Path<V>}
      label="New password"
      type="password"
      autoComplete="new-password"
      hint="At least 10 characters."
      autoFocus={autoFocus}
    />
  )
}
