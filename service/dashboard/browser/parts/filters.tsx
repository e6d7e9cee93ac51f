import { MagnifyingGlassIcon } from '@radix-ui/react-icons'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'

/** Filters live in the address: a look can be kept, sent and gone back to. */
export function useFilter<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams()
  const values = Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Record<Name, string>
  const set = (name: Name, value: string): void => {
    setParams(
      (before) => {
        if (value === '') before.delete(name)
        else before.set(name, value)
        before.delete('page')
        return before
      },
      { replace: true },
    )
  }
  return { values, set, filtered: names.some((name) => values[name] !== '') }
}

/** The value as one of those that there are; an address may say anything. */
export function oneOf<T extends string>(value: string, all: readonly T[]): T | undefined {
  return all.find((each) => each === value)
}

export function Select({
  label,
  value,
  options,
  choose,
}: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  choose: (value: string) => void
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => {
        choose(event.target.value)
      }}
      className="h-8 rounded-[7px] border border-line bg-paper px-2 text-[0.8125rem] hover:bg-sunk"
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** Asks once the fingers rest. */
export function Search({ label, value, search }: { label: string; value: string; search: (text: string) => void }) {
  const [text, setText] = useState(value)
  useEffect(() => {
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === value) return
    const rest = setTimeout(() => {
      search(text)
    }, 250)
    return () => {
      clearTimeout(rest)
    }
    // `search` is a new function each time it is handed over.
  }, [text, value])
  return (
    <span className="relative inline-block">
      <MagnifyingGlassIcon className="pointer-events-none absolute top-2 left-2 text-quiet" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
        }}
        className="h-8 w-52 rounded-[7px] border border-line bg-paper pr-2 pl-7 text-[0.8125rem]"
      />
    </span>
  )
}
