import type { ComponentChildren } from 'preact'
import { embedded, ICON } from '../../ui-kit/document.ts'
import type { Frame } from '../model.ts'
import { wordsOf } from './words/languages.ts'
import { say } from './words/say.ts'

/** The HTML document around every page. */
export function Shell({
  title,
  frame,
  data,
  groups = [],
  noscript = say('common.noscriptWallet'),
  children,
}: {
  title: string
  frame: Frame
  data?: object | undefined
  /** The groups of texts that the script uses. */
  groups?: readonly string[]
  noscript?: string
  children: ComponentChildren
}) {
  return (
    <html lang={frame.language} class={frame.embed?.tab === false ? 'framed' : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="icon" href={ICON} />
        {frame.styles.map((href) => (
          <link key={href} rel="stylesheet" href={href} />
        ))}
        {frame.style != null && <style dangerouslySetInnerHTML={{ __html: frame.style }} />}
        {data !== undefined && frame.scripts.map((src) => <script key={src} type="module" src={src} />)}
      </head>
      <body>
        <div id="root">{children}</div>
        {data !== undefined && (
          <>
            <noscript>
              <p class="noscript">{noscript}</p>
            </noscript>
            <script
              id="data"
              type="application/json"
              dangerouslySetInnerHTML={{
                __html: embedded({ ...data, language: frame.language, words: wordsOf(frame.language, groups) }),
              }}
            />
          </>
        )}
      </body>
    </html>
  )
}
