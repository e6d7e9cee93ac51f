import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { hasSoundChecksum } from '../../../kit/keccak.ts'
import { walletAddress, type Hex } from '../../../kit/passkey-wallet.ts'
import { toMicroUsdc } from '../../../ui-kit/format.ts'
import { networkName } from '../../../ui-kit/networks.ts'
import { isRecord, isRejected } from '../../../ui-kit/provider.ts'
import { Hint, Primary } from '../checkout/Actions.tsx'
import { ask, isDefinite } from '../checkout/api.ts'
import { wait } from '../checkout/found.ts'
import { CoinMark, Outward } from '../checkout/Icons.tsx'
import { storedText, storeText } from '../checkout/kept.ts'
import { authorize, typedData, type Authorization } from '../pay/authorization.ts'
import { microUsdc, say } from '../words/say.ts'
import { sentenceOf } from '../words/reasons.ts'
import { hasPasskeys, keep, keptPasskey, type Passkey } from './device.ts'
import { TopUp } from './offer.tsx'
import { found, hasMoney, holdingsOf, signTransfer, type Holding } from './provider.ts'

/** The page of a passkey's wallet: what is in it, and how it goes elsewhere. */
export function start(clockBehindMs: number): void {
  const root = document.getElementById('root')
  if (root !== null) render(<Wallet now={() => Date.now() + clockBehindMs} />, root)
}

const AT = location.pathname

function Wallet({ now }: { now: () => number }) {
  const [passkey, setPasskey] = useState<Passkey | null>(keptPasskey)
  const [holdings, setHoldings] = useState<readonly Holding[] | null>(null)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const [lacks, setLacks] = useState(false)
  const address = passkey === null ? null : walletAddress(passkey.key)
  const look = async (): Promise<void> => {
    if (address === null) return
    await holdingsOf(AT, address).then(setHoldings, () => setFault(say('passkey.noBalance')))
  }
  useEffect(() => {
    setHoldings(null)
    void look()
  }, [address])
  useEffect(() => {
    void hasPasskeys().then((has) => setLacks(!has))
  }, [])

  const open = async (): Promise<void> => {
    if (busy) return
    setFault(null)
    setBusy(true)
    await found(AT).then(setPasskey, (error: unknown) => {
      setFault(say(isRejected(error) ? 'passkey.declined' : 'passkey.notFound'))
    })
    setBusy(false)
  }
  const forget = (): void => {
    keep(null)
    setPasskey(null)
  }

  return (
    <main class="verify">
      <CoinMark />
      <h1>{say('passkey.title')}</h1>
      <p class="quiet">{say('passkey.about', { host: location.hostname })}</p>
      {passkey === null || address === null ? (
        <div class="transfer">
          {lacks && <Hint>{say('passkey.unavailable')}</Hint>}
          <Primary type="button" busy={busy ? say('passkey.confirm') : null} onClick={() => void open()}>
            {say('passkey.existing')}
          </Primary>
        </div>
      ) : (
        <div class="transfer">
          <dl class="facts">
            {(holdings ?? []).map(({ chainId, units }) => (
              <div key={chainId}>
                <dt>{networkName(chainId)}</dt>
                <dd>{units === null ? say('passkey.noBalance') : microUsdc(BigInt(units))}</dd>
              </div>
            ))}
          </dl>
          {holdings !== null && <SendForm passkey={passkey} holdings={holdings} now={now} sent={() => void look()} />}
          {holdings?.map((holding) => (
            <details key={holding.chainId}>
              <summary>{say('passkey.add', { network: networkName(holding.chainId) })}</summary>
              <TopUp holding={holding} address={address} network={networkName(holding.chainId)} />
            </details>
          ))}
          <p class="fine">
            {say('passkey.lost', { host: location.hostname })}{' '}
            <button type="button" class="link" onClick={forget}>
              {say('passkey.forget')}
            </button>
          </p>
        </div>
      )}
      {fault !== null && (
        <div role="alert">
          <Hint tone="bad">{fault}</Hint>
        </div>
      )}
    </main>
  )
}

interface Sent {
  /** `unknown`: there was no answer yet. */
  status: 'settled' | 'pending' | 'failed' | 'unknown'
  reason: string | null
  explorerUrl: string | null
}

