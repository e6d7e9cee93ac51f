import { useEffect, useRef, useState } from 'preact/hooks'
import { toMicroUsdc } from '../../../ui-kit/format.ts'
import { Warning } from './Icons.tsx'
import type { Choice, Refusal } from './form.ts'
import { isCouponFault, type State } from './state.ts'
import { sentenceOf as reasonOf } from '../words/reasons.ts'
import { say, usdc } from '../words/say.ts'

/** What the customer decides about the price, and how the total comes about. */
export function Price({ state, choose, locked }: PriceProps) {
  const { page, wish, wishFault } = state
  const { pricing, price, coupons = false } = page.checkout
  const chooses = pricing?.kind === 'quantity' || pricing?.kind === 'choose'
  if (!chooses && !coupons) return null
  const isAboutCode = wishFault !== null && isCouponFault(wishFault)
  const fault = Number.isNaN(wish.choice.amount)
    ? say('pay.wrongAmount')
    : wishFault === null || isAboutCode
      ? null
      : sentenceOf(wishFault)
  return (
    <section class="fields" aria-label={say('price.title')}>
      {pricing?.kind === 'quantity' && (
        <Quantity
          {...{ ...pricing, price, locked, fault }}
          chosen={wish.choice.quantity ?? pricing.min}
          choose={(quantity) => choose?.({ quantity })}
        />
      )}
      {pricing?.kind === 'choose' && (
        <Amount
          {...{ ...pricing, locked, fault }}
          chosen={wish.choice.amount ?? price}
          choose={(amount) => choose?.({ amount })}
        />
      )}
      {coupons && (
        <Code
          used={wish.choice.coupon}
          discount={page.lines?.coupon == null ? null : page.lines.discount}
          fault={isAboutCode ? sentenceOf(wishFault) : null}
          choose={locked ? undefined : (coupon) => choose?.({ coupon })}
        />
      )}
    </section>
  )
}

interface PriceProps {
  state: State
  choose: ((choice: Choice) => void) | undefined
  /** An assistant's order has made the choice. */
  locked: boolean
}

// The controls have no `name`, because names belong to the seller's fields. No field's name has a hyphen.
const QUANTITY = 'price-quantity'
const AMOUNT = 'price-amount'
const CODE = 'price-code'

function Quantity({ min, max, price, chosen, choose, locked, fault }: QuantityProps) {
  const clamp = (quantity: number): number => Math.min(max, Math.max(min, quantity))
  const step = (by: number): void => choose(clamp(chosen + by))
  return (
    <div class="field">
      <label for={QUANTITY}>
        {say('price.quantity')}
        <span class="optional">{say('price.each', { price: usdc(price) })}</span>
      </label>
      <div class="stepper">
        <button
          type="button"
          aria-label={say('price.less')}
          disabled={locked || chosen <= min}
          onClick={() => step(-1)}
        >
          −
        </button>
        <input
          id={QUANTITY}
          inputMode="numeric"
          autocomplete="off"
          value={String(chosen)}
          readOnly={locked}
          aria-invalid={fault !== null}
          {...(fault === null ? {} : { 'aria-describedby': `${QUANTITY}-fault` })}
          onChange={({ currentTarget }) => {
            const typed = currentTarget.value.trim()
            const next = /^\d+$/.test(typed) ? clamp(Number(typed)) : chosen
            // Where it is the same as before, nothing else shows it.
            currentTarget.value = String(next)
            choose(next)
          }}
        />
        <button type="button" aria-label={say('price.more')} disabled={locked || chosen >= max} onClick={() => step(1)}>
          +
        </button>
      </div>
      <Fault id={`${QUANTITY}-fault`} text={fault} />
    </div>
  )
}

interface QuantityProps {
  min: number
  max: number
  price: number
  chosen: number
  choose: (quantity: number) => void
  locked: boolean
  fault: string | null
}

function Amount({ min, max, chosen, choose, locked, fault }: AmountProps) {
  const bounds =
    max === null ? say('price.orMore', { min: usdc(min) }) : say('price.between', { min: usdc(min), max: usdc(max) })
  return (
    <div class="field">
      <label for={AMOUNT}>
        {say('price.yours')}
        <span class="optional">{bounds}</span>
      </label>
      <input
        id={AMOUNT}
        inputMode="decimal"
        autocomplete="off"
        // Three decimals might be taken for thousands.
        defaultValue={String(chosen).replace(/\.\d{3}$/, '$&0')}
        readOnly={locked}
        aria-invalid={fault !== null}
        {...(fault === null ? {} : { 'aria-describedby': `${AMOUNT}-fault` })}
        onInput={({ currentTarget }) => {
          // What is no amount has no price.
          const typed = toMicroUsdc(currentTarget.value)
          choose(typed === null ? Number.NaN : Number(typed) / 1_000_000)
        }}
      />
      <Fault id={`${AMOUNT}-fault`} text={fault} />
    </div>
  )
}

interface AmountProps extends Omit<QuantityProps, 'max' | 'price'> {
  max: number | null
}

function Fault({ id, text }: { id: string; text: string | null }) {
  if (text === null) return null
  return (
    <p class="fault" id={id}>
      <Warning />
      {text}
    </p>
  )
}

/** A code for a discount. Most customers have none, so its field opens on request. */
function Code({ used, discount, fault, choose }: CodeProps) {
  const [isOpen, setOpen] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isOpen) field.current?.focus()
  }, [isOpen])
  if (used === undefined && (!isOpen || choose === undefined)) {
    return (
      <p>
        {choose !== undefined && (
          <button type="button" class="link" onClick={() => setOpen(true)}>
            {say('price.haveCode')}
          </button>
        )}
      </p>
    )
  }
  const apply = (): void => {
    const typed = field.current?.value.trim() ?? ''
    if (typed !== '') choose?.(typed)
  }
  return (
    <div class="field">
      <label for={CODE}>{say('price.code')}</label>
      <div class="coded">
        <input
          id={CODE}
          ref={field}
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          maxLength={40}
          defaultValue={used ?? ''}
          readOnly={choose === undefined}
          aria-invalid={fault !== null}
          {...(fault === null ? {} : { 'aria-describedby': `${CODE}-fault` })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            apply()
          }}
        />
        {choose !== undefined && (
          <button type="button" class="link" onClick={apply}>
            {say('price.apply')}
          </button>
        )}
        {choose !== undefined && used !== undefined && (
          <button
            type="button"
            class="link"
            aria-label={say('price.removeCode')}
            onClick={() => {
              setOpen(false)
              choose(undefined)
            }}
          >
            {say('price.remove')}
          </button>
        )}
      </div>
      {/* The line is reserved, so that nothing moves when the answer comes. */}
      <div class="coded-result" aria-live="polite">
        {fault !== null ? (
          <Fault id={`${CODE}-fault`} text={fault} />
        ) : (
          used !== undefined && discount !== null && <p class="hint">−{usdc(discount)}</p>
        )}
      </div>
    </div>
  )
}

interface CodeProps {
  used: string | undefined
  /** What the price shown has off by it. */
  discount: number | null
  fault: string | null
  /** Absent where it cannot be changed. */
  choose: ((coupon: string | undefined) => void) | undefined
}

/** In the words of the service, about the choice where it is about that. */
function sentenceOf({ details, code, sentence }: Refusal): string {
  const about = Object.entries(details).find(([name]) => name.startsWith('choice.'))
  return about === undefined ? reasonOf({ code, sentence }) : say('form.refused', { fault: about[1] })
}
