import { toWire, usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Content, Model } from '../model/asset.ts'

/** What recent runs came to. */
export interface Costs {
  least: Usdc
  most: Usdc
}

/** A range for a person to read: what runs cost lately, or what the prices say of small and large ones. */
export function estimate(content: Content, models: readonly Model[], recent: Costs | null): string {
  const { pricing, config } = content
  if (pricing.model === 'free') return 'Free'
  // A new price has no recent runs, whatever the old one had.
  if (recent !== null && pricing.model !== 'per-run') return range(recent.least, recent.most)
  switch (pricing.model) {
    case 'per-run':
    case 'per-token': {
      const used = config.type !== 'prompt' ? [] : models.filter(({ id }) => config.allowedModels.includes(id))
      const [small, large] = SIZES.map(({ input, output }) => {
        const asked =
          pricing.model === 'per-run' ? pricing.amount : upTo(BigInt(input + output) * pricing.amount, 1_000n)
        const floors = used.map((model) =>
          upTo(BigInt(input) * model.inputPrice + BigInt(output) * model.outputPrice, 1_000_000n),
        )
        return { least: most(asked, least(floors)), most: most(asked, floors.reduce(most, ZERO)) }
      })
      return range(small?.least ?? pricing.amount, large?.most ?? pricing.amount)
    }
    case 'per-second': {
      const seconds = config.type === 'agent' ? config.timeoutSeconds : TOOL_SECONDS
      return range(pricing.amount, usdc(pricing.amount * BigInt(seconds)))
    }
  }
}

/** Tokens of a short prompt with a short answer, and of a long one with a long answer. */
const SIZES = [
  { input: 200, output: 200 },
  { input: 2_000, output: 1_000 },
]
const TOOL_SECONDS = 30

function range(from: Usdc, to: Usdc): string {
  return from === to ? `${text(from)} USDC` : `${text(from)} - ${text(to)} USDC`
}

/** Never in scientific notation, which `String` has for small numbers. */
function text(amount: Usdc): string {
  return toWire(amount)
    .toFixed(6)
    .replace(/(\.\d\d\d*?)0+$/, '$1')
}

function upTo(value: bigint, step: bigint): Usdc {
  return usdc((value + step - 1n) / step)
}

function most(a: Usdc, b: Usdc): Usdc {
  return a > b ? a : b
}

function least(amounts: readonly Usdc[]): Usdc {
  const [first, ...others] = amounts
  return first === undefined ? ZERO : others.reduce((a, b) => (a < b ? a : b), first)
}
