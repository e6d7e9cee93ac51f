import type { ComponentChild, VNode } from 'preact'
import { createElement } from 'preact'
import { drawBlocks, outward, type Draw } from '../../../ui-kit/drawing.ts'
import { bytes, say } from '../words/say.ts'
import { viewOf, type AnswerFile, type View } from './read.ts'

/** Markdown, tables, pictures and files: a script of its own, since only the page of an answer needs it. */
export { viewOf }

export function Formatted({ view }: { view: View }) {
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
              <Formatted view={inner} />
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
          {say('common.save', { name })}
        </a>
        <span class="quiet">
          {type}, {bytes(sizeBytes)}
        </span>
      </figcaption>
    </figure>
  )
}
