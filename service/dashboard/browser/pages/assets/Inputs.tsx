import { useFieldArray, type UseFormReturn } from 'react-hook-form'
import { Check, Choice, TextArea, TextField } from '../../parts/form.tsx'
import { Rows } from '../../parts/Rows.tsx'
import { NEW_INPUT, type Draft, type DraftInput } from './draft.ts'

const TYPES: readonly (readonly [DraftInput['type'], string])[] = [
  ['text', 'Text'],
  ['textarea', 'Long text'],
  ['number', 'Number'],
  ['boolean', 'Yes or no'],
  ['select', 'Choice'],
  ['url', 'URL'],
  ['email', 'E-mail'],
  ['json', 'JSON'],
  ['file', 'File URL'],
]

/** The inputs of an asset, in the order of its form. */
export function Inputs({ form }: { form: UseFormReturn<Draft> }) {
  const { fields, append, remove, swap } = useFieldArray({ control: form.control, name: 'inputSchema' })
  const types = form.watch('inputSchema').map(({ type }) => type)
  return (
    <Rows
      name="input"
      ids={fields.map(({ id }) => id)}
      columns="sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_9rem_auto]"
      first={(at) => (
        <>
          <TextField form={form} name={`inputSchema.${at}.label`} label="Label" placeholder="Your website" />
          <TextField form={form} name={`inputSchema.${at}.name`} label="Name" mono placeholder="site" />
          <Choice form={form} name={`inputSchema.${at}.type`} label="Type" options={TYPES} />
        </>
      )}
      rest={(at) => (
        <>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">
            <TextField form={form} name={`inputSchema.${at}.placeholder`} label="Placeholder" optional />
            <TextField form={form} name={`inputSchema.${at}.description`} label="Hint" optional />
          </div>
          {types[at] === 'select' && (
            <div className="mt-3">
              <TextArea form={form} name={`inputSchema.${at}.options`} label="Choices" rows={3} hint="One per line." />
            </div>
          )}
          <div className="mt-3">
            <Check form={form} name={`inputSchema.${at}.required`} label="Required" />
          </div>
        </>
      )}
      moveUp={(at) => swap(at, at - 1)}
      remove={remove}
      add={() => append(NEW_INPUT)}
    />
  )
}
