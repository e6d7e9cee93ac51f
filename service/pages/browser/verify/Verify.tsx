import { useEffect, useRef, useState } from 'preact/hooks'
import { CoinMark, Cross, Outward, Tick, Warning } from '../checkout/Icons.tsx'
import { language, say } from '../words/say.ts'
import { verifyReceipt, type ReceiptFacts, type Verdict } from './verify.ts'

/** Verifies a signed receipt. Only the keys are loaded: the receipt itself never leaves the browser. */
export function Verify({ issuers }: { issuers: Readonly<Record<string, string>> }) {
  const [text, setText] = useState('')
  const [verdict, setVerdict] = useState<Verdict | null>(null)
  // The result belongs to the latest text; an earlier check may end later.
  const latest = useRef('')

  const check = async (next: string): Promise<void> => {
    latest.current = next
    setText(next)
    if (next.trim() === '') {
      setVerdict(null)
      return
    }
    const found = await verifyReceipt(next, { issuers, load })
    if (latest.current === next) setVerdict(found)
  }

  useEffect(() => {
    const read = (): void => {
      const linked = location.hash.slice(1)
      if (linked !== '') void check(linked)
    }
    read()
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])

  return (
    <main class="verify">
      <CoinMark />
      <h1>{say('verify.title')}</h1>
      <p class="quiet">{say('verify.hint')}</p>
      <label for="receipt-text">{say('verify.label')}</label>
      <textarea
        id="receipt-text"
        rows={6}
        spellcheck={false}
        maxLength={20_000}
        value={text}
        onInput={(event) => void check(event.currentTarget.value)}
      />
      <div role="status">{verdict !== null && <Result verdict={verdict} text={text} />}</div>
    </main>
  )
}

/** The document is the same for every reader, so no cookie is sent with the request. */
async function load(address: string): Promise<unknown> {
  const response = await fetch(address, { credentials: 'omit' })
  if (!response.ok) throw new Error(`HTTP ${String(response.status)}`)
  return await response.json()
}

function Result({ verdict, text }: { verdict: Verdict; text: string }) {
  if (verdict.kind === 'valid') return <Valid facts={verdict.facts} text={text} />
  const isInvalid = verdict.kind === 'invalid'
  return (
    <section class="outcome" aria-labelledby="verdict">
      <span class={`seal ${isInvalid ? 'seal-bad' : 'seal-wait'}`}>{isInvalid ? <Cross /> : <Warning />}</span>
      <h2 id="verdict">{say(isInvalid ? 'verify.notValid' : 'verify.notChecked')}</h2>
      <p class="quiet">{verdict.reason}</p>
    </section>
  )
}

function Valid({ facts, text }: { facts: ReceiptFacts; text: string }) {
  const { issuer, resource, payer, network, paidAt, transaction, explorerUrl, terms } = facts
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  const lines: readonly (readonly [name: string, value: preact.ComponentChildren])[] = [
    [say('verify.paidFor'), <span class="mono">{resource}</span>],
    ...(terms === null
      ? []
      : ([
          [say('verify.amount'), terms.amount],
          [say('verify.to'), <span class="mono">{terms.recipient}</span>],
        ] as const)),
    [say('verify.from'), <span class="mono">{payer}</span>],
    [say('verify.date'), <time dateTime={paidAt.toISOString()}>{paidAt.toLocaleString(language())}</time>],
    [say('verify.network'), network],
    [say('verify.issuedBy'), issuer],
    [
      say('verify.transaction'),
      explorerUrl === null ? (
        <span class="mono">{transaction === '' ? say('verify.fromBalance') : transaction}</span>
      ) : (
        <a class="mono" href={explorerUrl} target="_blank" rel="noreferrer noopener">
          {transaction} <Outward />
          <span class="unseen"> {say('common.opensExplorer')}</span>
        </a>
      ),
    ],
  ]
  return (
    <section class="outcome" aria-labelledby="verdict">
      <span class="seal seal-good">
        <Tick />
      </span>
      <h2 id="verdict">{say('verify.valid')}</h2>
      <p class="quiet">{say('verify.signedBy', { issuer })}</p>
      <dl class="facts">
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="whole">{value}</dd>
          </div>
        ))}
      </dl>
      {terms === null && transaction !== '' && <p class="fine">{say('verify.seeTransaction')}</p>}
      <p class="fine">
        <button type="button" class="link" onClick={() => void copy()}>
          {say(isCopied ? 'verify.copied' : 'verify.copy')}
        </button>{' '}
        <a href={`data:text/plain,${encodeURIComponent(text)}`} download="receipt.jws">
          {say('verify.download')}
        </a>
      </p>
    </section>
  )
}
