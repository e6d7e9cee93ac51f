import { AnswerPage } from '../answer/Answer.tsx'
import type { CheckoutPage, PaymentState } from '../../model.ts'
import { bytes, say } from '../words/say.ts'
import { Outward } from './Icons.tsx'

/** What was bought, where it was there already, and the link that brings its buyer back to it. */
export function Result({ result, receiptUrl, isFramed }: ResultProps) {
  return (
    <section class="bought" aria-label={say('progress.bought')}>
      <Content result={result} />
      {receiptUrl !== null && (
        <p class="fine">
          <a href={onThisHost(receiptUrl)} {...outsideOf(isFramed)}>
            {say('progress.comeBack')}
          </a>
          {'. '}
          {say('progress.comeBackNote')}
        </p>
      )}
    </section>
  )
}

interface ResultProps {
  result: Bought
  receiptUrl: string | null
  /** Shown inside another site's page. */
  isFramed: boolean
}

/** For links to pages that no site may frame. */
export function outsideOf(isFramed: boolean) {
  return isFramed ? { target: '_blank', rel: 'noreferrer noopener' } : {}
}

type Bought = NonNullable<PaymentState['result']>

function Content({ result }: { result: Bought }) {
  switch (result.kind) {
    case 'text':
      return <AnswerPage text={result.text} title={say('progress.bought')} />
    case 'link':
      return (
        <>
          <a class="button" href={result.url} target="_blank" rel="noreferrer noopener">
            {say('progress.openLink')} <Outward />
          </a>
          <p class="fine whole">{result.url}</p>
        </>
      )
    case 'file':
      return (
        <>
          {result.url !== null && (
            <a class="button" href={onThisHost(result.url)} download={result.name}>
              {say('progress.downloadFile', { name: result.name })}
            </a>
          )}
          <p class="fine">{bytes(result.bytes)}</p>
        </>
      )
  }
}

/** What a payment leads to, in the terms before it. Null for a workflow, which makes it first. */
export function promiseOf({ after }: CheckoutPage['checkout']): string | null {
  switch (after?.kind) {
    case 'text':
      return say('terms.textNow')
    case 'link':
      return say('terms.linkNow')
    case 'file':
      return after.file === null ? null : say('terms.fileNow', { name: after.file.name, size: bytes(after.file.bytes) })
    case 'webhook':
    case undefined:
      return null
  }
}

/** Page and files are on the same host, under whatever name the page was opened. */
export function onThisHost(address: string): string {
  return address.replace(/^https?:\/\/[^/]+/, '')
}
