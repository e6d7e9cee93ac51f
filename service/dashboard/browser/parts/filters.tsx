import { MagnifyingGlassIcon } from '@radix-ui/react-icons'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'

/** One filter's value and its setter. */
export interface Filter {
  value: string
  choose: (value: string) => void
}

/** Filters are in the address, so a filtered view can be bookmarked, shared and reached with the back button. */
export function useFilter<Name extends string>(names: readonly Name[], page = 'page') {
  const [params, setParams] = useSearchParams()
  const chosen = Object.fromEntries(
    names.map((name) => [name, params.get(name) ?? '']).filter(([, value]) => value !== ''),
  ) as Partial<Record<Name, string>>
  const filterOf = (name: Name): Filter => ({
    value: chosen[name] ?? '',
    choose: (value) =>
      setParams(
        (before) => {
          if (value === '') before.delete(name)
          else before.set(name, value)
          before.delete(page)
          return before
        },
        { replace: true },
      ),
  })
  return { chosen, filterOf, filtered: Object.keys(chosen).length > 0 }
}

/** The value if it is one of the known ones, because an address may contain anything. */
export function oneOf<T extends string>(value: string | undefined, all: readonly T[]): T | undefined {
  return all.find((each) => each === value)
}

export function namesOf<Name extends string>(options: readonly (readonly [Name, string])[]): readonly Name[] {
  return options.map(([name]) => name)
}

export function Select({
  label,
  value,
  all,
  options,
  choose,
}: Filter & {
  label: string
  /** The text of the choice of none. Absent where one is always chosen. */
  all?: string
  options: readonly (readonly [string, string])[]
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => choose(event.target.value)}
      className="h-8 rounded-[7px] border border-line bg-paper px-2 text-[0.8125rem] hover:bg-sunk"
    >
      {[...(all === undefined ? [] : [['', all] as const]), ...options].map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** Sends the search when the person stops typing. */
export function Search({ label, value, choose }: Filter & { label: string }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const rest = setTimeout(() => choose(text), 250)
    return () => clearTimeout(rest)
    // `choose` is a new function at each render.
  }, [text, value])
  return (
    <span className="relative inline-block">
      <MagnifyingGlassIcon className="pointer-events-none absolute top-2 left-2 text-quiet" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-8 w-52 rounded-[7px] border border-line bg-paper pr-2 pl-7 text-[0.8125rem]"
      />
    </span>
  )
}

export function Day({ label, value, choose }: Filter & { label: string }) {
  return (
    <input
      type="date"
      aria-label={label}
      value={value}
      onChange={(event) => choose(event.target.value)}
      className="h-8 rounded-[7px] border border-line bg-paper px-2 text-[0.8125rem]"
    />
  )
}