/** Money that leaves. The person confirms what stands in the form, with their passkey. */
function SendForm({
  passkey,
  holdings,
  now,
  sent,
}: {
  passkey: Passkey
  holdings: readonly Holding[]
  now: () => number
  sent: () => void
}) {
  const [to, setTo] = useState('')
  const [amount, setAmount] = useState('')
  const [chainId, setChainId] = useState(() => mostUseful(holdings)?.chainId ?? 0)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const [done, setDone] = useState<{ result: Sent; text: string } | null>(null)
  const status = useRef<HTMLDivElement>(null)
  const holding = holdings.find((one) => one.chainId === chainId)
  const has = holding?.units == null ? null : BigInt(holding.units)

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (busy || holding === undefined) return
    const value = toMicroUsdc(amount)
    const target = to.trim()
    setDone(null)
    const wrong = faultIn({ target, value, has, own: walletAddress(passkey.key) })
    setFault(wrong)
    if (wrong !== null || value === null) return
    await finish(() => signed(passkey, { holding, to: target as Hex, value, now }))
  }

  /** Sends until the end is known: a second signature could send the money twice. */
  const finish = async (sign: () => Promise<Signed>): Promise<void> => {
    setBusy(true)
    try {
      const { transfer, isOpen } = await sign()
      const { to: target, value } = transfer.authorization
      const tell = (result: Sent): void =>
        setDone({ result, text: say(WORDS[result.status], { amount: microUsdc(BigInt(value)), to: target }) })
      tell(await relay(transfer, { isOpen, now, tell }))
      setAmount('')
    } catch (error) {
      setDone(null)
      setFault(isRejected(error) ? say('passkey.declined') : sentenceIn(error))
    }
    setBusy(false)
    status.current?.focus()
    sent()
  }
  useEffect(() => {
    const transfer = savedTransfer(walletAddress(passkey.key))
    if (transfer !== null) void finish(() => Promise.resolve({ transfer, isOpen: true }))
  }, [])

  return (
    <form class="transfer" noValidate onSubmit={(event) => void submit(event)}>
      <h2>{say('passkey.send')}</h2>
      {holdings.length > 1 && <NetworkChoice holdings={holdings} chainId={chainId} choose={setChainId} />}
      <div class="field">
        <label for="send-amount">{say('transfer.amount')}</label>
        <input
          id="send-amount"
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={amount}
          onInput={(event) => setAmount(event.currentTarget.value)}
        />
        {has !== null && (
          <button type="button" class="link" onClick={() => setAmount(textOf(has))}>
            {say('passkey.all')}
          </button>
        )}
      </div>
      <div class="field">
        <label for="send-to">{say('passkey.to')}</label>
        <p class="hint" id="send-to-hint">
          {say('passkey.toHint', { network: networkName(chainId) })}
        </p>
        <input
          id="send-to"
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="0x…"
          aria-describedby="send-to-hint"
          value={to}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
      </div>
      <Primary busy={busy ? say(done === null ? 'passkey.confirm' : 'pay.sending') : null}>
        {say('passkey.sendNow')}
      </Primary>
      <div role="status" tabIndex={-1} ref={status}>
        {fault !== null && <Hint tone="bad">{fault}</Hint>}
        {done !== null && <Outcome {...done} />}
      </div>
    </form>
  )
}

