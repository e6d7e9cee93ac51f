import type { BrandView, Palette } from './model.ts'

/**
 * The colours of a page from an account's accent. Every accent is taken: a button has the accent itself and the readable
 * one of black and white on it, and links have the nearest shade that can be read on the page (WCAG 2, 4.5 to 1).
 */
export function colorsOf(accent: string): NonNullable<BrandView['colors']> {
  return { light: paletteOf(accent, LIGHT, BLACK), dark: paletteOf(accent, DARK, WHITE) }
}

/** What was changed for the reader's sake, for the account's owner; null where nothing was. */
export function noteOf(accent: string): string | null {
  const { light, dark } = colorsOf(accent)
  const changed = [
    ...(light.accent === accent ? [] : [`${light.accent} on light pages`]),
    ...(dark.accent === accent ? [] : [`${dark.accent} on dark pages`]),
  ]
  if (changed.length === 0) return null
  return `Links in ${accent} could not be read everywhere, so they are ${changed.join(' and ')}. Buttons keep ${accent}.`
}

function paletteOf(accent: string, grounds: readonly string[], towards: string): Palette {
  const onFill = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK
  return {
    accent: readable(accent, grounds, towards),
    fill: accent,
    onFill,
    // Away from its text, so that the contrast only grows.
    fillDeep: mixed(accent, onFill === WHITE ? BLACK : WHITE, 0.16),
  }
}

function readable(color: string, grounds: readonly string[], towards: string): string {
  for (let share = 0; share < 1; share += STEP) {
    const shade = mixed(color, towards, share)
    if (grounds.every((ground) => contrast(shade, ground) >= CONTRAST_MIN)) return shade
  }
  return towards
}

/** From 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mixed(color: string, other: string, share: number): string {
  const others = channels(other)
  const mix = channels(color).map((value, place) => Math.round(value * (1 - share) + (others[place] ?? 0) * share))
  return `#${mix.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}

const WHITE = '#ffffff'
const BLACK = '#000000'
/** The grounds of the pages, as in ui-kit/tokens.css. */
const LIGHT = ['#ffffff', '#f7f8fa', '#f1f3f7']
const DARK = ['#10131b', '#141822', '#1b2030']
const CONTRAST_MIN = 4.5
const STEP = 0.02
