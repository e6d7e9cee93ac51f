import { CheckCircledIcon, Cross2Icon, CrossCircledIcon, InfoCircledIcon } from '@radix-ui/react-icons'
import * as Radix from '@radix-ui/react-toast'
import { dismiss, useToasts } from './toast.ts'

const ICONS = {
  good: <CheckCircledIcon className="mt-0.5 shrink-0 text-good" />,
  bad: <CrossCircledIcon className="mt-0.5 shrink-0 text-bad" />,
  plain: <InfoCircledIcon className="mt-0.5 shrink-0 text-quiet" />,
}

export default function Toasts() {
  const toasts = useToasts()
  return (
    <Radix.Provider duration={6_000} label="Message">
      {toasts.map(({ id, tone, text }) => (
        <Radix.Root
          key={id}
          type={tone === 'bad' ? 'foreground' : 'background'}
          // Errors stay longer, so that there is time to read them.
          duration={tone === 'bad' ? 15_000 : 5_000}
          onOpenChange={(open) => {
            if (!open) dismiss(id)
          }}
          className="flex animate-rise items-start gap-2 rounded-lg border border-line bg-paper p-3 shadow-lift"
        >
          {ICONS[tone]}
          <Radix.Description className="min-w-0 flex-1 break-words">{text}</Radix.Description>
          <Radix.Close aria-label="Dismiss" className="rounded p-0.5 text-quiet hover:bg-sunk hover:text-ink">
            <Cross2Icon />
          </Radix.Close>
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed right-3 bottom-3 z-50 flex w-[min(24rem,calc(100vw-1.5rem))] flex-col gap-2 outline-none" />
    </Radix.Provider>
  )
}
