import { useFieldArray, type UseFormReturn } from 'react-hook-form'
import { InputFields } from '../../parts/InputForm.tsx'
import { shownFields } from '../../parts/fields.ts'
import { TextArea, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Rows } from '../../parts/Rows.tsx'
import type { Draft } from './draft.ts'

/** What buyers see before they pay: inputs, and what comes of them. */
export function Examples({ form, type }: { form: UseFormReturn<Draft>; type: Draft['type'] }) {
  const list = `${type}Config.examples` as const
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: list, keyName: 'key' })
  const inputs = shownFields(form.watch('inputSchema'))
  return (
    <Card title="Sample outputs">
      <div className="space-y-4">
        <p className="text-quiet">Buyers see them on the marketplace before they pay. Copy them from a run of yours.</p>
        <Rows
          name="sample"
          least={0}
          ids={fields.map(({ key }) => key)}
          columns="sm:grid-cols-[minmax(0,1fr)_auto]"
          first={(at) => (
            <TextField form={form} name={`${list}.${at}.title`} label="Title" placeholder="A short text" />
          )}
          rest={(at) => (
            <div className="mt-3 space-y-3">
              <InputFields
                fields={inputs}
                values={form.watch(`${list}.${at}.inputs`)}
                change={(values) => form.setValue(`${list}.${at}.inputs`, values, { shouldDirty: true })}
              />
              <TextArea form={form} name={`${list}.${at}.output`} label="Output" rows={4} />
            </div>
          )}
          move={move}
          remove={remove}
          add={() => append({ title: '', inputs: {}, output: '', model: null })}
        />
      </div>
    </Card>
  )
}
