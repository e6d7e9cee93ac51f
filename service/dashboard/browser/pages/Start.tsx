import { CheckIcon } from '@radix-ui/react-icons'
import type { ReactNode } from 'react'
import { LinkButton, TextLink } from '../parts/Button.tsx'
import { Copy, Id } from '../parts/values.tsx'
import { Page } from '../parts/layout.tsx'
import { Failure, Skeleton } from '../parts/states.tsx'
import { settings } from '../settings.ts'
import { useProgress } from './start/progress.ts'

/** The guide from an empty account to a paid workflow; each step is checked by data that the service has. */
export default function Start() {
  const { steps, fault, again, checkout } = useProgress()
  if (fault !== null) return <Failure fault={fault} again={again} />
  const at = steps.indexOf(false)
  const done = (step: number): State =>
    steps.length === 0 ? 'unknown' : steps[step] === true ? 'done' : step === at ? 'now' : 'later'
  return (
    <Page
      narrow
      title="Your first paid workflow"
      intro="Five steps in n8n and here. Steps 2 to 4 are ticked together, once the trigger in n8n has created its first checkout."
    >
      <ol className="space-y-3">
        <Step number={1} state={done(0)} title="Create an API key">
          <p>The workflow uses it to act for you.</p>
          <LinkButton to="/keys?new=1" small variant={done(0) === 'now' ? 'main' : 'plain'}>
            Create API key
          </LinkButton>
        </Step>
        <Step number={2} state={done(1)} title="Install the node in n8n">
          <p>
            Until the package is published, pack it in your clone of the Coinslot repository. The first line builds it,
            writes a .tgz file and prints its name.
          </p>
          <Line text="npm run pack" />
          <p>Install that file into the folder from which n8n loads community nodes, and restart n8n.</p>
          <Line text="mkdir -p ~/.n8n/nodes && cd ~/.n8n/nodes" />
          <Line text="npm install --ignore-scripts /path/to/the/clone/n8n-nodes-coinslot-0.1.0.tgz" />
        </Step>
        <Step number={3} state={done(2)} title="Give n8n the key">
          <p>
            In n8n, add a credential of the type Coinslot API. Enter the key and this service address. n8n tests the
            credential when you save it.
          </p>
          <Line text={settings.apiUrl} />
        </Step>
        <Step number={4} state={done(3)} title="Add the Coinslot Pay-to-Run Trigger to a workflow">
          <p>
            Search n8n’s nodes for “Coinslot Pay-to-Run Trigger”. Name a product and a price, leave test mode on, and
            press “Execute workflow”. The trigger makes its checkout.
          </p>
          {checkout !== null && (
            <p>
              Checkout found: <TextLink to={`/checkouts/${checkout.id}`}>{checkout.product.name}</TextLink>.
            </p>
          )}
        </Step>
        <Step number={5} state={done(4)} title="Pay for it">
          {checkout === null ? (
            <p>The address of the payment form appears here when the trigger has made its checkout.</p>
          ) : (
            <>
              <p>Open the form and pay. In test mode no money moves, and the workflow runs all the same.</p>
              <span className="flex flex-wrap items-center gap-2">
                <a href={checkout.url} target="_blank" rel="noreferrer" className="link break-all">
                  {checkout.url}
                </a>
                <Copy value={checkout.url} label="Copy the link" />
              </span>
            </>
          )}
        </Step>
      </ol>
      {settings.inboxUrl !== null && <SandboxPages inbox={settings.inboxUrl} />}
      {steps.length > 0 && at === -1 && (
        <div role="status" className="mt-6 rounded-xl bg-good-soft p-5 text-good">
          <p className="text-base font-semibold">Your workflow has been paid for.</p>
          <p>Switch test mode off and activate the workflow, and the next payment is real.</p>
        </div>
      )}
    </Page>
  )
}

type State = 'unknown' | 'done' | 'now' | 'later'

function Step({
  number,
  state,
  title,
  children,
}: {
  number: number
  state: State
  title: string
  children: ReactNode
}) {
  return (
    <li
      aria-current={state === 'now' ? 'step' : undefined}
      className={`flex gap-4 rounded-xl border p-4 ${state === 'now' ? 'border-accent' : 'border-line'}`}
    >
      <span
        className={`flex size-7 shrink-0 items-center justify-center rounded-full text-[0.8125rem] font-semibold ${
          state === 'done'
            ? 'bg-good-soft text-good'
            : state === 'now'
              ? 'bg-accent text-on-accent'
              : 'bg-sunk text-quiet'
        }`}
      >
        {state === 'done' ? <CheckIcon className="size-4" /> : number}
      </span>
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">
          {title}
          {state === 'done' && <span className="sr-only"> (done)</span>}
        </h2>
        {state === 'unknown' ? (
          <Skeleton className="mt-2 h-4 w-2/3" />
        ) : (
          <div className="mt-1 space-y-2 text-quiet [&_code]:text-ink">{children}</div>
        )}
      </div>
    </li>
  )
}

/** The pages that replace a mail server and a workflow on a developer's machine. */
function SandboxPages({ inbox }: { inbox: string }) {
  return (
    <section aria-label="On this machine" className="mt-6 text-quiet">
      <h2 className="font-semibold text-ink">On this machine</h2>
      <ul className="mt-1 list-disc space-y-1 pl-5">
        <li>
          This sandbox sends no mail. Read its mails in the{' '}
          <a href={inbox} className="link">
            inbox
          </a>
          .
        </li>
        <li>
          No workflow yet? Use{' '}
          <a href={new URL('/demo/echo', inbox).href} className="link">
            /demo/echo
          </a>{' '}
          as the callback of a checkout. It receives deliveries, checks their signatures and shows them.
        </li>
      </ul>
    </section>
  )
}

function Line({ text }: { text: string }) {
  return (
    <div className="w-fit max-w-full rounded-lg bg-sunk px-3 py-1.5">
      <Id value={text} whole />
    </div>
  )
}
