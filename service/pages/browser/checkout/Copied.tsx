import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { say } from '../words/say.ts'

/** A text to be copied as it is. */
export function Copied({
  label,
  text,
  copied = text,
  children,
}: {
  label: string
  text: string
  copied?: string
  /** Another way to use it. */
  children?: ComponentChildren
}) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(copied).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <div class="copied">
      <span class="hint">{label}</span>
      <code class="mono">{text}</code>
      <button
        type="button"
        class="link"
        aria-label={say('transfer.copyNamed', { name: label })}
        onClick={() => void copy()}
      >
        {say(isCopied ? 'transfer.copied' : 'transfer.copy')}
      </button>
      {children}
    </div>
  )
}