function NetworkChoice({ holdings, chainId, choose }: NetworkChoiceProps) {
  return (
    <div class="field">
      <label for="send-network">{say('passkey.network')}</label>
      <div class="select">
        <select id="send-network" value={chainId} onChange={(event) => choose(Number(event.currentTarget.value))}>
          {holdings.map((one) => (
            <option key={one.chainId} value={one.chainId}>
              {networkName(one.chainId)}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

interface NetworkChoiceProps {
  holdings: readonly Holding[]
  chainId: number
  choose: (chainId: number) => void
}

/** What became of the transfer. */
function Outcome({ result: { status, reason, explorerUrl }, text }: { result: Sent; text: string }) {
  return (
    <p class={status === 'failed' ? 'notice notice-bad' : 'notice'}>
      <span>
        {text} {reason !== null && status === 'failed' && sentenceOf({ code: reason, sentence: reason })}{' '}
        {explorerUrl !== null && (
          <a href={explorerUrl} target="_blank" rel="noreferrer noopener">
            {say('transfer.transaction')} <Outward />
          </a>
        )}
      </span>
    </p>
  )
}

const WORDS = {
  settled: 'passkey.sent',
  pending: 'passkey.sending',
  failed: 'passkey.notSent',
  unknown: 'passkey.unknown',
} as const

/** The network to send from first: one with money, else one whose balance is known. */
function mostUseful(holdings: readonly Holding[]): Holding | undefined {
  return holdings.find(hasMoney) ?? holdings.find(({ units }) => units !== null) ?? holdings[0]
}

function faultIn({
  target,
  value,
  has,
  own,
}: {
  target: string
  value: bigint | null
  has: bigint | null
  own: string
}) {
  if (has === null) return say('passkey.noBalance')
  if (value === null || value === 0n) return say('pay.wrongAmount')
  if (value > has) return say('passkey.tooMuch', { balance: microUsdc(has) })
  const isAddress = /^0x[0-9a-fA-F]{40}$/.test(target) && hasSoundChecksum(target)
  if (!isAddress || /^0x0{40}$/.test(target) || target.toLowerCase() === own) return say('passkey.wrongAddress')
  return null
}

/** The signature of a transfer, stored before it is sent; or the one that another tab has stored. */
async function signed(
  passkey: Passkey,
  { holding, to, value, now }: { holding: Holding; to: Hex; value: bigint; now: () => number },
): Promise<Signed> {
  const from = walletAddress(passkey.key)
  const before = savedTransfer(from)
  if (before !== null) return { transfer: before, isOpen: true }
  const { asset, chainId } = holding
  const terms = {
    scheme: 'exact',
    network: `eip155:${String(chainId)}`,
    amount: String(value),
    asset: asset.address,
    payTo: to,
    maxTimeoutSeconds: 0,
    extra: asset,
  } as unknown as Parameters<typeof typedData>[0]
  const authorization = authorize(terms, from, now())
  const signature = await signTransfer(passkey, typedData(terms, authorization))
  const first = savedTransfer(from)
  if (first !== null) return { transfer: first, isOpen: true }
  const transfer = { chainId, authorization, signature }
  storeText(placeOf(from), JSON.stringify(transfer))
  return { transfer, isOpen: false }
}

interface Signed {
  transfer: Transfer
  /** Another tab, or this one before a reload, may have sent it. */
  isOpen: boolean
}

interface Transfer {
  chainId: number
  authorization: Authorization
  signature: Hex
}

const placeOf = (from: string): string => `coinslot:passkey-transfer:${from}`

function savedTransfer(from: string): Transfer | null {
  try {
    const saved: unknown = JSON.parse(storedText(placeOf(from)) ?? 'null')
    return isRecord(saved) && isRecord(saved['authorization']) ? (saved as unknown as Transfer) : null
  } catch {
    return null
  }
}

/**
 * The same signature moves the money once, so it is sent until its end is known. Once an attempt may have moved it, only the
 * transfer's own end is one, or a refusal after the signature has expired.
 */
async function relay(body: Transfer, { isOpen, now, tell }: Relaying): Promise<Sent> {
  const { from, validBefore } = body.authorization
  let sent: Sent = { status: 'unknown', reason: null, explorerUrl: null }
  if (isOpen) tell(sent)
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(`${AT}/transfers`, { body })
    if (answer !== null && answer.status < 300) sent = answer.body as unknown as Sent
    const isEnd = sent.status === 'settled' || sent.status === 'failed'
    // A limit stops this attempt alone.
    const isLimit = answer?.status === 429
    const isExpired = now() > Number(validBefore) * 1_000 + EXPIRY_MARGIN_MS
    const isRefused = answer !== null && (isDefinite(answer) || (isLimit && attempt >= ATTEMPTS))
    const isNotTaken = isRefused && (!isOpen || (isExpired && !isLimit))
    if (isEnd || isNotTaken) storeText(placeOf(from), null)
    if (isEnd) return sent
    if (isNotTaken) throw new Refused(String(answer.body['code']), String(answer.body['error']))
    isOpen ||= !isLimit
    if (attempt >= ATTEMPTS) tell(sent)
    await wait(attempt < ATTEMPTS ? 2_000 : 10_000)
  }
}

interface Relaying {
  /** An attempt may have moved the money. */
  isOpen: boolean
  now: () => number
  tell: (sent: Sent) => void
}

const EXPIRY_MARGIN_MS = 60_000
const ATTEMPTS = 10

class Refused extends Error {
  readonly code: string
  constructor(code: string, sentence: string) {
    super(sentence)
    this.code = code
  }
}

function sentenceIn(error: unknown): string {
  // What one network may have moved in a day is not the person's concern: it is the network that is busy.
  if (error instanceof Refused) {
    const code = error.code.endsWith('gas_budget_spent') ? 'gas_budget_spent' : error.code
    return sentenceOf({ code, sentence: error.message })
  }
  return say('passkey.notFound')
}

/** As `toMicroUsdc` reads it. Three decimals might be taken for thousands. */
function textOf(units: bigint): string {
  const part = String(units % 1_000_000n)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
    .replace(/^...$/, '$&0')
  return `${String(units / 1_000_000n)}.${part}`
}
