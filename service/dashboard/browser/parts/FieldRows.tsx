import { useRef } from 'react'
import { useFieldArray, type FieldValues, type UseFormReturn } from 'react-hook-form'
import { newField, type FieldDraft } from './fields.ts'
import { Check, Choice, TextArea, TextField } from './form.tsx'
import { Rows } from './Rows.tsx'
import { fieldNameOf } from './texts.ts'

const TYPES: readonly (readonly [FieldDraft['type'], string])[] = [
  ['text', 'Text'],
  ['textarea', 'Long text'],
  ['number', 'Number'],
  ['boolean', 'Yes or no'],
  ['select', 'Choice'],
  ['url', 'URL'],
  ['email', 'E-mail'],
  ['date', 'Date'],
  ['json', 'JSON'],
  ['file', 'File URL'],
]

/** The fields that a buyer fills in, in the order of their form. `list`: where the form has them. */
export function FieldRows<V extends FieldValues>({
  form: whole,
  list,
  name,
}: {
  form: UseFormReturn<V>
  list: string
  /** What one of them is called. */
  name: string
}) {
  // Only this list is used here, wherever the form has it.
  const form = whole as unknown as UseFormReturn<Record<string, FieldDraft[]>>
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: list })
  const types = form.watch(list)?.map(({ type }) => type) ?? []
  /** The names that were made here, by row. A stored one is not among them: receivers read the field by it. */
  const made = useRef(new Map<string, string>())

  /** A new field's name follows its label until somebody writes another. */
  function nameAfter(row: string, at: number, label: string): void {
    const names = form.getValues(list).map(({ name: of }) => of)
    const own = names[at] ?? ''
    if (own !== '' && own !== made.current.get(row)) return
    const following = fieldNameOf(label, names.toSpliced(at, 1))
    made.current.set(row, following)
    form.setValue(`${list}.${at}.name`, following)
  }

  return (
    <Rows
      name={name}
      ids={fields.map(({ id }) => id)}
      columns="sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_9rem_auto]"
      first={(at) => (
        <>
          <TextField
            form={form}
            name={`${list}.${at}.label`}
            label="Label"
            placeholder="Your website"
            typed={(label) => nameAfter(fields[at]?.id ?? '', at, label)}
          />
          <TextField form={form} name={`${list}.${at}.name`} label="Name" mono placeholder="site" />
          <Choice form={form} name={`${list}.${at}.type`} label="Type" options={TYPES} />
        </>
      )}
      rest={(at) => (
        <>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">
            <TextField form={form} name={`${list}.${at}.placeholder`} label="Placeholder" optional />
            <TextField form={form} name={`${list}.${at}.description`} label="Hint" optional />
          </div>
          {types[at] === 'select' && (
            <div className="mt-3">
              <TextArea form={form} name={`${list}.${at}.options`} label="Choices" rows={3} hint="One per line." />
            </div>
          )}
          <div className="mt-3">
            <Check form={form} name={`${list}.${at}.required`} label="Required" />
          </div>
          <ShowIf form={form} list={list} at={at} />
        </>
      )}
      move={move}
      remove={remove}
      add={() => append(newField())}
    />
  )
}

/** A field may depend on a choice, or on a yes or no, that stands above it. */
function ShowIf({ form, list, at }: { form: UseFormReturn<Record<string, FieldDraft[]>>; list: string; at: number }) {
  const fields = form.watch(list) ?? []
  const { field } = fields[at]?.showIf ?? {}
  const above = fields
    .slice(0, at)
    // Also the chosen one while its name is written anew.
    .filter(({ key, name, type }) => (name !== '' || key === field) && (type === 'select' || type === 'boolean'))
  const chosen = above.find(({ key }) => key === field)
  if (above.length === 0) return null
  const nameOf = ({ label, name }: FieldDraft): string => (label === '' ? name : label)
  return (
    <div className="mt-3 grid gap-3 sm:grid-cols-2">
      <Choice
        form={form}
        name={`${list}.${at}.showIf.field`}
        label="Show"
        options={[['', 'Always'], ...above.map((one) => [one.key, `If “${nameOf(one)}” is`] as const)]}
      />
      {chosen !== undefined && (
        <Choice form={form} name={`${list}.${at}.showIf.equals`} label="Value" options={valuesOf(chosen)} />
      )}
    </div>
  )
}

function valuesOf({ type, options }: FieldDraft): readonly (readonly [string, string])[] {
  const first = ['', 'Choose…'] as const
  if (type === 'boolean') return [first, ['true', 'Yes'], ['false', 'No']]
  const lines = options.split('\n').map((line) => line.trim())
  return [first, ...lines.filter((line) => line !== '').map((line) => [line, line] as const)]
}
