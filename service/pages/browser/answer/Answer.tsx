import { createElement, type ComponentChild, type VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { sourceOf } from '../../../ui-kit/format.ts'
import { drawBlocks, outward, type Draw } from '../../../ui-kit/drawing.ts'
import { viewOf, type AnswerFile, type View } from './read.ts'

/** The answer of the workflow or the API. Its content is displayed but never runs as a page of this service. */
export function AnswerPage({ text }: { text: string }) {
  // Only the browser formats the answer: the server renders the same page for every reader and must not do work for
  // each.
  const [isInBrowser, setInBrowser] = useState(false)
  const [isFormatted, setFormatted] = useState(true)
  useEffect(() => setInBrowser(true), [])
  const source = useMemo(() => sourceOf(text), [text])
  const view = useMemo(() => (isInBrowser ? viewOf(text) : null), [text, isInBrowser])
  const isPlain = view === null || view.kind === 'text' || view.kind === 'json'
  return (
    <section class="answer" aria-labelledby="answer">
      <div class="answer-head">
        <h3 id="answer">Answer</h3>
        {!isPlain && (
          <button type="button" class="link" onClick={() => setFormatted(!isFormatted)}>
            {isFormatted ? 'Show original' : 'Show formatted'}
          </button>
        )}
      </div>
      {isPlain || !isFormatted ? (
        // Focusable, because it may scroll.
        <pre tabIndex={0}>{view?.kind === 'text' ? view.text : source}</pre>
      ) : (
        <Shown view={view} />
      )}
    </section>
  )
}

function Shown({ view }: { view: View }) {
  switch (view.kind) {
    case 'text':
      return <p class="lines">{view.text}</p>
    case 'json':
      return <pre tabIndex={0}>{view.text}</pre>
    case 'markdown':
      return createElement('div', { class: 'written' }, ...drawBlocks<ComponentChild>(view.blocks, draw, LOOK))
    case 'table':
      return <Table view={view} />
    case 'files':
      return (
        <>
          {view.files.map((file, place) => (
            <File key={place} file={file} />
          ))}
        </>
      )
    case 'parts':
      return (
        <>
          {view.parts.map(({ name, view: inner }, place) => (
            <div key={place} class="part">
              <h4>{name}</h4>
              <Shown view={inner} />
            </div>
          ))}
        </>
      )
  }
}

const draw: Draw<ComponentChild> = (tag, props, ...children): VNode => createElement(tag, props, ...children)
const LOOK = { p: 'lines', div: 'wide' }

function Table({ view: { head, rows } }: { view: View & { kind: 'table' } }) {
  return (
    <div class="written">
      <div class="wide" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {head.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells, place) => (
              <tr key={place}>
                {cells.map((cell, at) => (
                  <td key={at}>{isAddress(cell) ? <a {...outward(cell)}>{cell}</a> : cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s<>"]{1,2000}$/.test(text)
}

function File({ file: { name, type, sizeBytes, href, picture } }: { file: AnswerFile }) {
  return (
    <figure class="file">
      {picture !== null && <img src={picture} alt={name} />}
      <figcaption>
        <a href={href} download={name}>
          Save {name}
        </a>
        <span class="quiet">
          {type}, {sizeIn(sizeBytes)}
        </span>
      </figcaption>
    </figure>
  )
}

function sizeIn(bytes: number): string {
  return bytes < 1_000 ? `${String(bytes)} bytes` : `${(bytes / 1_000).toFixed(1)} kB`
}
