import { useForm, useWatch, type UseFormReturn } from 'react-hook-form'
import { useAction, useRead, type Output } from '../../api/procedures.ts'
import { FileField } from '../../parts/FileField.tsx'
import { Choice, Form, saveEdited, TextField } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { orNull } from '../../parts/texts.ts'
import { useEnvironment } from '../../settings.ts'
import { toast } from '../../shell/toast.ts'

/** How the payment pages of this environment show who sells. */
export function Brand() {
  const at = useEnvironment()
  const brand = useRead('brand.get', undefined)
  return (
    <Card title="Brand">
      <Loaded of={brand} waiting={<Skeleton className="h-96 w-full" />}>
        {/* The key creates a new form for the other environment. */}
        {(known) => <BrandForm key={at} known={known} />}
      </Loaded>
    </Card>
  )
}

function BrandForm({ known }: { known: Known }) {
  const change = useAction('brand.change', { changes: ['brand.get'], quiet: true })
  const form = useForm<Values>({
    defaultValues: {
      theme: known.theme,
      name: known.name ?? '',
      logo: known.logo ?? '',
      accent: known.accent ?? '',
      supportEmail: known.supportEmail ?? '',
      supportUrl: known.supportUrl ?? '',
      imprintUrl: known.imprintUrl ?? '',
      termsUrl: known.termsUrl ?? '',
      privacyUrl: known.privacyUrl ?? '',
    },
  })
  return (
    <Form
      form={form}
      act="Save brand"
      variant="plain"
      submit={async (values) => {
        await saveEdited(form, values, {
          toBody: ({ theme, ...texts }) => {
            const filled = Object.entries(texts).map(([name, text]) => [name, orNull(text.trim())] as const)
            return { theme, ...(Object.fromEntries(filled) as Partial<Known>) }
          },
          save: async (changed) => {
            const { accentNote } = await change.mutateAsync(changed)
            toast({ tone: 'good', text: accentNote === null ? 'Brand saved.' : `Brand saved. ${accentNote}` })
          },
        })
      }}
    >
      <TextField form={form} name="name" label="Brand name" hint="Buyers see it on your payment pages." />
      <FileField form={form} name="logo" label="Logo" purpose="picture" optional />
      <TextField form={form} name="accent" label="Accent colour" hint="Such as #2b50e2. Any colour works." />
      <Choice
        form={form}
        name="theme"
        label="Pages are"
        options={[
          ['auto', 'Light or dark, as the buyer has it'],
          ['light', 'Always light'],
          ['dark', 'Always dark'],
        ]}
      />
      <TextField form={form} name="supportEmail" label="Support e-mail" inputMode="email" />
      <TextField form={form} name="supportUrl" label="Help page" inputMode="url" />
      <TextField form={form} name="imprintUrl" label="Imprint" inputMode="url" />
      <TextField form={form} name="termsUrl" label="Terms of sale" inputMode="url" />
      <TextField form={form} name="privacyUrl" label="Privacy policy" inputMode="url" />
      <Preview form={form} known={known} />
    </Form>
  )
}

/** The saved colours, as the service has computed them, on both grounds. */
function Preview({ form, known: { colors, accent, accentNote } }: { form: UseFormReturn<Values>; known: Known }) {
  const [name, typed] = useWatch({ control: form.control, name: ['name', 'accent'] })
  if (colors === null) return null
  const grounds = [
    ['Light', '#ffffff', '#171c2b', colors.light],
    ['Dark', '#10131b', '#eceef4', colors.dark],
  ] as const
  return (
    <figure>
      <figcaption className="text-sm text-quiet">
        {typed.trim().toLowerCase() === accent ? (accentNote ?? 'As buyers see it.') : 'Save to see the new colour.'}
      </figcaption>
      <div className="mt-2 grid gap-3 sm:grid-cols-2">
        {grounds.map(([title, ground, ink, palette]) => (
          <div key={title} className="rounded-lg border border-line p-4" style={{ background: ground, color: ink }}>
            <p className="font-semibold">{name === '' ? title : name}</p>
            <p className="mt-1 text-sm underline" style={{ color: palette.accent }}>
              A link
            </p>
            <p
              className="mt-2 rounded-lg p-2 text-center font-semibold"
              style={{ background: palette.fill, color: palette.onFill }}
            >
              Pay 5.00 USDC
            </p>
          </div>
        ))}
      </div>
    </figure>
  )
}

type Known = Output<'brand.get'>

interface Values {
  theme: Known['theme']
  name: string
  logo: string
  accent: string
  supportEmail: string
  supportUrl: string
  imprintUrl: string
  termsUrl: string
  privacyUrl: string
}
