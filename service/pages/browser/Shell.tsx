import type { ComponentChildren } from 'preact'
import type { Frame } from '../model.ts'

/** The document around whatever a page shows. */
export function Shell({
  title,
  frame,
  data,
  children,
}: {
  title: string
  frame: Frame
  data?: unknown
  children: ComponentChildren
}) {
  return (
    <html lang="en">
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
        {data !== undefined && frame.scripts.map((src) => <script key={src} type="module" src={src} />)}
      </head>
      <body>
        <div id="root">{children}</div>
        {data !== undefined && (
          <>
            <noscript>
              <p class="noscript">This page needs JavaScript to speak to your wallet.</p>
            </noscript>
            <script id="data" type="application/json" dangerouslySetInnerHTML={{ __html: harmless(data) }} />
          </>
        )}
      </body>
    </html>
  )
}

/** No text in it can end the element that it stands in, whatever a seller called a product. */
function harmless(data: unknown): string {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The mark, in the page itself. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect x='2' y='2' width='20' height='20' rx='6' fill='%232b50e2'/%3E%3Cpath d='M8.5 16.5 15.5 7.5' stroke='%23fff' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E"
