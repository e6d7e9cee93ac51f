import { ArrowUpIcon, PlusIcon, TrashIcon } from '@radix-ui/react-icons'
import { useFieldArray, type UseFormReturn } from 'react-hook-form'
import { Button, IconButton } from '../../parts/Button.tsx'
import { Check, Choice, TextArea, TextField } from '../../parts/form.tsx'
import { NEW_INPUT, type Draft, type DraftInput } from './draft.ts'

const TYPES: readonly (readonly [DraftInput['type'], string])[] = [
  ['text', 'Text'],
  ['textarea', 'Long text'],
  ['number', 'Number'],
  ['boolean', 'Yes or no'],
  ['select', 'Choice'],
  ['url', 'Web address'],
  ['email', 'E-mail'],
  ['json', 'JSON'],
  ['file', 'Address of a file'],
]

/** The list of what whoever runs it fills in. */
export function Inputs({ form }: { form: UseFormReturn<Draft> }) {
  const { fields, append, remove, swap } = useFieldArray({ control: form.control, name: 'inputSchema' })
  const types = form.watch('inputSchema').map(({ type }) => type)
  return (
    <div className="space-y-3">
      {fields.map((field, at) => (
        <fieldset key={field.id} className="rounded-lg border border-line p-3">
          <legend className="sr-only">Input {at + 1}</legend>
          <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_9rem_auto]">
            <TextField form={form} name={`inputSchema.${at}.label`} label="Label" placeholder="Your website" />
            <TextField form={form} name={`inputSchema.${at}.name`} label="Name" mono placeholder="site" />
            <Choice form={form} name={`inputSchema.${at}.type`} label="Type" options={TYPES} />
            <div className="flex items-end sm:pb-0.5">
              <IconButton
                label={`Move input ${String(at + 1)} up`}
                disabled={at === 0}
                className="disabled:opacity-40"
                onClick={() => {
                  swap(at, at - 1)
                }}
              >
                <ArrowUpIcon />
              </IconButton>
              <IconButton
                label={`Remove input ${String(at + 1)}`}
                disabled={fields.length === 1}
                className="disabled:opacity-40"
                onClick={() => {
                  remove(at)
                }}
              >
                <TrashIcon />
              </IconButton>
            </div>
          </div>
          <div className="mt-3 grid gap-3 sm:grid-cols-2">
            <TextField form={form} name={`inputSchema.${at}.placeholder`} label="Placeholder" optional />
            <TextField form={form} name={`inputSchema.${at}.description`} label="Hint" optional />
          </div>
          {types[at] === 'select' && (
            <div className="mt-3">
              <TextArea form={form} name={`inputSchema.${at}.options`} label="Choices" rows={3} hint="One a line." />
            </div>
          )}
          <div className="mt-3">
            <Check form={form} name={`inputSchema.${at}.required`} label="Must be filled in" />
          </div>
        </fieldset>
      ))}
      <Button
        small
        onClick={() => {
          append(NEW_INPUT)
        }}
      >
        <PlusIcon /> Add an input
      </Button>
    </div>
  )
}
