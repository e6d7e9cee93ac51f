import { useState } from 'react'

/** Which of a page's questions is open: whether to remove it, say, or to give it a new secret. */
export function useAsking<What extends string>() {
  const [asked, setAsked] = useState<What | null>(null)
  return {
    asked,
    begin: (what: What) => () => setAsked(what),
    close: () => setAsked(null),
  }
}
