import type { IDataObject } from 'n8n-workflow'
import { nameOf } from '../../nodes/PayToRunTrigger/form.ts'
import { customerFields } from '../../nodes/PayToRunTrigger/customer-fields.ts'
import { PayToRunTrigger } from '../../nodes/PayToRunTrigger/PayToRunTrigger.node.ts'
import { fieldsSchema } from '../../service/kit/fields.ts'
import { hook } from './n8n.ts'

const { create } = new PayToRunTrigger().webhookMethods.default

describe('the customer fields', () => {
  it.each(offeredTypes())('of type %s are such as the service takes', async (type) => {
    const rules = { text: { default: 'x', min: 1, max: 9, pattern: 'x+' }, number: { default: '5', min: 1, max: 9 } }
    const field = {
      label: 'Größe des Pakets',
      type,
      required: true,
      placeholder: 'e.g. 5',
      help: 'In metres',
      choices: { values: [{ value: 'one' }, { value: 'two' }] },
      rules: rules[type as 'text' | 'number'] ?? {},
    }
    const [sent] = await sentFields([field])
    expect(fieldsSchema.parse([sent])).toMatchObject([
      {
        name: 'grosse_des_pakets',
        label: 'Größe des Pakets',
        type,
        required: true,
        placeholder: 'e.g. 5',
        description: 'In metres',
        options: type === 'select' ? ['one', 'two'] : null,
        min: type in rules ? 1 : null,
        max: type in rules ? 9 : null,
        pattern: type === 'text' ? 'x+' : null,
        default: { text: 'x', number: 5 }[type] ?? null,
      },
    ])
  })

  it('offer all types that the service has', () => {
    const known = ['text', 'textarea', 'number', 'boolean', 'select', 'url', 'email', 'date', 'json', 'file']
    expect([...offeredTypes()].sort()).toEqual(known.sort())
  })

  it('keep the order in which they were dragged', async () => {
    const sent = await sentFields(['C', 'A', 'B'].map((label) => ({ label, type: 'text' })))
    expect(sent.map(({ label }) => label)).toEqual(['C', 'A', 'B'])
    expect(customerFields.typeOptions).toMatchObject({ multipleValues: true, sortable: true })
  })

  it('have the name that was entered', async () => {
    const [sent] = await sentFields([{ label: 'Website', name: ' site ', type: 'url' }])
    expect(sent).toMatchObject({ name: 'site' })
  })

  it('leave out the rules of a type that they are no longer of', async () => {
    const rules = { min: 1, max: 2, pattern: 'x', default: 'true' }
    const [sent] = await sentFields([
      { label: 'Agreed', type: 'boolean', rules, choices: { values: [{ value: 'a' }] } },
    ])
    expect(sent).toEqual({ name: 'agreed', label: 'Agreed', type: 'boolean', required: false, default: true })
  })

  it('send a default that is no number as the service will refuse it, never as another number', async () => {
    const [sent] = await sentFields([{ label: 'Count', type: 'number', rules: { default: 'many' } }])
    expect(fieldsSchema.safeParse(JSON.parse(JSON.stringify([sent]))).success).toBe(false)
  })

  it.each([
    ['Your website', 'your_website'],
    ['  E-Mail (work) ', 'email_work'],
    ["Owner's name", 'owners_name'],
    ['2026 - 2027', 'field_2026_2027'],
    ['Straße', 'strasse'],
    ['Prénom', 'prenom'],
    ['2nd address', 'field_2nd_address'],
    ['日本語', ''],
  ])('named %j are read by %j', (label, name) => expect(nameOf(label)).toBe(name))
})

function offeredTypes(): string[] {
  const values = (customerFields.options as { values: { name: string; options?: { value: string }[] }[] }[])[0]?.values
  return (values?.find(({ name }) => name === 'type')?.options ?? []).map(({ value }) => value)
}

async function sentFields(fields: IDataObject[]): Promise<Record<string, unknown>[]> {
  const checkout = { id: 'chk_1', url: 'https://x' }
  const { context, calls } = hook({
    parameters: { customerFields: { fields } },
    service: () => ({ status: 201, body: { checkout, secret: 'whsec_x' } }),
  })
  await create.call(context)
  return (calls[0]!.body as unknown as { fields: Record<string, unknown>[] }).fields
}
